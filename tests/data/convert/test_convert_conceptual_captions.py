from __future__ import annotations

import io
import json
import tarfile
import zlib
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from trope.data.convert import convert
from trope.errors import UsageError

TRAIN = [
    ("a very typical bus station", "http://a.org/1.jpg?w=1"),
    ("ein Café ☕", "http://b.org/é.png"),
]
VALIDATION = [("author : a life", "http://c.org/2"), ("gone", "http://d.org/3")]


@pytest.fixture
def source(tmp_path: Path, note) -> Path:
    folder = tmp_path / "cc"
    note(folder / "Train_GCC-training.tsv", *("\t".join(row) for row in TRAIN))
    note(folder / "Validation_GCC-1.1.0-Validation.tsv", *("\t".join(row) for row in VALIDATION))
    note(folder / "downloaded_training_report.tsv", "not\tthis one")
    return folder


def test_files_named_by_checksum(source: Path, tmp_path: Path, jpeg, rows, lost) -> None:
    sums = [zlib.crc32(url.encode()) for _, url in (*TRAIN, *VALIDATION)]
    jpeg(source, f"training/{sums[0]}", f"training/{sums[1]}.jpg", f"validation/{sums[2]}")
    convert("conceptual-captions", source, tmp_path / "out")
    found = rows(tmp_path / "out")
    assert found["train-0"].texts == ("a very typical bus station",)
    assert found["train-0"].image == f"images/training/{sums[0]}.jpg"
    assert found["train-0"].extra["url"] == TRAIN[0][1]
    assert found["train-1"].texts == ("ein Café ☕",)
    assert {i: p.split for i, p in found.items()} == {
        "train-0": "train",
        "train-1": "train",
        "val-0": "test",
    }
    assert lost(tmp_path / "out") == {"val-1": "no image file"}


@pytest.mark.parametrize("naming", ["row", "row_crc32"])
def test_files_named_by_row(source: Path, tmp_path: Path, jpeg, rows, naming: str) -> None:
    ending = f"_{zlib.crc32(TRAIN[1][1].encode())}" if naming == "row_crc32" else ""
    jpeg(source, f"training/1{ending}.jpg")
    convert(
        "conceptual-captions", source, tmp_path / "out", sets=[f"naming={naming}", "held_out=val"]
    )
    assert list(rows(tmp_path / "out")) == ["train-1"]


def test_a_mapping_file(source: Path, tmp_path: Path, jpeg, note, rows, lost) -> None:
    jpeg(source, "anywhere/x.jpg")
    note(
        source / "images.tsv", f"{TRAIN[0][1]}\tanywhere/x.jpg", f"{TRAIN[1][1]}\t../../secret.jpg"
    )
    convert("conceptual-captions", source, tmp_path / "out")
    assert rows(tmp_path / "out")["train-0"].image == "images/anywhere/x.jpg"
    assert lost(tmp_path / "out") == {
        "train-1": "the image's path leaves the folder",
        "val-0": "no image file",
        "val-1": "no image file",
    }


def shard(path: Path, samples: dict[str, dict[str, bytes]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w") as archive:
        for key, members in samples.items():
            for suffix, data in members.items():
                info = tarfile.TarInfo(f"{key}.{suffix}")
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))


def sample(text: str, **notes) -> dict[str, bytes]:
    buffer = io.BytesIO()
    Image.new("RGB", (2, 2)).save(buffer, "JPEG")
    known = {"caption": text, "key": "k", "status": "success", "exif": "{}", "width": 2, "url": "u"}
    return {
        "jpg": buffer.getvalue(),
        "txt": text.encode(),
        "json": json.dumps(known | notes).encode(),
    }


def test_shards_of_img2dataset(tmp_path: Path, rows, lost) -> None:
    source = tmp_path / "wds"
    page = sample("a page") | {"jpg": b"<html>"}
    shard(source / "00000.tar", {"000000000": sample("ein Café"), "000000002": page})
    shard(source / "val/00000.tar", {"000000000": sample("other", similarity=0.5)})
    (source / "00001.tar").write_bytes(b"cut short" * 200)
    (source / "val/00000.parquet").write_bytes(b"cut short")
    status = ["success", "failed_to_download", "failed_to_resize"]
    table = {"key": ["000000000", "000000001", "000000003"], "url": list("abc"), "status": status}
    pq.write_table(
        pa.table(table | {"error_message": [None, "HTTP Error 404", None]}),
        source / "00000.parquet",
    )
    convert("conceptual-captions", source, tmp_path / "out")
    found = rows(tmp_path / "out")
    first, second = found["00000/000000000"], found["val/00000/000000000"]
    assert first.texts == ("ein Café",)
    assert first.image == "images/00000/000000000.jpg"
    assert (first.split, second.split) == ("train", "test")
    assert first.extra["width"] == 2
    assert second.extra["similarity"] == 0.5
    assert not {"key", "status", "exif", "caption"} & first.extra.keys()
    assert lost(tmp_path / "out") == {
        "00000/000000001": "failed to download",
        "00000/000000002": "a web page in place of the image",
        "00000/000000003": "failed to resize",
        "00001": "a shard that cannot be read",
        "val/00000": "a list of downloads that cannot be read",
    }


def test_nothing_to_read(source: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="images not found; looked for the folder training"):
        convert("conceptual-captions", source, tmp_path / "out")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match=r"captions not found; looked for Train_GCC-training.tsv"):
        convert("conceptual-captions", tmp_path / "empty", tmp_path / "out")

"""Names of columns: what is needed, what is suggested, what a user maps; nothing is guessed."""

from __future__ import annotations

import tarfile
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import trope
from trope.data.naming import meant, require
from trope.data.readers import lines
from trope.errors import DataError, UsageError

ROWS = [
    {"key": "a", "Head line": "one", "filename": "a.jpg", "tags": ["x", "y"]},
    {"key": "b", "Head line": "two", "filename": "b.jpg", "tags": ["z"]},
]
MAPPING = {"id": "key", "text": "Head line", "image": "filename", "labels": "tags"}


def test_require() -> None:
    with pytest.raises(DataError, match=r"here: needs .* found: a, b; .*--column text=NAME"):
        require(["b", "a"], "here")
    with pytest.raises(DataError, match=r"found: no columns$"):
        require([], "here")
    with pytest.raises(DataError, match="column 'text' appears twice"):
        require(["text", "text"], "here")
    for names in (["image"], {"text_feature": None}):
        assert require(names, "here") is None  # type: ignore[func-returns-value]


@pytest.mark.parametrize(
    ("name", "meaning"),
    [
        ("Text", "text"),
        ("IMAGE ", "image"),
        ("caption", "text"),
        ("Captions", "texts"),
        ("headline", "text"),
        ("file", "image"),
        ("Image Path", "image"),
        ("url", "image"),
    ],
)
def test_a_column_that_looks_right_is_named_and_not_taken(name: str, meaning: str) -> None:
    with pytest.raises(DataError) as caught:
        require(["id", name], "here")
    said = str(caught.value)
    assert f"'{name}' looks like '{meaning}'" in said
    assert f"{meaning}={name}" in said
    assert f"columns={ {meaning: name} }" in said
    assert "\n" not in said


def test_the_likeliest_column_is_suggested() -> None:
    with pytest.raises(DataError, match=r"'filename' looks like 'image' and 'Caption' looks"):
        require(["url", "path", "filename", "Caption"], "here")


def written(folder: Path, kind: str) -> Path:
    path = folder / f"x.{kind}"
    if kind == "csv":
        lines = (f"{r['key']},{r['Head line']},{r['filename']},{'|'.join(r['tags'])}" for r in ROWS)
        path.write_text("\n".join(["key,Head line,filename,tags", *lines]))
    elif kind == "jsonl":
        path.write_bytes(b"\n".join(map(orjson.dumps, ROWS)))
    elif kind == "parquet":
        pq.write_table(pa.Table.from_pylist(ROWS), path)
    else:
        _write_shard(path)
    return path


def _write_shard(path: Path) -> None:
    with tarfile.open(path, "w") as archive:
        for row in ROWS:
            member = folder_file(path.parent, f"{row['key']}.json", orjson.dumps(row))
            archive.add(member, member.name)


def folder_file(folder: Path, name: str, content: bytes) -> Path:
    (folder / name).write_bytes(content)
    return folder / name


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_a_mapping_gives_columns_their_meaning(tmp_path: Path, kind: str) -> None:
    pairs = trope.open(written(tmp_path, kind), columns=MAPPING)
    found = [(p.id, p.texts, p.image, p.labels, dict(p.extra)) for p in pairs]
    assert found == [("a", ("one",), "a.jpg", ("x", "y"), {}), ("b", ("two",), "b.jpg", ("z",), {})]
    assert pairs.images.path(1) == tmp_path / "b.jpg"  # type: ignore[attr-defined]


def test_a_mapping_of_shards(tmp_path: Path) -> None:
    pairs = trope.open(written(tmp_path, "tar"), columns={"text": "Head line"})
    assert [pair.texts for pair in pairs] == [("one",), ("two",)]


def test_a_mapping_of_a_saved_data_set(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    datasets.Dataset.from_list(ROWS).save_to_disk(tmp_path / "saved")
    pairs = trope.open(tmp_path / "saved", columns=MAPPING)
    assert [(p.id, p.texts, p.labels) for p in pairs] == [
        ("a", ("one",), ("x", "y")),
        ("b", ("two",), ("z",)),
    ]


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "tar"])
@pytest.mark.parametrize(
    ("mapping", "words"),
    [
        ({"text": "headline"}, r"no column 'headline'; did you mean 'Head line'\?"),
        ({"txt": "Head line"}, r"'txt' has no meaning; did you mean 'text'\?"),
        ({"text": "Head line", "group": "Head line"}, "can mean one thing only"),
    ],
)
def test_a_wrong_mapping(tmp_path: Path, kind: str, mapping: dict[str, str], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        trope.open(written(tmp_path, kind), columns=mapping)


def test_a_column_is_never_displaced() -> None:
    with pytest.raises(UsageError, match="'title' cannot be 'text': there is one already"):
        meant(["text", "title"], {"text": "title"}, "here")
    assert meant(["text", "title"], {"text": "text"}, "here") == ["text", "title"]


def test_a_column_is_not_displaced_by_one_far_below_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "BLOCK", 16)  # each row a block of its own
    rows = [{"text": "one"}, {"Headline": "two"}, {"Headline": "three"}]
    (tmp_path / "pairs.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)))
    with pytest.raises(UsageError, match="'Headline' cannot be 'text': there is one already"):
        trope.open(tmp_path, columns={"text": "Headline"})


@pytest.mark.parametrize(
    ("row", "remarks"),
    [
        ({"text": "t", "File": "a.jpg"}, ["no row has 'image'; 'File' looks like 'image'"]),
        ({"image": "a.jpg", "caption": "t"}, ["no row has 'text'; 'caption' looks like 'text'"]),
        ({"image": "a.jpg", "text": "t", "url": "u", "caption": "c"}, []),
        ({"text": "t", "url": "u", "image_feature": 0}, []),
    ],
)
def test_half_of_a_row_under_another_name_is_remarked(
    tmp_path: Path, row: dict[str, Any], remarks: list[str]
) -> None:
    (tmp_path / "pairs.jsonl").write_bytes(orjson.dumps(row))
    assert [told.split(":")[0] for told in trope.open(tmp_path).remarks] == remarks

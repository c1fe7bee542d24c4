from __future__ import annotations

from pathlib import Path

import pytest

from trope.data.convert import convert
from trope.errors import DataError, UsageError


def karpathy(*images: tuple[str, str, list[str]]) -> dict:
    entries = []
    for name, split, raws in images:
        sentences = [{"raw": raw, "sentid": i, "tokens": raw.split()} for i, raw in enumerate(raws)]
        entries.append({"filename": name, "split": split, "sentences": sentences, "imgid": 0})
    return {"images": entries, "dataset": "flickr"}


def test_flickr30k_karpathy(tmp_path: Path, dump, jpeg, rows, lost) -> None:
    source = tmp_path / "f30k"
    images = [
        ("10.jpg", "train", ["Zwei Männer", "Two men"]),
        ("11.jpg", "test", ["x"]),
        ("12.jpg", "val", ["y"]),
    ]
    dump(source / "dataset_flickr30k.json", karpathy(*images))
    jpeg(source / "flickr30k-images", "10.jpg", "11.jpg")
    convert("flickr30k", source, tmp_path / "out")
    found = rows(tmp_path / "out")
    assert found["10"].texts == ("Zwei Männer", "Two men")
    assert found["10"].extra["caption_ids"] == [0, 1]
    assert {i: p.split for i, p in found.items()} == {"10": "train", "11": "test"}
    assert lost(tmp_path / "out") == {"12": "no image file"}


def test_flickr30k_official_captions(tmp_path: Path, note, jpeg, rows, lost) -> None:
    source = tmp_path / "f30k"
    note(
        source / "results_20130124.token", "10.jpg#0\tA man", "10.jpg#1\tA  man # 2", "11.jpg#0\tB"
    )
    jpeg(source / "flickr30k_images", "10.jpg", "11.jpg")
    convert("flickr30k", source, tmp_path / "unsplit")
    assert [p.split for p in rows(tmp_path / "unsplit").values()] == [None, None]
    note(source / "train.txt", "10")
    convert("flickr30k", source, tmp_path / "split")
    found = rows(tmp_path / "split")
    assert found["10"].texts == ("A man", "A  man # 2")
    assert found["10"].split == "train"
    assert lost(tmp_path / "split") == {"11": "not in the split file"}


@pytest.fixture
def flickr8k(tmp_path: Path, note, jpeg) -> Path:
    source = tmp_path / "f8k"
    note(
        source / "Flickr8k_text/Flickr8k.token.txt",
        "1000_a.jpg#0\tA child in a pink dress .",
        "1000_a.jpg#1\tA girl .",
        "1001_b.jpg#0\tA dog .",
        "2258277193_586949ec62.jpg.1#0\tPeople waiting .",
        "1002_c.jpg#0\tA cat .",
    )
    note(source / "Flickr8k_text/Flickr_8k.trainImages.txt", "1000_a.jpg")
    note(source / "Flickr8k_text/Flickr_8k.devImages.txt", "1001_b.jpg")
    note(source / "Flickr8k_text/Flickr_8k.testImages.txt", "1002_c.jpg")
    jpeg(source / "Flicker8k_Dataset", "1000_a.jpg", "1001_b.jpg", "2258277193_586949ec62.jpg")
    return source


def test_flickr8k_with_its_stray_name(flickr8k: Path, tmp_path: Path, rows, lost) -> None:
    convert("flickr8k", flickr8k, tmp_path / "out")
    found = rows(tmp_path / "out")
    assert {i: p.split for i, p in found.items()} == {"1000_a": "train", "1001_b": "val"}
    assert found["1000_a"].texts == ("A child in a pink dress .", "A girl .")
    assert lost(tmp_path / "out") == {
        "2258277193_586949ec62.jpg.1": "not in the split file",
        "1002_c": "no image file",
    }


def test_flickr8k_karpathy(tmp_path: Path, dump, jpeg, rows) -> None:
    source = tmp_path / "f8k"
    dump(source / "dataset_flickr8k.json", karpathy(("1_a.jpg", "train", ["x"])))
    jpeg(source / "images", "1_a.jpg")
    convert("flickr8k", source, tmp_path / "out")
    assert rows(tmp_path / "out")["1_a"].texts == ("x",)


def test_lines_in_latin_1_are_kept(flickr8k: Path, tmp_path: Path, rows) -> None:
    path = flickr8k / "Flickr8k_text/Flickr8k.token.txt"
    path.write_bytes(
        "1000_a.jpg#0\tUn café\n".encode("latin-1") + "1001_b.jpg#0\tUn thé\n".encode()
    )
    convert("flickr8k", flickr8k, tmp_path / "out")
    found = rows(tmp_path / "out")
    assert (found["1000_a"].texts, found["1001_b"].texts) == (("Un café",), ("Un thé",))


def test_what_is_wrong_is_named(flickr8k: Path, tmp_path: Path, note) -> None:
    path = flickr8k / "Flickr8k_text/Flickr8k.token.txt"
    note(path, "1000_a.jpg#0\tfine", "1000_a.jpg no tab")
    with pytest.raises(DataError, match=r"Flickr8k.token.txt:2: expected"):
        convert("flickr8k", flickr8k, tmp_path / "out")
    path.unlink()
    with pytest.raises(UsageError, match=r"captions not found; looked for Flickr8k.token.txt or"):
        convert("flickr8k", flickr8k, tmp_path / "out")
    with pytest.raises(UsageError, match="images not found; looked for the folder flickr30k"):
        convert("flickr30k", flickr8k, tmp_path / "out")


def test_split_entry_that_leaves_the_folder(tmp_path: Path, dump, jpeg, rows, lost) -> None:
    source = tmp_path / "f30k"
    images = [
        ("../secret.jpg", "train", ["x"]),
        ("10.jpg", "train", ["y"]),
        ("/etc/passwd", "train", ["z"]),
    ]
    dump(source / "dataset_flickr30k.json", karpathy(*images))
    jpeg(source / "flickr30k-images", "10.jpg", "../secret.jpg")
    convert("flickr30k", source, tmp_path / "out")
    assert set(rows(tmp_path / "out")) == {"10"}
    reasons = lost(tmp_path / "out")
    assert reasons["secret"] == "the image's path leaves the folder"
    assert reasons["passwd"] == "no image file"  # below the source there is none of that name

from __future__ import annotations

from pathlib import Path

import pytest

from trope.data.convert import convert
from trope.errors import DataError, UsageError

ARTICLES = {
    "a1": {
        "article_url": "https://example.org/a1",
        "headline": {"main": "A quiet day", "kicker": ""},
        "article": "Long text. More of it.",
        "images": {"0": "Señora López, right.", "3": "A street."},
    },
    "b2": {"headline": "Plain headline", "article": "Other.", "images": {"0": "Noch ein Bild"}},
    "c3": {"article": "No images here.", "images": {}},
    "d4": {"article": "Broken pair \ud83d", "images": {"0": "half \ud83d character"}},
}


@pytest.fixture
def source(tmp_path: Path, dump, jpeg) -> Path:
    folder = tmp_path / "goodnews"
    dump(folder / "captioning_dataset.json", ARTICLES)
    jpeg(folder / "resized", "a1_0.jpg", "b2_0.jpg", "d4_0.jpg")
    return folder


def test_captions(source: Path, tmp_path: Path, dump, rows, lost) -> None:
    dump(source / "img_splits.json", {"a1_0": "train", "a1_3": "val", "d4_0": "test"})
    report = convert("goodnews", source, tmp_path / "out")
    found = rows(tmp_path / "out")
    assert found["a1_0"].texts == ("Señora López, right.",)
    assert found["a1_0"].group == "a1"
    assert found["a1_0"].split == "train"
    assert found["a1_0"].extra["headline"] == "A quiet day"
    assert found["a1_0"].extra["article"] == "Long text. More of it."
    assert found["a1_0"].extra["url"] == "https://example.org/a1"
    assert found["d4_0"].texts == ("half � character",)
    assert lost(tmp_path / "out") == {
        "a1_3": "no image file",
        "b2_0": "not in the split file",
        "c3": "an article without images",
    }
    assert report.missing.total() == 3


def test_articles_as_text(source: Path, tmp_path: Path, rows) -> None:
    convert("goodnews", source, tmp_path / "out", sets=["text=article"])
    found = rows(tmp_path / "out")
    assert found["b2_0"].texts == ("Other.",)
    assert found["b2_0"].extra["caption"] == "Noch ein Bild"
    assert found["b2_0"].extra["headline"] == "Plain headline"
    assert found["b2_0"].split is None


def test_the_preprocessed_list_of_splits(source: Path, tmp_path: Path, dump, rows) -> None:
    entries = [{"imgid": "a1_0", "filename": "a1_0.jpg", "split": "test", "cocoid": 0}]
    dump(source / "data/news_dataset.json", entries)
    convert("goodnews", source, tmp_path / "out", keep_unsplit=True, keep_article=False)
    found = rows(tmp_path / "out")
    assert {i: p.split for i, p in found.items()} == {"a1_0": "test", "b2_0": None, "d4_0": None}
    assert "article" not in found["a1_0"].extra


def test_dead_links_left_pages_behind(source: Path, tmp_path: Path, lost) -> None:
    (source / "resized/b2_0.jpg").write_text("\n <!DOCTYPE html><p>404")
    (source / "resized/a1_3.jpg").write_bytes(b"")
    convert("goodnews", source, tmp_path / "out")
    assert lost(tmp_path / "out") == {
        "a1_3": "empty image file",
        "b2_0": "a web page in place of the image",
        "c3": "an article without images",
    }


def test_wrong_files(source: Path, tmp_path: Path, dump) -> None:
    dump(source / "captioning_dataset.json", [1, 2])
    with pytest.raises(DataError, match=r"json: not valid JSON at character 1 \(expected '{'"):
        convert("goodnews", source, tmp_path / "out")
    (source / "captioning_dataset.json").unlink()
    with pytest.raises(UsageError, match=r"articles not found; looked for captioning_dataset.json"):
        convert("goodnews", source, tmp_path / "out")

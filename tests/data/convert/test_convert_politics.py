from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from trope.data.convert import convert
from trope.errors import DataError

ITEMS = {
    "left": {
        "guns": [
            {
                "local_path": "imgs/left/guns/site/1.jpg",
                "content_text": "One. Two.",
                "url": "u",
                "n": 3,
            },
            {"local_path": "/elsewhere/imgs/left/guns/site/2.jpg", "content_text": "", "url": "u2"},
            {"content_text": "no path"},
        ],
    },
    "right": {
        "abortion": [
            {
                "local_path": "./imgs/right/abortion/paper/1.jpg",
                "content_text": "Текст статьи",
                "tags": [1],
            },
            {"local_path": "imgs/right/abortion/paper/9.jpg", "content_text": "gone"},
            {"local_path": "imgs/../../secret.jpg", "content_text": "out"},
            {"local_path": "imgs/right/abortion/paper/3.jpg", "content_text": "boilerplate"},
        ],
    },
}
SPLITS = {
    "train_imgs": [
        "x/imgs/left/guns/site/1.jpg",
        "imgs/left/guns/site/2.jpg",
        "imgs/../../secret.jpg",
    ],
    "test_imgs": ["imgs/right/abortion/paper/1.jpg", "imgs/right/abortion/paper/9.jpg"],
}


@pytest.fixture
def source(tmp_path: Path, jpeg) -> Path:
    folder = tmp_path / "politics"
    jpeg(
        folder / "imgs",
        "left/guns/site/1.jpg",
        "left/guns/site/2.jpg",
        "right/abortion/paper/1.jpg",
    )
    jpeg(folder / "imgs", "right/abortion/paper/3.jpg")
    jpeg(tmp_path, "secret.jpg")
    (folder / "dataset_metadata.pickle").write_bytes(pickle.dumps(ITEMS, protocol=3))
    return folder


def test_with_the_split_file(source: Path, tmp_path: Path, rows, lost) -> None:
    (source / "train_test_paths.pickle").write_bytes(pickle.dumps(SPLITS))
    convert("politics", source, tmp_path / "out")
    found = rows(tmp_path / "out")
    assert list(found) == ["left/guns/site/1.jpg", "right/abortion/paper/1.jpg"]
    first, second = found.values()
    assert first.texts == ("One. Two.",)
    assert first.labels == ("left", "guns")
    assert first.image == "images/left/guns/site/1.jpg"
    assert (first.split, second.split) == ("train", "test")
    assert first.extra["medium"] == "site"
    assert (first.extra["url"], first.extra["n"]) == ("u", 3)
    assert second.texts == ("Текст статьи",)
    assert lost(tmp_path / "out") == {
        "left/guns/site/2.jpg": "no text",
        "left/guns/2": "no image path in the annotations",
        "right/abortion/paper/9.jpg": "no image file",
        "../../secret.jpg": "the image's path leaves the folder",
        "right/abortion/paper/3.jpg": "not in the split file",
    }


def test_without_splits_and_with_a_shortest_length(
    source: Path, tmp_path: Path, rows, lost
) -> None:
    convert("politics", source, tmp_path / "out", sets=["min_characters=12"])
    assert {p.split for p in rows(tmp_path / "out").values()} == {None}
    assert "right/abortion/paper/3.jpg" not in rows(tmp_path / "out")
    reasons = lost(tmp_path / "out")
    assert reasons["right/abortion/paper/3.jpg"] == "fewer than 12 characters"
    assert reasons["left/guns/site/2.jpg"] == "no text"


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ([1], "expected a table by leaning"),
        ({"left": [1]}, "expected a table by issue under 'left'"),
        ({"left": {"guns": 3}}, "expected a list of images under 'left', 'guns'"),
    ],
)
def test_other_shapes_are_named(source: Path, tmp_path: Path, document, problem: str) -> None:
    (source / "dataset_metadata.pickle").write_bytes(pickle.dumps(document))
    with pytest.raises(DataError, match=problem):
        convert("politics", source, tmp_path / "out")


def test_a_size_limit(source: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"dataset_metadata.pickle: .* more than the limit of 10"):
        convert("politics", source, tmp_path / "out", pickle_limit_gb=1e-8)
    assert not list(tmp_path.glob(".out*"))

"""The two Flickr sets whose texts are tags: MIRFLICKR-25K and NUS-WIDE."""

from __future__ import annotations

from pathlib import Path

import pytest

from trope.data.convert import convert
from trope.errors import DataError, UsageError


@pytest.fixture
def mirflickr(tmp_path: Path, jpeg, note) -> Path:
    source = tmp_path / "mir"
    jpeg(source / "mirflickr", "im1.jpg", "im2.jpg", "im10.jpg")
    note(source / "mirflickr/meta/tags/tags1.txt", "explore", "ciel d'été")
    note(source / "mirflickr/meta/tags/tags2.txt")
    note(source / "mirflickr/meta/tags/tags10.txt", "night")
    note(source / "mirflickr/meta/tags/tags11.txt", "lost")
    notes = source / "mirflickr25k_annotations_v080"
    note(notes / "animals.txt", "1", "10")
    note(notes / "baby.txt", "1", "11", "99")
    note(notes / "baby_r1.txt", "1")
    note(notes / "README.txt", "This is version 0.80 of the annotations.")
    return source


def test_mirflickr(mirflickr: Path, tmp_path: Path, rows, lost) -> None:
    convert("mirflickr25k", mirflickr, tmp_path / "out")
    found = rows(tmp_path / "out")
    assert list(found) == ["im1", "im10"]
    assert found["im1"].texts == ("explore ciel d'été",)
    assert found["im1"].labels == ("animals", "baby")
    assert found["im1"].extra["tags"] == ["explore", "ciel d'été"]
    assert found["im10"].labels == ("animals",)
    gone = dict.fromkeys(("im11", "im99"), "no image file")
    assert lost(tmp_path / "out") == {"im2": "no text", **gone}


def test_mirflickr_salient_topics(mirflickr: Path, tmp_path: Path, rows) -> None:
    convert("mirflickr25k", mirflickr, tmp_path / "out", labels="relevant")
    found = rows(tmp_path / "out")
    assert {i: p.labels for i, p in found.items()} == {"im1": ("baby",), "im10": ()}


@pytest.mark.parametrize("line", ["1o", "²", "im7"])
def test_mirflickr_lists_with_a_line_that_is_no_number(
    mirflickr: Path, tmp_path: Path, line: str, note
) -> None:
    """A topic must not be lost for it, and neither must the photo that was meant."""
    note(mirflickr / "mirflickr25k_annotations_v080/sky.txt", "1", "", line, "2")
    with pytest.raises(DataError, match=rf"sky.txt: line 3: expected the number .* '{line}'"):
        convert("mirflickr25k", mirflickr, tmp_path / "out")


def test_mirflickr_files_that_are_not_there(mirflickr: Path, tmp_path: Path) -> None:
    for path in (mirflickr / "mirflickr25k_annotations_v080").iterdir():
        path.unlink()
    with pytest.raises(DataError, match=r"no annotation lists such as animals.txt"):
        convert("mirflickr25k", mirflickr, tmp_path / "out")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=r"images not found; looked for mirflickr/im1.jpg"):
        convert("mirflickr25k", tmp_path / "empty", tmp_path / "out")


NAMES = ["actor\\0001_21.jpg", "actor\\0002_22.jpg", "zoo\\0003_23.jpg", "..\\..\\0004_24.jpg"]


@pytest.fixture
def nus(tmp_path: Path, jpeg, note) -> Path:
    source = tmp_path / "nus"
    note(source / "ImageList/Imagelist.txt", *NAMES)
    note(source / "ImageList/TrainImagelist.txt", NAMES[0], NAMES[1])
    note(source / "ImageList/TestImagelist.txt", NAMES[2], NAMES[3])
    note(source / "ConceptsList/Concepts81.txt", "airport", "lake", "zebra")
    labels = {"airport": "0 0 1 0", "lake": "1 1 0 0", "zebra": "1 0 1 1"}
    for concept, marks in labels.items():
        note(source / f"Groundtruth/AllLabels/Labels_{concept}.txt", *marks.split())
    note(
        source / "NUS_WID_Tags/All_Tags.txt",
        "21        nature 海 lake",
        "22        portrait",
        "24  x",
        "23\t\tanimal  zebra",
    )
    note(source / "NUS_WID_Tags/TagList1k.txt", "lake", "zebra")
    jpeg(source / "Flickr", "actor/0001_21.jpg", "zoo/0003_23.jpg")
    return source


def test_nus_wide(nus: Path, tmp_path: Path, rows, lost) -> None:
    convert("nus-wide", nus, tmp_path / "out")
    found = rows(tmp_path / "out")
    first, second = found["actor/0001_21"], found["zoo/0003_23"]
    assert first.texts == ("nature 海 lake",)
    assert first.image == "images/actor/0001_21.jpg"
    assert (first.labels, second.labels) == (("lake", "zebra"), ("airport", "zebra"))
    assert (first.split, second.split) == ("train", "test")
    assert second.extra["tags"] == ["animal", "zebra"]
    assert second.group == "23"
    assert lost(tmp_path / "out") == {
        "actor/0002_22": "no image file",
        "../../0004_24": "the image's path leaves the folder",
    }


def test_nus_wide_fewer_concepts_and_tags(nus: Path, tmp_path: Path, rows) -> None:
    convert("nus-wide", nus, tmp_path / "out", sets=["top=2", "tags=1k"])
    found = rows(tmp_path / "out")
    assert found["actor/0001_21"].texts == ("lake",)
    assert {i: p.labels for i, p in found.items()} == {
        "actor/0001_21": ("lake", "zebra"),
        "zoo/0003_23": ("zebra",),
    }
    with pytest.raises(UsageError, match="top must be at least 1"):
        convert("nus-wide", nus, tmp_path / "other", top=0)


def test_nus_wide_labels_by_part_with_the_stray_number(
    nus: Path, tmp_path: Path, note, rows
) -> None:
    whole = nus / "Groundtruth/AllLabels"
    parts = nus / "Groundtruth/TrainTestLabels"
    for path in whole.iterdir():
        marks = path.read_text().split()
        note(parts / f"{path.stem}_Train.txt", *marks[:2])
        note(parts / f"{path.stem}_Test.txt", *marks[2:])
        path.unlink()
    whole.rmdir()
    note(parts / "Labels_lake_Train.txt", "-1130179", "1")
    convert("nus-wide", nus, tmp_path / "out")
    found = rows(tmp_path / "out")
    assert found["actor/0001_21"].labels == ("zebra",)
    assert found["zoo/0003_23"].labels == ("airport", "zebra")


def test_nus_wide_pictures_in_one_folder(nus: Path, tmp_path: Path, jpeg, rows) -> None:
    jpeg(nus / "images", "0002_22.jpg")
    convert("nus-wide", nus, tmp_path / "out")
    assert rows(tmp_path / "out")["actor/0002_22"].image == "images/actor/0002_22.jpg"


def test_nus_wide_marks_must_match_the_list(nus: Path, tmp_path: Path, note) -> None:
    note(nus / "Groundtruth/AllLabels/Labels_lake.txt", "1", "0")
    with pytest.raises(DataError, match=r"Labels_lake.txt: 2 marks for the 4 images"):
        convert("nus-wide", nus, tmp_path / "out")
    (nus / "Groundtruth/AllLabels/Labels_lake.txt").unlink()
    with pytest.raises(DataError, match=r"Labels_lake.txt: No such file"):
        convert("nus-wide", nus, tmp_path / "out")

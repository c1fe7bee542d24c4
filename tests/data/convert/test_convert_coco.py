from __future__ import annotations

import json
from pathlib import Path

import pytest

from trope.data.convert import convert
from trope.errors import DataError, UsageError

NAMES = {1: "person", 18: "dog", 90: "toothbrush"}


def captions(*images: tuple[int, str, list[tuple[int, str]]]) -> dict:
    return {
        "info": {"year": 2014},
        "images": [{"id": i, "file_name": name, "height": 4} for i, name, _ in images],
        "licenses": [],
        "annotations": [
            {"image_id": i, "id": number, "caption": text}
            for i, _, texts in images
            for number, text in texts
        ],
    }


def instances(*marks: tuple[int, int]) -> dict:
    notes = [{"image_id": i, "category_id": c, "segmentation": [[1.5] * 8]} for i, c in marks]
    return {"annotations": notes, "categories": [{"id": i, "name": n} for i, n in NAMES.items()]}


@pytest.fixture
def source(tmp_path: Path, dump, jpeg) -> Path:
    folder = tmp_path / "coco"
    train = captions(
        (9, "COCO_train2014_000000000009.jpg", [(5, "A dog. \n"), (3, "Ein Hund läuft.")]),
        (25, "COCO_train2014_000000000025.jpg", [(7, "一只狗")]),
        (30, "COCO_train2014_000000000030.jpg", [(8, "   ")]),
    )
    val = captions(
        (42, "COCO_val2014_000000000042.jpg", [(11, "A brush"), (12, "A brush")]),
        (43, "../../secret.jpg", [(13, "Out of the folder")]),
    )
    dump(folder / "annotations/captions_train2014.json", train)
    dump(folder / "annotations/captions_val2014.json", val)
    dump(folder / "annotations/instances_train2014.json", instances((9, 18), (9, 1), (9, 18)))
    dump(folder / "annotations/instances_val2014.json", instances((42, 90)))
    names = (f"COCO_train2014_{n:012}.jpg" for n in (9, 25, 30))
    jpeg(folder / "train2014", *names)
    jpeg(folder / "val2014", "COCO_val2014_000000000042.jpg")
    jpeg(tmp_path, "secret.jpg")
    return folder


def test_official_parts(source: Path, tmp_path: Path, rows, lost) -> None:
    report = convert("coco", source, tmp_path / "out")
    found = rows(tmp_path / "out")
    assert list(found) == ["9", "25", "42"]
    assert found["9"].texts == ("Ein Hund läuft.", "A dog.")
    assert found["9"].labels == ("person", "dog")
    assert found["9"].extra["caption_ids"] == [3, 5]
    assert found["9"].image == "images/COCO_train2014_000000000009.jpg"
    assert found["25"].texts == ("一只狗",)
    assert found["25"].labels == ()
    assert [found[i].split for i in found] == ["train", "train", "test"]
    assert found["42"].texts == ("A brush", "A brush")
    assert lost(tmp_path / "out") == {"30": "no text", "43": "the image's path leaves the folder"}
    assert report.document()["splits"] == {"train": 2, "test": 1}


def test_validation_part_may_stay_one(source: Path, tmp_path: Path, rows) -> None:
    convert("coco", source, tmp_path / "out", held_out="val")
    assert rows(tmp_path / "out")["42"].split == "val"


def test_one_part_alone_is_no_split(source: Path, tmp_path: Path, rows) -> None:
    (source / "annotations/captions_train2014.json").unlink()
    convert("coco", source, tmp_path / "out")
    assert rows(tmp_path / "out")["42"].split is None


def test_the_year_that_has_a_train_part(source: Path, tmp_path: Path, dump, rows) -> None:
    dump(source / "annotations/captions_val2017.json", captions((1, "000000000001.jpg", [])))
    convert("coco", source, tmp_path / "out")
    assert set(rows(tmp_path / "out")) == {"9", "25", "42"}


@pytest.fixture
def karpathy(source: Path, dump, jpeg) -> Path:
    def image(number: int, part: str, split: str, *raw: str) -> dict:
        sentences = [
            {"raw": text, "tokens": [], "sentid": 100 * number + i} for i, text in enumerate(raw)
        ]
        name = f"COCO_{part}2014_{number:012}.jpg"
        known = {"filepath": f"{part}2014", "filename": name, "cocoid": number, "imgid": 0}
        return known | {"split": split, "sentences": sentences, "sentids": []}

    images = [
        image(9, "train", "train", "one", "two "),
        image(42, "val", "restval", "three"),
        image(77, "val", "test", "four"),
        image(78, "val", "val", "five"),
    ]
    dump(source / "dataset_coco.json", {"images": images, "dataset": "coco"})
    jpeg(source / "images/val2017", "000000000077.jpg")
    return source


def test_karpathy_splits_and_pictures_of_2017(karpathy: Path, tmp_path: Path, rows, lost) -> None:
    convert("coco", karpathy, tmp_path / "out")
    found = rows(tmp_path / "out")
    assert {i: p.split for i, p in found.items()} == {"9": "train", "42": "train", "77": "test"}
    assert found["9"].texts == ("one", "two")
    assert found["9"].extra["caption_ids"] == [900, 901]
    assert found["42"].labels == ("toothbrush",)
    assert found["77"].image == "images/COCO_val2014_000000000077.jpg"
    assert lost(tmp_path / "out") == {"78": "no image file"}


def test_official_splits_in_spite_of_karpathy(karpathy: Path, tmp_path: Path, rows) -> None:
    convert("coco", karpathy, tmp_path / "out", sets=["splits=official"])
    assert set(rows(tmp_path / "out")) == {"9", "25", "42"}


def test_files_that_are_not_there(tmp_path: Path, source: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match=r"captions not found; looked for annotations/captions_"):
        convert("coco", tmp_path / "empty", tmp_path / "out")
    with pytest.raises(UsageError, match="Karpathy's split file not found"):
        convert("coco", source, tmp_path / "out", splits="karpathy")


def test_broken_annotations_are_one_line(source: Path, tmp_path: Path) -> None:
    path = source / "annotations/captions_train2014.json"
    path.write_text(path.read_text().replace('"image_id"', '"picture"'))
    with pytest.raises(DataError, match=r"captions_train2014.json: an entry has no 'image_id'"):
        convert("coco", source, tmp_path / "out")
    path.write_text('{"images": [], "annotations": [{"id": 1,')
    with pytest.raises(DataError, match="not valid JSON"):
        convert("coco", source, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_missing_rows_keep_their_content(source: Path, tmp_path: Path) -> None:
    convert("coco", source, tmp_path / "out")
    lines = (tmp_path / "out/missing.jsonl").read_text().splitlines()
    last = json.loads(lines[-1])
    assert last["row"]["text"] == "Out of the folder"
    assert last["looked_for"] == "./val2014/../../secret.jpg"

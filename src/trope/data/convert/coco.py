"""COCO captions with the categories of the instance annotations as labels."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from trope.data.convert import karpathy
from trope.data.convert.jsonstream import elements
from trope.data.convert.layout import Contents, Format, Found, Missing, Row, said
from trope.data.convert.lookup import below, optional, required
from trope.errors import DataError

YEARS = ("2017", "2014")
PLACES = (".", "images")

Labels = dict[int, list[str]]


@dataclass(frozen=True)
class Coco:
    """Which splits to use, and what the official validation part is used as."""

    splits: Literal["auto", "karpathy", "official"] = "auto"
    held_out: Literal["test", "val"] = "test"


def read(source: Path, settings: Coco) -> Contents:
    """Karpathy's split file where there is one, else the official train and validation parts."""
    split_file = optional(
        source, "dataset_coco.json", "annotations/dataset_coco.json", "*/dataset_coco.json"
    )
    if settings.splits == "karpathy" or (settings.splits == "auto" and split_file):
        path = split_file or required(source, "Karpathy's split file", "dataset_coco.json")
        return Contents(_karpathy(source, path))
    year = _year(source)
    parts = {"train": "train", "val": settings.held_out}
    files = {part: source / f"annotations/captions_{part}{year}.json" for part in parts}
    there = {part: path for part, path in files.items() if path.is_file()}
    if len(there) == 1:  # one part alone is no split
        parts = {}
    return Contents(_official(source, year, there, parts))


def _year(source: Path) -> str:
    names = [
        f"annotations/captions_{part}{year}.json" for part in ("train", "val") for year in YEARS
    ]
    return required(source, "captions", *names).stem[-4:]


def _karpathy(source: Path, path: Path) -> Iterator[Found | Missing]:
    labels = _labels(
        [p for year in YEARS for p in source.glob(f"annotations/instances_*{year}.json")]
    )

    def finish(image: dict[str, Any], row: Row) -> Found:
        number, name = int(image["cocoid"]), str(image["filename"])
        row |= {"id": str(number), "labels": labels.get(number, [])}
        # the same pictures were published again in 2017 under shorter names
        names = (
            f"{image['filepath']}/{name}",
            *(f"{p}2017/{number:012}.jpg" for p in ("train", "val")),
        )
        return Found(row, name, below(PLACES, *names))

    return karpathy.rows(path, finish)


def _official(
    source: Path, year: str, files: dict[str, Path], parts: dict[str, str]
) -> Iterator[Found | Missing]:
    for part, path in files.items():
        labels = _labels([source / f"annotations/instances_{part}{year}.json"])
        captions = _captions(path)
        for image in elements(path, "images"):
            number, name = _field(path, image, "id"), str(_field(path, image, "file_name"))
            said_of = captions.pop(number, [])
            row = {
                "id": str(number),
                **said(text for _, text in said_of),
                "labels": labels.get(number, []),
                "split": parts.get(part),
                "caption_ids": [caption_id for caption_id, _ in said_of],
            }
            yield Found(row, name, below(PLACES, f"{part}{year}/{name}"))
        for number, left in captions.items():
            told = {"id": str(number), **said(text for _, text in left)}
            yield Missing(str(number), "captions of an image that is not listed", told)


def _captions(path: Path) -> dict[int, list[tuple[int, str]]]:
    """The captions of every image with their ids, in the order of the ids."""
    found: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for note in elements(path, "annotations"):
        text = str(_field(path, note, "caption")).strip()
        if text:
            found[_field(path, note, "image_id")].append((_field(path, note, "id"), text))
    return {image: sorted(captions) for image, captions in found.items()}


def _labels(paths: list[Path]) -> Labels:
    """The names of the categories in every image; nothing where there are no instance files."""
    labels: Labels = {}
    for path in filter(Path.is_file, paths):
        kinds_of = elements(path, "categories")
        names = {_field(path, c, "id"): str(_field(path, c, "name")) for c in kinds_of}
        seen: dict[int, set[int]] = defaultdict(set)
        for note in elements(path, "annotations"):
            seen[_field(path, note, "image_id")].add(_field(path, note, "category_id"))
        labels |= {
            image: [names[c] for c in sorted(kinds & names.keys())] for image, kinds in seen.items()
        }
    return labels


def _field(path: Path, record: Any, name: str) -> Any:
    try:
        return record[name]
    except (KeyError, TypeError):
        raise DataError(f"{path}: an entry has no '{name}': {str(record)[:80]}") from None


FORMAT = Format(
    about="photos with five literal captions each and 80 object categories",
    paper="Lin et al., Microsoft COCO: Common Objects in Context, ECCV 2014; "
    "splits: Karpathy and Li, CVPR 2015",
    layout="""\
SOURCE/
  annotations/captions_train2014.json   and captions_val2014.json, or the same of 2017
  annotations/instances_train2014.json  optional, for the labels (and instances_val2014.json)
  dataset_coco.json                     optional, Karpathy's splits
  train2014/COCO_train2014_*.jpg        images, also below images/
  val2014/COCO_val2014_*.jpg""",
    becomes="Karpathy's train, restval (as train), val and test; else train, and val as test "
    "(no split where one part is alone); labels are category names",
    read=read,
    settings=Coco,
)

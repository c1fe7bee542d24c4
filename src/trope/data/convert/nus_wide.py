"""NUS-WIDE: Flickr photos with the tags of their owners and 81 annotated concepts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

import numpy as np
from jaxtyping import Bool

from trope.data.convert.layout import Contents, Format, Found, Missing
from trope.data.convert.lookup import folders, optional, required, text_lines
from trope.errors import DataError

IMAGES = ("Flickr", "images", "Flickr/Flickr", "nus-wide")
LISTS = ("ImageList", "Imagelist", ".", "ImageList/ImageList")
TAGS = ("NUS_WID_Tags", "Tags", ".")
VOCABULARIES = {"final": "Final_Tag_List.txt", "1k": "TagList1k.txt"}

Column = Bool[np.ndarray, " images"]
Marks = Bool[np.ndarray, "images concepts"]


@dataclass(frozen=True)
class NusWide:
    """How many of the concepts (the most frequent first), and which of the tags are kept."""

    top: int = 81
    tags: Literal["all", "final", "1k"] = "all"

    def __post_init__(self) -> None:
        if self.top < 1:
            raise ValueError("top must be at least 1")


def read(source: Path, settings: NusWide) -> Contents:
    """The photos in the order of the image list, which every other file follows."""
    names = _names(required(source, "image list", *_in(LISTS, "Imagelist.txt", "ImageList.txt")))
    places = folders(source, "images", *IMAGES)
    splits = _splits(source)
    concepts, marks = _concepts(source, names, splits)
    keep = np.argsort(-marks.sum(axis=0), kind="stable")[: settings.top]
    keep = np.sort(keep)
    tags = _tags(source)
    allowed = _vocabulary(source, settings.tags)
    kept = [concepts[column] for column in keep]
    return Contents(_rows(names, places, splits, kept, marks[:, keep], tags, allowed))


def _in(places: tuple[str, ...], *names: str) -> tuple[str, ...]:
    return tuple(f"{place}/{name}" for place in places for name in names)


def _names(path: Path) -> list[str]:
    """`actor/0001_2124494179.jpg`; the list is written with the backslashes of Windows."""
    return [line.strip().replace("\\", "/") for line in text_lines(path) if line.strip()]


def _splits(source: Path) -> dict[str, str]:
    splits: dict[str, str] = {}
    for split, name in (("train", "TrainImagelist.txt"), ("test", "TestImagelist.txt")):
        if path := optional(source, *_in(LISTS, name)):
            splits |= dict.fromkeys(_names(path), split)
    return splits


def _concepts(source: Path, names: list[str], splits: dict[str, str]) -> tuple[list[str], Marks]:
    """The concepts' names and which photo shows which, from the files of all photos or of parts."""
    listing = required(
        source, "concepts", *_in(("ConceptsList", "Groundtruth", "."), "Concepts81.txt")
    )
    concepts = [line.strip() for line in text_lines(listing) if line.strip()]
    whole = optional(source, "Groundtruth/AllLabels", "AllLabels")
    if whole:
        columns = [_marks(whole / f"Labels_{concept}.txt", len(names)) for concept in concepts]
        return concepts, np.stack(columns, axis=1)
    parts = required(
        source, "labels", "Groundtruth/AllLabels", "Groundtruth/TrainTestLabels", "TrainTestLabels"
    )
    marks = np.zeros((len(names), len(concepts)), dtype=bool)
    for split in ("train", "test"):
        rows = np.array([i for i, name in enumerate(names) if splits.get(name) == split], dtype=int)
        for column, concept in enumerate(concepts):
            path = parts / f"Labels_{concept}_{split.title()}.txt"
            marks[rows, column] = _marks(path, len(rows))
    return concepts, marks


def _marks(path: Path, count: int) -> Column:
    """A file of ones and zeros; a stray number, as `Labels_lake_Train.txt` has one, is no mark."""
    try:
        marks: Column = np.array(path.read_bytes().split(), dtype="S16") == b"1"
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}") from None
    if len(marks) != count:
        raise DataError(f"{path}: {len(marks)} marks for the {count} images of the list")
    return marks


def _tags(source: Path) -> dict[str, str]:
    """The tags of every photo by its id, as they stand on its line."""
    path = required(source, "tags", *_in(TAGS, "All_Tags.txt"))
    lines = (line.split(maxsplit=1) for line in text_lines(path))
    return {words[0]: words[1] for words in lines if len(words) == 2}


def _vocabulary(source: Path, which: str) -> set[str] | None:
    """The tags that are kept; None for all."""
    if which == "all":
        return None
    path = required(source, "tag list", *_in((*TAGS, "ConceptsList"), VOCABULARIES[which]))
    return {line.strip() for line in text_lines(path)}


def _rows(
    names: list[str],
    places: tuple[str, ...],
    splits: dict[str, str],
    concepts: list[str],
    marks: Marks,
    tags: dict[str, str],
    allowed: set[str] | None,
) -> Iterator[Found | Missing]:
    for name, marked in zip(names, marks, strict=True):
        pure = PurePosixPath(name)
        photo = pure.stem.rpartition("_")[2]
        words = [w for w in tags.get(photo, "").split() if allowed is None or w in allowed]
        row = {
            "id": name.removesuffix(".jpg"),
            "text": " ".join(words),
            "labels": [concepts[column] for column in np.flatnonzero(marked)],
            "group": photo,
            "split": splits.get(name),
            "tags": words,
        }
        yield Found(row, name, _in(places, name, pure.name, f"{photo}.jpg"))


FORMAT = Format(
    about="269,648 Flickr photos with their owners' tags and 81 concepts",
    paper="Chua et al., NUS-WIDE: A Real-World Web Image Database, CIVR 2009",
    layout="""\
SOURCE/
  ImageList/Imagelist.txt                       actor\\0001_2124494179.jpg, one per line
  ImageList/TrainImagelist.txt, TestImagelist.txt
  ConceptsList/Concepts81.txt
  Groundtruth/AllLabels/Labels_<concept>.txt    0 or 1 per image (or Groundtruth/TrainTestLabels/)
  NUS_WID_Tags/All_Tags.txt                     photo id and tags, one photo per line
  Flickr/<folder>/<file>.jpg                    images; also images/, or all in one folder""",
    becomes="train and test of the lists; text is the tags; labels are the concepts; "
    "group is the photo, which a few folders share",
    read=read,
    settings=NusWide,
)

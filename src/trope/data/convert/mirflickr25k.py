"""MIRFLICKR-25K: Flickr photos with the tags of their owners and 24 annotated topics."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from trope.data.convert.layout import NO_IMAGE, NO_TEXT, Contents, Format, Found, Missing
from trope.data.convert.lookup import folders, required, text_lines
from trope.errors import DataError

PLACES = ("mirflickr", "mirflickr25k", "images", ".")
NOTES = ("mirflickr25k_annotations_v080", "mirflickr25k_annotations*", "annotations", "annotation")
RELEVANT = "_r1"


@dataclass(frozen=True)
class MirFlickr:
    """Topics an annotator saw at all (`potential`, 24), or found to be salient (`relevant`, 14)."""

    labels: Literal["potential", "relevant"] = "potential"


def read(source: Path, settings: MirFlickr) -> Contents:
    """The photos in the order of their numbers."""
    place = next((p for p in folders(source, "images", *PLACES) if _numbers(source / p)), None)
    if place is None:
        looked = " or ".join(f"{place}/im1.jpg" for place in PLACES)
        raise DataError(f"{source}: images not found; looked for {looked}")
    tags = required(source, "tags", f"{place}/meta/tags", "meta/tags", "tags")
    notes = required(source, "annotations", *NOTES, *(f"{place}/{name}" for name in NOTES))
    labels = _labels(notes, settings.labels == "relevant")
    return Contents(_rows(source, place, tags, labels))


def _numbers(folder: Path) -> list[int]:
    names = (re.fullmatch(r"im(\d+)\.jpg", path.name) for path in folder.iterdir())
    return sorted(int(match[1]) for match in names if match)


def _labels(folder: Path, relevant: bool) -> dict[int, list[str]]:
    """The topics of every photo; each file lists the numbers of the photos of one topic."""
    labels: dict[int, list[str]] = defaultdict(list)
    for path in sorted(folder.glob("*.txt")):
        if path.stem.endswith(RELEVANT) is relevant:
            for number in _listed(path):
                labels[number].append(path.stem.removesuffix(RELEVANT))
    if not labels:
        raise DataError(f"{folder}: no annotation lists such as animals.txt in it")
    return labels


def _listed(path: Path) -> list[int]:
    """The numbers in a file; none in one that has no number at all, such as a README."""
    lines = [(place, line.strip()) for place, line in enumerate(text_lines(path), 1)]
    bad = [(place, line) for place, line in lines if line and not _is_number(line)]
    found = [int(line) for _, line in lines if _is_number(line)]
    if bad and found:
        place, line = bad[0]
        raise DataError(f"{path}: line {place}: expected the number of a photo, found '{line:.60}'")
    return found


def _is_number(line: str) -> bool:
    return line.isascii() and line.isdigit()


def _rows(
    source: Path, place: str, tags: Path, labels: dict[int, list[str]]
) -> Iterator[Found | Missing]:
    seen = set(_numbers(source / place))
    for number in sorted({*seen, *labels}):
        row = {"id": f"im{number}", "labels": labels.get(number, [])}
        path = tags / f"tags{number}.txt"
        words = [w for line in text_lines(path) if (w := line.strip())] if path.is_file() else []
        if words:
            row |= {"text": " ".join(words), "tags": words}
        if number not in seen:  # a photo that is not there has no tags either, most often
            yield Missing(f"im{number}", NO_IMAGE, row, f"{place}/im{number}.jpg")
        elif not words:
            yield Missing(f"im{number}", NO_TEXT, row, str(path.relative_to(source)))
        else:
            yield Found(row, f"im{number}.jpg", (f"{place}/im{number}.jpg",))


FORMAT = Format(
    about="25,000 Flickr photos with their owners' tags and 24 topics",
    paper="Huiskes and Lew, The MIR Flickr Retrieval Evaluation, MIR 2008",
    layout="""\
SOURCE/
  mirflickr/im1.jpg ... im25000.jpg
  mirflickr/meta/tags/tags1.txt ...            one tag per line
  mirflickr25k_annotations_v080/animals.txt    numbers of the photos of a topic, one per line
  mirflickr25k_annotations_v080/baby_r1.txt    ... where the topic is salient""",
    becomes="no splits; text is the tags; labels are the topics; "
    "photos without a tag are set aside",
    read=read,
    settings=MirFlickr,
)

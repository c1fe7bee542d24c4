"""The split files of Karpathy and Li (2015), which three of the caption sets are used with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from trope.data.convert.jsonstream import elements
from trope.data.convert.layout import Found, Missing, Row, said
from trope.errors import DataError

Finish = Callable[[dict[str, Any], Row], Found]

SPLITS = {
    "restval": "train"
}  # the rest of COCO's validation images is trained on, as everyone does


def rows(path: Path, finish: Finish) -> Iterator[Found | Missing]:
    """The images of a split file as rows; `finish` adds what is particular to the set."""
    for number, image in enumerate(elements(path, "images"), 1):
        try:
            row = _row(image)
            found = finish(image, row)
        except (KeyError, TypeError, AttributeError) as error:
            raise DataError(f"{path}: image {number} is not as expected ({error!r})") from None
        yield found


def _row(image: dict[str, Any]) -> Row:
    sentences = [s for s in image["sentences"] if s["raw"].strip()]
    return {
        "id": Path(image["filename"]).stem,
        **said(sentence["raw"] for sentence in sentences),
        "split": SPLITS.get(image["split"], image["split"]),
        "caption_ids": [s["sentid"] for s in sentences if "sentid" in s],
    }

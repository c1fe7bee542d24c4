"""What a format hands to the driver: rows with their pictures, what is missing, feature arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Shaped

NO_IMAGE = "no image file"
EMPTY_IMAGE = "empty image file"
WEB_PAGE = "a web page in place of the image"
LEAVES_FOLDER = "the image's path leaves the folder"
NO_TEXT = "no text"
NOT_IN_SPLIT = "not in the split file"

Row = dict[str, Any]
Block = Shaped[np.ndarray, "rows ..."]


@dataclass(frozen=True)
class Found:
    """One row of the data set to be, and where its picture may be found.

    `name` is the picture's place below `images/`, unless another picture took it before;
    `candidates` are paths below the source, the first that exists wins; `data` is the picture
    itself where it is not a file of its own.
    """

    row: Row
    name: str | None = None
    candidates: tuple[str, ...] = ()
    data: bytes | None = None


@dataclass(frozen=True)
class Missing:
    """An item that could not be converted: why, where it was looked for, what was known of it."""

    id: str
    reason: str
    row: Row = field(default_factory=dict)
    detail: str = ""


@dataclass(frozen=True)
class Features:
    """A numeric array given block by block along its first axis, never in memory as a whole.

    `files` are those its numbers come from: while they stay the same, so does the array.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    files: tuple[Path, ...]
    blocks: Callable[[], Iterator[Block]]


@dataclass(frozen=True)
class Contents:
    """Everything a source holds; `items` is read once, `features` go to `features/<name>.npy`."""

    items: Iterator[Found | Missing]
    features: Mapping[str, Features] = field(default_factory=dict)


@dataclass(frozen=True)
class Defaults:
    """The settings of a format that has none."""


@dataclass(frozen=True)
class Format:
    """An official layout: what it is, where it comes from, what it looks like, how it is read.

    `read` finds the files it needs before it returns, so that a wrong folder is refused at once.
    """

    about: str
    paper: str
    layout: str
    becomes: str
    read: Callable[[Path, Any], Contents]
    settings: type = Defaults


def said(texts: Iterable[str]) -> Row:
    """The field of a row that holds its texts: `text` for one, `texts` for several."""
    kept = [clean for text in texts if (clean := text.strip())]
    if len(kept) < 2:
        return {"text": kept[0]} if kept else {}
    return {"texts": kept}

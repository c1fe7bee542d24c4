"""Problems of pictures: each distinct one is read and decoded once, on all cores."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import PurePosixPath

import numpy as np
from jaxtyping import Bool, Int, Shaped
from PIL import Image

from trope.data.digests import digest
from trope.data.identity import codes
from trope.data.images import TooLargeError, opened
from trope.data.pairs import Pairs
from trope.data.stores import FolderImages, ImageStore
from trope.errors import DataError
from trope.runtime import cores, progress

TINY = 16
SAME_FORMAT = {"MPO": "JPEG"}  # phones write multi-picture files under .jpg


@dataclass(frozen=True)
class Examined:
    """What came out of reading one picture."""

    code: str | None = None
    detail: str = ""
    digest: bytes = b""


def examine(store: ImageStore, row: int, name: str) -> Examined:
    """Read and decode one picture completely, in bounds."""
    try:
        data = store.read(row)
    except DataError as error:
        return Examined("image-missing", f"{error}{_hint(name)}")
    if not data:
        return Examined("image-empty", name)
    try:
        with opened(data, name) as image:
            size, kind = image.size, image.format or ""
            image.draft("RGB", (TINY, TINY))  # less work, and still every byte is read
            image.load()
    except TooLargeError as error:
        return Examined("image-too-large", str(error))
    except DataError as error:
        truncated = "truncated" in str(error).lower()
        return Examined("image-truncated" if truncated else "image-corrupt", str(error))
    doubt = _doubts(name, kind, size)
    if not doubt[0] and isinstance(store, FolderImages) and (real := store.elsewhere(row)):
        doubt = "image-linked", f"{name} is {real}"
    return Examined(*doubt, digest(data))


def _hint(name: str) -> str:
    """What is probably wrong with the name of a picture that is not there."""
    if "\\" in name:
        return "; folders are told apart by /, not by a backslash"
    if "://" in name:
        return "; an address is not fetched: name the file of the picture"
    return "; the path has a blank at its end" if name != name.strip() else ""


def _doubts(name: str, kind: str, size: tuple[int, int]) -> tuple[str | None, str]:
    """What is odd about a picture that can be used."""
    expected = Image.registered_extensions().get(PurePosixPath(name).suffix.lower())
    kind = SAME_FORMAT.get(kind, kind)
    if PurePosixPath(name).suffix and expected != kind:
        return "image-misnamed", f"{name} is {kind}"
    if min(size) < TINY:
        return "image-tiny", f"{name} is {size[0]}×{size[1]}"
    return None, ""


def pictures(
    pairs: Pairs, skip: Bool[np.ndarray, " rows"]
) -> tuple[list[tuple[str, int, str]], Shaped[np.ndarray, " rows"]]:
    """Findings of all pictures, and the content digest of each row's (empty where it has none)."""
    rows = np.flatnonzero(pairs.has_image & ~skip)
    distinct, inverse = _distinct(pairs, rows)
    results = list(progress(_examined(pairs, distinct), "checking images", len(distinct)))
    digests = np.zeros(len(pairs), "S16")
    digests[rows] = np.array([r.digest for r in results], "S16")[inverse]
    found = [
        (results[i], int(row)) for row, i in zip(rows, inverse, strict=True) if results[i].code
    ]
    return [(str(result.code), row, result.detail) for result, row in found], digests


def copies(pairs: Pairs, digests: Shaped[np.ndarray, " rows"]) -> Iterator[tuple[str, int, str]]:
    """Pictures whose bytes an earlier row has under another name."""
    paths = codes(pairs.column("image"))
    rows = np.flatnonzero(digests != b"")
    _, first, inverse = np.unique(digests[rows], return_index=True, return_inverse=True)
    origin = rows[first][inverse]
    for row, other in zip(rows, origin, strict=True):
        if paths[row] != paths[other]:
            name, twin = (pairs.column("image")[int(i)].as_py() for i in (row, other))
            yield "image-copied", int(row), f"{name} is {twin} ({pairs.place(int(other))})"


def _distinct(
    pairs: Pairs, rows: Int[np.ndarray, " some"]
) -> tuple[Int[np.ndarray, " distinct"], Int[np.ndarray, " some"]]:
    """One row for each distinct path, and which of them stands for each row."""
    _, first, inverse = np.unique(
        codes(pairs.column("image"))[rows], return_index=True, return_inverse=True
    )
    return rows[first], inverse


def _examined(pairs: Pairs, rows: Int[np.ndarray, " distinct"]) -> Iterator[Examined]:
    names = pairs.column("image").take(rows).to_pylist()
    with ThreadPoolExecutor(cores()) as pool:
        for start in range(0, len(rows), 1_024):  # bounded look-ahead, so that Ctrl-C is heard
            part = slice(start, start + 1_024)
            yield from pool.map(
                lambda item: examine(pairs.images, *item),
                zip(map(int, rows[part]), names[part], strict=True),
            )

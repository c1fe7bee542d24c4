"""When two groups, pictures or texts count as the same: a number per distinct value; and ids."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from jaxtyping import Int, Shaped

from trope.data.pairs import Pairs
from trope.errors import DataError
from trope.wording import counted

Codes = Int[np.ndarray, " items"]

_NONE = np.empty(0, np.int64)
_EMPTY = hash("")


def image_codes(pairs: Pairs, digests: Shaped[np.ndarray, " rows"] | None = None) -> Codes:
    """A number per picture, -1 for none: by content where it is known, else by path."""
    paths = codes(pairs.column("image"))
    if digests is None:
        return paths
    _, content = np.unique(digests, return_inverse=True)
    by_path = np.where(paths < 0, -1, paths + len(pairs))
    return np.where(digests != b"", content, by_path)


def refuse_repeated(pairs: Pairs) -> None:
    """Ids are names: nothing can be said of a row, and no row known again, if two share one."""
    ids = pairs.column("id")
    if pc.count_distinct(ids).as_py() == len(ids):
        return
    _, first, number = np.unique(np.array(pairs.ids, object), True, True)
    again = np.flatnonzero(first[number] != np.arange(len(ids)))
    row, before = int(again[0]), int(first[number[again[0]]])
    many = counted(len(again), "row has", "rows have")
    raise DataError(
        f"{pairs.source}: {pairs.place(row)} has the id '{ids[row]}' of {pairs.place(before)}; "
        f"{many} the id of another before them (trope check lists them)"
    )


def same_text(text: str) -> str:
    """A text in the form in which it is compared with others; empty if it shows nothing."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).casefold()
        text = unicodedata.normalize("NFKC", text)  # folding may take a composed letter apart
    plain = " ".join(text.casefold().split())
    return plain if any(map(_visible, plain)) else ""


def _visible(letter: str) -> bool:
    """Whether a letter leaves a mark: zero-width and control characters alone are no text."""
    return unicodedata.category(letter) not in ("Cc", "Cf", "Zs")


def codes(column: pa.ChunkedArray, form: Callable[[str], str] | None = None) -> Codes:
    """A number per distinct value in the order they first appear, -1 for a gap or an empty value.

    Values are told apart by their 64-bit hash, so that a million long texts cost eight megabytes.
    """
    hashes = np.concatenate([_NONE, *(_hashes(chunk, form) for chunk in column.chunks)])
    filled = hashes != _EMPTY
    found, first, inverse = np.unique(hashes[filled], return_index=True, return_inverse=True)
    number = np.empty(len(found), np.int64)
    number[np.argsort(first)] = np.arange(len(found))
    numbers = np.full(len(hashes), -1)
    numbers[filled] = number[inverse]
    return numbers


def _hashes(chunk: pa.Array, form: Callable[[str], str] | None) -> Codes:
    values = chunk.to_pylist()
    texts = ((form(v) if form else v) if v else "" for v in values)
    return np.fromiter(map(hash, texts), np.int64, len(values))

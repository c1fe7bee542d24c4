"""Which rows belong together: components of rows that share a group, an image or a text."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

import numpy as np
import pyarrow as pa
from jaxtyping import Int, Shaped
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from trope.data.pairs import Pairs

Codes = Int[np.ndarray, " items"]

_NONE = np.empty(0, np.int64)
_EMPTY = hash("")


def components(
    pairs: Pairs, digests: Shaped[np.ndarray, " rows"] | None = None
) -> Int[np.ndarray, " rows"]:
    """The number of each row's component.

    Pictures are the same when they have the same path, or, where content `digests` are given, the
    same bytes. Texts are the same when they differ in case, white space or Unicode form alone.
    """
    rows = np.arange(len(pairs))
    texts, owners = pairs.flat_texts()
    links = [
        _links(codes(pairs.column("group")), rows),
        _links(codes(pairs.column("image")), rows),
        _links(codes(texts, same_text), owners),
    ]
    if digests is not None:
        _, numbers = np.unique(digests, return_inverse=True)
        links.append(_links(np.where(digests == b"", -1, numbers), rows))
    left, right = np.concatenate(links, axis=1)
    graph = coo_array((np.ones(len(left), np.int8), (left, right)), shape=(len(pairs), len(pairs)))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int64)


def same_text(text: str) -> str:
    """A text in the form in which it is compared with others."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return " ".join(text.casefold().split())


def codes(column: pa.ChunkedArray, form: Callable[[str], str] | None = None) -> Codes:
    """A number per distinct value in the order they first appear, -1 for a gap or an empty value.

    Values are told apart by their 64-bit hash, so that a million long texts cost eight megabytes.
    """
    hashes = np.concatenate([_NONE, *(_hashes(chunk, form) for chunk in column.chunks)])
    found, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    number = np.empty(len(found), np.int64)
    number[np.argsort(first)] = np.arange(len(found))
    return np.where(hashes == _EMPTY, -1, number[inverse])


def _hashes(chunk: pa.Array, form: Callable[[str], str] | None) -> Codes:
    values = chunk.to_pylist()
    texts = ((form(v) if form else v) if v else "" for v in values)
    return np.fromiter(map(hash, texts), np.int64, len(values))


def _links(values: Codes, owners: Int[np.ndarray, " items"]) -> Int[np.ndarray, "2 links"]:
    """Edges that chain the owners of equal values, one fewer than there are owners."""
    order = np.argsort(values, kind="stable")
    ordered, owners = values[order], owners[order]
    equal = (ordered[1:] == ordered[:-1]) & (ordered[1:] >= 0)
    return np.stack([owners[:-1][equal], owners[1:][equal]])

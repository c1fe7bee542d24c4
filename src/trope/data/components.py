"""Which rows belong together: components of rows that share a group, an image or a text."""

from __future__ import annotations

import numpy as np
from jaxtyping import Int, Shaped
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from trope.data.identity import Codes, codes, image_codes, same_text
from trope.data.pairs import Pairs


def components(
    pairs: Pairs, digests: Shaped[np.ndarray, " rows"] | None = None
) -> Int[np.ndarray, " rows"]:
    """The number of each row's component.

    Pictures are the same when they have the same path, or, where content `digests` are given, the
    same bytes. Texts are the same when they differ in case, white space or Unicode form alone.
    """
    rows = np.arange(len(pairs))
    texts, owners = pairs.flat_texts()
    return tied(
        len(pairs),
        (codes(pairs.column("group")), rows),
        (codes(pairs.column("image")), rows),
        (image_codes(pairs, digests), rows),
        (codes(texts, same_text), owners),
    )


def tied(
    count: int, *shared: tuple[Int[np.ndarray, " _"], Int[np.ndarray, " _"]]
) -> Int[np.ndarray, " rows"]:
    """The number of each row's component: rows are tied by equal values, each with its owner."""
    left, right = np.concatenate([_links(*values) for values in shared], axis=1)
    graph = coo_array((np.ones(len(left), np.int8), (left, right)), shape=(count, count))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int64)


def _links(values: Codes, owners: Int[np.ndarray, " items"]) -> Int[np.ndarray, "2 links"]:
    """Edges that chain the owners of equal values, one fewer than there are owners."""
    order = np.argsort(values, kind="stable")
    ordered, owners = values[order], owners[order]
    equal = (ordered[1:] == ordered[:-1]) & (ordered[1:] >= 0)
    return np.stack([owners[:-1][equal], owners[1:][equal]])

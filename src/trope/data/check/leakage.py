"""What stands in two splits at once: groups, pictures, texts, and nearly equal texts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from jaxtyping import Int, Shaped

from trope.data.duplicates import DuplicateClusters, NearDuplicates, find
from trope.data.identity import codes, image_codes, same_text
from trope.data.pairs import Pairs
from trope.types import SPLITS

SHOWN = 60
BOILERPLATE = 20  # members that make a cluster of nearly equal texts worth a remark

Codes = Int[np.ndarray, " items"]
Found = Iterator[tuple[str, int, str]]


def leaks(pairs: Pairs, digests: Shaped[np.ndarray, " rows"], near: NearDuplicates | None) -> Found:
    """Findings of all kinds; near-equal texts are looked for only where settings are given."""
    rows = np.arange(len(pairs))
    texts, owners = pairs.flat_texts()
    for code, values in (
        ("leak-group", codes(pairs.column("group"))),
        ("leak-image", image_codes(pairs, digests)),
    ):
        for item, other in crossing(pairs, values, rows).tolist():
            yield code, item, _where(pairs, item, other)
    same = codes(texts, same_text)
    exact = crossing(pairs, same, owners)
    for item, other in exact.tolist():
        yield "leak-text", int(owners[item]), _said(pairs, texts, owners, item, other)
    if near is not None:
        found = find(texts, near)
        yield from _near(pairs, texts, owners, found, same, exact[:, 0])
        yield from _boilerplate(texts, owners, found.ids)


def crossing(pairs: Pairs, values: Codes, owners: Codes) -> Int[np.ndarray, "leaks 2"]:
    """Items whose value stands in two splits, each with one item of another split.

    The later split is the one that leaks: a test item is reported against train, not the reverse.
    """
    part = _parts(pairs)[owners]
    items = np.flatnonzero((values >= 0) & (part >= 0))
    items = items[np.lexsort((part[items], values[items]))]
    starts = np.flatnonzero(np.diff(values[items], prepend=-1))
    first = np.repeat(items[starts], np.diff([*starts, len(items)]))
    leaking = part[items] != part[first]
    found = np.stack([items[leaking], first[leaking]], axis=1)
    return np.asarray(found[np.argsort(found[:, 0])])


def _parts(pairs: Pairs) -> Int[np.ndarray, " rows"]:
    found = pc.index_in(pairs.column("split"), value_set=pa.array(SPLITS))
    return np.asarray(pc.fill_null(found, -1), dtype=np.int64)


def _where(pairs: Pairs, row: int, other: int) -> str:
    ids, splits = pairs.column("id"), pairs.column("split")
    there = f"{pairs.place(other)} ({ids[other].as_py()}, {splits[other].as_py()})"
    return f"{splits[row].as_py()}: also in {there}"


def _said(pairs: Pairs, texts: pa.ChunkedArray, owners: Codes, item: int, other: int) -> str:
    return f"{_where(pairs, int(owners[item]), int(owners[other]))}: {_short(texts, item)}"


def _short(texts: pa.ChunkedArray, item: int) -> str:
    text = texts[item].as_py()
    return repr(text if len(text) <= SHOWN else f"{text[:SHOWN]}…")


def _near(
    pairs: Pairs,
    texts: pa.ChunkedArray,
    owners: Codes,
    found: DuplicateClusters,
    same: Codes,
    exact: Int[np.ndarray, " leaks"],
) -> Found:
    """Verified pairs of nearly equal texts on two sides; equal ones are reported elsewhere."""
    part = _parts(pairs)[owners]
    known = (part[found.left] >= 0) & (part[found.right] >= 0)
    across = (
        known & (part[found.left] != part[found.right]) & (same[found.left] != same[found.right])
    )
    links = np.stack([found.left, found.right], axis=1)[across]
    later = part[links[:, 0]] > part[links[:, 1]]
    links = np.where(later[:, None], links, links[:, ::-1])  # the later split is the one that leaks
    order = np.lexsort((-found.jaccard[across], links[:, 0]))
    _, best = np.unique(links[order, 0], return_index=True)
    for i in order[best]:
        item, other = links[i].tolist()
        if item not in exact:
            alike = f"{found.jaccard[across][i]:.2f} like {_short(texts, other)}"
            detail = f"{_said(pairs, texts, owners, item, other)} is {alike}"
            yield "leak-near-text", int(owners[item]), detail


def _boilerplate(texts: pa.ChunkedArray, owners: Codes, clusters: Codes) -> Found:
    """Large clusters of nearly equal texts, wherever they stand."""
    _, first, counts = np.unique(clusters, return_index=True, return_counts=True)
    for i in np.flatnonzero(counts >= BOILERPLATE):
        yield (
            "near-repeats",
            int(owners[first[i]]),
            f"{counts[i]} texts like {_short(texts, int(first[i]))}",
        )

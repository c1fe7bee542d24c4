"""What stands in two splits at once: groups, pictures, texts, and nearly equal texts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from jaxtyping import Int, Shaped

from trope.data.components import codes, same_text
from trope.data.duplicates import NearDuplicates, find
from trope.data.pairs import Pairs
from trope.types import SPLITS

BOILERPLATE = 20  # members that make a cluster of nearly equal texts worth a remark

Codes = Int[np.ndarray, " items"]
Found = Iterator[tuple[str, int, str]]


def leaks(pairs: Pairs, digests: Shaped[np.ndarray, " rows"], near: NearDuplicates | None) -> Found:
    """Findings of all kinds; near-equal texts are looked for only where settings are given."""
    rows = np.arange(len(pairs))
    texts, owners = pairs.flat_texts()
    same = codes(texts, same_text)
    yield from _named(
        pairs, "leak-group", rows, crossing(pairs, codes(pairs.column("group")), rows)
    )
    yield from _named(pairs, "leak-image", rows, crossing(pairs, _pictures(pairs, digests), rows))
    exact = crossing(pairs, same, owners)
    yield from _named(pairs, "leak-text", owners, exact)
    if near is not None:
        yield from _near(pairs, owners, find(texts, near).ids, same, exact)


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
    return np.stack([items[leaking], first[leaking]], axis=1)


def _parts(pairs: Pairs) -> Int[np.ndarray, " rows"]:
    found = pc.index_in(pairs.column("split"), value_set=pa.array(SPLITS))
    return np.asarray(pc.fill_null(found, -1), dtype=np.int64)


def _pictures(pairs: Pairs, digests: Shaped[np.ndarray, " rows"]) -> Codes:
    """A number per picture: by content, or by path where the content could not be read."""
    _, content = np.unique(digests, return_inverse=True)
    path = codes(pairs.column("image"))
    by_path = np.where(path < 0, -1, path + len(pairs))
    return np.where(digests != b"", content, by_path)


def _named(pairs: Pairs, code: str, owners: Codes, found: Int[np.ndarray, "leaks 2"]) -> Found:
    ids, splits = pairs.column("id"), pairs.column("split")
    for item, other in owners[found]:
        where = f"line {pairs.lines[other]} ({ids[other].as_py()}, {splits[other].as_py()})"
        yield code, int(item), f"{splits[item].as_py()}: also in {where}"


def _near(
    pairs: Pairs, owners: Codes, clusters: Codes, same: Codes, exact: Int[np.ndarray, "leaks 2"]
) -> Found:
    """Near-equal texts across splits that are not equal, and large clusters of them anywhere."""
    found = crossing(pairs, clusters, owners)
    found = found[~np.isin(found[:, 0], exact[:, 0]) & (same[found[:, 0]] != same[found[:, 1]])]
    yield from _named(pairs, "leak-near-text", owners, found)
    _, first, counts = np.unique(clusters, return_index=True, return_counts=True)
    for i in np.flatnonzero(counts >= BOILERPLATE):
        text = pc.list_flatten(pairs.column("texts"))[int(first[i])].as_py()
        yield "near-repeats", int(owners[first[i]]), f"{counts[i]} texts like {text[:60]!r}"

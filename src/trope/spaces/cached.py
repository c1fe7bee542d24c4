"""Vectors of texts computed once per content and kept: a killed process loses at most one shard."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
from jaxtyping import Float32

from trope.data.digests import WIDTH, Digests, digest, distinct
from trope.features import shards
from trope.features.shards import Places, look_up
from trope.files import locked
from trope.runtime import progress_bar

SHARD_TEXTS = 2**14
BATCH = 2**9  # texts between two steps of the progress bar

Values: TypeAlias = Float32[np.ndarray, "texts d"]
Encode: TypeAlias = Callable[[list[str]], Values]


def cached_vectors(
    folder: Path, texts: Sequence[str], encode: Encode, what: str
) -> tuple[Values, tuple[str, ...]]:
    """A vector for each text, equal texts computed once; and what there is to say about the files.

    The folder must belong to one encoder: nothing else tells vectors of different encoders apart.
    """
    named = np.array([digest(text.encode("utf-8", "surrogatepass")) for text in texts], f"S{WIDTH}")
    first, number = distinct(named)
    found, remarks = _find(folder, named[first]), []
    if len(found.missing):
        with locked(folder):
            remarks = [*shards.clean(folder), *_remove_damaged(folder)]
            missing = first[_find(folder, named[first]).missing]
            _compute(folder, [texts[i] for i in missing], named[missing], encode, what)
            found = _find(folder, named[first])
    return _read(found)[number], tuple(remarks)


def _find(folder: Path, named: Digests) -> Places:
    return look_up([shard for shard in shards.shards(folder) if shard.intact], named)


def _remove_damaged(folder: Path) -> list[str]:
    damaged = [shard for shard in shards.shards(folder) if not shard.intact]
    for shard in damaged:
        shard.remove()
    return [f"{shard.path}: damaged; its vectors are computed again" for shard in damaged]


def _compute(folder: Path, texts: list[str], named: Digests, encode: Encode, what: str) -> None:
    """Vectors of different texts, written as soon as a shard is full."""
    with progress_bar(what, len(texts)) as bar:
        for start in range(0, len(texts), SHARD_TEXTS):
            done = []
            for batch in range(start, min(start + SHARD_TEXTS, len(texts)), BATCH):
                part = texts[batch : min(batch + BATCH, start + SHARD_TEXTS)]
                done.append(encode(part))
                bar.advance(bar.task_ids[0], len(part))
            shards.write(folder, named[start : start + SHARD_TEXTS], np.concatenate(done))


def _read(found: Places) -> Values:
    """The vectors of all different texts, in order."""
    parts = {int(i): found.parts[i].features() for i in np.unique(found.part)}
    size = next((part.shape[1] for part in parts.values()), 0)
    values = np.empty((len(found.part), size), np.float32)
    for i, part in parts.items():
        mine = found.part == i
        values[mine] = part[found.offset[mine]]
    return values

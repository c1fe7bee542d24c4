"""Features of texts computed once per content and kept: a killed process loses at most a shard."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
from jaxtyping import Float, Int

from trope.data.digests import WIDTH, Digests, digest, distinct
from trope.data.text import listed
from trope.features import shards
from trope.features.sentences import TOKENS, SentenceEncoder
from trope.features.shards import Places, look_up
from trope.features.tokens import Ragged, TokenTable
from trope.files import locked
from trope.runtime import cache_folder, progress_bar

SHARD_BYTES = 32 * 2**20
SHARD_TEXTS = 2**14
BATCH = 2**9  # texts between two steps of the progress bar

Values: TypeAlias = Float[np.ndarray, "_texts ..."]
Encode: TypeAlias = Callable[[list[str]], Values | Ragged]
Done: TypeAlias = list[Values | Ragged]
Numbers: TypeAlias = Int[np.ndarray, " texts"]


def cached_texts(
    folder: Path, texts: Sequence[str], encode: Encode, what: str
) -> tuple[Values, tuple[str, ...]]:
    """Features of each text, equal texts computed once; and what there is to say about the files.

    The folder must belong to one encoder: nothing else tells features of different encoders apart.
    """
    found, number, remarks = _located(folder, texts, encode, what)
    return _read(found)[number], remarks


def sentence_features(
    texts: Sequence[str], network: SentenceEncoder
) -> tuple[Values, tuple[str, ...]]:
    """The vector of each text; zeros for an empty one."""
    folder = sentences_folder(network)
    return cached_texts(folder, texts, network.encode, f"{network.name}: vectors of texts")


def token_features(
    texts: Sequence[str], network: SentenceEncoder
) -> tuple[TokenTable, tuple[str, ...]]:
    """Vectors of each text's first tokens, mapped; an empty text has none."""
    folder = sentences_folder(network) / f"tokens-{TOKENS}"

    def encode(some: list[str]) -> Ragged:
        return Ragged.of(network.encode_tokens(some))

    found, number, remarks = _located(folder, texts, encode, f"{network.name}: tokens of texts")
    return TokenTable.stored(found).take(number), remarks


def sentences_folder(network: SentenceEncoder) -> Path:
    """Where an encoder's features are kept; other weights, another folder."""
    name = re.sub(r"[^\w.-]+", "-", Path(network.name).name) or "model"
    return cache_folder() / "spaces" / f"{name}-{digest(network.fingerprint().encode()).hex()}"


def _located(
    folder: Path, texts: Sequence[str], encode: Encode, what: str
) -> tuple[Places, Numbers, tuple[str, ...]]:
    """Where the features of different texts are, and which of these each text is."""
    listed(texts, "texts")
    named = np.array([digest(text.encode("utf-8", "surrogatepass")) for text in texts], f"S{WIDTH}")
    first, number = distinct(named)
    found, remarks = _find(folder, named[first]), []
    if len(found.missing):
        with locked(folder):
            remarks = [*shards.clean(folder), *_remove_damaged(folder)]
            missing = first[_find(folder, named[first]).missing]
            if len(missing):  # another process may have been faster
                _compute(folder, [texts[i] for i in missing], named[missing], encode, what)
            found = _find(folder, named[first])
    return found, number, tuple(remarks)


def _find(folder: Path, named: Digests) -> Places:
    return look_up([shard for shard in shards.shards(folder) if shard.intact], named)


def _remove_damaged(folder: Path) -> list[str]:
    damaged = [shard for shard in shards.shards(folder) if not shard.intact]
    for shard in damaged:
        shard.remove()
    return [f"{shard.path}: damaged; its features are computed again" for shard in damaged]


def _compute(folder: Path, texts: list[str], named: Digests, encode: Encode, what: str) -> None:
    """Features of different texts, written as soon as a shard is full."""
    done: Done = []
    start = 0
    try:
        with progress_bar(what, len(texts)) as bar:
            for end in [*range(BATCH, len(texts), BATCH), len(texts)]:
                part = texts[start + sum(map(len, done)) : end]
                done.append(encode(part))
                bar.advance(bar.task_ids[0], len(part))
                if _full(done):
                    full, done = done, []
                    _write(folder, named[start:end], full)
                    start = end
    finally:  # also when interrupted: what is computed is kept
        if done:
            _write(folder, named[start : start + sum(map(len, done))], done)


def _write(folder: Path, named: Digests, done: Done) -> None:
    """One shard of what was computed."""
    values = [part.values if isinstance(part, Ragged) else part for part in done]
    counts = [part.counts for part in done if isinstance(part, Ragged)]
    each = np.concatenate(counts) if counts else None
    shards.write(folder, named, np.concatenate(values), each)


def _full(done: Done) -> bool:
    texts, size = sum(map(len, done)), sum(values.nbytes for values in done)
    return texts >= SHARD_TEXTS or size >= SHARD_BYTES


def _read(found: Places) -> Values:
    """The features of all different texts, in order."""
    parts = {int(i): found.parts[i].features() for i in np.unique(found.part)}
    first = next(iter(parts.values()), np.empty((0, 0), np.float32))
    values = np.empty((len(found.part), *first.shape[1:]), first.dtype)
    for i, part in parts.items():
        mine = found.part == i
        values[mine] = part[found.offset[mine]]
    return values

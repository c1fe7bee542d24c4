"""A share of the data, for studies of scale; a smaller share is part of a larger."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from jaxtyping import Bool, Int

from trope.data.identity import image_codes
from trope.data.pairs import Pairs
from trope.data.schema import LISTS
from trope.errors import DataError
from trope.runtime import generator


def training_ratio(pairs: Pairs, ratio: float, seed: int = 0) -> Pairs:
    """Keep a share of the training rows; other splits stay whole.

    Where most images have several texts, every image stays and loses texts (at least one is kept,
    so a share below one text an image cannot be reached); elsewhere whole pairs are left out.
    """
    if not 0 < ratio <= 1:
        raise ValueError(f"a ratio of training data lies in (0, 1], not {ratio}")
    train = np.asarray(pairs.column("split").to_numpy(zero_copy_only=False) == "train")
    if not train.any():
        raise DataError(f"{pairs.source}: no row is in train, of which a share could be taken")
    owners = np.repeat(np.arange(len(pairs)), pairs.text_counts)
    if has_several_texts(pairs):
        images = _pictures(pairs)[owners]
        return _fewer_texts(pairs, owners, _ranked(images, seed, ratio) | ~train[owners])
    return pairs.where(~train | _first_rows(train, ratio, seed))


def has_several_texts(pairs: Pairs) -> bool:
    """Whether most training images have two texts or more, in one row or in several."""
    train = pairs.in_split("train")
    if not len(train):
        return False
    counts = np.bincount(_pictures(train), weights=train.text_counts)
    return bool(counts.any() and np.median(counts[counts > 0]) >= 2)


def fewer_rows(pairs: Pairs, count: int, part: str = "train", seed: int = 0) -> Pairs:
    """Keep so many rows of a split, all if there are no more; other splits stay whole."""
    if count < 1:
        raise ValueError(f"a number of rows is 1 or more, not {count}")
    inside = np.asarray(pairs.column("split").to_numpy(zero_copy_only=False) == part)
    share = min(1.0, count / max(int(inside.sum()), 1))
    return pairs.where(~inside | _first_rows(inside, share, seed))


def _pictures(pairs: Pairs) -> Int[np.ndarray, " rows"]:
    """A number per image; a row without one stands alone."""
    numbers = image_codes(pairs)
    alone = numbers < 0
    return np.where(alone, np.cumsum(alone) + numbers.max(initial=0), numbers)


def _ranked(
    images: Int[np.ndarray, " texts"], seed: int, ratio: float
) -> Bool[np.ndarray, " texts"]:
    """Which texts are among the first `ratio` of their image's, in an order the seed decides."""
    random = generator(seed, "ratio")
    shuffled = random.permutation(len(images))
    order = shuffled[np.argsort(images[shuffled], kind="stable")]
    ordered = images[order]
    start = np.concatenate([[0], np.flatnonzero(np.diff(ordered)) + 1, [len(ordered)]])
    sizes = np.diff(start)
    rank = np.arange(len(ordered)) - np.repeat(start[:-1], sizes)
    # What is left of a text is a chance of one more: the whole share is met, smaller in larger.
    kept = np.floor(np.round(ratio * sizes, 9) + random.random(len(sizes)))
    allowed = np.repeat(np.clip(kept, 1, sizes), sizes)
    keep = np.zeros(len(images), bool)
    keep[order[rank < allowed]] = True
    return keep


def _fewer_texts(
    pairs: Pairs, owners: Int[np.ndarray, " texts"], keep: Bool[np.ndarray, " texts"]
) -> Pairs:
    texts, _ = pairs.flat_texts()
    counts = np.bincount(owners[keep], minlength=len(pairs))
    offsets = pa.array(np.concatenate([[0], np.cumsum(counts)]).astype(np.int32))
    kept = pa.ListArray.from_arrays(offsets, texts.filter(pa.array(keep)).combine_chunks())
    lost = (counts == 0) & (pairs.text_counts > 0)
    return pairs.with_column("texts", kept.cast(LISTS)).where(~lost)


def _first_rows(
    inside: Bool[np.ndarray, " rows"], ratio: float, seed: int
) -> Bool[np.ndarray, " rows"]:
    rows = generator(seed, "ratio").permutation(np.flatnonzero(inside))
    keep = np.zeros(len(inside), bool)
    keep[rows[: max(1, round(ratio * len(rows)))]] = True
    return keep

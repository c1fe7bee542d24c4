from __future__ import annotations

from collections import Counter

import numpy as np
from caption_samples import CAPTIONS, CORPUS, few, image_captions
from hypothesis import given

from trope.spaces.captions import Corpus
from trope.spaces.captions.ngrams import Counts, count


def ngrams(tokens: list[str], n: int) -> list[tuple[str, ...]]:
    return [tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]


def test_each_caption_has_its_ngrams_as_often_as_they_occur() -> None:
    counts = count(CORPUS)
    for tokens, row in zip(CAPTIONS, counts.matrix, strict=True):
        wanted = Counter(gram for n in range(1, 5) for gram in ngrams(tokens, n))
        assert sorted(wanted.values()) == sorted(row.data.tolist())
    for n in range(1, 5):
        columns = {gram for tokens in CAPTIONS for gram in ngrams(tokens, n)}
        assert counts.bounds[n] - counts.bounds[n - 1] == len(columns)


def test_two_captions_share_exactly_their_common_ngrams() -> None:
    counts = count(CORPUS)
    shared = ((counts.matrix > 0).astype(int) @ (counts.matrix > 0).astype(int).T).toarray()
    sets = [{g for n in range(1, 5) for g in ngrams(tokens, n)} for tokens in CAPTIONS]
    assert shared.tolist() == [[len(a & b) for b in sets] for a in sets]


@few
@given(image_captions, image_captions)
def test_known_ngrams_keep_their_numbers(one: list, other: list) -> None:
    first, second = Corpus.from_tokens(one), Corpus.from_tokens(other)
    known = count(first)
    both = count(second, known=known.numbering)
    together = count(Corpus.from_tokens([*one, *other]))
    left = _by_order(known, both.bounds)
    shared = (left > 0).astype(int) @ (both.matrix > 0).astype(int).T
    split = first.caption_count
    expected = (together.matrix[:split] > 0).astype(int) @ (together.matrix[split:] > 0).T
    assert (shared.toarray() == expected.toarray()).all()
    assert both.numbering.words[: len(first.words)] == first.words


def _by_order(counts: Counts, bounds: np.ndarray) -> object:
    """The same counts with the columns of each order moved to where `bounds` has them."""
    shift = bounds[:-1] - counts.bounds[:-1]
    moved = counts.matrix.copy()
    moved.indices = (moved.indices + shift[counts.orders()]).astype(moved.indices.dtype)
    moved._shape = (moved.shape[0], int(bounds[-1]))
    return moved


def test_sums_by_order() -> None:
    counts = count(Corpus.from_tokens([[["a", "b", "a"], []]]))
    assert counts.per_order(counts.matrix.data).tolist() == [[3, 2, 1, 0], [0, 0, 0, 0]]

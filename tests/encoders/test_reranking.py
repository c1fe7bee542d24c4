from __future__ import annotations

import pairwise
import pytest
import torch
from test_part_scorers import made

from trope.encoders import compare
from trope.encoders.joining import join
from trope.encoders.reranking import candidates, rerank
from trope.errors import DataError
from trope.views import Encoded


def both(n: int = 6, m: int = 9) -> tuple[Encoded, Encoded]:
    random = torch.Generator().manual_seed(0)
    return pairwise.items(n, 4, random), pairwise.items(m, 5, random, ragged=True)


@pytest.mark.parametrize("side", ["image", "text"])
def test_all_candidates_are_full_scoring(side: str) -> None:
    scorer, (image, text) = made("saf"), both()
    scores = compare(scorer, image, text)
    queries, items = (image, text) if side == "image" else (text, image)
    whole = scores if side == "image" else scores.T
    found = rerank(scorer, queries, items, candidates(queries, items, 100), side)
    assert torch.equal(found.items, whole.argsort(dim=1, descending=True))
    torch.testing.assert_close(found.scores, whole.sort(dim=1, descending=True).values)


@pytest.mark.parametrize("side", ["image", "text"])
def test_few_candidates_are_the_nearest_in_the_order_of_the_scorer(side: str) -> None:
    scorer, (image, text) = made("saf"), both()
    scores = compare(scorer, image, text)
    queries, items = (image, text) if side == "image" else (text, image)
    whole = scores if side == "image" else scores.T
    found = rerank(scorer, queries, items, candidates(queries, items, 3), side)
    for i, row in enumerate(found.items.tolist()):
        nearest = (items.mean @ queries.mean[i]).argsort(descending=True)[:3].tolist()
        assert row == sorted(nearest, key=lambda j: -float(whole[i, j]))


def test_without_a_scorer_the_order_is_that_of_cosines() -> None:
    image, text = both()
    first = candidates(image, text, 4)
    found = rerank(None, image, text, first, "image")
    assert torch.equal(found.items, first)
    none = image.take(torch.tensor([], dtype=torch.int64))
    assert rerank(None, none, text, first[:0], "image").items.shape == (0, 4)


def test_joined_parts_are_padded_and_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    random = torch.Generator().manual_seed(0)
    parts = [pairwise.items(2, words, random, ragged=True) for words in (3, 5)]
    found = join(parts)
    assert found.locals.shape == (4, 5, 6)
    torch.testing.assert_close(found.locals[:2, :3], parts[0].locals)
    torch.testing.assert_close(found.locals[2:], parts[1].locals)
    assert not found.locals[:2, 3:].any()
    assert found.present.sum() == sum(part.present.sum() for part in parts)
    scorer, image = made("sgr"), pairwise.items(3, 4, random)
    whole = torch.cat([scorer(image, part) for part in parts], dim=1)
    torch.testing.assert_close(scorer(image, found), whole)
    monkeypatch.setattr("trope.encoders.joining.SINGLE", 100)
    assert join(parts).locals.dtype == torch.float16
    monkeypatch.setattr("trope.encoders.joining.LARGEST", 100)
    with pytest.raises(DataError, match=r"4 items of up to 5 parts take 0\.0 GB.*text\.longest"):
        join(parts)


def test_regions_of_all_items_need_no_marks() -> None:
    random = torch.Generator().manual_seed(0)
    found = join([pairwise.items(2, 4, random) for _ in range(2)])
    assert found.present is None
    assert found.locals.shape == (4, 4, 6)
    assert found.points_only().locals is None

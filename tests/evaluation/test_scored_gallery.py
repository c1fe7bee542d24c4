"""A model that compares images with texts itself: in tiles, both ways, corrected for hubs."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from evaluation_samples import random_embedded

from trope.encoders.scorers.matching import ROOM, Match, Matching
from trope.errors import DataError
from trope.evaluation import scoring
from trope.evaluation.embedded import Bank, Embedded
from trope.evaluation.hubs import Hubs
from trope.evaluation.measuring import direction_of
from trope.evaluation.scoring import Similarities, similarities
from trope.views import Encoded


def spread(items: Encoded, seed: int) -> Encoded:
    random = torch.Generator().manual_seed(seed)
    return Encoded(items.mean, log_sigma=torch.randn(items.mean.shape, generator=random) - 2)


def embedded(asked: str = "sampled") -> Embedded:
    made = random_embedded(0, [2, 1, 3, 2, 2])
    match = Matching(6, Match(asked=asked, samples=3)).eval()  # type: ignore[arg-type]
    return Embedded(made.gallery, spread(made.image, 1), spread(made.text, 2), scorer=match)


@pytest.mark.parametrize("asked", ["mean", "sampled", "closed"])
@pytest.mark.parametrize("kept", [0, 2**20])
def test_tiles_are_the_whole_both_ways(
    asked: str, kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = embedded(asked)
    assert found.scorer is not None
    with torch.no_grad():
        whole = found.scorer(found.image, found.text).numpy()
    monkeypatch.setattr(scoring, "KEPT", kept)
    monkeypatch.setattr(scoring, "TILE", 40)
    monkeypatch.setattr(scoring, "FEWEST", 1)
    for side, expected in (("image", whole), ("text", whole.T)):
        scores = Similarities(found.image, found.text, found.scorer)
        rows = scores.rows(side, np.arange(len(expected)))  # type: ignore[arg-type]
        np.testing.assert_allclose(rows, expected, atol=1e-5)
    np.testing.assert_allclose(
        similarities(found.image, found.text, found.scorer), whole, atol=1e-5
    )


def test_a_tile_holds_no_more_than_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "TILE", 200)
    monkeypatch.setattr(scoring, "FEWEST", 1)
    found = embedded()
    assert found.similarities.tile("image") * 10 * ROOM <= 200
    assert found.similarities.tile("text") * 5 * ROOM <= 200


def test_a_part_is_compared_by_the_same_model() -> None:
    found = embedded()
    part = found.take(np.array([3, 1]))
    whole = found.similarities.rows("image", np.arange(5))
    texts = found.gallery.texts_of(np.array([3, 1]))
    np.testing.assert_allclose(
        part.similarities.rows("image", np.arange(2)), whole[[3, 1]][:, texts], atol=1e-5
    )


@pytest.mark.parametrize("side", ["image", "text"])
def test_hubs_are_told_by_the_scores_of_the_model(side: str) -> None:
    found = embedded("closed")
    bank = Bank(spread(random_embedded(5, [1] * 6).image, 3), spread(found.text, 4))
    chosen = Hubs("nnn", 1.0, 2)
    direction = direction_of(found, side, chosen, bank)  # type: ignore[arg-type]
    assert found.scorer is not None
    with torch.no_grad():
        if side == "image":
            asked = found.scorer(bank.image, found.text)
        else:
            asked = found.scorer(found.image, bank.text).T
    expected = asked.topk(2, dim=0).values.mean(dim=0).numpy()
    assert direction.scores.correction is not None
    np.testing.assert_allclose(direction.scores.correction.bias, expected, atol=1e-5)


def test_a_spread_that_is_no_number_is_told() -> None:
    found = embedded()
    assert found.text.log_sigma is not None
    wrong = found.text.log_sigma.clone()
    wrong[3, 1] = torch.nan
    with pytest.raises(DataError, match="text 'r2'"):
        Embedded(found.gallery, found.image, Encoded(found.text.mean, log_sigma=wrong))

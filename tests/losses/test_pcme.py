"""PCME's loss: as plain loops have it, with its two regularizers, and duplicates left alone."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from trope.losses import pcme as module
from trope.losses.pcme import PCME
from trope.matching import divergence, released_divergence, uniformity
from trope.maths import normalize
from trope.views import Encoded, View


def seen(n: int, seed: int, kinds: int = 100) -> View:
    """A batch with scores and spreads; few `kinds` of images make duplicates."""
    random = torch.Generator().manual_seed(seed)
    draw = torch.randn(5, n, n + 2, generator=random, dtype=torch.float64)
    image, text = (
        Encoded(normalize(mean), log_sigma=0.2 * spread - 2)
        for mean, spread in ((draw[0], draw[1]), (draw[2], draw[3]))
    )
    code = torch.randint(kinds, (n,), generator=random) if kinds < 100 else torch.arange(n)
    scores, odds = 0.5 * draw[4, :, :n], torch.tensor(6.0, dtype=torch.float64)
    return View(image, text, code[:, None] == code, scores=scores, odds=odds)


@given(n=st.integers(1, 6), kinds=st.sampled_from([2, 100]), seed=st.integers(0, 2**31))
def test_the_contrast_in_loops(n: int, kinds: int, seed: int) -> None:
    """All n² couples, each counted twice; a duplicate is neither asked for nor a negative."""
    view = seen(n, seed, kinds)
    assert view.scores is not None
    total = 0.0
    for i in range(n):
        for j in range(n):
            p = 1 / (1 + math.exp(-6 * float(view.scores[i, j])))
            if i == j:
                total -= 2 * math.log(p)
            elif not view.same[i, j]:
                total -= 2 * math.log(1 - p)
    found = PCME(kl=0.0)(view)
    assert found.shape == (n,)
    assert float(found.sum()) == pytest.approx(total)


def test_regularizers_are_added() -> None:
    view = seen(5, 0)
    plain = PCME(kl=0.0).double()(view)
    both = divergence(view.image) + divergence(view.text)
    torch.testing.assert_close(PCME(kl=0.5)(view), plain + 0.5 * both)
    torch.manual_seed(3)
    found = PCME(kl=0.0, uniformity=2.0, samples=2)(view)
    torch.manual_seed(3)
    points = torch.cat(
        [PCME(samples=2)._drawn(side).flatten(0, 1) for side in (view.image, view.text)]
    )
    chosen = points[torch.randperm(len(points))[: module.MOST]]
    torch.testing.assert_close(found, plain + 2 * uniformity(chosen))


def test_no_more_than_so_many_samples_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    seen_points = []
    monkeypatch.setattr(
        module, "uniformity", lambda points: seen_points.append(points) or points.sum() * 0
    )
    monkeypatch.setattr(module, "MOST", 9)
    PCME(uniformity=1.0)(seen(5, 0))
    assert [len(points) for points in seen_points] == [9]


def test_the_released_divergence_is_an_option() -> None:
    view = seen(4, 1)
    loss = PCME(kl=1.0, released=True, samples=3)
    torch.manual_seed(0)
    found = loss(view) - PCME(kl=0.0)(view)
    torch.manual_seed(0)
    expected = [
        released_divergence(loss._drawn(side), side.log_sigma) for side in (view.image, view.text)
    ]  # type: ignore[arg-type]
    torch.testing.assert_close(found, sum(expected))
    assert not torch.allclose(found, divergence(view.image) + divergence(view.text))


def test_validation_draws_nothing() -> None:
    loss = PCME(uniformity=1.0, released=True).eval()
    view = seen(4, 1)
    assert torch.equal(loss(view), loss(view))


def test_what_makes_odds_of_scores_is_needed() -> None:
    with pytest.raises(ValueError, match="odds"):
        PCME()(replace(seen(3, 0), odds=None))


def test_spreads_far_from_one_cost_more() -> None:
    def cost(log_sigma: float) -> float:
        view = seen(3, 0)
        side = replace(view.image, log_sigma=torch.full_like(view.image.mean, log_sigma))
        return float(PCME(kl=1.0)(replace(view, image=side)).sum())

    assert cost(0) < cost(-1) < cost(-3)
    assert cost(0) < cost(1)

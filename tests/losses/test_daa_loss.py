"""DAA: as plain loops have it, in its right form and its released one; it raises ASP."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from batches import batch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from trope import config
from trope.errors import UsageError
from trope.losses import DAA, DAASettings
from trope.losses.daa import daa, one_way
from trope.losses.infonce import InfoNCE
from trope.losses.triplet import Triplet
from trope.maths import normalize
from trope.metrics.asp import asp
from trope.metrics.sorting import ordered
from trope.similarity import scores_of
from trope.views import Encoded, View


def sigmoid(value: float) -> float:
    clamped = max(-50.0, min(50.0, value))  # as the authors do
    return 1 / (1 + math.exp(-clamped))


def soft_rank(values: list[list[float]], i: int, j: int, temperature: float, legacy: bool) -> float:
    """Of item (i, j) in its row; as released, among the values of column i."""
    n = len(values)
    others = [values[k][i] if legacy else values[i][k] for k in range(n)]
    gaps = [(others[k] - values[i][j]) / temperature for k in range(n) if k != j]
    return 1 + sum(map(sigmoid, gaps))


def by_loops(scores: Tensor, relevance: Tensor, settings: DAASettings) -> list[float]:
    n, found = len(scores), [0.0] * len(scores)
    for left, right in ((scores, relevance), (scores.T, relevance.T)):
        sides = [
            (left.tolist(), settings.temperature),
            (right.tolist(), settings.relevance_temperature),
        ]
        for i in range(n):
            ratios = []
            for j in range(n):
                legacy = settings.legacy_broadcast
                ranks = [soft_rank(values, i, j, t, legacy) for values, t in sides]
                ratios.append(min(ranks) / max(ranks))
            found[i] += settings.weight * (1 - sum(ratios) / n)
    return found


def drawn(n: int, seed: int) -> tuple[Tensor, Tensor]:
    random = torch.Generator().manual_seed(seed)
    scores = 0.2 * torch.randn(n, n, generator=random, dtype=torch.float64)
    relevance = torch.rand(n, n, generator=random, dtype=torch.float64)
    return scores, relevance * (relevance > 0.4)  # many are zero, as of captions


@given(
    n=st.integers(1, 6),
    seed=st.integers(0, 2**31),
    temperature=st.sampled_from([0.001, 0.01, 0.3]),
    other=st.sampled_from([1e-6, 0.001, 0.3]),
    legacy=st.booleans(),
)
def test_the_formula_in_loops(
    n: int, seed: int, temperature: float, other: float, legacy: bool
) -> None:
    settings = DAASettings(2.0, temperature, other, legacy_broadcast=legacy)
    scores, relevance = drawn(n, seed)
    expected = torch.tensor(by_loops(scores, relevance, settings), dtype=torch.float64)
    torch.testing.assert_close(daa(scores, relevance, settings), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("legacy", [False, True])
def test_the_gradient(legacy: bool) -> None:
    scores, relevance = drawn(5, 3)
    settings = DAASettings(3.0, 0.05, legacy_broadcast=legacy)
    assert torch.autograd.gradcheck(
        lambda s: daa(s, relevance, settings), scores.requires_grad_(), atol=1e-6
    )


def test_the_released_form_is_another_unless_all_is_symmetric() -> None:
    right, released = (DAASettings(1.0, 0.05, legacy_broadcast=legacy) for legacy in (False, True))
    scores, relevance = drawn(6, 0)
    assert not torch.allclose(daa(scores, relevance, right), daa(scores, relevance, released))
    even, said = scores + scores.T, relevance + relevance.T
    torch.testing.assert_close(daa(even, said, right), daa(even, said, released))


def test_what_is_ordered_as_captions_say_costs_nothing() -> None:
    random = torch.Generator().manual_seed(0)
    relevance = torch.rand(40, 40, generator=random, dtype=torch.float64)
    settings = DAASettings(1.0, 1e-4)
    same = replace(settings, relevance_temperature=1e-4)
    assert float(daa(relevance, relevance, same).max()) == 0
    assert float(daa(relevance, relevance, settings).max()) < 0.02
    alike = daa(3 * relevance - 1, relevance, settings)  # the same order, other numbers
    shuffled = daa(relevance[torch.randperm(40, generator=random)], relevance, settings)
    reversed_order = daa(-relevance, relevance, settings)
    assert float(alike.max()) < 0.01
    assert float(shuffled.mean()) == pytest.approx(1.0, abs=0.1)  # half a point of ASP, both ways
    assert float(reversed_order.mean()) > float(shuffled.mean())


def test_small_differences_of_relevance_count() -> None:
    """Most of CIDEr's values for other images' captions are below the usual temperature."""
    random = torch.Generator().manual_seed(0)
    relevance = 1e-3 * torch.rand(40, 40, generator=random, dtype=torch.float64)
    relevance += torch.eye(40, dtype=torch.float64)
    ordered = relevance.argsort(dim=1).argsort(dim=1).double()  # far apart, in the right order
    ours, released = DAASettings(1.0), DAASettings(1.0, relevance_temperature=0.001)
    assert float(one_way(ordered, relevance, ours).max()) < 0.02
    assert float(one_way(ordered, relevance, released).min()) > 0.1


def test_exchanging_two_texts_that_stand_right_costs_more() -> None:
    relevance = torch.linspace(1, 0, 36, dtype=torch.float64).view(6, 6)
    settings = DAASettings(1.0, 1e-3)
    wrong = relevance.clone()
    wrong[2, [0, 4]] = wrong[2, [4, 0]]
    assert daa(wrong, relevance, settings)[2] > daa(relevance, relevance, settings)[2] + 0.1


def hard(scores: Tensor, relevance: Tensor) -> np.ndarray:
    """ASP of each row, as evaluation has it."""
    numbers = np.arange(scores.shape[1])
    order = ordered(scores.float().numpy(), numbers)
    return asp(order, relevance.float().numpy(), numbers)


def test_it_is_one_minus_asp_where_ranks_are_hard() -> None:
    scores, relevance = drawn(30, 5)
    random = torch.Generator().manual_seed(0)  # no equals, and none that nearly are
    relevance = relevance + 1e-3 * torch.rand(30, 30, dtype=torch.float64, generator=random)
    ours = 1 - one_way(scores, relevance, DAASettings(1.0, 1e-6))
    np.testing.assert_allclose(ours.numpy(), hard(scores, relevance), atol=1e-3)


def with_relevance(n: int, senses: int = 1) -> View:
    view = batch(n, senses)
    return View(view.image, view.text, view.same, relevance=torch.rand(n, n).double())


@pytest.mark.parametrize("base", [Triplet(hard=True), InfoNCE(), Triplet(text=0.2)])
def test_it_is_added_to_any_loss_pair_by_pair(base: Any) -> None:
    settings, view = DAASettings(0.7, 0.02), batch(5)
    view = View(view.image, view.text, view.same, view.near, relevance=torch.rand(5, 5).double())
    loss = DAA(base.double(), settings)
    assert loss.needs == base.needs | {"relevance"}
    assert view.relevance is not None
    expected = base(view) + daa(scores_of(view), view.relevance, settings)
    torch.testing.assert_close(loss(view), expected)
    assert dict(loss.named_parameters()).keys() == {
        f"base.{name}" for name, _ in base.named_parameters()
    }


def test_it_takes_the_scores_of_a_model_that_compares_itself() -> None:
    view, settings = with_relevance(4), DAASettings(relevance_temperature=0.001)
    assert view.relevance is not None
    own = View(view.image, view.text, view.same, scores=view.relevance, relevance=view.relevance)
    assert not daa(scores_of(own), view.relevance, settings).any()


def test_without_relevance_it_can_be_looked_at_but_not_learned() -> None:
    view, loss = with_relevance(4), DAA(Triplet(), DAASettings())
    bare = View(view.image, view.text, view.same)
    with pytest.raises(ValueError, match="relevance"):
        loss(bare)
    torch.testing.assert_close(loss.eval()(bare), Triplet()(bare))


@pytest.mark.parametrize(
    "wrong", [{"weight": -1.0}, {"temperature": 0.0}, {"relevance": "meteor"}, {"wieght": 1.0}]
)
def test_bad_settings_are_one_line(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=next(iter(wrong))):
        config.parse(DAASettings, wrong, "recipe.toml: daa")


def test_senses_are_compared_as_everywhere() -> None:
    view = with_relevance(4, senses=2)
    loss = DAA(Triplet(), DAASettings(1.0, 0.02))
    assert loss(view).shape == (4,)


def topics(n: int, random: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
    """Pictures and texts that mix five topics, seen through noise; relevance is by topics alone."""
    mixed = torch.rand(n, 5, generator=random) ** 3
    images, texts = (
        torch.cat([mixed @ turn, torch.randn(n, 10, generator=random)], dim=1) for turn in TURNS
    )
    return images, texts, normalize(mixed) @ normalize(mixed).T


TURNS = torch.randn(2, 5, 10, generator=torch.Generator().manual_seed(7))


def test_learning_by_it_raises_asp_of_pairs_that_were_not_seen() -> None:
    random = torch.Generator().manual_seed(0)
    maps = (0.2 * torch.randn(2, 20, 8, generator=random)).requires_grad_()
    images, texts, relevance = topics(256, random)
    held = topics(100, random)

    def placed(some: Tensor, side: int) -> Encoded:
        return Encoded(normalize(some @ maps[side]))

    def measured() -> float:
        with torch.no_grad():
            scores = placed(held[0], 0).mean @ placed(held[1], 1).mean.T
        return float(hard(scores, held[2]).mean())

    before, optimizer = measured(), torch.optim.Adam([maps], lr=0.01)
    settings = DAASettings(1.0, 0.01)
    for step in range(40):
        some = torch.arange(64) + 64 * (step % 4)
        image, text = placed(images[some], 0), placed(texts[some], 1)
        optimizer.zero_grad()
        daa(image.mean @ text.mean.T, relevance[some][:, some], settings).mean().backward()
        optimizer.step()
    assert before < 0.55
    assert measured() > before + 0.1

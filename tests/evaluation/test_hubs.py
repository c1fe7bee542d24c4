"""Hubs: the same order as the papers' formulas by plain loops, and hubs lose."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from evaluation_samples import random_embedded, vectors
from hypothesis import given
from hypothesis import strategies as st

from trope.errors import UsageError
from trope.evaluation import hubs as module
from trope.evaluation.answers import answers
from trope.evaluation.embedded import Bank, Embedded
from trope.evaluation.hubs import LIMITS, Hubs, Method, correction
from trope.evaluation.job import settings_from
from trope.evaluation.measuring import direction_of
from trope.evaluation.passes import measured
from trope.metrics.precision import MAP
from trope.similarity import similarity
from trope.views import Encoded


def by_loops(scores: np.ndarray, bank: np.ndarray, hubs: Hubs) -> np.ndarray:
    """Scores in the form their papers give them."""
    strength, found = hubs.strength or 0, scores.copy()
    best = {max(range(bank.shape[1]), key=lambda j: row[j]) for row in bank}
    for q in range(len(scores)):
        first = max(range(scores.shape[1]), key=lambda j: scores[q, j])
        for j in range(scores.shape[1]):
            if hubs.method == "nnn":
                highest = sorted(bank[:, j], reverse=True)[: hubs.nearest]
                found[q, j] = scores[q, j] - strength * sum(highest) / len(highest)
            elif hubs.method == "inverted-softmax" or first in best:
                total = sum(np.exp(strength * bank[b, j]) for b in range(len(bank)))
                found[q, j] = np.exp(strength * scores[q, j]) / total
    return found


@given(
    st.integers(0, 2**16),
    st.sampled_from(["qb-norm", "inverted-softmax", "nnn"]),
    st.sampled_from([0, 2]),
    st.integers(1, 12),
)
def test_the_order_is_that_of_the_papers(seed: int, method: str, senses: int, bank: int) -> None:
    random = np.random.default_rng(seed)
    items, queries = vectors(random, 7, 3, senses), vectors(random, 6, 3, senses)
    asked = vectors(random, bank, 3, senses)
    chosen = Hubs(method, 5.0 if method != "nnn" else 0.7, 3)  # type: ignore[arg-type]
    made = correction(asked, items, chosen)
    assert made is not None
    scores, known = (similarity(one, items).double().numpy() for one in (queries, asked))
    wanted = by_loops(scores, known, chosen)
    found = made(scores.astype(np.float32))
    np.testing.assert_array_equal(np.argsort(-found, axis=1), np.argsort(-wanted, axis=1))


@pytest.mark.parametrize("method", ["qb-norm", "inverted-softmax", "nnn"])
def test_blocks_of_the_bank_make_no_difference(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(0)
    items, bank = vectors(random, 9), vectors(random, 50)
    whole = correction(bank, items, Hubs(method))  # type: ignore[arg-type]
    monkeypatch.setattr(module, "BLOCK", 9 * 7)
    parts = correction(bank, items, Hubs(method))  # type: ignore[arg-type]
    assert whole is not None
    assert parts is not None
    np.testing.assert_allclose(whole.bias, parts.bias, rtol=1e-6)
    assert (whole.hubs is None) == (method != "qb-norm")
    if whole.hubs is not None and parts.hubs is not None:
        np.testing.assert_array_equal(whole.hubs, parts.hubs)


@pytest.mark.parametrize("method", ["qb-norm", "inverted-softmax", "nnn"])
def test_a_planted_hub_no_longer_comes_first(method: str) -> None:
    random = np.random.default_rng(0)
    center = torch.nn.functional.normalize(torch.ones(1, 6), dim=1)
    near = vectors(random, 120).mean * 0.3 + center  # everything lies on one side of the sphere
    near = torch.nn.functional.normalize(near, dim=1)
    texts = torch.nn.functional.normalize(near[:20] + 0.35 * vectors(random, 20).mean, dim=1)
    texts[0] = center[0]  # the hub: the text of the first picture
    embedded = random_embedded(0, [1] * 20)
    embedded = Embedded(embedded.gallery, Encoded(near[:20]), Encoded(texts))
    bank = Bank(Encoded(near[20:]), Encoded(near[20:]))
    rows = np.arange(20)
    plain = direction_of(embedded, "image").scores(rows)
    chosen = Hubs(method)  # type: ignore[arg-type]
    better = direction_of(embedded, "image", chosen, bank).scores(rows)
    firsts = [(scores.argmax(axis=1) == 0).sum() for scores in (plain, better)]
    assert firsts[1] < firsts[0]
    right = [(scores.argmax(axis=1) == rows).mean() for scores in (plain, better)]
    assert right[1] > right[0]


def test_nothing_is_corrected_without_a_method() -> None:
    items = vectors(np.random.default_rng(0), 3)
    assert correction(items, items, Hubs()) is None


@pytest.mark.parametrize("method", ["qb-norm", "inverted-softmax", "nnn"])
def test_corrections_of_any_strength_are_numbers(method: Method) -> None:
    random = np.random.default_rng(0)
    bank, items = vectors(random, 9), vectors(random, 5)
    for strength in LIMITS:
        found = correction(bank, items, Hubs(method, strength))
        assert found is not None
        assert np.isfinite(found.bias).all()


def test_settings_are_checked_and_told() -> None:
    with pytest.raises(UsageError, match="expected one of none, qb-norm"):
        settings_from(hubs="qbnorm")
    for strength in (-1.0, 0.0, 1e-300, 1e300, float("inf"), float("nan")):
        with pytest.raises(UsageError, match=r"hubs\.strength: a number from 1e-06 to 1,000,000"):
            Hubs("nnn", strength)
    with pytest.raises(UsageError, match="nearest must be at least 1"):
        Hubs("nnn", 1.0, 0)
    assert Hubs("qb-norm", 20.0).settled
    assert not Hubs("nnn", 1.0).settled
    assert Hubs("nnn").default() == Hubs("nnn", 0.75, 16)
    assert Hubs("qb-norm").default().told() == "qb-norm (β 20)"
    assert {choice.strength for choice in Hubs("qb-norm").choices()} == {5, 10, 20, 40}
    assert [choice.strength for choice in Hubs("qb-norm", 7.0).choices()] == [7]


class Planted:
    """A source of random vectors that knows which splits it was asked for."""

    pairs, has_space, threshold = None, False, None

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embedded(self, split: str) -> Embedded:
        self.asked.append(split)
        return random_embedded(["train", "val", "test"].index(split), [2] * 30)

    def bank(self) -> Bank:
        train = random_embedded(0, [2] * 30)
        return Bank(train.image, train.text)

    def validation(self) -> Embedded:
        return self.embedded("val")

    def training(self) -> None:
        raise NotImplementedError

    def space(self, asked: str) -> str:
        return asked

    def meaning(self, space: str) -> np.ndarray:
        raise NotImplementedError


@pytest.mark.parametrize("method", ["inverted-softmax", "nnn"])
def test_validation_chooses_what_ranks_it_best(method: str) -> None:
    source = Planted()
    found = answers(source, "test", settings_from(hubs=method, metrics="map"))
    val, bank = source.validation(), source.bank()
    best = [
        max(
            Hubs(method).choices(),  # type: ignore[arg-type]
            key=lambda choice, side=side: np.nanmean(  # type: ignore[misc]
                measured(direction_of(val, side, choice, bank), [MAP()]).values["map"]
            ),
        )
        for side in ("image", "text")
    ]
    told = f"hubs: image to text {best[0].told()}, text to image {best[1].told()}"
    assert (found.told, found.remarks) == ((told,), ())
    assert any(choice != Hubs(method).default() for choice in best)  # type: ignore[arg-type]


def test_nothing_is_chosen_on_what_is_reported() -> None:
    source = Planted()
    found = answers(source, "val", settings_from(hubs="nnn", metrics="map"))
    assert "a 0.75, k 16" in found.told[0]
    assert found.remarks == ("hubs: the default strength; on val itself none is chosen",)
    assert source.asked == ["val"]
    settled = {"method": "nnn", "strength": 0.5, "nearest": 4}
    fixed = answers(source, "val", settings_from(hubs=settled, metrics="map"))
    assert ("a 0.5, k 4" in fixed.told[0], fixed.remarks) == (True, ())
    with pytest.raises(UsageError, match="the bank is of training queries"):
        answers(source, "train", settings_from(hubs="nnn", metrics="map"))

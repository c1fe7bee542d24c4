"""The structure-preserving loss against plain loops."""

from __future__ import annotations

import math

import pytest
from batches import batch, batches, ranking
from hypothesis import given, settings

from trope.losses.structure import Structure
from trope.views import View


def apart(cosine: float) -> float:
    return math.sqrt(max(0.0, 2 - 2 * cosine) + 1e-4)


@settings(max_examples=15)
@given(view=batches)
def test_it_is_the_formula(view: View) -> None:
    def term(own: float, others: list[tuple[float, float]], n: int) -> float:
        found = sorted(max(0.0, 0.5 + apart(own) - apart(other)) for other, _ in others)
        return sum(found[-3:]) / min(3, n)

    loss = Structure(margin=0.5, largest=3, image=0.2)
    expected = ranking(view, term, (1, 1.5, 0.05, 0.2))
    assert loss(view).tolist() == pytest.approx(expected, abs=1e-9)


def test_what_it_needs_follows_from_its_weights() -> None:
    assert Structure().needs == {"near-text"}
    assert Structure(text=0.0, image=0.05).needs == {"near-image"}
    assert Structure(image=0.05).needs == {"near-text", "near-image"}
    assert Structure(text=0.0).needs == frozenset()


def test_the_texts_and_the_images_of_neighbors_can_be_told_apart() -> None:
    view = batch(6)
    plain = Structure(text=0.0)(view)
    texts, images = Structure()(view) - plain, Structure(text=0.0, image=0.05)(view) - plain
    both = Structure(image=0.05)(view) - plain
    assert texts.sum() > 0 < images.sum()
    assert both.tolist() == pytest.approx((texts + images).tolist())

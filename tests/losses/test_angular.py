"""Angular loss against plain loops, vectors of the paper's equation and pytorch-metric-learning."""

from __future__ import annotations

import math
from typing import Literal

import pytest
from batches import batches, both_ways, paired, ranking, view_of
from hypothesis import given, settings
from pytorch_metric_learning.losses import AngularLoss

from trope.losses.angular import Angular
from trope.views import View


@pytest.mark.parametrize(("angle", "form"), [(45.0, "smooth"), (20.0, "hinge"), (45.0, "hinge")])
@settings(max_examples=15)
@given(view=batches)
def test_it_is_the_formula(view: View, angle: float, form: Literal["smooth", "hinge"]) -> None:
    square = math.tan(math.radians(angle)) ** 2

    def term(own: float, others: list[tuple[float, float]], n: int) -> float:
        found = [4 * square * (a + p) - 2 * (1 + square) * own for a, p in others]
        if form == "smooth":
            return math.log(1 + sum(math.exp(f) for f in found))
        return sum(max(0.0, f + 2 - 6 * square) for f in found)

    loss = Angular(angle=angle, form=form, text=0.2, image=0.3)
    expected = ranking(view, term, (1, 1, 0.2, 0.3))
    assert loss(view).tolist() == pytest.approx(expected, abs=1e-9)


def test_the_hinge_is_the_papers_equation_on_vectors() -> None:
    image, text = paired(5, seed=1)
    square = math.tan(math.radians(25)) ** 2
    expected = [0.0] * 5
    for anchors, positives in ((image, text), (text, image)):
        for i in range(5):
            a, p = anchors[i], positives[i]
            for j in set(range(5)) - {i}:
                negative = positives[j]
                far = 4 * square * ((negative - (a + p) / 2) ** 2).sum()
                expected[i] += max(0.0, (((a - p) ** 2).sum() - far).item())
    found = Angular(angle=25.0, form="hinge")(view_of(image, text))
    assert found.tolist() == pytest.approx(expected)


def test_above_30_degrees_the_hinge_starts_inactive() -> None:
    view = view_of(*paired(6, size=2000))
    assert Angular(form="hinge")(view).max() == 0
    assert Angular(angle=20.0, form="hinge")(view).min() > 0


@pytest.mark.parametrize("angle", [40.0, 45.0])
def test_it_equals_pytorch_metric_learning(angle: float) -> None:
    image, text = paired(9)
    theirs = both_ways(AngularLoss(angle), image, text)
    ours = Angular(angle=angle)(view_of(image, text)).mean()
    assert ours.item() == pytest.approx(theirs.item(), rel=1e-7)

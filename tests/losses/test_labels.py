"""Losses by labels: semantic sharing, DSCMR, and the consistency that both may have."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from trope import config
from trope.errors import UsageError
from trope.losses import DAA, LOSSES, DAASettings, Loss
from trope.losses.consistency import consistency
from trope.losses.dscmr import DSCMR
from trope.losses.labels import Labels, entropy, product
from trope.maths import normalize
from trope.views import Encoded, View

CASES: dict[str, Callable[[], Loss]] = {
    "sharing": Labels,
    "entropy": lambda: Labels(form="entropy"),
    "sharing-consistency": lambda: Labels(consistency=0.1),
    "counted": lambda: Labels(consistency=0.5, counted=True),
    "dscmr": DSCMR,
    "dscmr-counted": lambda: DSCMR(alpha=0.5, counted=True),
}
every = pytest.mark.parametrize("name", CASES)


def batch(n: int, seed: int = 0, bare: bool = False) -> View:
    """Random items with scores of labels; of `bare` batches some pairs have none."""
    random = torch.Generator().manual_seed(seed)

    def items() -> Encoded:
        points = torch.randn(n, 5, generator=random, dtype=torch.float64)
        logits = torch.randn(n, 4, generator=random, dtype=torch.float64)
        masked = torch.rand(n, generator=random, dtype=torch.float64)
        length = points.norm(dim=1)
        return Encoded(normalize(points), logits=logits, length=length, masked=masked)

    labels = torch.rand(n, 4, generator=random) < 0.5
    labels[:, 0] |= ~labels.any(dim=1)
    if bare:
        labels[::2] = False
    return View(items(), items(), torch.eye(n, dtype=torch.bool), labels=labels)


batches = st.builds(batch, n=st.integers(1, 6), seed=st.integers(0, 2**31), bare=st.booleans())


def rows(values: Tensor | None) -> list[list[float]]:
    assert values is not None
    return values.tolist()


def dot(left: list[float], right: list[float]) -> float:
    return math.fsum(a * b for a, b in zip(left, right, strict=True))


def shared(view: View, i: int, j: int) -> int:
    return sum(a and b for a, b in zip(*(rows(view.labels)[k] for k in (i, j)), strict=True))


def slow_consistency(view: View, counted: bool) -> list[float]:
    image, text, labels = rows(view.image.mean), rows(view.text.mean), rows(view.labels)
    known = [i for i, some in enumerate(labels) if any(some)]

    def cost(left: list[float], right: list[float], i: int, j: int) -> float:
        gamma, alike = dot(left, right) / 2, shared(view, i, j)
        return math.log(1 + math.exp(gamma)) - (alike if counted else min(alike, 1)) * gamma

    return [
        math.fsum(
            cost(image[i], image[j], i, j)
            + cost(text[i], text[j], i, j)
            + cost(image[i], text[j], i, j) / 2
            + cost(image[j], text[i], i, j) / 2
            for j in known
        )
        / len(known)
        if i in known
        else 0.0
        for i in range(len(labels))
    ]


@settings(max_examples=50)
@given(view=batches, counted=st.booleans())
def test_consistency_equals_plain_loops(view: View, counted: bool) -> None:
    assert view.labels is not None
    found = consistency(view.image, view.text, view.labels, counted)
    assert found.tolist() == pytest.approx(slow_consistency(view, counted), abs=1e-12)


@settings(max_examples=50)
@given(view=batches, form=st.sampled_from(["product", "entropy"]))
def test_the_label_loss_equals_plain_loops(view: View, form: str) -> None:
    loss = config.parse(Labels, {"form": form, "masked": 0.3, "consistency": 0.2}, "test")
    con = slow_consistency(view, False)
    expected = []
    for i, labels in enumerate(rows(view.labels)):
        total = 0.3 * float(view.image.masked[i] + view.text.masked[i]) + 0.2 * con[i]
        for items in (view.image, view.text):
            scores = [1 / (1 + math.exp(-z)) for z in rows(items.logits)[i]]
            if form == "product":
                term = math.log(1 + math.exp(-dot(labels, scores)))
            else:
                term = (
                    -sum(math.log(s if y else 1 - s) for s, y in zip(scores, labels, strict=True))
                    / 4
                )
            total += term / 2 if any(labels) else 0.0
        expected.append(total)
    assert loss(view).tolist() == pytest.approx(expected, abs=1e-12)


@settings(max_examples=50)
@given(view=batches)
def test_dscmr_equals_plain_loops(view: View) -> None:
    con, expected = slow_consistency(view, False), []
    for i, labels in enumerate(rows(view.labels)):
        vectors = [
            [x * rows_of_length for x in rows(items.mean)[i]]
            for items, rows_of_length in (
                (view.image, float(view.image.length[i])),
                (view.text, float(view.text.length[i])),
            )
        ]
        total = 0.1 * math.dist(*vectors) + 1e-3 * con[i]
        for items in (view.image, view.text):
            total += math.dist(rows(items.logits)[i], [float(y) for y in labels]) * any(labels)
        expected.append(total)
    assert DSCMR()(view).tolist() == pytest.approx(expected, abs=1e-12)


def test_scores_on_the_right_labels_cost_less() -> None:
    labels = torch.tensor([[True, False, True, False]])
    better, worse = torch.tensor([[2.0, -2, 2, -2]]), torch.tensor([[-2.0, 2, -2, 2]])
    for term in (product, entropy):
        costs = [float(term(logits, labels)) for logits in (better, torch.zeros(1, 4), worse)]
        assert costs[0] < costs[1] < costs[2]


def test_one_that_shares_a_label_may_be_near_others_may_not() -> None:
    near, far = torch.eye(2, dtype=torch.float64)[[0, 0]], torch.eye(2, dtype=torch.float64)
    alike, other = torch.tensor([[True, False], [True, True]]), torch.eye(2, dtype=torch.bool)

    def cost(points: Tensor, labels: Tensor) -> float:
        return float(consistency(Encoded(points), Encoded(points), labels).sum())

    assert cost(near, alike) < cost(far, alike)
    assert cost(far, other) < cost(near, other)


def test_dscmr_draws_a_pair_together() -> None:
    view = batch(4)
    together = replace(
        view, text=replace(view.text, mean=view.image.mean, length=view.image.length)
    )
    assert (DSCMR(alpha=0.0)(together) < DSCMR(alpha=0.0)(view)).all()


def test_what_is_masked_counts_by_its_weight_and_only_where_something_was() -> None:
    view = batch(3)
    bare = replace(
        view, image=replace(view.image, masked=None), text=replace(view.text, masked=None)
    )
    assert torch.equal(Labels(masked=0.0)(view), Labels()(bare))
    assert (Labels(masked=0.1)(view) > Labels(masked=0.01)(view)).all()


@every
def test_a_pair_without_labels_is_not_judged_by_them(name: str) -> None:
    view, loss = batch(6, bare=True), CASES[name]().double()
    other = replace(view.image, logits=torch.randn(6, 4, dtype=torch.float64))
    none = ~view.labels.any(dim=1)
    assert torch.equal(loss(view)[none], loss(replace(view, image=other))[none])
    empty = replace(view, labels=torch.zeros_like(view.labels))
    assert loss(empty).isfinite().all()


@pytest.mark.parametrize("make", [*CASES.values(), lambda: DSCMR(beta=0.0)])
def test_a_loss_of_labels_alone_says_so(make: Callable[[], Loss]) -> None:
    """What costs nothing without labels, whatever the model, cannot choose one."""
    view, loss = batch(4), make()
    items = [replace(one, masked=None) for one in (view.image, view.text)]
    bare = View(*items, view.same, labels=torch.zeros(4, 4, dtype=torch.bool))
    assert loss.of_labels == (not loss(bare).any())
    for weight in (0.0, 0.2):
        assert DAA(loss, DAASettings(weight=weight)).of_labels == (loss.of_labels and not weight)


@every
def test_the_order_of_pairs_does_not_matter(name: str) -> None:
    view, loss, order = batch(6, bare=True), CASES[name](), torch.tensor([3, 0, 5, 1, 4, 2])
    moved = View(
        view.image.take(order), view.text.take(order), view.same, labels=view.labels[order]
    )
    assert torch.allclose(loss(moved), loss(view)[order])


@every
def test_gradients(name: str) -> None:
    view, loss = batch(3), CASES[name]().double()

    def value(points: Tensor, logits: Tensor) -> Tensor:
        sides = [
            Encoded(normalize(p), logits=z, length=p.norm(dim=1))
            for p, z in zip(points, logits, strict=True)
        ]
        return loss(View(*sides, view.same, labels=view.labels))

    random = torch.Generator().manual_seed(1)
    inputs = [torch.randn(2, 3, k, generator=random, dtype=torch.float64) for k in (5, 4)]
    assert torch.autograd.gradcheck(value, [one.requires_grad_() for one in inputs])


@every
def test_a_missing_part_is_named(name: str) -> None:
    view, loss = batch(3), CASES[name]()
    with pytest.raises(ValueError, match="'labels'"):
        loss(replace(view, labels=None))
    with pytest.raises(ValueError, match="'logits'"):
        loss(replace(view, text=replace(view.text, logits=None)))


@every
def test_learning_finds_the_labels(name: str) -> None:
    view, loss = batch(12, 3), CASES[name]()
    points = torch.randn(2, 12, 5, generator=torch.Generator().manual_seed(0))
    logits = torch.zeros(2, 12, 4)
    optimizer = torch.optim.Adam([points.requires_grad_(), logits.requires_grad_()], lr=0.05)
    for _ in range(60):
        sides = [
            Encoded(normalize(p), logits=z, length=p.norm(dim=1))
            for p, z in zip(points, logits, strict=True)
        ]
        optimizer.zero_grad()
        loss(View(*sides, view.same, labels=view.labels)).mean().backward()
        optimizer.step()
    for found in logits.detach():
        assert found[view.labels].mean() > found[~view.labels].mean() + 0.5


@pytest.mark.parametrize(
    ("name", "wrong"),
    [("labels", {"masked": -1.0}), ("labels", {"form": "bce"}), ("dscmr", {"beta": float("nan")})],
)
def test_bad_settings_are_one_line(name: str, wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError, match=next(iter(wrong))):
        config.parse(LOSSES[name], wrong, "recipe.toml")

"""What holds of every loss."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from batches import ODDS, batch, items
from torch import Tensor
from torch.func import functional_call
from torch.utils._python_dispatch import TorchDispatchMode

from trope import config
from trope.errors import UsageError
from trope.losses import LOSSES, PENALTIES, Loss
from trope.losses.angular import Angular
from trope.losses.hal import HAL
from trope.losses.infonce import InfoNCE
from trope.losses.npairs import NPairs
from trope.losses.pcme import PCME
from trope.losses.siglip import SigLIP
from trope.losses.soft_targets import SoftTargets
from trope.losses.structure import Structure
from trope.losses.triplet import Triplet
from trope.maths import normalize
from trope.views import Encoded, Near, View

CASES: dict[str, Callable[[], Loss]] = {
    "triplet": Triplet,
    "hard-negative": lambda: Triplet(hard=True),
    "neighborhoods-triplet": lambda: Triplet(text=0.3, image=0.1),
    "angular": Angular,
    "angular-hinge": lambda: Angular(angle=20.0, form="hinge"),
    "neighborhoods": lambda: Angular(text=0.2, image=0.3),
    "hal": HAL,
    "npairs": NPairs,
    "pcme": lambda: PCME(kl=0.0),
    "infonce": InfoNCE,
    "siglip": SigLIP,
    "soft-targets": SoftTargets,
    "structure": Structure,
    "structure-image": lambda: Structure(text=0.0, image=0.05),
}
every = pytest.mark.parametrize("name", CASES)


def made(name: str) -> Loss:
    return CASES[name]().double()


def test_every_entry_of_the_table_is_tried() -> None:
    """Losses by labels, which rank nothing, are tried by themselves (test_labels.py)."""
    ranked = {kind for kind in LOSSES.values() if "labels" not in kind().needs}
    assert {type(make()) for make in CASES.values()} == ranked


@pytest.mark.parametrize("name", [*LOSSES, *PENALTIES])
def test_the_docs_tell_of_it_and_of_its_settings(name: str) -> None:
    page = (Path(__file__).parents[2] / "docs" / "methods.md").read_text(encoding="utf-8")
    options = [field.name for field in fields(LOSSES[name])] if name in LOSSES else []
    for word in [name, *options]:
        assert f"`{word}`" in page or f"{word} ·" in page, word


@pytest.mark.parametrize("name", LOSSES)
def test_settings_are_read_strictly_and_back(name: str) -> None:
    loss = config.parse(LOSSES[name], {}, "recipe.toml")
    assert config.plain(config.parse(LOSSES[name], config.plain(loss), "again")) == config.plain(
        loss
    )
    with pytest.raises(UsageError, match="no option 'margln'"):
        config.parse(LOSSES[name], {"margln": 0.1}, "recipe.toml")


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("triplet", {"margin": -0.1}),
        ("triplet", {"text": float("nan")}),
        ("angular", {"angle": 90.0}),
        ("angular", {"form": "soft"}),
        ("npairs", {"scale": 0.0}),
        ("hal", {"margin": 2.0}),
        ("infonce", {"temperature": 0.001}),
        ("siglip", {"bias": float("inf")}),
        ("soft-targets", {"temperature": 0.2}),
        ("soft-targets", {"cross": -1.0}),
        ("structure", {"largest": 0}),
        ("pcme", {"kl": -1.0}),
        ("pcme", {"samples": 0}),
    ],
)
def test_bad_settings_are_one_line(name: str, settings: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=next(iter(settings))):
        config.parse(LOSSES[name], settings, "recipe.toml")


@every
def test_a_missing_part_is_named(name: str) -> None:
    view, loss = batch(3), made(name)
    bare = View(view.image, view.text, view.same)
    if not loss.needs:
        assert loss(bare).shape == (3,)
        return
    with pytest.raises(ValueError, match="|".join(loss.needs)):
        loss(bare)
    if name == "pcme":
        bare = replace(bare, odds=view.odds)  # which are the model's, not the batch's
    assert loss.eval()(bare).shape == (3,)  # validation looks at the pairs alone


@every
def test_a_neighbor_of_the_other_modality_is_not_looked_at(name: str) -> None:
    view, loss = batch(4), made(name)
    assert view.near is not None
    sides = {"near-image": "image", "near-text": "text"}
    for need, side in sides.items():
        without = replace(view, near=replace(view.near, **{side: None}))
        if need in loss.needs:
            with pytest.raises(ValueError, match=need):
                loss(without)
        else:
            assert torch.equal(loss(without), loss(view))


@every
def test_a_pair_without_neighbor_has_no_neighbor_term(name: str) -> None:
    view, loss = batch(4), made(name)
    assert view.near is not None
    near, there = view.near, torch.tensor([True, False, True, False])
    some = replace(view, near=replace(near, there=there))
    alone = loss.eval()(replace(view, near=None))
    assert torch.allclose(loss(some)[there], loss(view)[there])
    assert torch.allclose(loss(some)[~there], alone[~there])


@every
def test_the_order_of_pairs_does_not_matter(name: str) -> None:
    view, loss, order = batch(6, 2, 4), made(name), torch.tensor([3, 0, 5, 1, 4, 2])

    def moved(one: Encoded) -> Encoded:
        assert one.points is not None
        return Encoded(one.mean[order], one.points[order])

    assert view.near is not None
    assert view.meaning is not None
    assert view.look is not None
    across = torch.meshgrid(order, order, indexing="ij")
    near = Near(moved(view.near.image), moved(view.near.text), view.near.same[across])
    other = View(
        moved(view.image),
        moved(view.text),
        view.same[across],
        near,
        view.meaning[order],
        view.look[order],
        odds=view.odds,
    )
    assert torch.allclose(loss(other), loss(view)[order])


@every
@pytest.mark.parametrize("senses", [1, 2])
def test_gradients(name: str, senses: int) -> None:
    view, loss = batch(3, senses), made(name)
    parameters = dict(loss.named_parameters())

    def sides(vectors: Tensor) -> list[Encoded]:
        unit = normalize(vectors)
        return [Encoded(one[:, 0], one if senses > 1 else None) for one in unit]

    def value(vectors: Tensor, *values: Tensor) -> Tensor:
        image, text, near_image, near_text = sides(vectors)
        assert view.near is not None
        near = Near(near_image, near_text, view.near.same)
        inputs = View(image, text, view.same, near, view.meaning, view.look, odds=ODDS)
        return functional_call(loss, dict(zip(parameters, values, strict=True)), (inputs,))

    random = torch.Generator().manual_seed(4)
    vectors = torch.randn(4, 3, senses, 4, generator=random, dtype=torch.float64)
    start = [value.detach().clone().requires_grad_() for value in parameters.values()]
    assert torch.autograd.gradcheck(value, [vectors.requires_grad_(), *start], fast_mode=True)


def orthogonal(n: int, own: float, other: float) -> View:
    """Images, texts and neighbors at right angles, but s_ii = own and s_10 = other."""
    axes = torch.eye(4 * n, dtype=torch.float64)
    image, text, near_image, near_text = axes.split(n)
    text = own * image + (1 - own**2) ** 0.5 * text
    if other:
        text = text.clone()
        text[0] = other * image[1] + (1 - other**2) ** 0.5 * axes[n]
    eye = torch.eye(n, dtype=torch.bool)
    near = Near(Encoded(near_image), Encoded(near_text), torch.zeros_like(eye))
    teacher = torch.eye(n, dtype=torch.float64)
    return View(Encoded(image), Encoded(text), eye, near, teacher, teacher, odds=ODDS)


@every
def test_a_positive_that_is_closer_costs_less(name: str) -> None:
    loss, near = made(name), 0.3 if name == "hal" else -0.1  # which lets go of what is below 0
    assert (loss(orthogonal(5, near, 0)) < loss(orthogonal(5, near - 0.1, 0))).all()


@every
def test_a_negative_that_is_closer_costs_more(name: str) -> None:
    loss = made(name)
    before, after = loss(orthogonal(5, 0, 0.3)), loss(orthogonal(5, 0, 0.5))
    assert after[1] > before[1]
    assert after.sum() > before.sum()


@every
def test_learning_improves_the_ranking(name: str) -> None:
    random = torch.Generator().manual_seed(0)
    vectors = torch.randn(2, 12, 8, generator=random)
    vectors[1] += 0.5 * vectors[0] if name == "hal" else 0  # which pulls what is above 0 alone
    vectors.requires_grad_()
    meaning, look = torch.randn(2, 12, 4, generator=random)
    eye, turn = torch.eye(12, dtype=torch.bool), torch.arange(12).roll(1)
    loss = CASES[name]()
    optimizer = torch.optim.Adam([vectors, *loss.parameters()], lr=0.05)

    def right() -> float:
        image, text = normalize(vectors.detach())
        return float(((image @ text.T).argmax(dim=1) == torch.arange(12)).float().mean())

    assert right() < 0.4
    for _ in range(40):
        image, text = normalize(vectors)
        near = Near(Encoded(image[turn]), Encoded(text[turn]), eye[turn])
        view = View(Encoded(image), Encoded(text), eye, near, meaning, look, odds=ODDS.float())
        optimizer.zero_grad()
        loss(view).mean().backward()
        optimizer.step()
    assert right() > 0.9


def extreme(kind: str) -> tuple[View, Tensor]:
    """Batches that divide by zero where a loss does not take care."""
    n = 1 if kind == "one" else 5
    vectors = torch.randn(4, n, 6)
    if kind == "equal":
        vectors = torch.ones(4, n, 6)
    if kind == "opposite":
        vectors[1] = -vectors[0]
    vectors.requires_grad_()
    image, text, *near = (Encoded(one) for one in normalize(vectors))
    same = torch.eye(n, dtype=torch.bool) if kind != "same" else torch.ones(n, n, dtype=torch.bool)
    teachers = torch.zeros(n, 3), torch.ones(n, 2)
    view = View(image, text, same, Near(*near, same), *teachers, odds=ODDS.float())
    return view, vectors


@every
@pytest.mark.parametrize("kind", ["one", "equal", "opposite", "same"])
def test_extreme_batches_have_finite_losses_and_gradients(name: str, kind: str) -> None:
    view, vectors = extreme(kind)
    loss = CASES[name]()(view)
    loss.sum().backward()
    assert loss.isfinite().all()
    assert vectors.grad is not None
    assert vectors.grad.isfinite().all()


class Largest(TorchDispatchMode):
    """Remembers the size of the largest tensor that any operation makes."""

    size = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        for one in made if isinstance(made, (tuple, list)) else [made]:
            if isinstance(one, Tensor):
                self.size = max(self.size, one.numel())
        return made


@every
@pytest.mark.parametrize("senses", [1, 2])
def test_memory_grows_with_the_square_of_the_batch(name: str, senses: int) -> None:
    n, loss, random = 40, made(name), torch.Generator().manual_seed(0)
    view = batch(n, senses)
    leaf = items(n, senses, random)
    for one in (leaf.mean, leaf.points):
        if one is not None:
            one.requires_grad_()
    view = replace(view, image=leaf)
    with Largest() as largest:
        loss(view).mean().backward()
    assert largest.size <= senses**2 * n * (n + 1)


def test_losses_by_labels_take_no_scores() -> None:
    by_labels = [kind for kind in LOSSES.values() if "labels" in kind().needs]
    assert by_labels
    assert not any(kind.takes_scores for kind in by_labels)


@every
def test_losses_say_whether_they_take_scores(name: str) -> None:
    loss, view = made(name), batch(5)
    scores = torch.rand(5, 5, dtype=torch.float64, requires_grad=True)
    total = loss(replace(view, scores=scores)).sum()
    (found,) = torch.autograd.grad(total, scores, allow_unused=True)
    off = ~torch.eye(5, dtype=torch.bool)
    reached = found is not None and bool(found[off].abs().sum() > 0)
    assert reached == loss.takes_scores

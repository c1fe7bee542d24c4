from __future__ import annotations

from pathlib import Path

import planted
import pytest
import torch

import trope
from trope.checkpoints import load_model
from trope.encoders import HeadSettings, ImageSettings, Model, Plan, TextSettings
from trope.errors import UsageError
from trope.losses import LOSSES
from trope.training import Optimization, train
from trope.training.optimizer import adam, groups, learned, set_rate

PLAN = Plan(
    ImageSettings(backbone="precomputed"),
    TextSettings(words=4, hidden=6),
    HeadSettings(size=5),
    image_size=7,
    words=("a", "b", "c"),
)


def model() -> Model:
    return PLAN.model(0)


def test_every_weight_is_learned_once() -> None:
    made, loss = model(), LOSSES["infonce"]()
    grouped = [p for group in groups(made, loss, Optimization()) for p in group["params"]]
    wanted = [*made.parameters(), *loss.parameters()]
    assert {id(p) for p in grouped} == {id(p) for p in wanted}
    assert len(grouped) == len(wanted)


def test_what_is_frozen_is_left_alone() -> None:
    made, loss = model(), LOSSES["infonce"]()
    made.text.requires_grad_(False)
    assert {part for part, _ in learned(made, loss)} == {"head", "loss"}


def test_each_part_has_its_rate() -> None:
    made, loss = model(), LOSSES["infonce"]()
    settings = Optimization(learning_rate=0.5, rates={"text": 0.1, "loss": 2.0})
    optimizer = adam(made, loss, settings)
    set_rate(optimizer, 0.25)
    rates = {id(p): group["lr"] for group in optimizer.param_groups for p in group["params"]}
    factors = {"text": 0.1, "head": 1.0, "loss": 2.0}
    for part, parameter in learned(made, loss):
        assert rates[id(parameter)] == pytest.approx(0.25 * factors[part])


def test_words_and_what_a_loss_learns_do_not_decay() -> None:
    made, loss = model(), LOSSES["siglip"]()
    optimizer = adam(made, loss, Optimization(weight_decay=0.1, learning_rate=0.1))
    before = {id(p): p.detach().clone() for _, p in learned(made, loss)}
    for _, parameter in learned(made, loss):
        parameter.grad = torch.zeros_like(parameter)
    optimizer.step()
    still = {id(p) for _, p in learned(made, loss) if torch.equal(p, before[id(p)])}
    assert id(made.text.encoder.words.weight) in still
    assert {id(p) for p in loss.parameters()} <= still
    moved = made.text.head.map.weight
    assert moved.norm() < before[id(moved)].norm()


@pytest.mark.parametrize(
    ("rates", "message"),
    [
        ({"image": 0.1}, "nothing is learned in image"),
        ({"loss": 0.1}, "nothing is learned in loss"),
    ],
)
def test_a_part_that_learns_nothing_has_no_rate(rates: dict[str, float], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        groups(model(), LOSSES["angular"](), Optimization(rates=rates))


@pytest.mark.parametrize(
    ("rates", "message"),
    [
        ({"imge": 0.1}, "no part 'imge'; did you mean 'image'"),
        ({"text": 0.0}, "that of text must be above 0"),
    ],
)
def test_wrong_rates_are_told(rates: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Optimization(rates=rates)


def test_a_lower_rate_keeps_an_encoder_where_it_was(tmp_path: Path) -> None:
    pairs = trope.open(planted.write(tmp_path / "data", rows=64))
    sets = [*planted.PRECOMPUTED, "training.epochs=2", "text.pretrained=false"]
    moved = []
    for rate in (1.0, 1e-3):
        run = tmp_path / f"{rate}"
        train("angular", pairs, run, sets=[*sets, f"training.rates.text={rate}"], quiet=True)
        found = load_model(run)
        start = found.plan.model(0).text.encoder.gru.weight_hh_l0
        now = found.model.text.encoder.gru.weight_hh_l0
        moved.append((now - start).norm().item())
    assert moved[1] < moved[0] / 100

"""A weight over a run: the bank, what is learned from it, how steps are weighed, how it goes on."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import planted
import pytest
import torch

import trope
from trope.checkpoints import load_model, read_tensors
from trope.data.pairs import Pairs
from trope.errors import DataError, UsageError
from trope.files import write_json
from trope.neighbors import Search, neighbors
from trope.training import Trained, load_recipe, loop, resolve, sweep, train, weigh_run
from trope.training.idle import idle_settings
from trope.training.processes import launched
from trope.training.state import Progress
from trope.training.steps import Steps, seen
from trope.training.task import prepare
from trope.training.weighing import Weighing
from trope.weights import CHOICES, CombinedStats, CombinedVal, chain_of, measured
from trope.weights.spread import effective

SHORT = [*planted.PRECOMPUTED, "training.epochs=3"]
FEW = [*SHORT, "neighbors.k=5"]
WHY = {"weight_deviation", "weight_agreement", "weight_steadiness"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return planted.write(tmp_path_factory.mktemp("planted") / "data", rows=72)


@pytest.fixture
def pairs(folder: Path) -> Pairs:
    return trope.open(folder)


def tensors(run: Path) -> dict[str, torch.Tensor]:
    return read_tensors(run / "model.safetensors")[0]


def equal(left: Path, right: Path) -> bool:
    one, other = tensors(left), tensors(right)
    return all(torch.equal(one[name], other[name]) for name in one)


def same_end(whole: Path, broken: Path) -> None:
    """Models, states, figures and banks are equal, bit by bit."""
    for name in ("model", "state"):
        one, other = (read_tensors(run / f"{name}.safetensors") for run in (whole, broken))
        assert one[0].keys() == other[0].keys()
        assert all(torch.equal(one[0][key], other[0][key]) for key in one[0])
    assert one[1] == other[1]
    for name in ("metrics.jsonl", "bank.npy"):
        assert (whole / name).read_bytes() == (broken / name).read_bytes(), name


def made(pairs: Pairs, out: Path, recipe: str, *sets: str) -> loop.Loop:
    settings = resolve(load_recipe(recipe), [*SHORT, *sets], 100)
    task, fabric = prepare(pairs, settings, 0), launched(settings.training)
    out.mkdir(exist_ok=True)
    return loop.Loop(task, settings, 0, out, fabric, {}, lambda *_: None)


def weighing(running: loop.Loop) -> Weighing:
    assert running.weighing is not None
    return running.weighing


def test_the_first_epoch_has_equal_weights(pairs: Pairs, tmp_path: Path) -> None:
    one = [*FEW, "training.epochs=1"]
    train("diversity", pairs, tmp_path / "a", sets=one, quiet=True)
    train("uniform-lambda", pairs, tmp_path / "b", sets=one[:-2] + one[-1:], quiet=True)
    assert equal(tmp_path / "a", tmp_path / "b")


def test_without_a_sign_all_epochs_have(pairs: Pairs, tmp_path: Path) -> None:
    train("diversity", pairs, tmp_path / "a", sets=[*FEW, "weight.sign=0"], quiet=True)
    train("uniform-lambda", pairs, tmp_path / "b", sets=SHORT, quiet=True)
    train("diversity", pairs, tmp_path / "c", sets=FEW, quiet=True)
    assert equal(tmp_path / "a", tmp_path / "b")
    assert not equal(tmp_path / "a", tmp_path / "c")


@pytest.mark.parametrize("recipe", ["angular", "infonce", "siglip", "neighborhoods", "pvse"])
def test_a_weight_is_a_setting_of_any_recipe(pairs: Pairs, tmp_path: Path, recipe: str) -> None:
    train(recipe, pairs, tmp_path / "plain", sets=SHORT, quiet=True)
    sets = [*FEW, "weight.name=diversity"]
    train(recipe, pairs, tmp_path / "run", sets=sets, quiet=True)
    train(recipe, pairs, tmp_path / "scaled", sets=[*SHORT, "weight.name=uniform"], quiet=True)
    assert not equal(tmp_path / "run", tmp_path / "plain")
    assert not equal(tmp_path / "run", tmp_path / "scaled")
    about = load_model(tmp_path / "run").description["weight"]
    assert about["name"] == "diversity"
    assert about["scale"] == 6.125


def test_a_step_is_weighed_without_gradient(pairs: Pairs, tmp_path: Path) -> None:
    running = made(pairs, tmp_path / "run", "angular", "weight.name=diversity")
    running.progress.epoch = 1
    scores = torch.rand(2, len(running.task.train))
    weighing(running).known.learn({"diversity": scores.numpy(), "steadiness": np.zeros(1)})
    step = next(Steps(running.task, 0, 1, 16, running.fabric).steps())
    weights = torch.from_numpy(weighing(running).weights(1)[0]).float()
    assert weights.mean() == pytest.approx(6.125)
    assert weights.std() > 0.01
    alpha = 6.125 * 16 * (-scores[:, step.pairs]).softmax(dim=1)
    assert torch.allclose(weights, 6.125 * 16 * (alpha[0] - alpha[1]).abs().softmax(dim=0))
    view = seen(running.task, step, *running.model(step.images, step.texts), running.fabric)
    losses = running._losses(step, view)
    assert torch.allclose(losses, weights * running.task.loss(view))
    grads = [
        torch.autograd.grad((one * other).mean(), running.task.model.image.head.map.weight,
                            retain_graph=True)[0]
        for one, other in ((losses, torch.ones(16)), (running.task.loss(view), weights))
    ]  # fmt: skip
    assert torch.allclose(*grads, atol=1e-7)


@pytest.mark.parametrize("sets", [[], ["weight.senses=max", "weight.sample=50"]])
def test_the_bank_keeps_where_pairs_lay(pairs: Pairs, tmp_path: Path, sets: list[str]) -> None:
    """Of 56 pairs in batches of 16, 48 pass; the others are encoded once, after the epoch."""
    running = made(pairs, tmp_path / "run", "diversity", "neighbors.k=5", *sets)
    train_pairs = running.task.train
    assert len(train_pairs) % 16
    steps = list(Steps(running.task, 0, 0, 16, running.fabric).steps())
    for step in steps[:-1]:
        running._step(step)
    bank, last = weighing(running).bank, steps[-1]
    assert bank is not None
    assert bank.points.shape == (2, len(train_pairs), 2 if sets else 1, 12)
    with torch.no_grad():
        before = running.model(last.images, last.texts)
    running._step(last)
    with torch.no_grad():
        after = running.model(last.images, last.texts)
    for side, (lay, lie) in enumerate(zip(before, after, strict=True)):
        kept = torch.from_numpy(bank.points[side, last.pairs])
        lay, lie = (one[1] if sets else one[1].mean(dim=1, keepdim=True) for one in (lay, lie))
        assert torch.allclose(kept, lay, atol=1e-6)
        assert not torch.allclose(kept, lie, atol=1e-4)  # a step later they have moved
    left = np.setdiff1d(np.arange(len(train_pairs)), np.concatenate([s.pairs for s in steps]))
    assert not bank.points[:, left].any()
    weighing(running).learn(1)
    with torch.no_grad():
        running.model.eval()
        inputs = next(iter(running.task.texts.batches([train_pairs.texts[left]], None)))
        points = running.task.model.text(*inputs)[1]
    expected = points if sets else points.mean(dim=1, keepdim=True)
    assert torch.allclose(torch.from_numpy(bank.points[1, left]), expected, atol=1e-6)
    known = weighing(running).known.arrays()["diversity"]
    if not sets:
        around = running.task.around
        assert around is not None
        found = measured(chain_of(around), bank.points[1, :, 0])["diversity"]
        assert known[1] == pytest.approx(found, abs=1e-6)


def test_a_fresh_bank_has_no_dropout(pairs: Pairs, tmp_path: Path) -> None:
    """All pairs by the model as it is when the epoch begins; nothing is kept as batches pass."""
    sets = ["neighbors.k=5", "text.dropout=0.5", "weight.fresh=true"]
    running = made(pairs, tmp_path / "run", "discrepancy", *sets)
    for step in Steps(running.task, 0, 0, 16, running.fabric).steps():
        running._step(step)
    bank, train_pairs = weighing(running).bank, running.task.train
    assert bank is not None
    assert not bank.points.any()
    for epoch in (1, 2):
        weighing(running).learn(epoch)
        assert running.task.model.text.training
        running.task.model.eval()
        with torch.no_grad():
            inputs = next(iter(running.task.texts.batches([train_pairs.texts], None)))
            points = running.task.model.text(*inputs)[1].mean(dim=1, keepdim=True)
        running.task.model.train()
        assert torch.allclose(torch.from_numpy(bank.points[1]), points, atol=1e-6)
        for step in Steps(running.task, 0, epoch, 16, running.fabric).steps():
            running._step(step)


def test_neighbors_are_those_of_the_texts(pairs: Pairs, tmp_path: Path) -> None:
    running = made(pairs, tmp_path / "run", "diversity", "neighbors.k=5")
    task = running.task
    settings = running.settings
    space = import_module("trope.training.task")._text_space(settings).vectors(pairs)
    found = neighbors(space.values[task.train.texts], Search(5), task.train.images)
    assert np.array_equal(task.around, found.ids)
    assert task.near is None  # no neighbor is encoded for a weight


def test_fewer_pairs_than_neighbors(pairs: Pairs, tmp_path: Path) -> None:
    done = train("discrepancy", pairs, tmp_path / "run", sets=SHORT, quiet=True)
    assert done.settings.neighbors.k == 200
    assert 0 < done.progress.history[-1]["weight_ess"] <= 1


def test_each_epoch_tells_how_uneven_its_weights_are(pairs: Pairs, tmp_path: Path) -> None:
    sets = [*FEW, "weight.name=ess", "weight.share=0.6"]
    done = train("pvse", pairs, tmp_path / "run", sets=sets, quiet=True)
    lines = done.progress.history
    assert [line["weight_ess"] for line in lines] == pytest.approx([1.0, 0.6, 0.6], abs=1e-4)
    assert lines[0]["weight_largest"] == lines[0]["weight_smallest"] == 1
    assert lines[2]["weight_largest"] > 1 > lines[2]["weight_smallest"] > 0
    why = [{name for name in line if name in WHY} for line in lines]
    assert why == [set(), {"weight_deviation", "weight_agreement"}, WHY]
    assert lines[1]["weight_deviation"] > 0
    assert 0 < abs(lines[2]["weight_steadiness"]) < 1
    plain = train("pvse", pairs, tmp_path / "plain", sets=SHORT, quiet=True)
    assert "weight_ess" not in plain.progress.history[0]
    assert not (tmp_path / "plain" / "bank.npy").exists()


def test_factors_of_both_measures_are_told(pairs: Pairs, tmp_path: Path) -> None:
    out = tmp_path / "run"
    lines = train("combined-stats", pairs, out, sets=FEW, quiet=True).progress.history
    assert "weight_beta" not in lines[0]
    known = made(pairs, out, "combined-stats", *FEW[len(SHORT) :])
    weight, arrays = weighing(known).weight, weighing(known).known.arrays()
    assert isinstance(weight, CombinedStats)
    assert lines[2]["weight_beta"] != lines[1]["weight_beta"]
    one = arrays["diversity"].astype(np.float64)
    assert weight.factors(arrays)[0] == pytest.approx(float(one.mean() * one.std()))


def test_permuted_weights_are_a_control(pairs: Pairs, tmp_path: Path) -> None:
    ends = [
        train("discrepancy", pairs, tmp_path / f"{p}", sets=[*FEW, f"weight.permuted={p}"],
              quiet=True).progress.history
        for p in ("false", "true")
    ]  # fmt: skip
    assert ends[0][1]["weight_ess"] == pytest.approx(ends[1][1]["weight_ess"])
    assert not equal(tmp_path / "false", tmp_path / "true")


class Killed(Exception):
    """As a process that ends at once: nothing is saved after it."""


def killed(monkeypatch: pytest.MonkeyPatch, epoch: int, number: int, **how: Any) -> None:
    """Begin a run and end it in the middle of a step."""
    step = loop.Loop._step

    def last(self: loop.Loop, one: Any) -> float:
        if (self.progress.epoch, one.number) == (epoch, number) and how["out"] == self.folder:
            raise Killed
        return step(self, one)

    with monkeypatch.context() as patch:
        patch.setattr(loop.Loop, "_step", last)
        with pytest.raises(Killed):
            train(**how)


GOING = {
    "diversity": ["neighbors.k=5"],
    "discrepancy": ["neighbors.k=5", "weight.sample=9", "weight.senses=max"],
    "combined-stats": ["neighbors.k=5", "weight.fresh=true"],
    "hal": ["weight.name=hubs", "weight.share=0.2"],
    "random-weights": [],
}


@pytest.mark.parametrize("recipe", GOING)
@pytest.mark.parametrize("saving", [0.0, 300.0])
def test_a_killed_run_goes_on_as_if_nothing_had_happened(
    pairs: Pairs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recipe: str, saving: float
) -> None:
    """Saved after each step, or after each epoch: then the bank is ahead of the state."""
    sets = [*SHORT, "text.dropout=0.2", *GOING[recipe]]
    run = {"recipe": recipe, "data": pairs, "sets": sets, "seed": 3, "quiet": True}
    train(**run, out=tmp_path / "whole")
    monkeypatch.setattr(loop, "SAVE_SECONDS", saving)
    out = tmp_path / "broken"
    killed(monkeypatch, 0, 1, **run, out=out)
    killed(monkeypatch, 1, 2, **run, out=out, resume=True)
    killed(monkeypatch, 2, 1, **run, out=out, resume=True)
    train(**run, out=out, resume=True)
    if recipe == "random-weights":
        assert not (out / "bank.npy").exists()
        assert equal(tmp_path / "whole", out)
    else:
        same_end(tmp_path / "whole", out)


def test_more_epochs_are_those_of_a_longer_run(pairs: Pairs, tmp_path: Path) -> None:
    for out, epochs in (("long", 4), ("short", 2)):
        sets = [*FEW, f"training.epochs={epochs}"]
        train("diversity", pairs, tmp_path / out, sets=sets, quiet=True)
    sets = [*FEW, "training.epochs=4"]
    train("diversity", pairs, tmp_path / "short", sets=sets, resume=True, quiet=True)
    same_end(tmp_path / "long", tmp_path / "short")


@pytest.mark.parametrize("damage", ["gone", "cut", "other"])
def test_without_its_bank_a_run_cannot_go_on(pairs: Pairs, tmp_path: Path, damage: str) -> None:
    out = tmp_path / "run"
    train("diversity", pairs, out, sets=FEW, quiet=True)
    bank = out / "bank.npy"
    if damage == "gone":
        bank.unlink()
    elif damage == "cut":
        bank.write_bytes(bank.read_bytes()[:20])
    else:
        np.save(bank, np.zeros((2, 3, 1, 12), np.float32))
    more = [*FEW, "training.epochs=4"]
    with pytest.raises(DataError, match=r"bank.npy: (gone or damaged|has shape)"):
        train("diversity", pairs, out, sets=more, resume=True, quiet=True)


def swept(pairs: Pairs, out: Path, *sets: str, resume: bool = False, quiet: bool = True) -> Trained:
    known = [*FEW, "weight.share=0.5", "weight.epochs=2", "training.batch=4", *sets]
    return train("combined-val", pairs, out, sets=known, seed=1, resume=resume, quiet=quiet)


def validated(recall: float) -> Progress:
    """A run with that recall in its second epoch; the first has no weights, and the best model."""
    each = (9.0, recall)
    lines = [{"val_loss": 1.0, "val_image_to_text": r, "val_text_to_image": r} for r in each]
    return Progress(best=9.0, best_epoch=0, history=lines)


def test_the_ratio_is_chosen_on_validation_and_the_choice_goes_on(
    pairs: Pairs,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    swept(pairs, whole)
    found = json.loads((whole / "sweep.json").read_text())["found"]
    assert list(found) == [f"{b}:{g}" for b, g in CHOICES]
    best = max(found, key=found.__getitem__)
    about = load_model(whole).description["weight"]
    assert f"{about['beta']:.0f}:{about['gamma']:.0f}" == best
    assert not (whole / "sweep").exists()
    step = loop.Loop._step

    def last(self: loop.Loop, one: Any) -> float:
        if self.folder.name == "2-1" and self.progress.epoch == 1:
            raise Killed
        return step(self, one)

    with monkeypatch.context() as patch:
        patch.setattr(loop.Loop, "_step", last)
        with pytest.raises(Killed):
            swept(pairs, broken)
    assert len(json.loads((broken / "sweep.json").read_text())["found"]) == 2
    assert (broken / "sweep" / "2-1" / "state.safetensors").exists()
    capsys.readouterr()
    swept(pairs, broken, resume=True, quiet=False)
    told = " ".join(capsys.readouterr().err.split())
    assert "stopped while it tried ratios, which stand in sweep.json; the run begins anew" in told
    assert "9 short runs on 28 of 56 pairs; 2 are done" in told
    assert f"ratio 3 of 9: beta:gamma 2:1, validation recall {found['2:1']:.4f}" in told
    assert "ratio 2 of 9" not in told
    assert f"beta:gamma {best}, validation recall {found[best]:.4f} is taken" in told
    assert json.loads((broken / "sweep.json").read_text())["found"] == found
    same_end(whole, broken)
    more = swept(pairs, broken, "training.epochs=4", resume=True)  # nothing is chosen again
    assert more.progress.epoch == 4


@pytest.mark.parametrize("loss", [[], ["loss.name=hal"]])  # the second is below 0
def test_a_sweep_that_the_loss_decides_says_so(
    pairs: Pairs, tmp_path: Path, capsys: pytest.CaptureFixture[str], loss: list[str]
) -> None:
    swept(pairs, tmp_path / "run", "training.select=loss", *loss, quiet=False)
    found = json.loads((tmp_path / "run" / "sweep.json").read_text())["found"]
    told = " ".join(capsys.readouterr().err.split())
    assert all((value > 0) == bool(loss) for value in found.values())
    assert f"beta:gamma 2:1, validation loss {-found['2:1']:.4f}" in told
    best = max(found, key=found.__getitem__)
    assert f"beta:gamma {best}, validation loss {-found[best]:.4f} is taken" in told


def test_a_sweep_with_other_settings_does_not_count(
    pairs: Pairs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ratios: list[Any] = []

    def watched(settings: Any, part: Pairs, folder: Path, **_: Any) -> Any:
        ratios.append(settings.weight["beta"] / settings.weight["gamma"])
        folder.mkdir(parents=True)
        if len(ratios) == 3:
            raise Killed
        counts = [int((np.array(p.column("split").to_pylist()) == "train").sum())
                  for p in (part, pairs)]  # fmt: skip
        assert counts[0] == counts[1] / 2
        assert settings.neighbors.k == 2  # half of five
        return validated(-abs(ratios[-1] - 0.25))

    monkeypatch.setattr(import_module("trope.training.train"), "_trained", watched)
    with pytest.raises(Killed):
        swept(pairs, tmp_path / "run")
    swept(pairs, tmp_path / "run", "head.size=8")
    assert len(ratios) == 3 + 9
    about = load_model(tmp_path / "run").description["weight"]
    assert (about["beta"], about["gamma"]) == (1.0, 4.0)


@pytest.mark.parametrize("last", [1, 9])
def test_nothing_is_left_of_a_sweep_that_was_killed_while_it_tidied_up(
    pairs: Pairs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, last: int
) -> None:
    def quick(settings: Any, part: Pairs, folder: Path, **_: Any) -> Any:
        assert settings.split.images == "path"  # no picture is read for a short run either
        folder.mkdir(parents=True)
        return validated(settings.weight["beta"])

    def ended(path: Path, document: dict[str, Any]) -> None:
        write_json(path, document)
        if len(document["found"]) == last:
            raise Killed

    monkeypatch.setattr(import_module("trope.training.train"), "_trained", quick)
    with monkeypatch.context() as patch:
        patch.setattr(sweep, "write_json", ended)
        with pytest.raises(Killed):
            swept(pairs, tmp_path / "run", "split.images=path")
    assert (tmp_path / "run" / "sweep").exists()
    swept(pairs, tmp_path / "run", "split.images=path", resume=True)
    assert not (tmp_path / "run" / "sweep").exists()


def test_a_given_ratio_is_taken(pairs: Pairs, tmp_path: Path) -> None:
    sets = [*FEW, "weight.beta=1", "weight.gamma=4"]
    train("combined-val", pairs, tmp_path / "run", sets=sets, quiet=True)
    assert not (tmp_path / "run" / "sweep.json").exists()
    weight = prepare(pairs, resolve(load_recipe("combined-val"), sets, 100), 0).weight
    assert isinstance(weight, CombinedVal)
    assert weight.chosen


ESS, RATIO = ["weight.measure=discrepancy"], ["weight.beta=1", "weight.gamma=2"]


def test_a_warm_up_for_negatives_that_all_count_anyway() -> None:
    def idle(*sets: str) -> dict[str, str]:
        return idle_settings(resolve(load_recipe("triplet"), sets, 100))

    assert "loss.warm" in idle("loss.warm=50")
    assert "loss.warm" not in idle("loss.warm=50", "loss.hard=true")
    assert "loss.warm" not in idle()


def test_settings_of_weights_that_change_nothing() -> None:
    def idle(*sets: str) -> dict[str, str]:
        return idle_settings(resolve(load_recipe("angular"), sets, 100))

    assert "neighbors.k" in idle("weight.name=random")
    assert "neighbors.k" not in idle("weight.name=diversity")
    assert "neighbors.space" not in idle("weight.name=density")
    assert "weight.steps" in idle("weight.name=diversity")
    assert "weight.steps" not in idle("weight.name=discrepancy")
    assert "weight.senses" in idle("weight.name=diversity")
    assert "weight.senses" not in idle("weight.name=diversity", "head.senses=2")
    assert "weight.itself" in idle("weight.name=discrepancy", "weight.steps=1")
    assert "weight.itself" not in idle("weight.name=discrepancy")
    assert "weight.itself" in idle("weight.name=ess", *ESS, "weight.steps=1")
    assert "weight.itself" not in idle("weight.name=ess", *ESS)
    for name in ("combine", "steps", "itself", "sample", "senses", "fresh", "permuted", "shuffled"):
        assert f"weight.{name}" in idle("weight.name=diversity", "weight.sign=0"), name
    for name in ("by", "measure", "share", "combine"):
        assert f"weight.{name}" in idle("weight.name=ess", "weight.sign=0"), name
    assert "weight.scale" not in idle("weight.name=diversity", "weight.sign=0")
    assert "weight.beta" in idle("weight.name=combined-val", *RATIO, "weight.sign=0")
    assert "weight.combine" not in idle("weight.name=diversity")
    assert "weight.shuffled" in idle("weight.name=random")


@pytest.mark.parametrize("weight", ["ess", "normalized-difference"])
def test_a_sign_that_a_difference_does_not_see(weight: str) -> None:
    """|N(-U_X) - N(-U_Y)| is |N(U_X) - N(U_Y)|, but for zero and where N is a softmax."""

    def idle(*sets: str) -> dict[str, str]:
        return idle_settings(resolve(load_recipe("pvse"), [f"weight.name={weight}", *sets], 100))

    for by in ("z", "rank", "none"):
        assert "weight.sign" in idle(f"weight.by={by}")
    assert "weight.sign" not in idle("weight.by=softmax")
    assert "weight.sign" not in idle("weight.sign=0")
    if weight == "ess":
        assert "weight.sign" not in idle("weight.combine=sum")
        assert "weight.sign" in idle("weight.combine=agreement")


def test_settings_of_a_sweep_that_is_not_made() -> None:
    def idle(*sets: str) -> dict[str, str]:
        return idle_settings(resolve(load_recipe("combined-val"), sets, 100))

    sweep = {"weight.share", "weight.epochs"}
    assert not sweep & idle().keys()
    assert sweep <= idle("weight.beta=1", "weight.gamma=2").keys()


@pytest.mark.parametrize("recipe", ["uniform-lambda", "random-weights"])
def test_equal_weights_permuted_are_equal(recipe: str) -> None:
    idle = idle_settings(resolve(load_recipe(recipe), [], 100))
    assert ("weight.permuted" in idle) == (recipe == "uniform-lambda")


def test_a_recipe_loses_its_weight() -> None:
    assert resolve(load_recipe("diversity"), ["weight=none"], 100).weight is None


def test_the_weights_of_a_finished_run(pairs: Pairs, tmp_path: Path) -> None:
    out = tmp_path / "run"
    train("discrepancy", pairs, out, sets=[*FEW, "weight.scale=3"], quiet=True)
    found = weigh_run(out, pairs)
    n = len(found.train)
    assert found.weighed.weights.shape == (n,)
    assert found.weighed.weights.mean() == pytest.approx(3.0)
    assert {name: both.shape for name, both in found.weighed.scores.items()} == {
        "diversity": (2, n),
        "discrepancy": (2, n),
    }
    ids = [pairs.ids[row] for row in found.rows]
    assert set(ids) == set(pairs.in_split("train").ids)
    assert found.text.points is not None
    means = found.text.points.mean(dim=1).numpy()
    expected = measured(chain_of(found.around), means)["discrepancy"]
    assert found.weighed.scores["discrepancy"][1] == pytest.approx(expected, abs=1e-6)
    other = weigh_run(out, pairs, {"name": "ess", "share": 0.5}).weighed
    assert effective(other.weights) == pytest.approx(0.5, abs=1e-6)
    with pytest.raises(UsageError, match="weight 'rank': looks at no neighbors"):
        weigh_run(out, pairs, {"name": "rank"})
    with pytest.raises(UsageError, match="weight 'combined-val': give beta and gamma"):
        weigh_run(out, pairs, {"name": "combined-val"})
    both = {"name": "combined-val", "beta": 1.0, "gamma": 4.0}
    assert weigh_run(out, pairs, both).weighed.weights.mean() == pytest.approx(6.125)
    last = json.loads((out / "metrics.jsonl").read_text().splitlines()[-1])
    told = f"in epoch 3 of training weights counted as {last['weight_ess']:.1%} of a batch"
    assert any(told in remark for remark in found.remarks)
    assert not any("permuted" in told for told in found.remarks)
    control = weigh_run(out, pairs, {"name": "diversity", "permuted": True})
    assert any("permuted" in told for told in control.remarks)
    assert not any("in epoch" in told for told in control.remarks)
    (out / "metrics.jsonl").write_text("{")
    assert not any("in epoch" in told for told in weigh_run(out, pairs).remarks)


@pytest.mark.parametrize("recipe", ["angular", "mithun"])
def test_a_run_without_such_a_weight_can_be_weighed_too(
    pairs: Pairs, tmp_path: Path, recipe: str
) -> None:
    train(recipe, pairs, tmp_path / "run", sets=SHORT, quiet=True)
    found = weigh_run(tmp_path / "run", pairs)
    assert found.weighed.weights.mean() == pytest.approx(6.125)
    assert len(found.image.mean) == len(found.train)


def test_other_texts_of_a_picture_are_no_neighborhood(tmp_path: Path) -> None:
    """Each pair has one, itself again by two steps: nothing would be diverse or discrepant."""
    data = planted.write(tmp_path / "data", rows=72, texts=2)
    train("structure-gt", data, tmp_path / "plain", sets=SHORT, quiet=True)
    found = weigh_run(tmp_path / "plain", data)
    assert found.settings.neighbors.source == "text"
    assert found.around.shape[1] > 1
    assert found.weighed.scores["diversity"].std() > 1e-3
    weighed = [*SHORT, "weight.name=diversity"]
    train("structure-gt", data, tmp_path / "weighed", sets=weighed, quiet=True)
    own = weigh_run(tmp_path / "weighed", data)  # as it was trained
    assert (own.settings.neighbors.source, own.around.shape[1]) == ("siblings", 1)

"""A model that compares pairs itself, from training to evaluation."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import planted
import pytest
import torch
from lightning_fabric import Fabric
from safetensors.torch import save_file

import trope
from trope.checkpoints import load_model, read_tensors
from trope.encoders import compare
from trope.errors import DataError, UsageError
from trope.evaluation.job import evaluate_run
from trope.evaluation.runs import open_run
from trope.explain.against import explain_against
from trope.training import load_recipe, loop, resolve, train, weigh_run
from trope.training.task import prepare
from trope.training.validation import validate

SETS = [*planted.PRECOMPUTED, "scorer.size=8", "head.dropout=0.2", "text.dropout=0.1"]
SETS += ["training.learning_rate=3e-3", "loss.hard=false"]  # pictures of a topic differ by noise


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return planted.write(tmp_path_factory.mktemp("scored") / "data", rows=128, texts=2)


@pytest.fixture(scope="module")
def run(data: Path) -> Path:
    folder = data.parent / "run"
    train("sgr", data, folder, sets=[*SETS, "training.epochs=6"], quiet=True)
    return folder


@pytest.mark.parametrize("name", ["sgr", "saf", "sgraf"])
def test_it_learns(data: Path, tmp_path: Path, name: str) -> None:
    sets = [*SETS, f"scorer.name={name}", "training.epochs=6"]
    train("sgr", data, tmp_path / "run", sets=sets, quiet=True)
    lines = (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()
    first, last = json.loads(lines[0]), json.loads(lines[-1])
    assert last["loss"] < first["loss"]
    found = [(last[f"val_{way}"]) for way in ("image_to_text", "text_to_image")]
    assert min(found) > 0.6  # chance is 0.2


def test_in_sixteen_bits_too(data: Path, tmp_path: Path) -> None:
    sets = [*SETS, "scorer.name=sgraf", "training.epochs=2", "training.precision=bf16-mixed"]
    done = train("sgr", data, tmp_path / "run", sets=sets, quiet=True)
    history = done.progress.history
    assert history[1]["loss"] < history[0]["loss"]
    weights, _ = read_tensors(tmp_path / "run" / "model.safetensors")
    assert {value.dtype for value in weights.values()} == {torch.float32}


def test_all_that_is_learned_has_a_gradient(data: Path) -> None:
    settings = resolve(load_recipe("sgr"), [*SETS, "scorer.name=sgraf"], 100)
    task = prepare(trope.open(data), settings, 0)
    running = loop.Loop(
        task, settings, 0, data, Fabric(accelerator="cpu", devices=1), {}, lambda *_: None
    )
    running.model.train()
    running._step(next(iter(loop.Steps(task, 0, 0, 16, running.fabric).steps())))
    named = dict(task.model.named_parameters())
    assert any(name.startswith("scorer.") for name in named)
    for name, parameter in named.items():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().max() > 0, name
    rates = {id(p) for group in running.optimizer.param_groups for p in group["params"]}
    assert rates == {id(parameter) for parameter in named.values()}


def test_stopped_in_an_epoch_it_goes_on_as_if_nothing_had_happened(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Statistics of batch norms are part of the state."""
    sets = [*SETS, "scorer.name=saf", "training.epochs=2"]
    train("sgr", data, tmp_path / "whole", sets=sets, seed=3, quiet=True)
    step, done = loop.Loop._step, []

    def stopped(self: loop.Loop, given: loop.Step) -> float:
        done.append(given.number)
        self.stopping = len(done) == 3
        return step(self, given)

    with monkeypatch.context() as patched:
        patched.setattr(loop.Loop, "_step", stopped)
        with pytest.raises(KeyboardInterrupt):
            train("sgr", data, tmp_path / "broken", sets=sets, seed=3, quiet=True)
    train("sgr", data, tmp_path / "broken", sets=sets, seed=3, resume=True, quiet=True)
    for name in ("model", "state"):
        one, other = (
            read_tensors(tmp_path / folder / f"{name}.safetensors")
            for folder in ("whole", "broken")
        )
        assert one[0].keys() == other[0].keys()
        assert all(torch.equal(one[0][key], other[0][key]) for key in one[0])
    assert any("running_mean" in key for key in one[0])


def test_a_checkpoint_holds_the_scorer(run: Path, tmp_path: Path) -> None:
    found = load_model(run)
    assert found.model.scorer is not None
    assert not found.model.scorer.training
    assert found.plan.scorer["name"] == "sgr"
    tensors, _ = read_tensors(run / "model.safetensors")
    assert any(name.startswith("scorer.") for name in tensors)
    lost = {name: value for name, value in tensors.items() if name != "scorer.judge.weight"}
    text = json.dumps({**found.description})
    save_file(lost, tmp_path / "model.safetensors", {"description": text})
    with pytest.raises(DataError, match=r"lacks 1 weight, the first is scorer\.judge\.weight"):
        load_model(tmp_path / "model.safetensors")


def test_evaluation_ranks_by_the_scorer(run: Path) -> None:
    source, _ = open_run(run, None)
    embedded = source.embedded("test")
    scores = compare(source.checkpoint.model.scorer, embedded.image, embedded.text).numpy()
    right = embedded.gallery.right.toarray() > 0
    best = right[np.arange(len(scores)), scores.argmax(axis=1)].mean()
    found = evaluate_run(run, metrics="recall@1").document()
    assert found["image_to_text"]["recall@1"]["value"] == pytest.approx(best)
    folds = evaluate_run(run, metrics="recall@1", folds=8).document()
    assert folds["image_to_text"]["recall@1"]["value"] >= best


def test_enough_candidates_are_the_whole(run: Path) -> None:
    whole, all_of_them, few = (
        evaluate_run(run, metrics="recall@1,mean-rank", candidates=k).document()
        for k in (0, 1_000, 2)
    )
    for way in ("image_to_text", "text_to_image"):
        for name, result in whole[way].items():
            assert all_of_them[way][name]["value"] == pytest.approx(result["value"])
    assert few != whole
    with pytest.raises(UsageError, match="candidates: 0"):
        evaluate_run(run, candidates=-1)


@pytest.mark.parametrize("method", ["nnn", "qb-norm"])
def test_hubs_are_corrected_by_scores(run: Path, method: str) -> None:
    hubs = {"method": method, "strength": 0.5} | ({"nearest": 4} if method == "nnn" else {})
    found = evaluate_run(run, metrics="recall@1", hubs=hubs).document()
    assert 0 < found["image_to_text"]["recall@1"]["value"] <= 1


def test_explained_by_where_items_lie(run: Path, data: Path, tmp_path: Path) -> None:
    other = tmp_path / "angular"
    train("angular", data, other, sets=[*planted.PRECOMPUTED, "training.epochs=1"], quiet=True)
    found, _ = explain_against(run, other, tmp_path / "page")
    assert found.kept["image"].couples > 0
    weighed = weigh_run(run)
    assert weighed.image.locals is None


def test_validation_compares_a_picture_once(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = resolve(load_recipe("sgr"), SETS, 100)
    task = prepare(trope.open(data), settings, 0)
    found = validate(task, 16, 0)
    sizes: list[tuple[int, int]] = []
    scorer = task.model.scorer
    forward = scorer.forward

    def noted(image, text):  # type: ignore[no-untyped-def]
        sizes.append((len(image.mean), len(text.mean)))
        return forward(image, text)

    monkeypatch.setattr(scorer, "forward", noted)
    assert validate(task, 16, 0) == found
    assert sizes == [(16, 32)]
    assert task.model.training


def test_what_does_not_go_with_a_scorer_is_refused(data: Path) -> None:
    pairs = trope.open(data)
    for change, why in {
        "loss={name='angular'}": "loss 'angular' adds points",
        "head.senses=2": "set head.senses=1",
        "weight.name=hubs": "weight 'hubs' compares",
        "scorer.name=sgg": "no scorer 'sgg'",
        "scorer.sise=3": "no option 'sise'",
    }.items():
        loss = {"name": "hal" if "hubs" in change else "triplet"}
        recipe = replace(load_recipe("sgr"), loss=loss, small=())
        with pytest.raises(UsageError, match=why):
            prepare(pairs, resolve(recipe, [*SETS[:-1], change], 100), 0)


def test_idle_settings_are_known(data: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"head\.attention=3: changes nothing"):
        train("sgr", data, tmp_path / "no", sets=[*SETS, "head.attention=3"], quiet=True)
    with pytest.raises(UsageError, match=r"image\.grid=3: changes nothing"):
        train("triplet", data, tmp_path / "no", sets=["image.grid=3"], quiet=True)

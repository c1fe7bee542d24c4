"""Whole runs on a planted data set: every recipe, what is kept, what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import planted
import pytest
import torch

import trope
from trope.checkpoints import load_model, read_tensors
from trope.data.pairs import Pairs
from trope.errors import TropeError, UsageError
from trope.evaluation import evaluate
from trope.training import load_recipe, recipe_names, resolve, train
from trope.training.task import build_loss, build_weight, prepare

SHORT = [*planted.PRECOMPUTED, "training.epochs=3"]
NAMES = [
    "amrani", "angular", "combined-stats", "discrepancy", "distance-weighted", "diversity", "hal",
    "hard-negative", "infonce", "mithun", "neighborhoods", "neighborhoods-image",
    "neighborhoods-triplet", "pcme", "pcme-daa", "pvse", "pvse-angular", "pvse-neighborhoods",
    "pvse-neighborhoods-triplet", "random-weights", "siglip", "soft-targets", "structure-gt",
    "structure-image", "structure-text", "triplet", "uniform-lambda", "vse-daa",
]  # fmt: skip


SLOW = {"hal": 12}  # epochs until a recipe has learned what others have in six


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return planted.write(tmp_path_factory.mktemp("planted") / "data")


@pytest.fixture
def pairs(folder: Path) -> Pairs:
    return trope.open(folder)


def weights(run: Path) -> dict[str, torch.Tensor]:
    return read_tensors(run / "model.safetensors")[0]


def equal(left: dict[str, torch.Tensor], right: dict[str, torch.Tensor]) -> bool:
    return left.keys() == right.keys() and all(torch.equal(left[k], right[k]) for k in left)


def test_the_recipes_of_the_contract_are_there() -> None:
    slow = {
        "combined-val",
        "dscmr",
        "independent",
        "sgr",
        "sgr-daa",
        "sharing",
        "sharing-consistency",
    }
    assert {*NAMES, *slow} <= set(recipe_names())


@pytest.mark.parametrize("name", recipe_names())
def test_every_recipe_is_whole(name: str) -> None:
    recipe = load_recipe(name)
    assert recipe.about
    assert recipe.paper
    build_loss(resolve(recipe, [], 1_000, "small"))
    build_loss(resolve(recipe, [], 1_000, "large"))
    build_weight(resolve(recipe, [], 1_000))


@pytest.mark.parametrize("name", NAMES)
def test_every_recipe_learns(name: str, pairs: Pairs, tmp_path: Path) -> None:
    sets = [*SHORT, f"training.epochs={SLOW.get(name, 6)}"]
    done = train(name, pairs, tmp_path / "run", sets=sets, quiet=True)
    history = done.progress.history
    assert history[-1]["loss"] < history[0]["loss"]
    found = evaluate(load_model(tmp_path / "run"), pairs)
    assert found.image_to_text["recall@1/5-way"].low > 0.3
    assert found.text_to_image["recall@1/5-way"].low > 0.3


def test_the_same_seed_gives_the_same_bits(pairs: Pairs, tmp_path: Path) -> None:
    sets = [*SHORT, "text.dropout=0.3"]
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        train("neighborhoods", pairs, tmp_path / name, sets=sets, seed=seed, quiet=True)
    assert equal(weights(tmp_path / "a"), weights(tmp_path / "b"))
    assert not equal(weights(tmp_path / "a"), weights(tmp_path / "c"))


def test_a_finished_run_is_left_as_it_is(pairs: Pairs, tmp_path: Path) -> None:
    train("angular", pairs, tmp_path / "run", sets=SHORT, quiet=True)
    before = (tmp_path / "run" / "model.safetensors").read_bytes()
    train("angular", pairs, tmp_path / "run", sets=SHORT, resume=True, quiet=True)
    assert (tmp_path / "run" / "model.safetensors").read_bytes() == before


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        (["loss.angel=30"], "no option 'angel'; did you mean 'angle'"),
        (["loss.name=angluar"], "no loss 'angluar'; did you mean 'angular'"),
        (["weight.name=diversty"], "no weight 'diversty'; did you mean 'diversity'"),
        (["weight.name=diversity", "weight.sgn=1"], "weight 'diversity': no option 'sgn'"),
        (["weight.scale=2"], "weight: has no name, only scale"),
        (["weight.name=hubs"], "gives weights of hubs, which loss 'angular' does not take"),
        (
            ["loss.name=triplet", "loss.hard=true", "weight.name=distance"],
            "gives weights of negatives, which loss 'triplet' does not take with hard=true",
        ),
        (["loss.name=structure", "weight.name=distance"], "loss 'structure' does not take"),
        (["weight.name=amrani"], "no weight 'amrani'; did you mean 'density'"),
        (["weight.nme=ess"], "weight: has no name, only nme"),
        (["penalties.diversty=1.0"], "no penalty 'diversty'; did you mean 'diversity'"),
        (["training.batch=1"], "batch must be at least 2"),
        (["daa.wieght=1"], "no option 'wieght'; did you mean 'weight'"),
        (["daa.relevance=meteor"], "expected one of cider, bleu, rouge, mean"),
        (["loss={name='pcme'}"], "loss 'pcme': is of how likely a match is; set scorer.name=match"),
        (["scorer.name=match", "head.senses=2"], "set head.senses=1"),
        (["scorer.name=match", "scorer.samples=0"], "samples must be at least 1"),
        (["text.encoder=lstm"], "expected one of gru, "),
    ],
)
def test_wrong_settings_are_told_before_anything_starts(
    pairs: Pairs, tmp_path: Path, sets: list[str], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        train("angular", pairs, tmp_path / "run", sets=[*SHORT, *sets], quiet=True)


def test_an_unknown_recipe_is_told() -> None:
    with pytest.raises(UsageError, match="no recipe 'neighbourhoods'; did you mean"):
        load_recipe("neighbourhoods")


def test_a_loss_that_is_no_number_stops_and_names_the_batch(pairs: Pairs, tmp_path: Path) -> None:
    sets = [*SHORT, "training.learning_rate=1e30", "training.clip=0"]
    with pytest.raises(TropeError, match="the loss became"):
        train("triplet", pairs, tmp_path / "run", sets=sets, quiet=True)
    found = json.loads((tmp_path / "run" / "nonfinite.json").read_text())
    assert len(found["ids"]) == 16
    assert set(found["ids"]) <= set(pairs.ids)


@pytest.mark.parametrize(
    ("recipe", "sets", "lower"),
    [
        ("triplet", ["training.learning_rate=1e30"], "lower training.learning_rate may"),
        (
            "uniform-lambda",
            ["weight.scale=1e38"],
            "lower training.learning_rate or weight.scale may",
        ),
    ],
)
def test_what_may_have_made_it_none_is_named(
    pairs: Pairs, tmp_path: Path, recipe: str, sets: list[str], lower: str
) -> None:
    with pytest.raises(TropeError, match=lower):
        train(recipe, pairs, tmp_path / "run", sets=[*SHORT, "training.clip=0", *sets], quiet=True)


def test_the_model_kept_is_the_best_on_validation(pairs: Pairs, tmp_path: Path) -> None:
    sets = [*planted.PRECOMPUTED, "training.epochs=8", "training.learning_rate=0.05"]
    done = train("angular", pairs, tmp_path / "run", sets=sets, quiet=True)
    text = (tmp_path / "run" / "metrics.jsonl").read_text()
    lines = [json.loads(line) for line in text.splitlines()]
    recalls = [(line["val_image_to_text"] + line["val_text_to_image"]) / 2 for line in lines]
    assert done.progress.best_epoch == int(np.argmax(recalls))
    kept = load_model(tmp_path / "run").description["validation"]
    assert kept == lines[done.progress.best_epoch]


def test_the_rate_falls_and_training_ends(pairs: Pairs, tmp_path: Path) -> None:
    sets = [*planted.PRECOMPUTED, "training.learning_rate=1e-12", "training.patience=2"]
    done = train("angular", pairs, tmp_path / "run", sets=[*sets, "training.stop=5"], quiet=True)
    rates = [line["rate"] for line in done.progress.history]
    assert rates[0] == pytest.approx(1e-12)
    assert rates[-1] < 1e-12
    assert done.progress.epoch == done.progress.best_epoch + 6


def test_neighbor_losses_keep_neighbors_together(pairs: Pairs, tmp_path: Path) -> None:
    """The similarity of semantic neighbors rises with the weight of their losses."""
    sets, near = [*planted.PRECOMPUTED, "training.epochs=6"], []
    for weight in (0.0, 2.0):
        changes = [*sets, f"loss.text={weight}", f"loss.image={weight}"]
        changes += ["neighbors.k=10"] if weight else []
        task = prepare(pairs, resolve(load_recipe("neighborhoods"), sets, 100), 0)
        train("neighborhoods", pairs, tmp_path / f"{weight}", sets=changes, quiet=True)
        model = load_model(tmp_path / f"{weight}").model
        with torch.no_grad():
            inputs = next(iter(task.texts.batches([task.train.texts], None)))
            points = model.text(*inputs)[0].numpy()
        assert task.near is not None
        near.append((points[task.near[:, 0]] * points).sum(axis=1).mean())
    assert near[1] > near[0]


def test_several_texts_of_a_picture(tmp_path: Path) -> None:
    pairs = trope.open(planted.write(tmp_path / "data", rows=64, texts=3))
    sets = [*SHORT, "training.epochs=2"]
    train("structure-gt", pairs, tmp_path / "run", sets=sets, quiet=True)
    found = evaluate(load_model(tmp_path / "run"), pairs)
    assert found.texts == 3 * found.images

"""Runs are kept, taken up again, and never mistaken for others."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from planted_pairs import QUICK, write

import trope
from trope.checkpoints import load_model
from trope.errors import DataError, TropeError, UsageError
from trope.evaluation import evaluate_run
from trope.experiments.runs import Run, Series, Variant, series, train_all
from trope.experiments.runs.outcome import Outcome
from trope.experiments.runs.plan import name, ordered, resolved
from trope.features.backbones.outputs import one_core_each
from trope.training import loop, train

ANGULAR = Variant("angular, gru", "angular", QUICK)
INFONCE = Variant("infonce, gru", "infonce", QUICK)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write(tmp_path / "data")


@pytest.fixture
def performed(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The runs that are really trained."""
    done: list[str] = []
    real = series.perform
    monkeypatch.setattr(series, "perform", lambda job: done.append(str(job.run)) or real(job))
    return done


def values(found: Series) -> dict[str, list[list[float]]]:
    return {
        name: [o.answers["text_to_image"].values.tolist() for o in found[name]] for name in found
    }


def both(data: Path, parts: Path, seeds: int = 2, workers: int = 1, **more: bool) -> Series:
    return train_all([ANGULAR, INFONCE], seeds, data, parts, workers=workers, **more)


def test_seed_after_seed_for_all_variants() -> None:
    runs = [str(run) for run in ordered([ANGULAR, INFONCE], 2)]
    assert runs == [f"{v.name}, seed {seed}" for seed in (0, 1) for v in (ANGULAR, INFONCE)]


def test_what_is_done_is_kept_and_not_done_again(
    data: Path, tmp_path: Path, performed: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    parts = tmp_path / "parts"
    first = both(data, parts)
    assert len(performed) == 4
    assert "4 of 4 runs: infonce, gru, seed 1" in capsys.readouterr().err
    assert all(path.suffix == ".safetensors" for path in parts.iterdir())
    assert values(both(data, parts)) == values(first)
    assert len(performed) == 4
    next(parts.glob("infonce-gru-1-*")).write_bytes(b"damaged")
    assert values(both(data, parts)) == values(first)
    assert performed[4:] == ["infonce, gru, seed 1"]


def test_processes_change_nothing(data: Path, tmp_path: Path) -> None:
    one, two = (both(data, tmp_path / f"by{n}", 1, workers=n) for n in (1, 2))
    assert values(one) == values(two)


def test_it_measures_what_evaluation_measures(data: Path, tmp_path: Path) -> None:
    outcome = train_all([ANGULAR], 1, data, tmp_path / "parts", workers=1)[ANGULAR.name][0]
    pairs = trope.open(data)
    with one_core_each():
        train("angular", pairs, tmp_path / "run", sets=QUICK, quiet=True)
    found = evaluate_run(tmp_path / "run", pairs, "test")
    for side in ("image_to_text", "text_to_image"):
        expected = getattr(found, side)["recall@1/5-way"].value
        assert outcome.answers[side].values.mean() == pytest.approx(expected, abs=1e-6)
    expected = found.text["preservation"].value
    assert np.nanmean(outcome.answers["text"].values) == pytest.approx(expected, abs=1e-6)
    assert outcome.about["chance"]["text_to_image"] == pytest.approx(0.2)
    validation = load_model(tmp_path / "run").description["validation"]
    assert outcome.about["val_loss"] == validation["val_loss"]
    answers = outcome.answers["text_to_image"]
    assert set(answers.ids) == set(pairs.in_split("test").ids)
    assert set(np.unique(answers.clusters, return_counts=True)[1]) == {4}


def test_validation_can_be_measured_instead(data: Path, tmp_path: Path) -> None:
    found = train_all([ANGULAR], 1, data, tmp_path / "parts", part="val", workers=1)
    answers = found[ANGULAR.name][0].answers["image_to_text"]
    assert set(answers.ids) == set(trope.open(data).in_split("val").ids)


def test_the_finished_seeds_alone_make_a_series(
    data: Path, tmp_path: Path, performed: list[str]
) -> None:
    parts = tmp_path / "parts"
    with pytest.raises(DataError, match="no seed is finished"):
        both(data, parts, finished=True)
    whole = both(data, parts)
    next(parts.glob("infonce-gru-1-*")).unlink()
    found = both(data, parts, seeds=10, finished=True)
    assert values(found) == {name: known[:1] for name, known in values(whole).items()}
    assert len(performed) == 4


def test_other_settings_seeds_splits_and_data_have_other_names(data: Path) -> None:
    pairs = trope.open(data)
    base = name(Run(ANGULAR, 0), resolved(ANGULAR, pairs), pairs, "test")
    more = Variant("angular, gru", "angular", (*QUICK, "head.size=8"))
    path = data / "pairs.jsonl"
    path.write_text(path.read_text().replace("filler", "other"))
    others = {
        name(Run(ANGULAR, 1), resolved(ANGULAR, pairs), pairs, "test"),
        name(Run(ANGULAR, 0), resolved(ANGULAR, pairs), pairs, "val"),
        name(Run(more, 0), resolved(more, pairs), pairs, "test"),
        name(Run(ANGULAR, 0), resolved(ANGULAR, pairs), trope.open(data), "test"),
    }
    assert len(others - {base}) == 4
    assert base.startswith("angular-gru-0-")


def test_the_papers_settings_are_those_for_large_data(data: Path) -> None:
    pairs = trope.open(data)
    rates = [
        resolved(Variant("", "angular", (), scale), pairs).training.learning_rate
        for scale in ("auto", "small", "large")
    ]
    assert rates[0] == rates[1] > rates[2] == 1e-4


@pytest.fixture
def stopped(data: Path, tmp_path: Path) -> Path:
    """Parts with a run that was stopped after its first epoch."""
    with pytest.MonkeyPatch.context() as patch:
        real = loop.Loop._save

        def save(self: loop.Loop) -> None:
            real(self)
            raise KeyboardInterrupt

        patch.setattr(loop.Loop, "_save", save)
        with pytest.raises(KeyboardInterrupt):
            train_all([ANGULAR], 1, data, tmp_path / "parts", workers=1)
    return tmp_path / "parts"


def test_a_stopped_run_goes_on_to_the_same_end(data: Path, tmp_path: Path, stopped: Path) -> None:
    (folder,) = stopped.iterdir()
    assert folder.is_dir()
    whole = train_all([ANGULAR], 1, data, tmp_path / "whole", workers=1)
    found = train_all([ANGULAR], 1, data, stopped, workers=1)
    assert values(found) == values(whole)
    assert found[ANGULAR.name][0].about["resumed"]
    assert not whole[ANGULAR.name][0].about["resumed"]
    assert not folder.exists()


@pytest.mark.parametrize("damage", ["other code", "no run", "rubbish"])
def test_a_run_of_other_code_is_begun_anew(data: Path, stopped: Path, damage: str) -> None:
    (folder,) = stopped.iterdir()
    path = folder / "run.json"
    if damage == "other code":
        path.write_text(json.dumps(json.loads(path.read_text()) | {"commit": "another"}))
    elif damage == "rubbish":
        path.write_text("[")
    else:
        path.unlink()
    found = train_all([ANGULAR], 1, data, stopped, workers=1)
    assert not found[ANGULAR.name][0].about["resumed"]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_run_that_fails_is_named(data: Path, tmp_path: Path, workers: int) -> None:
    wild = Variant("wild", "angular", (*QUICK, "training.learning_rate=1e38"))
    with pytest.raises(TropeError, match=r"wild, seed 0: the (loss|gradient) became"):
        train_all([ANGULAR, wild], 1, data, tmp_path / "parts", workers=workers)
    kept = any(Outcome.load(path) for path in (tmp_path / "parts").glob("angular-*.safetensors"))
    assert kept or workers > 1  # side by side, the failure may come first


def test_what_does_not_fit_is_refused_before_any_run(
    data: Path, tmp_path: Path, performed: list[str]
) -> None:
    for wrong in ("head.sizes=3", "loss.name=anguler"):
        with pytest.raises(UsageError, match="did you mean"):
            train_all([Variant("x", "angular", (wrong,))], 1, data, tmp_path / "parts", workers=1)
    with pytest.raises(UsageError, match="no recipe 'angula'"):
        train_all([Variant("x", "angula")], 1, data, tmp_path / "parts", workers=1)
    hubs = Variant("x", "angular", (*QUICK, "weight.name=hubs"))
    with pytest.raises(UsageError, match="weight 'hubs': gives weights of hubs"):
        train_all([ANGULAR, hubs], 1, data, tmp_path / "parts", workers=1)
    assert performed == []

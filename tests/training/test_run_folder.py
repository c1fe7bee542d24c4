"""What a run leaves on disk: nothing that stands in the way of the next attempt."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import planted
import pytest
import torch
from lightning_fabric.plugins import MixedPrecision
from torch import nn
from torch.optim import Adam

import trope
from trope.checkpoints import read_tensors
from trope.data.pairs import Pairs
from trope.errors import DataError, TropeError, UsageError
from trope.evaluation.runs import open_run
from trope.files import locked
from trope.training import loop, train
from trope.training.folder import held
from trope.training.state import Progress, load_state, save_state

SHORT = [*planted.PRECOMPUTED, "training.epochs=2"]
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return planted.write(tmp_path_factory.mktemp("planted") / "data", rows=64)


@pytest.fixture
def pairs(folder: Path) -> Pairs:
    return trope.open(folder)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_what_is_in_the_folder(pairs: Pairs, tmp_path: Path) -> None:
    train("angular", pairs, tmp_path / "run", sets=SHORT, quiet=True)
    expected = {".lock", "config.toml", "run.json", "splits.parquet", "metrics.jsonl"}
    assert names(tmp_path / "run") == expected | {"model.safetensors", "state.safetensors"}
    assert names(tmp_path) & {".run.partial"} == set()


@pytest.mark.parametrize(
    "sets", [["loss.angel=3"], ["image.backbone=no-such-model"], ["training.rates.image=0.1"]]
)
def test_a_failed_attempt_leaves_nothing(pairs: Pairs, tmp_path: Path, sets: list[str]) -> None:
    with pytest.raises(TropeError):
        train("angular", pairs, tmp_path / "run", sets=[*SHORT, *sets], quiet=True)
    assert not (tmp_path / "run").exists() or not names(tmp_path / "run")
    train("angular", pairs, tmp_path / "run", sets=SHORT, quiet=True)


def test_data_without_pictures_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    rows = [{"id": str(i), "text": f"text {i}"} for i in range(20)]
    (tmp_path / "data" / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(DataError, match="no row has a picture"):
        train("angular", tmp_path / "data", tmp_path / "run", sets=["text.pretrained=false"])
    assert not (tmp_path / "run").exists()


def test_an_attempt_that_saved_nothing_is_begun_anew_even_with_other_settings(
    pairs: Pairs, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = [*SHORT, "training.learning_rate=1e30", "training.clip=0"]
    with pytest.raises(TropeError, match="the loss became"):
        train("triplet", pairs, tmp_path / "run", sets=wrong, quiet=True)
    assert "nonfinite.json" in names(tmp_path / "run")
    train("triplet", pairs, tmp_path / "run", sets=SHORT)
    assert "an earlier attempt had saved nothing, the run begins anew" in capsys.readouterr().err
    assert "nonfinite.json" not in names(tmp_path / "run")
    config = (tmp_path / "run" / "config.toml").read_text()
    assert "1e+30" not in config


def test_killed_while_the_folder_is_made_nothing_stands_in_the_way(
    pairs: Pairs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = import_module("trope.training.folder")

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(runs, "write_json", killed)
        with pytest.raises(KeyboardInterrupt):
            train("angular", pairs, tmp_path / "run", sets=SHORT, quiet=True)
    assert not (tmp_path / "run").exists()
    train("angular", pairs, tmp_path / "run", sets=SHORT, quiet=True)


def test_a_partial_folder_of_a_killed_process_is_no_hindrance(pairs: Pairs, tmp_path: Path) -> None:
    (tmp_path / ".run.partial").mkdir()
    (tmp_path / ".run.partial" / "config.toml").write_text("half")
    train("angular", pairs, tmp_path / "run", sets=SHORT, quiet=True)
    assert "half" not in (tmp_path / "run" / "config.toml").read_text()


def test_resume_with_nothing_there_begins_anew_and_says_so(
    pairs: Pairs, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    train("angular", pairs, tmp_path / "run", sets=SHORT, resume=True)
    assert "run: nothing to go on from, a new run begins" in capsys.readouterr().err
    train("angular", pairs, tmp_path / "run", sets=SHORT, resume=True)
    assert "nothing to go on from" not in capsys.readouterr().err


def test_more_epochs_only_where_no_rate_depends_on_them(pairs: Pairs, tmp_path: Path) -> None:
    for schedule in ("plateau", "linear"):
        sets, out = [*SHORT, f"training.schedule={schedule}"], tmp_path / schedule
        train("angular", pairs, out, sets=sets, quiet=True)
        more = {"sets": [*sets, "training.epochs=3"], "resume": True, "quiet": True}
        if schedule == "plateau":
            assert train("angular", pairs, out, **more).progress.epoch == 3
        else:
            with pytest.raises(UsageError, match=r"made with training\.epochs = 2, not 3"):
                train("angular", pairs, out, **more)


def test_what_is_not_the_same_run_is_refused(pairs: Pairs, tmp_path: Path) -> None:
    out = tmp_path / "run"
    train("angular", pairs, out, sets=SHORT, quiet=True)
    with pytest.raises(UsageError, match="holds a run; add --resume"):
        train("angular", pairs, out, sets=SHORT, quiet=True)

    def refused(message: str, *sets: str, data: Pairs = pairs, seed: int = 0) -> None:
        with pytest.raises(UsageError, match=message):
            train("angular", data, out, sets=[*SHORT, *sets], seed=seed, resume=True, quiet=True)

    refused("made with head.size = 12, not 8;", "head.size=8")
    refused("made with loss.angle = 45.0, not 30", "loss.angle=30")
    refused(
        r"made with text.dropout = 0.0, not 0.1 \(and 1 more\)", "head.size=8", "text.dropout=0.1"
    )
    refused("made with training.epochs = 2, not 1", "training.epochs=1")
    refused("made with training.schedule = plateau, not linear", "training.schedule=linear")
    refused("made with seed 0, not 1", seed=1)
    fewer = pairs.take(np.arange(60))
    refused(r"made with other data \(data, .{8}; now data, .{8}\)", data=fewer)
    with pytest.raises(UsageError, match="made with recipe angular, not triplet"):
        train("triplet", pairs, out, sets=SHORT, resume=True, quiet=True)


def test_what_is_somebody_elses_is_left_alone(pairs: Pairs, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "config.toml").write_text("mine = true")
    (tmp_path / "file").write_text("mine")
    for name in ("other", "file"):
        for resume in (False, True):
            with pytest.raises(UsageError, match="name a new folder"):
                train("angular", pairs, tmp_path / name, sets=SHORT, resume=resume, quiet=True)
    assert (tmp_path / "other" / "config.toml").read_text() == "mine = true"
    (tmp_path / "empty").mkdir()
    train("angular", pairs, tmp_path / "empty", sets=SHORT, quiet=True)


@pytest.mark.parametrize("left", ["model.safetensors", "metrics.jsonl"])
@pytest.mark.parametrize("resume", [False, True])
def test_what_was_learned_stays_when_the_state_is_gone(
    pairs: Pairs, tmp_path: Path, left: str, resume: bool
) -> None:
    out = tmp_path / "run"
    train("angular", pairs, out, sets=SHORT, quiet=True)
    for name in {"state.safetensors", "model.safetensors", "metrics.jsonl"} - {left}:
        (out / name).unlink()
    before = (out / left).read_bytes()
    with pytest.raises(UsageError, match=f"{left}, but its state is gone; name a new folder"):
        train("angular", pairs, out, sets=SHORT, resume=resume, quiet=True)
    assert (out / left).read_bytes() == before


def test_a_model_has_a_state_beside_it_from_the_first_moment(
    pairs: Pairs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed right after the first model was written, the run goes on as if it had not been."""
    save = loop.save_model

    def killed(*values: Any) -> None:
        save(*values)
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(loop, "save_model", killed)
        with pytest.raises(KeyboardInterrupt):
            train("angular", pairs, tmp_path / "run", sets=SHORT, quiet=True)
    assert {"model.safetensors", "state.safetensors"} <= names(tmp_path / "run")
    for run, resume in (("run", True), ("whole", False)):
        train("angular", pairs, tmp_path / run, sets=SHORT, resume=resume, quiet=True)
    for name in ("model", "state"):
        one, other = (
            read_tensors(tmp_path / r / f"{name}.safetensors")[0] for r in ("run", "whole")
        )
        assert all((one[key] == other[key]).all() for key in other)


def test_other_code_is_told(
    pairs: Pairs, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    train("angular", pairs, out, sets=SHORT, resume=True)
    train("angular", pairs, out, sets=SHORT, resume=True)
    assert "begun with" not in capsys.readouterr().err
    run = json.loads((out / "run.json").read_text())
    (out / "run.json").write_text(json.dumps(run | {"commit": "abc1234"}))
    train("angular", pairs, out, sets=SHORT, resume=True)
    told = " ".join(capsys.readouterr().err.split())
    assert (
        f"begun with trope {run['trope']} (commit abc1234), goes on with {run['trope']} (" in told
    )


def test_two_processes_do_not_write_the_same_run(pairs: Pairs, tmp_path: Path) -> None:
    out = tmp_path / "run"
    train("angular", pairs, out, sets=SHORT, quiet=True)
    with held(out), pytest.raises(UsageError, match="another process trains there"):
        train("angular", pairs, out, sets=SHORT, resume=True, quiet=True)
    train("angular", pairs, out, sets=SHORT, resume=True, quiet=True)


def test_a_run_is_held_as_every_other_folder_is(pairs: Pairs, tmp_path: Path) -> None:
    """By a file that disks of other machines pass a lock on to: who trains is seen from there."""
    out = tmp_path / "run"
    train("angular", pairs, out, sets=SHORT, quiet=True)
    with locked(out), pytest.raises(UsageError, match="run: another process trains there just now"):
        train("angular", pairs, out, sets=SHORT, resume=True, quiet=True)


@pytest.mark.parametrize("raised", ["training.epochs=5", "training.stop=20"])
def test_more_epochs_may_be_asked_for(pairs: Pairs, tmp_path: Path, raised: str) -> None:
    """The run that goes on ends as one of so many epochs from the start."""
    sets = [*planted.PRECOMPUTED, "training.epochs=3"]
    if raised.startswith("training.stop"):
        sets = [*planted.PRECOMPUTED, "training.epochs=4", "training.stop=1"]
        sets += ["training.learning_rate=1e-9"]
    train("angular", pairs, tmp_path / "run", sets=sets, quiet=True)
    for run, resume in (("run", True), ("whole", False)):
        done = train(
            "angular", pairs, tmp_path / run, sets=[*sets, raised], resume=resume, quiet=True
        )
        assert done.progress.epoch == (5 if "epochs" in raised else 4)
    lines = [(tmp_path / run / "metrics.jsonl").read_bytes() for run in ("run", "whole")]
    assert lines[0] == lines[1]
    states = [read_tensors(tmp_path / run / "state.safetensors")[0] for run in ("run", "whole")]
    assert all((states[0][name] == states[1][name]).all() for name in states[1])
    assert (
        raised.replace("=", " = ").partition(".")[2]
        in (tmp_path / "run" / "config.toml").read_text()
    )


def test_ctrl_c_prints_the_whole_command_that_goes_on(folder: Path, tmp_path: Path) -> None:
    """Started as a user does; the command it prints is run as it stands."""
    out = tmp_path / "a run"
    sets = [*planted.PRECOMPUTED, "training.epochs=100000", "training.stop=100000"]
    words = ["train", "angular", "--data", str(folder), "--out", str(out)]
    words += [word for change in sets for word in ("--set", change)] + ["--seed", "3"]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-m", "trope", *words]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("epoch 2"):
                break
        process.send_signal(signal.SIGINT)
        last = process.stderr.read().splitlines()[-1]
    assert process.returncode == 130
    assert last.startswith("trope: stopped; to go on: trope train angular --data ")
    assert [word for word in shlex.split(last) if word in words] == words
    assert last.endswith(" --resume")
    assert f"--out '{out}'" in last
    assert (out / "state.safetensors").exists()


class Writer:
    """As TensorBoard's: a file from the first moment on."""

    made: list[Writer]

    def __init__(self, folder: str) -> None:
        self.lines: list[tuple[str, float, int]] = []
        Path(folder).mkdir(exist_ok=True)
        self.path = Path(folder) / f"events.out.tfevents.{len(self.made)}"
        self.path.touch()
        self.open = True
        self.made.append(self)

    def add_scalar(self, name: str, value: float, step: int) -> None:
        self.lines.append((name, value, step))

    def flush(self) -> None:
        pass

    def close(self) -> None:
        self.open = False


def test_tensorboard_gets_one_file_a_run(
    pairs: Pairs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Writer.made = []
    find = import_module("importlib.util").find_spec
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name: name if name == "tensorboard" else find(name)
    )
    fake = type(sys)("torch.utils.tensorboard")
    fake.SummaryWriter = Writer  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", fake)
    for epochs in (2, 4):
        sets = [*SHORT, f"training.epochs={epochs}"]
        train("angular", pairs, tmp_path / "run", sets=sets, resume=True, quiet=True)
    assert len(list((tmp_path / "run" / "tensorboard").iterdir())) == 1
    last = Writer.made[-1]
    assert len(Writer.made) == 2
    assert not last.open
    assert [step for name, _, step in last.lines if name == "val_loss"] == [1, 2, 3, 4]
    assert {"loss", "rate", "val_image_to_text"} <= {name for name, _, _ in last.lines}


def test_16_bits_are_refused_where_they_would_be_something_else(
    pairs: Pairs, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="16-mixed needs a GPU; bf16-mixed does without"):
        train("angular", pairs, tmp_path, sets=[*SHORT, "training.precision=16-mixed"], quiet=True)


def test_the_scale_of_16_bits_is_part_of_the_state(tmp_path: Path) -> None:
    model = nn.Linear(2, 1)
    optimizer = Adam(model.parameters())
    then, now = (MixedPrecision("16-mixed", "cpu") for _ in range(2))
    assert then.scaler is not None
    then.backward(model(torch.ones(1, 2)).sum(), model)
    then.scaler.update(1_024.0)
    save_state(tmp_path, {"model": model}, optimizer, then, Progress())
    load_state(tmp_path, {"model": model}, optimizer, now)
    assert now.state_dict() == then.state_dict()
    assert now.state_dict()["scale"] == 1_024.0


def test_a_run_knows_its_rows_when_all_ids_have_moved(tmp_path: Path) -> None:
    """A table without ids, and a new row on top: nothing that was trained on is tested."""
    data = planted.write(tmp_path / "data", rows=64)
    rows = [json.loads(line) for line in (data / "pairs.jsonl").read_text().splitlines()]
    rows = [{name: row[name] for name in ("texts", "image_feature")} for row in rows]
    (data / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)))
    train("angular", data, tmp_path / "run", sets=SHORT, quiet=True)
    before, said = open_run(tmp_path / "run", data)
    assert said == ()
    rows = [{"texts": ["something else"], "image_feature": 0}, *rows]
    (data / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)))
    after, said = open_run(tmp_path / "run", data)
    assert "not the data as it was when" in said[0]
    assert (
        "rows that share a picture, a text or a group with those, and go with them: 64" in said[0]
    )
    assert after.pairs.column("split").to_pylist()[1:] == before.pairs.column("split").to_pylist()

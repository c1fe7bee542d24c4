"""Killed at any moment and resumed, a run ends with the same bits as one never interrupted."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from dataclasses import replace
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import planted
import pytest
import torch

from trope.checkpoints import read_tensors
from trope.training import loop, train
from trope.training.state import Progress

SETS = [*planted.PRECOMPUTED, "training.epochs=12", "training.stop=12", "text.dropout=0.2"]


def run(recipe: str, data: Path, out: Path) -> None:
    loop.SAVE_SECONDS = 0.0
    torch.set_num_threads(1)
    train(recipe, data, out, sets=SETS, seed=3, resume=True, quiet=True)


def started(recipe: str, data: Path, out: Path) -> BaseProcess:
    """A process of its own, forked from one that has imported what takes seconds."""
    server = multiprocessing.get_context("forkserver")
    server.set_forkserver_preload(["trope.training"])
    process = server.Process(target=run, args=(recipe, data, out))
    process.start()
    return process


def ended(process: BaseProcess) -> int:
    process.join(120)
    assert process.exitcode is not None
    return process.exitcode


def saved(state: Path) -> int:
    return state.stat().st_mtime_ns if state.exists() else 0


def stop(recipe: str, data: Path, out: Path, number: signal.Signals) -> None:
    """Let a run make a few steps more, then stop it in the middle."""
    state = out / "state.safetensors"
    before, process, until = saved(state), started(recipe, data, out), time.monotonic() + 120
    while saved(state) == before and time.monotonic() < until:
        time.sleep(0.01)
    time.sleep(0.05)
    assert process.pid is not None
    os.kill(process.pid, number)
    assert ended(process) != 0
    assert not read_tensors(state)[1]["progress"]["finished"]


@pytest.mark.parametrize(
    ("recipe", "signals"),
    [
        ("neighborhoods", [signal.SIGKILL]),
        ("discrepancy", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM]),
    ],
)
def test_a_stopped_run_goes_on_as_if_nothing_had_happened(
    tmp_path: Path, recipe: str, signals: list[signal.Signals]
) -> None:
    """With weights, the bank of embeddings too, which is written while steps are made."""
    data = planted.write(tmp_path / "data")
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    assert ended(started(recipe, data, whole)) == 0
    for number in signals:
        stop(recipe, data, broken, number)
    assert ended(started(recipe, data, broken)) == 0
    same_end(whole, broken)
    banks = [run / "bank.npy" for run in (whole, broken)]
    assert banks[0].exists() == (recipe == "discrepancy")
    assert not banks[0].exists() or banks[0].read_bytes() == banks[1].read_bytes()


def same_end(whole: Path, broken: Path) -> None:
    for name in ("model", "state"):
        one, other = (read_tensors(run / f"{name}.safetensors") for run in (whole, broken))
        assert one[0].keys() == other[0].keys()
        assert all(torch.equal(one[0][key], other[0][key]) for key in one[0])
    assert one[1] == other[1]
    assert (whole / "metrics.jsonl").read_bytes() == (broken / "metrics.jsonl").read_bytes()


@pytest.mark.parametrize("case", ["a learned temperature", "a tuned network", "samples"])
def test_what_is_learned_beside_heads_goes_on_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    """Stopped after the saving that follows the first step of the second epoch.

    Samples of distributions are drawn anew as they were.
    """
    recipe = "pcme-daa" if case == "samples" else "infonce"
    if case == "a tuned network":
        data = planted.photographs(tmp_path / "data")
        sets = [*planted.PIXELS, "image.dropout=0.2", "training.epochs=2"]
    else:
        data = planted.write(tmp_path / "data", rows=64)
        sets = [*planted.PRECOMPUTED, "text.dropout=0.2", "training.epochs=2"]
        sets += ["training.schedule=linear"]
    whole, broken, save = tmp_path / "whole", tmp_path / "broken", loop.save_state
    saved: list[Progress] = []

    def killed(*values: Any) -> None:
        save(*values)
        saved.append(replace(values[-1]))
        if saved[-1].epoch == saved[-1].step == 1:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(loop, "SAVE_SECONDS", 0.0)
        patch.setattr(loop, "save_state", killed)
        with pytest.raises(KeyboardInterrupt):
            train(recipe, data, broken, sets=sets, seed=3, quiet=True)
    for out, resume in ((whole, False), (broken, True)):
        train(recipe, data, out, sets=sets, seed=3, resume=resume, quiet=True)
    same_end(whole, broken)
    tensors = read_tensors(whole / "state.safetensors")[0]
    learned = "model.scorer.scale" if case == "samples" else "loss."
    assert any(name.startswith(learned) for name in tensors)

"""Two processes on half of each batch are one process on the whole.

Starting processes takes far longer than their steps: all cases go through one start of two, and the
one process they are compared with is this one.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import planted
import pytest
import torch
import torch.distributed
from lightning_fabric import Fabric
from safetensors.torch import load_file, save_file

import trope
from trope.checkpoints import read_tensors
from trope.errors import UsageError
from trope.features.backbones.outputs import one_core_each
from trope.training import Optimization, load_recipe, loop, resolve, train
from trope.training.processes import Elsewhere, launched
from trope.training.steps import Steps
from trope.training.task import Task, prepare
from trope.training.validation import Validation, validate

ROOT = Path(__file__).resolve().parents[2]
ALONE = [change for change in planted.PRECOMPUTED if not change.startswith("text.")]
ENDING = [*planted.PRECOMPUTED, "training.epochs=30", "training.stop=2", "training.patience=1"]
ENDING += ["training.learning_rate=1e-9", "training.select=loss"]


SHARED = [*planted.PRECOMPUTED, "head.dropout=0", "head.transformer.mask=0"]  # each draws its own

THREE = [*planted.PRECOMPUTED, "training.epochs=3", "training.learning_rate=1e-3"]
WEIGHED = {
    "discrepancy": ("discrepancy", [*THREE, "neighbors.k=8", "training.batch=20"]),
    "hubs": ("hal", [*THREE, "weight.name=hubs", "weight.share=0.3"]),
}


SCORED = [*planted.PRECOMPUTED, "scorer.size=8", "head.dropout=0", "training.learning_rate=1e-3"]


class Case(NamedTuple):
    """A recipe with settings, on data, in batches, of one process and of two together."""

    recipe: str
    sets: list[str]
    data: str = "data"
    one: int = 16
    two: int = 16


CASES = {
    "neighborhoods": Case("neighborhoods", [*planted.PRECOMPUTED, "text.bidirectional=true"]),
    "infonce": Case("infonce", planted.PRECOMPUTED),
    "pvse": Case("pvse", planted.PRECOMPUTED),
    "pcme": Case("pcme", [*planted.PRECOMPUTED, "loss.uniformity=0.1"]),
    "daa": Case("vse-daa", planted.PRECOMPUTED),
    "rank": Case("mithun", planted.PRECOMPUTED),
    "distance": Case("distance-weighted", planted.PRECOMPUTED),
    "random": Case("random-weights", planted.PRECOMPUTED),
    "near-text": Case("neighborhoods", [*planted.PRECOMPUTED, "loss.image=0"]),
    "few": Case("angular", planted.PRECOMPUTED, "few", one=34, two=64),
    "sentences": Case("infonce", [*ALONE, "text.encoder=sentence-tuned", "text.dropout=0"]),
    "sgr": Case("sgr", SCORED),
    "saf": Case("sgr", [*SCORED, "scorer.name=saf", "text.bidirectional=false"]),
    "pixels": Case("infonce", planted.PIXELS, "photos", one=4, two=4),
    "sharing": Case("sharing-consistency", SHARED, "labeled"),
    "dscmr": Case("dscmr", planted.PRECOMPUTED, "labeled"),
}


def stepped(fabric: Fabric, data: Path, case: Case, batch: int) -> dict[str, torch.Tensor]:
    """Losses of the first steps, and gradients of the first."""
    sets = [*case.sets, f"training.batch={batch}", "training.clip=0"]
    settings = resolve(load_recipe(case.recipe), sets, 100)
    task = prepare(trope.open(data), settings, 0)
    running = loop.Loop(task, settings, 0, data, fabric, {}, lambda *_: None)
    running.model.train()
    steps = list(Steps(task, 0, 0, batch, fabric).steps())[:2]
    losses = [running._step(steps[0])]
    modules = {"model": task.model, "loss": task.loss}
    named = {f"{m}.{n}": p for m, module in modules.items() for n, p in module.named_parameters()}
    found = {name: p.grad.clone() for name, p in named.items() if p.grad is not None}
    losses += [running._step(step) for step in steps[1:]]
    return found | {"losses": torch.tensor(losses)}


def unlike(task: Task, batch: int, seed: int) -> Validation:
    """Figures of each process's own, as rounding might make them."""
    found = validate(task, batch, seed)
    second = torch.distributed.is_initialized() and torch.distributed.get_rank() == 1
    return replace(found, loss=-found.loss if second else found.loss)


def work(folder: Path) -> None:
    """What each of the two processes does."""
    atexit.register(last_words, folder)  # called after what is registered later
    fabric = launched(Optimization())
    for name, case in CASES.items():
        found = stepped(fabric, folder / case.data, case, case.two)
        if fabric.is_global_zero:
            save_file(found, folder / f"{name}.safetensors")
    for name, (recipe, sets) in WEIGHED.items():
        train(recipe, folder / "data", folder / name, sets=sets, quiet=True)
    loop.validate = unlike
    train("angular", folder / "data", folder / "two", sets=ENDING, quiet=True)


def last_words(folder: Path) -> None:
    """Whether a process still belongs to a group when all else has ended."""
    grouped = torch.distributed.is_initialized()
    (folder / f"ended-{os.environ['RANK']}").write_text("in a group" if grouped else "alone")


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two data sets and what two processes have made of them."""
    folder = tmp_path_factory.mktemp("processes")
    planted.write(folder / "data", rows=128)
    planted.write(folder / "labeled", rows=128, labeled=True)
    few = planted.write(folder / "few", rows=64)
    rows = [json.loads(line) for line in (few / "pairs.jsonl").read_text().splitlines()]
    (few / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows[13:])))  # 35 to train on
    planted.photographs(folder / "photos")
    run = [sys.executable, "-m", "torch.distributed.run", "--nnodes=1", "--nproc-per-node=2"]
    where = ["--rdzv-backend=c10d", "--rdzv-endpoint=127.0.0.1:0", __file__, str(folder)]
    own = {
        "PYTHONPATH": str(ROOT / "src"),
        "OMP_NUM_THREADS": "1",
        "TROPE_CACHE": str(folder / "c"),
    }
    ended = subprocess.run(
        [*run, *where], env=os.environ | own, capture_output=True, timeout=400, check=False
    )
    assert ended.returncode == 0, ended.stderr.decode()[-3_000:]
    return folder


def commanded(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """`trope train` in two processes."""
    run = [sys.executable, "-m", "torch.distributed.run", "--nnodes=1", "--nproc-per-node=2"]
    run += ["--rdzv-backend=c10d", "--rdzv-endpoint=127.0.0.1:0", "-m", "trope", "train", "angular"]
    own = {"PYTHONPATH": str(ROOT / "src"), "TROPE_CACHE": str(folder / "c")}
    return subprocess.run(
        [*run, *words],
        env=os.environ | own | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )


def test_one_process_speaks_for_all(two: Path) -> None:
    words = ["--data", str(two / "data"), "--out", str(two / "said")]
    words += [word for change in THREE for word in ("--set", change)]
    ended = commanded(two, *words)
    assert ended.returncode == 0
    assert [line.split(":")[0] for line in ended.stdout.splitlines()] == [words[3], "next"]
    assert "deprecated" not in ended.stderr
    assert "distributed" not in ended.stderr
    assert ended.stderr.count("epoch 3 of at most 3") == 1
    ended = commanded(two, *words)
    assert ended.returncode != 0
    said = [line for line in ended.stderr.splitlines() if line.startswith("trope:")]
    assert said == [f"trope: {words[3]}: holds a run; add --resume to go on, or name a new folder"]
    assert "gloo" not in ended.stderr


@pytest.mark.parametrize("name", CASES)
def test_two_processes_are_one_with_twice_the_batch(two: Path, name: str) -> None:
    """`few`: of 35 pairs two processes take 17 each. Of tuned networks some layers go unasked.

    Losses are those of two steps, and Adam takes whole steps by gradients that are only rounding.
    """
    case = CASES[name]
    with one_core_each():  # as the two have: other shares of a sum round differently
        one = stepped(launched(Optimization()), two / case.data, case, case.one)
    found = load_file(two / f"{name}.safetensors")
    assert one.keys() == found.keys()
    assert len(found["losses"]) == (1 if name == "few" else 2)
    for key in one:
        near = 1e-4 if key == "losses" else 1e-5
        assert torch.allclose(one[key], found[key], atol=1e-5, rtol=near), key
    assert torch.allclose(one["losses"][:1], found["losses"][:1], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("name", WEIGHED)
def test_all_processes_weigh_alike(two: Path, tmp_path: Path, name: str) -> None:
    """Of 96 pairs in batches of 20, some are in no batch of the first epoch."""
    recipe, sets = WEIGHED[name]
    with one_core_each():
        train(recipe, two / "data", tmp_path / "one", sets=sets, quiet=True)
    runs = (tmp_path / "one", two / name)
    states = [read_tensors(run / "state.safetensors")[0] for run in runs]
    known = [key for key in states[0] if key.startswith("weight.")]
    assert known
    for key in known:
        assert states[0][key].any()
        assert torch.allclose(states[0][key], states[1][key], atol=1e-4), key
    lines = [
        [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
        for run in runs
    ]
    for one, other in zip(*lines, strict=True):
        assert one == pytest.approx(other, rel=1e-3, abs=1e-3)
    models = [read_tensors(run / "model.safetensors")[0] for run in runs]
    for key in models[0]:
        assert torch.allclose(models[0][key], models[1][key], atol=1e-3), key


def test_processes_do_not_part_after_validation(
    two: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever each finds, they lower the rate, keep the best and end together."""
    monkeypatch.setattr(loop, "validate", unlike)
    train("angular", two / "data", tmp_path / "one", sets=ENDING, quiet=True)
    one, other = (
        [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
        for run in (tmp_path / "one", two / "two")
    )
    assert len(one) == len(other) < 30
    assert [line["rate"] for line in one] == [line["rate"] for line in other]
    weights = [
        read_tensors(run / "model.safetensors")[0] for run in (tmp_path / "one", two / "two")
    ]
    for name in weights[0]:
        assert torch.allclose(weights[0][name], weights[1][name], atol=1e-5), name


def test_the_group_ends_before_its_processes(two: Path) -> None:
    """Threads of a group that outlives Python's end abort the process now and then."""
    assert [(two / f"ended-{rank}").read_text() for rank in range(2)] == ["alone", "alone"]


def test_a_batch_is_shared_evenly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "3")
    with pytest.raises(UsageError, match="64 pairs cannot be shared evenly by 3 processes"):
        launched(Optimization())
    monkeypatch.setenv("RANK", "1")  # the first says so, and it alone
    with pytest.raises(Elsewhere) as ended:
        launched(Optimization())
    assert ended.value.exit_code == UsageError.exit_code


if __name__ == "__main__":
    work(Path(sys.argv[1]))

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

import trope
from trope.training import Recipe, train
from trope.training.metrics import METRICS

SETS = [
    "image.backbone=precomputed",
    "text.words=4",
    "text.hidden=6",
    "text.pretrained=false",
    "head.size=5",
    "training.batch=4",
    "training.epochs=3",
]


@pytest.fixture(autouse=True)
def _no_tensorboard(monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "tensorboard" else found(name)
    )


@pytest.fixture
def pairs(tmp_path: Path) -> trope.Pairs:
    data, random = tmp_path / "data", np.random.default_rng(0)
    (data / "features").mkdir(parents=True)
    np.save(data / "features" / "image.npy", random.normal(size=(24, 6)).astype(np.float32))
    rows = [
        {"id": f"r{i}", "text": f"word{i % 5} of {i}", "image_feature": i, "split": split}
        for i, split in enumerate(["train"] * 14 + ["val"] * 10)
    ]
    (data / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return trope.open(data)


def lines(run: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in (run / METRICS).read_text().splitlines()]


def test_a_line_for_each_epoch(pairs: trope.Pairs, tmp_path: Path) -> None:
    run = tmp_path / "run"
    done = train(Recipe(), pairs, run, sets=SETS, quiet=True)
    found = lines(run)
    assert found == done.progress.history
    assert [line["epoch"] for line in found] == [1, 2, 3]
    assert {"loss", "rate", "val_loss", "val_image_to_text", "val_text_to_image"} <= {*found[0]}
    assert not (run / "tensorboard").exists()


def test_asked_to_go_on_a_finished_run_adds_no_line(pairs: trope.Pairs, tmp_path: Path) -> None:
    for _ in range(2):
        train(Recipe(), pairs, tmp_path / "run", sets=SETS, resume=True, quiet=True)
    assert len(lines(tmp_path / "run")) == 3

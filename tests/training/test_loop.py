"""What the loop does after each step and each epoch."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import planted
import pytest
import torch
from rich.console import Console

import trope
from trope.checkpoints import load_model
from trope.data.pairs import Pairs
from trope.encoders.inputs import Rows
from trope.errors import DataError, TropeError
from trope.training import loop, resolve, train
from trope.training.optimizer import set_rate
from trope.training.processes import launched
from trope.training.recipes import load_recipe
from trope.training.steps import Steps, seen
from trope.training.task import prepare
from trope.training.train import deterministic_algorithms
from trope.training.validation import Validation

SHORT = [*planted.PRECOMPUTED, "training.epochs=2"]
RATE = "training.learning_rate=1e-3"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return planted.write(tmp_path_factory.mktemp("planted") / "data", rows=64)


@pytest.fixture
def pairs(folder: Path) -> Pairs:
    return trope.open(folder)


def made(pairs: Pairs, recipe: str, *sets: str) -> loop.Loop:
    settings = resolve(load_recipe(recipe), [*SHORT, *sets], 100)
    task, fabric = prepare(pairs, settings, 0), launched(settings.training)
    return loop.Loop(task, settings, 0, pairs.root, fabric, {}, lambda *_: None)


def validated(monkeypatch: pytest.MonkeyPatch, losses: list[float], recalls: list[float]) -> None:
    """Let validation find these figures, one epoch after the other."""
    found = iter(zip(losses, recalls, strict=True))

    def next_one(*_: object) -> Validation:
        loss, recall = next(found)
        return Validation(float(loss), float(recall), float(recall))

    monkeypatch.setattr(loop, "validate", next_one)


def test_the_papers_settings_are_the_defaults() -> None:
    training = load_recipe("neighborhoods").training
    assert (training.learning_rate, training.weight_decay) == (1e-4, 1e-5)
    assert (training.decay, training.patience, training.batch) == (0.1, 5, 64)


def test_the_rate_falls_after_five_epochs_without_a_lower_loss(
    pairs: Pairs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    losses = [3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1]
    validated(monkeypatch, losses, list(np.linspace(0, 1, 14)))
    sets = [*SHORT, "training.epochs=14", RATE]
    done = train("angular", pairs, tmp_path / "run", sets=sets, quiet=True)
    rates = [line["rate"] for line in done.progress.history]
    assert rates == pytest.approx([1e-3] * 7 + [1e-4] * 6 + [1e-5])


def test_the_rate_falls_after_so_many_epochs_whatever_they_brought(
    pairs: Pairs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    validated(monkeypatch, list(range(7, 0, -1)), list(np.linspace(0, 1, 7)))
    sets = [*SHORT, "training.schedule=step", "training.patience=3", "training.epochs=7", RATE]
    done = train("angular", pairs, tmp_path / "run", sets=sets, quiet=True)
    rates = [line["rate"] for line in done.progress.history]
    assert rates == pytest.approx([1e-3] * 3 + [1e-4] * 3 + [1e-5])


def test_the_paper_of_sgr_lowers_its_rate_once() -> None:
    training = load_recipe("sgr-paper").training
    assert (training.schedule, training.patience, training.epochs) == ("step", 10, 20)
    assert training.stop >= training.epochs  # it trains to the end


def test_the_rate_falls_with_every_step(
    pairs: Pairs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rates: list[float] = []

    def noted(optimizer: Any, rate: float) -> None:
        set_rate(optimizer, rate)
        rates.append(optimizer.param_groups[0]["lr"])

    monkeypatch.setattr(loop, "set_rate", noted)
    sets = [*SHORT, "training.schedule=linear", "training.epochs=3"]
    done = train("angular", pairs, tmp_path / "run", sets=[*sets, RATE], quiet=True)
    steps = (len(rates) - 1) // 3
    assert steps > 1
    assert rates[1:] == pytest.approx([1e-3 * (1 - k / (3 * steps)) for k in range(3 * steps)])
    assert done.progress.history[-1]["rate"] == rates[-1]


@pytest.mark.parametrize(("select", "best"), [("recall", 1), ("loss", 3)])
def test_training_ends_when_nothing_gets_better(
    pairs: Pairs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, select: str, best: int
) -> None:
    recalls = [0.3, 0.5, 0.5, 0.4, 0.4, 0.1, 0.2, 0.2, 0.2, 0.2]
    validated(monkeypatch, [9, 8, 7, 6, 7, 7, 7, 7, 7, 7], recalls)
    sets = [*SHORT, "training.epochs=10", "training.stop=4", f"training.select={select}"]
    done = train("angular", pairs, tmp_path / "run", sets=sets, quiet=True)
    assert done.progress.best_epoch == best
    assert done.progress.epoch == best + 5
    assert load_model(tmp_path / "run").description["validation"]["epoch"] == best + 1


def test_a_long_gradient_is_shortened(pairs: Pairs) -> None:
    for clip, expected in ((0.0, False), (1e-3, True)):
        running = made(pairs, "angular", f"training.clip={clip}")
        running._step(next(Steps(running.task, 0, 0, 16, running.fabric).steps()))
        parameters = running.task.model.parameters()
        norm = sum(float((p.grad**2).sum()) for p in parameters if p.grad is not None) ** 0.5
        assert (norm <= 1.0001e-3) is expected


@pytest.mark.parametrize("clip", [0, 2])
def test_a_gradient_that_is_no_number_stops_before_it_reaches_the_weights(
    pairs: Pairs, clip: int
) -> None:
    running = made(pairs, "angular", f"training.clip={clip}")
    before = {name: p.clone() for name, p in running.task.model.state_dict().items()}
    hook = running.task.model.text.head.map.weight.register_hook(lambda grad: grad / 0)
    step = next(Steps(running.task, 0, 0, 16, running.fabric).steps())
    with pytest.raises(TropeError, match="the gradient became"):
        running._step(step)
    hook.remove()
    assert all(torch.equal(p, before[name]) for name, p in running.task.model.state_dict().items())
    found = json.loads((pairs.root / "nonfinite.json").read_text())
    assert set(found["ids"]) <= set(pairs.ids)
    (pairs.root / "nonfinite.json").unlink()


def test_in_fewer_bits_the_weights_stay_what_they_are(pairs: Pairs, tmp_path: Path) -> None:
    sets = [*SHORT, "training.precision=bf16-mixed", "training.epochs=4"]
    sets += ["text.bidirectional=true", "text.pretrained=false"]
    done = train("infonce", pairs, tmp_path / "run", sets=sets, quiet=True)
    history = done.progress.history
    assert history[-1]["loss"] < history[0]["loss"]
    model = load_model(tmp_path / "run").model
    assert {p.dtype for p in model.parameters()} == {torch.float32}


def test_where_no_operation_gives_the_same_bits_again_it_is_told() -> None:
    with deterministic_algorithms(), pytest.warns(UserWarning, match="deterministic"):
        torch.zeros(3).put_(torch.tensor([0, 0]), torch.ones(2))


@pytest.mark.parametrize(
    ("sets", "images", "texts"),
    [([], 2, 2), (["loss.image=0"], 1, 2), (["loss.text=0"], 2, 1)],
)
def test_only_neighbors_that_the_loss_needs_are_encoded(
    pairs: Pairs, sets: list[str], images: int, texts: int
) -> None:
    running = made(pairs, "neighborhoods", *sets)
    step = next(Steps(running.task, 0, 0, 16, running.fabric).steps())
    assert (len(step.images[0]), len(step.texts[0])) == (16 * images, 16 * texts)
    view = seen(running.task, step, *running.model(step.images, step.texts), running.fabric)
    assert view.near is not None
    assert (view.near.image is not None, view.near.text is not None) == (images > 1, texts > 1)


def test_what_need_not_be_encoded_changes_nothing(pairs: Pairs) -> None:
    """The loss without the image term, from a view that has all and from one that has not."""
    running = made(pairs, "neighborhoods", "loss.image=0")
    step = next(Steps(running.task, 0, 0, 16, running.fabric).steps())
    assert step.near is not None
    rows = running.task.train.images[np.concatenate([step.pairs, step.near])]
    assert isinstance(running.task.images, Rows)
    both = (running.task.images.values[torch.from_numpy(rows)],)
    losses = [
        running.task.loss(seen(running.task, s, *running.model(s.images, s.texts), running.fabric))
        for s in (step, step._replace(images=both))
    ]
    assert torch.equal(*losses)


def test_the_bar_shows_loss_recall_speed_and_time_left(
    pairs: Pairs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = io.StringIO()
    monkeypatch.setattr(
        "trope.training.screen.console",
        lambda: Console(file=shown, force_terminal=True, width=120, color_system=None),
    )
    monkeypatch.setattr("trope.training.screen.EVERY", 0.0)
    train("angular", pairs, tmp_path / "run", sets=[*SHORT, "training.epochs=20"])
    pattern = r"epoch [\d.]+ .* loss \d+\.\d{4}  recall \d\.\d{3}  [\d,]+ images/s \d:\d\d:\d\d"
    assert re.search(pattern, shown.getvalue())


def written(folder: Path, jpeg: Callable[..., bytes], broken: set[int]) -> Path:
    """Pictures, some of which cannot be decoded: 10 to train on, 6 to validate on."""
    folder.mkdir()
    rows = []
    for i in range(16):
        data = jpeg((i * 15, 255 - i * 15, i * 3))
        (folder / f"{i}.jpg").write_bytes(b"no picture %d" % i if i in broken else data)
        split = "train" if i < 10 else "val"
        rows.append({"id": f"r{i}", "image": f"{i}.jpg", "text": f"word{i % 5}", "split": split})
    (folder / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return folder


TUNED = ["image.encoder=tuned", "text.pretrained=false", "training.epochs=1", "training.batch=4"]


def test_pictures_that_cannot_be_decoded_are_left_out_before_training(
    tmp_path: Path, jpeg: Callable[..., bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    data = written(tmp_path / "data", jpeg, {2, 12})
    train("angular", data, tmp_path / "run", sets=TUNED)
    told = capsys.readouterr().err
    assert "training on 9 pairs in batches of 4, validating on 5" in told
    assert "pictures left out: 2, the first row 'r2' (line 3), 2.jpg: cannot be decoded" in told


def test_where_no_picture_can_be_decoded_it_is_refused(
    tmp_path: Path, jpeg: Callable[..., bytes]
) -> None:
    data = written(tmp_path / "data", jpeg, set(range(10)))
    with pytest.raises(DataError, match="split 'train' has no row with a text and a usable image"):
        train("angular", data, tmp_path / "run", sets=TUNED, quiet=True)
    assert not (tmp_path / "run").exists()


def test_a_single_pair_is_refused(pairs: Pairs, tmp_path: Path) -> None:
    one = pairs.where(np.array([i == 0 or i >= 48 for i in range(64)]))
    with pytest.raises(DataError, match=r"split 'train' has 1 pair .* training needs 2"):
        train("angular", one, tmp_path / "run", sets=[*SHORT, "text.min_count=1"], quiet=True)


def test_too_few_components_for_a_validation_split_are_told(
    tmp_path: Path, jpeg: Callable[..., bytes]
) -> None:
    data = written(tmp_path / "data", jpeg, set())
    rows = [json.loads(line) for line in (data / "pairs.jsonl").read_text().splitlines()]
    rows = [row | {"split": None, "group": "one story"} for row in rows]
    (data / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(DataError, match="no row for split 'val': 16 rows are 1 component"):
        train("angular", data, tmp_path / "run", quiet=True)

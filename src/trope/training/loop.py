"""The training loop: epochs, steps, validation, the learning rate, the best model, the end."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lightning_fabric import Fabric
from torch import nn
from torch.optim import Adam, Optimizer

from trope.checkpoints import FILE, save_model
from trope.encoders.inputs import Tensors
from trope.errors import TropeError
from trope.files import write_json
from trope.training import folder as runs
from trope.training.settings import Recipe
from trope.training.state import Progress, deterministic, load_state, save_state
from trope.training.steps import Step, Steps, penalized, seen
from trope.training.task import Task
from trope.training.validation import Validation, validate

SAVE_SECONDS = 300.0  # between two savings inside a long epoch

Report = Callable[[Progress, int, dict[str, float]], None]


@dataclass(eq=False)
class Loop:
    """One run in one process; others may work on the same batches beside it."""

    task: Task
    settings: Recipe
    seed: int
    folder: Path
    fabric: Fabric
    description: dict[str, Any]
    report: Report
    stopping: bool = False  # set by whoever wants the run to end after its step

    def __post_init__(self) -> None:
        wanted = self.settings.training
        self.modules: dict[str, nn.Module] = {"model": self.task.model, "loss": self.task.loss}
        parameters = [p for module in self.modules.values() for p in module.parameters()]
        adam = Adam(
            [p for p in parameters if p.requires_grad],
            wanted.learning_rate,
            weight_decay=wanted.weight_decay,
            fused=not self._scaled,  # all of a step in one pass over the weights
        )
        self.optimizer: Optimizer
        self.model, self.optimizer = self.fabric.setup(self.task.model, adam)
        self.task.loss.to(self.fabric.device)
        self.progress = Progress(rate=wanted.learning_rate)
        if runs.has_state(self.folder):
            self.progress = load_state(self.folder, self.modules, self.optimizer)
        self._set_rate()

    def run(self) -> Progress:
        """Train to the end; interrupted, the run is saved after the step it is in."""
        while not self.progress.finished:
            self._epoch()
            self._judge(validate(self.task, self.settings.training.batch, self.seed))
            self._save()
        return self.progress

    def _epoch(self) -> None:
        """All steps of one epoch that are not yet done."""
        progress, wanted = self.progress, self.settings.training
        steps = Steps(self.task, self.seed, progress.epoch, wanted.batch, self.fabric)
        self.model.train()
        self.task.loss.train()
        saved = time.monotonic()
        for step in steps.steps(progress.step):
            progress.total += self._step(step)
            progress.step = step.number + 1
            self.report(progress, len(steps), {"loss": progress.total / progress.step})
            if self.stopping or time.monotonic() - saved > SAVE_SECONDS:
                self._save()
                saved = time.monotonic()
            if self.stopping:
                raise KeyboardInterrupt

    def _step(self, step: Step) -> float:
        """One batch: encode, compare, learn."""
        deterministic(self.seed, self.progress.epoch, step.number, self.fabric.global_rank)
        images, texts = (self._here(tensors) for tensors in (step.images, step.texts))
        pictures, words = self.model(images, texts)
        view = seen(self.task, step, pictures, words, self.fabric)
        loss = penalized(view, self.task.loss(view), dict(self.settings.penalties))
        value = float(loss.detach())
        self._check(step, "loss", value)
        self.optimizer.zero_grad()
        self.fabric.backward(loss)
        self._share_gradients()
        self._clip(step)
        self.optimizer.step()
        return value

    def _here(self, tensors: Tensors) -> Tensors:
        return tuple(tensor.to(self.fabric.device, non_blocking=True) for tensor in tensors)

    def _clip(self, step: Step) -> None:
        """Shorten a long gradient; one that is not finite must not reach the weights."""
        longest = self.settings.training.clip
        if longest:
            norm: Any = self.fabric.clip_gradients(
                self.model, self.optimizer, max_norm=longest, error_if_nonfinite=False
            )
            if not self._scaled:
                self._check(step, "gradient", float(norm))

    @property
    def _scaled(self) -> bool:
        """Whether losses are scaled for 16 bits, and steps that are too large left out."""
        return self.settings.training.precision == "16-mixed"

    def _share_gradients(self) -> None:
        """What the loss itself learns is the same in every process but for rounding."""
        if self.fabric.world_size > 1:
            for parameter in self.task.loss.parameters():
                if parameter.grad is not None:
                    shared: Any = self.fabric.all_reduce(parameter.grad, reduce_op="mean")
                    parameter.grad = shared

    def _judge(self, found: Validation) -> None:
        """After an epoch: note, keep the model if it is the best, lower the rate, or end."""
        progress, wanted = self.progress, self.settings.training
        line = {
            "epoch": progress.epoch,
            "loss": progress.total / max(progress.step, 1),
            "rate": progress.rate,
            **{f"val_{name}": value for name, value in asdict(found).items()},
        }
        progress.history.append(line)
        self._keep(found.recall if wanted.select == "recall" else -found.loss, line)
        progress.waited = 0 if found.loss < progress.lowest else progress.waited + 1
        progress.lowest = min(progress.lowest, found.loss)
        if progress.waited >= wanted.patience:
            progress.rate, progress.waited = progress.rate * wanted.decay, 0
            self._set_rate()
        progress.epoch, progress.step, progress.total = progress.epoch + 1, 0, 0.0
        stale = progress.epoch - 1 - progress.best_epoch
        progress.finished = progress.epoch >= wanted.epochs or stale >= wanted.stop
        self.report(progress, 0, {"loss": line["loss"], "recall": found.recall})

    def _keep(self, value: float, line: dict[str, Any]) -> None:
        progress = self.progress
        if value > progress.best:
            progress.best, progress.best_epoch = value, progress.epoch
            if self.fabric.is_global_zero:
                about = {**self.description, "validation": line}
                save_model(self.folder / FILE, self.task.model, self.task.plan, about)

    def _save(self) -> None:
        """First the best model, then the state: killed between the two, the epoch is done again."""
        if self.fabric.is_global_zero:
            save_state(self.folder, self.modules, self.optimizer, self.progress)
            runs.write_metrics(self.folder, self.progress.history)

    def _set_rate(self) -> None:
        for group in self.optimizer.param_groups:
            group["lr"] = self.progress.rate

    def _check(self, step: Step, name: str, value: float) -> None:
        """Stop at what is no number, and keep what is needed to look into it."""
        if math.isfinite(value):
            return
        path = self.folder / "nonfinite.json"
        ids = [self.task.ids[text] for text in self.task.train.texts[step.pairs]]
        place = {"epoch": self.progress.epoch, "step": step.number}
        if self.fabric.is_global_zero:
            write_json(path, place | {name: str(value), "ids": ids})
        what = "infinite" if math.isinf(value) else "not a number"
        raise TropeError(
            f"the {name} became {what} in epoch {place['epoch']}, step {place['step']}; "
            f"the batch is listed in {path}. A lower training.learning_rate may help"
        )

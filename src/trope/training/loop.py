"""The training loop: epochs, steps, validation, the learning rate, the best model, the end."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from jaxtyping import Float
from lightning_fabric import Fabric
from torch import Tensor, nn
from torch.optim import Optimizer

from trope.checkpoints import FILE, description_of, save_model
from trope.encoders.inputs import Tensors
from trope.errors import DataError, TropeError, UsageError
from trope.files import write_json
from trope.training.folder import NONFINITE, has_state
from trope.training.metrics import Metrics
from trope.training.optimizer import adam, falling, lowered, set_rate
from trope.training.selection import blind
from trope.training.settings import Recipe
from trope.training.state import Progress, deterministic, load_state, save_state
from trope.training.steps import Step, Steps, penalized, seen
from trope.training.task import Task
from trope.training.validation import Validation, validate
from trope.training.weighing import Weighing
from trope.views import View
from trope.weights import PairWeight

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
        self.optimizer: Optimizer
        self.model, self.optimizer = self.fabric.setup(
            self.task.model, adam(self.task.model, self.task.loss, wanted)
        )
        self.task.loss.to(self.fabric.device)
        self.weighing: Weighing | None = None
        if self.task.weight is not None:
            fresh = not has_state(self.folder)
            self.weighing = Weighing(
                self.task, wanted.batch, self.seed, self.folder, self.fabric, fresh
            )
            self.modules["weight"] = self.weighing.known
        self.blind = blind(self.task, self.seed)
        self.metrics = Metrics(self.folder)
        self.progress = Progress(rate=wanted.learning_rate)
        if has_state(self.folder):
            precision = self.fabric.strategy.precision
            self.progress = load_state(self.folder, self.modules, self.optimizer, precision)
            self.progress.finished = self._ended()  # no more, if more epochs are wanted now
        set_rate(self.optimizer, self.progress.rate)

    def standing(self) -> list[str]:
        """Where a run that goes on does so; nothing of one that begins."""
        progress = self.progress
        if not progress.epoch + progress.step:
            return []
        if progress.finished:
            return [f"{self.folder}: finished after epoch {progress.epoch}; nothing is left to do"]
        place = f"epoch {progress.epoch + 1}, step {progress.step + 1}"
        return [f"{self.folder}: goes on with {place}"]

    def restored(self) -> list[str]:
        """Write the best model again if it is lost and the state still has it; else refuse."""
        progress, path = self.progress, self.folder / FILE
        lost = self._lost() if progress.best_epoch >= 0 else ""
        if not lost:
            return []
        best, now = progress.best_epoch + 1, progress.epoch
        if best != now or progress.step:
            raise UsageError(
                f"{path}: {lost}; it was that of epoch {best}, and the state has later weights "
                f"(epoch {now} is done): train anew in a new folder"
            )
        self._write_model(progress.history[progress.best_epoch])
        return [f"{path}: {lost}; written again from the state, which is that of epoch {best}"]

    def _lost(self) -> str:
        """What has become of the best model, if it is not there as it was written.

        One that was killed before its state may have a model of the epoch that is done again.
        """
        path, progress = self.folder / FILE, self.progress
        if not path.exists():
            return "is gone"
        try:
            line = description_of(path).get("validation", {})
        except DataError:
            return "is damaged"
        newer = line.get("epoch") == progress.epoch + 1
        return "" if newer or line == progress.history[progress.best_epoch] else "is another model"

    def run(self) -> Progress:
        """Train to the end; interrupted, the run is saved after the step it is in."""
        try:
            while not self.progress.finished:
                self._epoch()
                if not has_state(self.folder):
                    self._save()  # no model without a state beside it
                self._judge(self._validated())
                if self.weighing is not None:
                    self.weighing.learn(self.progress.epoch)
                self._save()
        finally:
            self.metrics.close()
        return self.progress

    def _epoch(self) -> None:
        """All steps of one epoch that are not yet done."""
        progress, wanted = self.progress, self.settings.training
        steps = Steps(self.task, self.seed, progress.epoch, wanted.batch, self.fabric)
        self.model.train()
        self.task.loss.train()
        saved = time.monotonic()
        for step in steps.steps(progress.step):
            if wanted.schedule == "linear":
                progress.rate = falling(wanted, progress.epoch, step.number / len(steps))
                set_rate(self.optimizer, progress.rate)
            progress.total += self._step(step)
            progress.step = step.number + 1
            found = {"loss": progress.total / progress.step, "images": float(steps.size)}
            self.report(progress, len(steps), found)
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
        deterministic(self.seed, self.progress.epoch, step.number)
        view = seen(self.task, step, pictures, words, self.fabric)
        loss = penalized(view, self._losses(step, view), dict(self.settings.penalties))
        value = float(loss.detach())
        self._check(step, "loss", value)
        self.optimizer.zero_grad()
        self.fabric.backward(loss)
        self._share_gradients()
        self._clip(step)
        self.optimizer.step()
        return value

    def _losses(self, step: Step, view: View) -> Float[Tensor, " n"]:
        """Of each pair, by its weight."""
        weighing, epoch = self.weighing, self.progress.epoch
        if weighing is not None:
            weighing.kept(step, view)
            view = weighing.seen(step, view, epoch)
        losses: Tensor = self.task.loss(view)
        return losses if weighing is None else weighing.weighed(step, losses, epoch)

    def _here(self, tensors: Tensors) -> Tensors:
        return tuple(tensor.to(self.fabric.device, non_blocking=True) for tensor in tensors)

    def _clip(self, step: Step) -> None:
        """Shorten a long gradient; one that is not finite must not reach the weights."""
        longest = self.settings.training.clip or math.inf
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

    def _validated(self) -> Validation:
        """By the first process for all: what follows from it must be the same in each."""
        first, batch = self.fabric.is_global_zero, self.settings.training.batch
        found: Any = validate(self.task, batch, self.seed) if first else None
        shared: Validation = self.fabric.broadcast(found)
        return shared

    def _judge(self, found: Validation) -> None:
        """After an epoch: note, keep the model if it is the best, lower the rate, or end."""
        progress, wanted = self.progress, self.settings.training
        measured = {f"val_{name}": value for name, value in asdict(found).items()}
        line = {
            "epoch": progress.epoch + 1,
            "loss": progress.total / max(progress.step, 1),
            "rate": progress.rate,
            **{name: value for name, value in measured.items() if value is not None},
            **({} if self.weighing is None else self.weighing.told(progress.epoch)),
        }
        progress.history.append(line)
        value = found.chosen_by(wanted.select)
        self._keep(value, line)
        cost = -value if self.blind else found.loss  # the rate must not fall by what never changes
        progress.waited = 0 if cost < progress.lowest else progress.waited + 1
        progress.lowest = min(progress.lowest, cost)
        if lowered(wanted, progress.epoch + 1, progress.waited):
            progress.rate, progress.waited = progress.rate * wanted.decay, 0
            set_rate(self.optimizer, progress.rate)
        progress.epoch, progress.step, progress.total = progress.epoch + 1, 0, 0.0
        progress.finished = self._ended()
        ndcg = found.ndcg if wanted.select == "labels" else None
        shown = {"loss": line["loss"], "recall": found.recall, "ndcg": ndcg}
        self.report(progress, 0, {name: v for name, v in shown.items() if v is not None})

    def _ended(self) -> bool:
        progress, wanted = self.progress, self.settings.training
        stale = progress.epoch - 1 - progress.best_epoch
        return progress.epoch >= wanted.epochs or stale >= wanted.stop

    def _keep(self, value: float, line: dict[str, Any]) -> None:
        progress = self.progress
        if value > progress.best:
            progress.best, progress.best_epoch = value, progress.epoch
            if self.fabric.is_global_zero:
                self._write_model(line)

    def _write_model(self, line: dict[str, Any]) -> None:
        about = {**self.description, "validation": line}
        save_model(self.folder / FILE, self.task.model, self.task.plan, about)

    def _save(self) -> None:
        """First the best model, then the state: killed between the two, the epoch is done again."""
        if self.fabric.is_global_zero:
            precision = self.fabric.strategy.precision
            if self.weighing is not None:
                self.weighing.flush()
            save_state(self.folder, self.modules, self.optimizer, precision, self.progress)
            self.metrics.write(self.progress.history)

    def _check(self, step: Step, name: str, value: float) -> None:
        """Stop at what is no number, and keep what is needed to look into it."""
        if math.isfinite(value):
            return
        path = self.folder / NONFINITE
        ids = [self.task.ids[text] for text in self.task.train.texts[step.pairs]]
        place = {"epoch": self.progress.epoch + 1, "step": step.number + 1}
        if self.fabric.is_global_zero:
            write_json(path, place | {name: str(value), "ids": ids})
        what = "infinite" if math.isinf(value) else "not a number"
        lower = ["training.learning_rate"]
        if isinstance(self.task.weight, PairWeight):
            lower.append("weight.scale")
        raise TropeError(
            f"the {name} became {what} in epoch {place['epoch']}, step {place['step']}; "
            f"the batch is listed in {path}. A lower {' or '.join(lower)} may help"
        )

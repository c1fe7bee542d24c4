"""What a person sees of a run: a bar with loss, recall, speed and time left; or a line an epoch."""

from __future__ import annotations

import time
from collections.abc import Iterable
from types import TracebackType

from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from trope.runtime import console
from trope.training.state import Progress as Standing

EVERY = 0.2  # seconds between two changes of the bar
MEASURED = {"recall": "recall", "ndcg": "NDCG"}  # on validation, and what it is called


class Screen:
    """Progress on standard error; without a terminal, one line after each epoch."""

    def __init__(self, epochs: int, quiet: bool) -> None:
        self.epochs, self.quiet, self.console = epochs, quiet, console()
        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.fields[found]}", markup=False),
            TimeRemainingColumn(),
        )
        hidden = quiet or not self.console.is_terminal
        self.bar = Progress(*columns, console=self.console, transient=True, disable=hidden)
        self.task = self.bar.add_task("training", total=epochs, found="")
        self.measured, self.images = "", 0.0
        self.shown, self.started = 0.0, time.monotonic()

    def __enter__(self) -> Screen:
        self.started = time.monotonic()
        self.bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.bar.stop()

    def tell(self, remarks: Iterable[str]) -> None:
        """What there is to say before the first step."""
        if not self.quiet:
            for remark in remarks:
                self.console.print(remark, markup=False, highlight=False, soft_wrap=True)

    def report(self, standing: Standing, steps: int, found: dict[str, float]) -> None:
        """After a step (of so many), or after an epoch, when `steps` is 0."""
        self.images += found.get("images", 0.0)
        known = [f"{said} {found[name]:.3f}  " for name, said in MEASURED.items() if name in found]
        self.measured = "".join(known) or self.measured
        now = time.monotonic()
        if steps and now - self.shown < EVERY:
            return
        self.shown = now
        speed = self.images / max(now - self.started, 1e-9)
        done = standing.epoch + (standing.step / steps if steps else 0)
        text = f"loss {found['loss']:.4f}  {self.measured}{speed:,.0f} images/s"
        self.bar.update(self.task, completed=done, description=f"epoch {done:.1f}", found=text)
        if not steps and not self.quiet and not self.console.is_terminal:
            line = f"epoch {standing.epoch} of at most {self.epochs}: {text}"
            self.console.print(line, markup=False, highlight=False, soft_wrap=True)

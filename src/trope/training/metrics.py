"""What was measured after each epoch: lines of JSON, and TensorBoard's file if it is installed."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import orjson

from trope.files import replacing

METRICS, EVENTS = "metrics.jsonl", "tensorboard"


class Metrics:
    """The measurements of a run in its folder; a run that goes on writes its whole past again."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.written = folder, 0
        self._writer: Any = None

    def write(self, history: list[dict[str, Any]]) -> None:
        """All epochs so far, a line each."""
        with replacing(self.folder / METRICS) as file:
            for line in history:
                file.write(orjson.dumps(line) + b"\n")
        for line in history[self.written :]:
            self._show(line)
        self.written = len(history)

    def close(self) -> None:
        """Let go of TensorBoard's file."""
        if self._writer is not None:
            self._writer.close()

    def _show(self, line: dict[str, Any]) -> None:
        if self._writer is None and importlib.util.find_spec("tensorboard"):
            self._writer = _events(self.folder / EVENTS)
        if self._writer is not None:
            for name, value in line.items():
                if isinstance(value, float):
                    self._writer.add_scalar(name, value, line["epoch"])
            self._writer.flush()


def read_metrics(folder: Path) -> list[dict[str, Any]]:
    """What was measured after each epoch; nothing where the file is gone or damaged."""
    try:
        return [orjson.loads(line) for line in (folder / METRICS).read_bytes().splitlines()]
    except (OSError, orjson.JSONDecodeError):
        return []


def _events(folder: Path) -> Any:
    """One file a run: two with the same epochs would be shown as one curve that runs back."""
    from torch.utils.tensorboard import SummaryWriter

    if folder.exists():
        for path in folder.glob("events.out.tfevents.*"):
            path.unlink()
    return SummaryWriter(str(folder))

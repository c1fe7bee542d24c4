"""One process, or several on the same batches; and how a run is asked to end."""

from __future__ import annotations

import os
import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from lightning_fabric import Fabric

from trope.errors import UsageError
from trope.training.loop import Loop
from trope.training.settings import Optimization


def launched(settings: Optimization) -> Fabric:
    """One process, or those that `torchrun` has started, each with its device."""
    local = int(os.environ.get("LOCAL_WORLD_SIZE", "1"))
    world = int(os.environ.get("WORLD_SIZE", "1"))
    if settings.batch % world:
        raise UsageError(
            f"training.batch: {settings.batch} pairs cannot be shared evenly by {world} processes"
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # advice for users of another package
            fabric = Fabric(
                accelerator="auto",
                devices=local,
                num_nodes=world // local,
                strategy="ddp" if world > 1 else "auto",
                precision=settings.precision,
            )
            fabric.launch()
    except (ValueError, RuntimeError) as error:
        raise UsageError(f"training: {str(error).splitlines()[0]}") from None
    if settings.precision == "16-mixed" and fabric.device.type == "cpu":
        raise UsageError("training.precision: 16-mixed needs a GPU; bf16-mixed does without")
    return fabric


@contextmanager
def stopped_gently(loop: Loop) -> Iterator[None]:
    """Ctrl-C and a request to end are heard after the step: the state on disk is then whole."""
    if loop.fabric.world_size > 1:  # the others would wait for this one: the last saving counts
        yield
        return

    def stop(number: int, frame: Any) -> None:
        if loop.stopping:  # asked twice: at once, and the last saving counts
            raise KeyboardInterrupt
        loop.stopping = True

    before = {}
    for number in (signal.SIGINT, signal.SIGTERM):
        try:
            before[number] = signal.signal(number, stop)
        except ValueError:  # not the main thread: whoever runs it handles signals
            break
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

"""One process, or several on the same batches; and how a run is asked to end."""

from __future__ import annotations

import atexit
import gc
import logging
import os
import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from lightning_fabric import Fabric
from torch import distributed

from trope.errors import TropeError, UsageError
from trope.training.loop import Loop
from trope.training.settings import Optimization
from trope.wording import counted

Found = TypeVar("Found")


class Elsewhere(TropeError):  # noqa: N818
    """The run was ended by another process, which says why."""

    def __init__(self, exit_code: int) -> None:
        super().__init__("another process has ended the run")
        self.exit_code = exit_code


def first_process() -> bool:
    """Whether this process is the only one, or the one that speaks for all."""
    return os.environ.get("RANK", "0") == "0"


def launched(settings: Optimization) -> Fabric:
    """One process, or those that `torchrun` has started, each with its device."""
    local = int(os.environ.get("LOCAL_WORLD_SIZE", "1"))
    world = int(os.environ.get("WORLD_SIZE", "1"))
    if settings.batch % world:
        if not first_process():
            raise Elsewhere(UsageError.exit_code)
        batch = counted(settings.batch, "pair")
        raise UsageError(f"training.batch: {batch} cannot be shared evenly by {world} processes")
    if world > 1:
        logging.getLogger("lightning_fabric").setLevel(logging.WARNING)
        warnings.filterwarnings("ignore", "torch.distributed.*deprecated")  # called by fabric
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
    if world > 1:
        atexit.register(part)
    if settings.precision == "16-mixed" and fabric.device.type == "cpu":
        raise UsageError("training.precision: 16-mixed needs a GPU; bf16-mixed does without")
    return fabric


def for_all(fabric: Fabric, act: Callable[[], Found]) -> Found | None:
    """What the first process does for all; where it cannot, all end, and it alone says why."""
    found: Found | None = None
    error: TropeError | OSError | None = None
    if fabric.is_global_zero:
        try:
            found = act()
        except (TropeError, OSError) as raised:
            error = raised
    code: int | None = fabric.broadcast(None if error is None else getattr(error, "exit_code", 1))
    if code is None:
        return found
    part()
    raise Elsewhere(code) if error is None else error


def part() -> None:
    """End the group of processes, if there is one, while Python can still wait for its threads.

    A thread of gloo that lets go of a tensor after Python has ended aborts the process.
    """
    gc.collect()  # models in a circle of references hold the group too
    if distributed.is_initialized():
        distributed.destroy_process_group()


@contextmanager
def together(fabric: Fabric) -> Iterator[None]:
    """The others cannot go on without one that has ended: no defect, and it said why."""
    try:
        yield
    except RuntimeError as error:
        of_others = isinstance(error, distributed.DistError) or "gloo" in str(error)
        if fabric.world_size > 1 and of_others:
            raise Elsewhere(1) from error
        raise


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

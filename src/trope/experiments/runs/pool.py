"""Work shared out to processes, each on one core; the death of one is told and loses nothing."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice
from multiprocessing import get_context, parent_process
from typing import TypeVar

from trope.errors import TropeError
from trope.features.backbones.outputs import one_core_each

THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
# Arrays of a step have some MiB each: what one step frees the next takes, not the system.
MEMORY = {"MALLOC_MMAP_THRESHOLD_": "33554432", "MALLOC_TRIM_THRESHOLD_": "8589934592"}  # glibc
SURROUNDINGS = dict.fromkeys(THREADS, "1") | MEMORY  # what libraries read when a process begins

Job = TypeVar("Job")
Answer = TypeVar("Answer")


def shared_out(
    work: Callable[[Job], Answer], jobs: Sequence[Job], workers: int
) -> Iterator[tuple[Job, Answer]]:
    """The answers as they come in; jobs are begun in their order, `workers` at a time.

    A single worker works in this process. All compute with one thread, so that the results do
    not depend on how many there are.
    """
    if workers == 1:
        for job in jobs:
            with one_core_each():
                answer = work(job)
            yield job, answer
        return
    spawn = get_context("spawn")  # a copy of a process that has threads may hang
    with _surrounded(), ProcessPoolExecutor(workers, spawn, _begin) as pool:
        try:
            yield from _answers(pool, work, jobs, workers)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _answers(
    pool: ProcessPoolExecutor, work: Callable[[Job], Answer], jobs: Sequence[Job], workers: int
) -> Iterator[tuple[Job, Answer]]:
    """No more jobs are handed out than are under way, so that it is known which these are."""
    waiting = iter(jobs)
    running: dict[Future[Answer], Job] = {
        pool.submit(work, job): job for job in islice(waiting, workers)
    }
    while running:
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            try:
                answer = future.result()
            except BrokenProcessPool:
                raise TropeError(_died(list(running.values()))) from None
            job = running.pop(future)
            for following in islice(waiting, 1):
                running[pool.submit(work, following)] = following
            yield job, answer


def _died(jobs: Sequence[object]) -> str:
    names = " or ".join(str(job) for job in jobs)
    return (
        f"a worker process died during {names} (was there enough memory?); what was finished is "
        "kept: the same command goes on from there, with fewer `workers` if need be"
    )


def _begin() -> None:
    """In a new worker: one thread, no tracebacks at Ctrl-C, and no life without its parent."""
    import torch

    torch.set_num_threads(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # training listens while it can stop well
    threading.Thread(target=_follow, daemon=True).start()


def _follow() -> None:
    if parent := parent_process():
        parent.join()
        os._exit(1)


@contextmanager
def _surrounded() -> Iterator[None]:
    """Workers that are begun here have one thread each and keep their memory."""
    before = {name: os.environ.get(name) for name in SURROUNDINGS}
    os.environ.update(SURROUNDINGS)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value

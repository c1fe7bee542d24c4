"""Machine code for inner loops: compiled on first use, kept on disk, run on every core.

Threads are our own and the code holds no lock of Python's: unlike the compiler's parallel loops it
may be called from several threads, and from workers forked later.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar, cast

import numba

from trope.runtime import cores

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")

SMALL = 2**14  # numbers that are worked through sooner than a thread starts


def compiled(function: Callable[Arguments, Answer]) -> Callable[Arguments, Answer]:
    """Compile a function of arrays and numbers; where nothing can be written, in memory only."""
    plain = inspect.unwrap(function)
    try:
        return cast(Callable[Arguments, Answer], numba.njit(cache=True, nogil=True)(plain))
    except RuntimeError:  # no folder for the compiled code, neither the package's nor the user's
        return cast(Callable[Arguments, Answer], numba.njit(nogil=True)(plain))


def spread(rows: int, columns: int, work: Callable[[int, int], None]) -> None:
    """Do `work(first, last)` for consecutive parts of the rows, on all cores at once."""
    if rows * columns < SMALL or cores() == 1:
        work(0, rows)
        return
    step = -(-rows // (8 * cores()))
    parts = iter([(first, min(rows, first + step)) for first in range(0, rows, step)])

    def take() -> None:
        for first, last in parts:  # whoever is free takes the next
            work(first, last)

    with ThreadPoolExecutor(cores() - 1) as pool:
        others = [pool.submit(take) for _ in range(cores() - 1)]
        take()
    for other in others:
        other.result()

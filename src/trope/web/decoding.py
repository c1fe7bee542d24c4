"""Pictures of strangers, decoded in a process of their own that can be killed.

A file may be made to take minutes or gigabytes. The process may use so much memory and time, and no
more; the server goes on whatever happens to it.
"""

from __future__ import annotations

import io
import os
import resource
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from jaxtyping import UInt8

from trope.data import images
from trope.errors import DataError, TropeError
from trope.web.refusals import TooMuchError

MEMORY = 2 * 2**30  # bytes of address space
PIXELS = 50_000_000
SECONDS = 10.0
PREVIEW = 768
START = "import sys; sys.path[:] = sys.argv[2:]; from trope.web.decoding import serve; serve()"
LEAN = {"OPENBLAS_NUM_THREADS": "1", "TROPE_MAX_PIXELS": str(PIXELS)}
NAME = "the picture"


@dataclass(frozen=True, eq=False)
class Decoded:
    """What a search and a page need of a picture: its pixels at some sizes, and a small copy."""

    width: int
    height: int
    pixels: dict[int, UInt8[np.ndarray, "h w 3"]]
    preview: bytes


class Decoder:
    """One process, started when it is first needed; after it was killed, another."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds, self._lock = seconds, threading.Lock()
        self._worker: tuple[subprocess.Popen[bytes], Connection] | None = None

    def decode(self, data: bytes, sizes: Sequence[int]) -> Decoded:
        """The picture, or an error that says what is wrong with it."""
        with self._lock:
            if self._worker is None:
                self._worker = _started()
            connection = self._worker[1]
            try:
                connection.send((data, tuple(sizes)))
                if not connection.poll(self._seconds):
                    raise TimeoutError
                answer: Decoded | str = connection.recv()
            except TimeoutError:
                self._end()
                raise TooMuchError(f"{NAME}: takes longer than {self._seconds:g} s") from None
            except (EOFError, OSError):
                self._end()
                raise TooMuchError(f"{NAME}: cannot be decoded within bounds") from None
        if isinstance(answer, str):
            raise DataError(answer)
        return answer

    def close(self) -> None:
        """End the process."""
        with self._lock:
            self._end()

    def _end(self) -> None:
        if self._worker is not None:
            process, connection = self._worker
            connection.close()
            process.kill()
            process.wait()
            self._worker = None


def decoded(data: bytes, sizes: Sequence[int]) -> Decoded:
    """What `Decoder` answers, made here."""
    pixels = {size: images.decode(data, NAME, size) for size in sizes}
    small, buffer = images.thumbnail(data, NAME, PREVIEW), io.BytesIO()
    small.save(buffer, "JPEG", quality=84)
    with images.opened(data, NAME) as image:
        wide, high = image.size
    if (wide > high) != (small.width > small.height) and wide != high:
        wide, high = high, wide  # it was held upright
    return Decoded(wide, high, pixels, buffer.getvalue())


def serve() -> None:
    """What the process does: one picture after the other, until the server is gone."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    connection: Connection[Any, Any] = Connection(int(sys.argv[1]))
    with suppress(EOFError, OSError):
        while True:
            data, sizes = connection.recv()
            try:
                answer: Decoded | str = decoded(data, sizes)
            except TropeError as error:
                answer = str(error)
            except MemoryError:
                answer = f"{NAME}: takes more memory than is allowed"
            connection.send(answer)


def _started() -> tuple[subprocess.Popen[bytes], Connection]:
    ours, theirs = socket.socketpair()
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-c", START, str(theirs.fileno()), *sys.path],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            env=os.environ | LEAN,
        )
    return process, Connection(ours.detach())

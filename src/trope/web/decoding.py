"""Pictures of strangers, decoded in a process of their own that can be killed.

A file may be made to take minutes or gigabytes. The process may use so much memory and time, and no
more; the server goes on whatever happens to it. What it says is read as numbers and bytes of known
length (`wire`), for a file might make the process say anything.
"""

from __future__ import annotations

import io
import os
import resource
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from typing import Any

from trope.data import images
from trope.errors import DataError, TropeError
from trope.web import wire
from trope.web.refusals import TooMuchError
from trope.web.wire import Decoded

MEMORY = 2 * 2**30  # bytes of address space
PIXELS = 50_000_000
SECONDS = 10.0
PREVIEW = 768
START = "import sys; sys.path[:] = sys.argv[2:]; from trope.web.decoding import serve; serve()"
LEAN = {"OPENBLAS_NUM_THREADS": "1", "TROPE_MAX_PIXELS": str(PIXELS)}
NAME = "the picture"


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
            process, connection = self._worker
            late = threading.Event()
            try:
                with _killed_after(self._seconds, process, late):
                    connection.send_bytes(wire.question(data, sizes))
                    answer = wire.read(connection.recv_bytes(wire.longest(sizes)), sizes)
            except (EOFError, OSError, ValueError):
                self._end()
                raise TooMuchError(self._told(late)) from None
            if late.is_set():  # in the moment in which it answered
                self._end()
        if isinstance(answer, str):
            raise DataError(answer)
        return answer

    def _told(self, late: threading.Event) -> str:
        long = f"takes longer than {self._seconds:g} s"
        return f"{NAME}: {long if late.is_set() else 'cannot be decoded within bounds'}"

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
            data, sizes = wire.asked(connection.recv_bytes())
            try:
                answer: Decoded | str = decoded(data, sizes)
            except images.TooLargeError:
                answer = f"{NAME}: more than {PIXELS:,} pixels"
            except TropeError as error:
                answer = str(error)
            except MemoryError:
                answer = f"{NAME}: takes more memory than is allowed"
            connection.send_bytes(wire.written(answer))


@contextmanager
def _killed_after(
    seconds: float, process: subprocess.Popen[bytes], late: threading.Event
) -> Iterator[None]:
    """Kill a process that does not read, or answer to the end, in time."""

    def kill() -> None:
        late.set()
        process.kill()

    timer = threading.Timer(seconds, kill)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()


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

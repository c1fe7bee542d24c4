"""Processes that decode pictures into shared memory; any of them may be killed at any time.

Each is a fresh interpreter with its own socket to the parent: no fork of a process with threads, no
second run of the user's script, no lock that a killed process could take with it. The memory has no
name, so nothing is left behind; when the parent ends, its sockets close and the workers leave.
"""

from __future__ import annotations

import math
import mmap
import os
import pickle
import signal
import socket
import subprocess
import sys
import weakref
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TypeAlias

import numpy as np
from jaxtyping import Bool, Int, UInt8

from trope.data.images import decode
from trope.data.stores import ImageStore
from trope.errors import TropeError

AHEAD = 3  # batches each worker is given in advance, so that none waits for the parent
LENT = 2  # batches the caller may hold in place: the one in hand and the one before it
DEATHS = 3  # workers that may die over one batch
PATIENCE = 5.0  # seconds between two looks at whether the parent is still there

Rows: TypeAlias = Int[np.ndarray, " rows"]
Flips: TypeAlias = Bool[np.ndarray, " rows"]
Pixels: TypeAlias = UInt8[np.ndarray, "rows size size 3"]
Failures: TypeAlias = list[tuple[int, str]]  # position in the batch, and why

LEAN = {"OPENBLAS_NUM_THREADS": "1"}  # a decoder multiplies nothing; starting threads takes time
START = "import sys; sys.path[:] = sys.argv[6:]; from trope.data.decoders import serve; serve()"


def decode_rows(store: ImageStore, rows: Rows, flips: Flips, out: Pixels) -> Failures:
    """Decode pictures into `out`; of those that cannot be, say why (their places mean nothing)."""
    failed = []
    for i, (row, flip) in enumerate(zip(rows.tolist(), flips.tolist(), strict=True)):
        try:
            pixels = decode(store.read(row), f"row {row + 1}", out.shape[1])
        except Exception as error:  # a store or a decoder may stumble on anything
            failed.append((i, str(error) or f"row {row + 1}: {type(error).__name__}"))
        else:
            out[i] = pixels[:, ::-1] if flip else pixels
    return failed


@dataclass(frozen=True)
class _Worker:
    process: subprocess.Popen[bytes]
    connection: Connection

    def send(self, message: object) -> None:
        """Pass a task on; a dead worker is noticed when its answer is due."""
        try:
            self.connection.send(message)
        except OSError:
            return

    def end(self) -> int:
        """Stop the process, whatever it does, and say how it ended."""
        self.process.kill()
        self.connection.close()
        return self.process.wait()


class Decoders:
    """The processes of one pass over `rows`; within `with`, iterating gives batches in order.

    Batch k belongs to worker k modulo their number and is written to a slot of the memory, which is
    free again when the caller has let go of the batch; one who keeps many is given copies. A worker
    that dies is replaced, and the batches it still owed are done again.
    """

    def __init__(
        self, store: ImageStore, rows: Rows, flips: Flips, size: int, batch: int, workers: int
    ) -> None:
        self._source, self._rows, self._flips, self._batch = store, rows, flips, batch
        self._count = -(-len(rows) // batch)
        self._shape = (batch, size, size, 3)
        self._ahead = workers * AHEAD
        self._free = list(range(self._ahead + LENT))
        self._slot: dict[int, int] = {}  # batch handed out -> where it is written
        self._wanted = workers
        self._workers: list[_Worker] = []

    def __enter__(self) -> Decoders:
        with ExitStack() as undone:  # what was begun, should something fail on the way
            self._store = _nameless("trope-store", undone)
            with open(self._store, "wb", closefd=False) as file:
                pickle.dump(self._source, file)
            self._memory = _nameless("trope-pixels", undone)
            os.ftruncate(self._memory, len(self._free) * math.prod(self._shape))
            self._pixels = mmap.mmap(self._memory, 0)
            undone.callback(_let_go, self._pixels)
            undone.callback(self._end)
            for _ in range(self._wanted):
                self._workers.append(self._start())
            self._undo = undone.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._undo.close()

    def _end(self) -> None:
        for worker in self._workers:
            worker.end()

    def __iter__(self) -> Iterator[tuple[Pixels, Failures]]:
        for number in range(min(self._ahead, self._count)):
            self._hand_out(number)
        for number in range(self._count):
            failed = self._receive(number)
            pixels = self._lend(number)
            if number + self._ahead < self._count:
                self._hand_out(number + self._ahead)
            yield pixels, failed
            del pixels  # the last reference here: what remains is the caller's

    def _part(self, number: int) -> slice:
        return slice(number * self._batch, (number + 1) * self._batch)

    def _start(self) -> _Worker:
        """One more worker; what the system refuses becomes one line."""
        try:
            return self._started()
        except OSError as error:
            why = error.strerror or str(error)
            raise TropeError(f"no process to decode pictures can be started ({why})") from None

    def _started(self) -> _Worker:
        ours, theirs = socket.socketpair()
        handles = (theirs.fileno(), self._memory, self._store)
        paths = [str(Path(path).absolute()) for path in sys.path]
        values = [*handles, *self._shape[:2]]
        command = [sys.executable, "-c", START, *map(str, values), *paths]
        with ours, theirs:
            process = subprocess.Popen(
                command, pass_fds=handles, stdin=subprocess.DEVNULL, env=os.environ | LEAN
            )
            return _Worker(process, Connection(ours.detach()))

    def _lend(self, number: int) -> Pixels:
        """The pixels of a finished batch in place; its slot comes back when nobody sees it."""
        slot, wanted = self._slot.pop(number), len(self._rows[self._part(number)])
        length = math.prod(self._shape)
        loan = np.frombuffer(self._pixels, np.uint8, length, slot * length)
        pixels = loan.reshape(self._shape)[:wanted]
        if not self._free:
            self._free.append(slot)
            return pixels.copy()
        weakref.finalize(loan, self._free.append, slot).atexit = False
        return pixels

    def _hand_out(self, number: int) -> None:
        self._slot[number] = self._free.pop()
        self._send(number)

    def _send(self, number: int) -> None:
        part = self._part(number)
        task = (self._slot[number], self._rows[part], self._flips[part])
        self._workers[number % len(self._workers)].send(task)

    def _receive(self, number: int) -> Failures:
        """The outcome of a batch, from the second or third worker if need be."""
        place, code = number % len(self._workers), 0
        for attempt in range(DEATHS + 1):
            if attempt:
                self._workers[place] = self._start()
                for owed in range(number, number + self._ahead, len(self._workers)):
                    if owed in self._slot:
                        self._send(owed)
            try:
                return list(self._workers[place].connection.recv())
            except (EOFError, OSError):
                code = self._workers[place].end()
        first, last = self._rows[self._part(number)][[0, -1]] + 1
        how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        raise TropeError(
            f"decoding rows {first} to {last}: {DEATHS + 1} worker processes died, the last by "
            f"{how}: there is too little memory, or one of the pictures breaks the decoder"
        )


def serve() -> None:
    """A worker's life: decode the batches it is sent until the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    socket_handle, memory, content, batch, size = map(int, sys.argv[1:6])
    parent, connection = os.getppid(), Connection(socket_handle)
    slots = _mapped(memory, batch, size)
    with mmap.mmap(content, 0, prot=mmap.PROT_READ) as data:
        store = pickle.loads(data)  # written by the parent a moment ago
    while True:
        while not connection.poll(PATIENCE):
            if os.getppid() != parent:
                return
        try:
            slot, rows, flips = connection.recv()
            connection.send(decode_rows(store, rows, flips, slots[slot]))
        except (EOFError, OSError):
            return


def _nameless(name: str, until: ExitStack) -> int:
    """A file in memory, which can be shared and leaves nothing behind."""
    handle = os.memfd_create(name)
    until.callback(os.close, handle)
    return handle


def _let_go(pixels: mmap.mmap) -> None:
    """Give memory back now, or when the caller has let go of the last batch in it."""
    with suppress(BufferError):
        pixels.close()


def _mapped(memory: int, batch: int, size: int) -> UInt8[np.ndarray, "slots batch size size 3"]:
    return np.frombuffer(mmap.mmap(memory, 0), np.uint8).reshape(-1, batch, size, size, 3)

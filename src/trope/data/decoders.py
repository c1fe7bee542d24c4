"""Processes that decode pictures into shared memory; any of them may be killed at any time.

Each is a fresh interpreter with its own socket to the parent: no fork of a process with threads, no
second run of the user's script, no lock that a killed process could take with it. The memory has no
name, so nothing is left behind; when the parent ends, its sockets close and the workers leave.
"""

from __future__ import annotations

import mmap
import os
import pickle
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
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
DEATHS = 3  # workers that may die over one batch
PATIENCE = 5.0  # seconds between two looks at whether the parent is still there

Rows: TypeAlias = Int[np.ndarray, " rows"]
Flips: TypeAlias = Bool[np.ndarray, " rows"]
Pixels: TypeAlias = UInt8[np.ndarray, "rows size size 3"]
Failures: TypeAlias = list[tuple[int, str]]  # position in the batch, and why

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

    Batch k belongs to worker k modulo their number and is written to its own slot of the memory. A
    worker that dies is replaced, and the batches it still owed are done again.
    """

    def __init__(
        self, store: ImageStore, rows: Rows, flips: Flips, size: int, batch: int, workers: int
    ) -> None:
        self._rows, self._flips, self._batch = rows, flips, batch
        self._count = -(-len(rows) // batch)
        self._store = _shared_bytes(pickle.dumps(store))
        self._memory = os.memfd_create("trope-pixels")
        os.ftruncate(self._memory, workers * AHEAD * batch * size * size * 3)
        self._slots = _mapped(self._memory, batch, size)
        self._workers = [self._start() for _ in range(workers)]
        self._sent = 0

    def __enter__(self) -> Decoders:
        return self

    def __exit__(self, *error: object) -> None:
        for worker in self._workers:
            worker.end()
        os.close(self._memory)
        os.close(self._store)

    def __iter__(self) -> Iterator[tuple[Pixels, Failures]]:
        self._send(len(self._slots))
        for number in range(self._count):
            failed = self._receive(number)
            slot = self._slots[number % len(self._slots)]
            pixels = slot[: len(self._rows[self._part(number)])].copy()  # the slot is used again
            self._send(number + 1 + len(self._slots))
            yield pixels, failed

    def _part(self, number: int) -> slice:
        return slice(number * self._batch, (number + 1) * self._batch)

    def _start(self) -> _Worker:
        ours, theirs = socket.socketpair()
        handles = (theirs.fileno(), self._memory, self._store)
        paths = [str(Path(path).absolute()) for path in sys.path]
        values = [*handles, *self._slots.shape[1:3]]
        command = [sys.executable, "-c", START, *map(str, values), *paths]
        with theirs:
            process = subprocess.Popen(command, pass_fds=handles, stdin=subprocess.DEVNULL)
        return _Worker(process, Connection(ours.detach()))

    def _send(self, until: int) -> None:
        """Hand out the batches before `until` that have not been."""
        for number in range(self._sent, min(until, self._count)):
            self._send_one(number)
            self._sent = number + 1

    def _send_one(self, number: int) -> None:
        part = self._part(number)
        task = (number % len(self._slots), self._rows[part], self._flips[part])
        self._workers[number % len(self._workers)].send(task)

    def _receive(self, number: int) -> Failures:
        """The outcome of a batch, from the second or third worker if need be."""
        place, code = number % len(self._workers), 0
        for attempt in range(DEATHS + 1):
            if attempt:
                self._workers[place] = self._start()
                for owed in range(number, self._sent, len(self._workers)):
                    self._send_one(owed)
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


def _shared_bytes(data: bytes) -> int:
    """A nameless file that holds `data`."""
    handle = os.memfd_create("trope-store")
    with open(handle, "wb", closefd=False) as file:
        file.write(data)
    return handle


def _mapped(memory: int, batch: int, size: int) -> UInt8[np.ndarray, "slots batch size size 3"]:
    return np.frombuffer(mmap.mmap(memory, 0), np.uint8).reshape(-1, batch, size, size, 3)

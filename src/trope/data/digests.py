"""What a picture's bytes are called: a digest per row, remembered so that no file is read twice."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from jaxtyping import Int, Shaped

from trope.data.pairs import Pairs
from trope.data.stores import ImageStore
from trope.errors import DataError
from trope.files import locked, replacing
from trope.runtime import cache_folder, cores, progress_bar

WIDTH = 16  # bytes of a digest
TASK = 64  # pictures a thread takes at a time
BLOCK = 8_192  # pictures between two visits to the memory on disk: the most a kill can cost

Rows = Int[np.ndarray, " rows"]
Digests = Shaped[
    np.ndarray, " rows"
]  # dtype S16 (numpy hides final zeros); empty where there is none
Outcome = bytes | DataError


@dataclass(frozen=True)
class ImageDigests:
    """A content digest per row, empty for a row without a picture; `failed`: why others lack it."""

    values: Digests
    failed: tuple[tuple[int, str], ...] = ()


def digest(data: bytes) -> bytes:
    """The name of a picture's content."""
    return hashlib.blake2b(data, digest_size=WIDTH).digest()


def distinct(values: Digests) -> tuple[Int[np.ndarray, " some"], Rows]:
    """The position where each different value first stands, in order, and each value's number."""
    _, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    order = np.argsort(first)
    number = np.empty_like(order)
    number[order] = np.arange(len(order))
    return first[order], number[inverse]


def image_digests(pairs: Pairs) -> ImageDigests:
    """The digest of every row's picture; only files that changed since the last call are read.

    Whether a file changed is told by the store's stamp (name, size, time of change). A picture that
    cannot be read is listed in `failed` and tried again by the next call.
    """
    rows = np.flatnonzero(pairs.has_image)
    stamps, unstamped = _parted(_mapped(_stamp, pairs.images, rows))
    found, unread = _contents(pairs, rows, stamps)
    values = np.zeros(len(pairs), f"S{WIDTH}")
    values[rows] = found
    failed = {int(rows[i]): reason for i, reason in {**unstamped, **unread}.items()}
    return ImageDigests(values, tuple(sorted(failed.items())))


def _contents(pairs: Pairs, rows: Rows, stamps: Digests) -> tuple[Digests, dict[int, str]]:
    """Digests of stamped pictures: remembered, or read now, each file once."""
    memory = Memory.of(pairs.root)
    found = memory.find(stamps)
    new = np.flatnonzero((found == b"") & (stamps != b""))
    first, number = distinct(stamps[new])
    read, reasons = _read(pairs.images, rows[new[first]], stamps[new[first]], memory)
    found[new] = read[number]
    blamed = np.flatnonzero(read[number] == b"")
    return found, {int(new[i]): reasons[int(number[i])] for i in blamed}


def _read(
    store: ImageStore, rows: Rows, stamps: Digests, memory: Memory
) -> tuple[Digests, dict[int, str]]:
    """Digests from the files themselves, written down block by block."""
    outcomes: list[Outcome] = []
    with progress_bar("reading images", len(rows)) as bar:
        for start in range(0, len(rows), BLOCK):
            part = slice(start, start + BLOCK)
            for outcome in _mapped(_content, store, rows[part]):
                outcomes.append(outcome)
                bar.advance(bar.task_ids[0])
            memory.add(stamps[part], _parted(outcomes[part])[0])
    return _parted(outcomes)


@dataclass(frozen=True)
class Memory:
    """Stamps and digests of one data set's pictures on disk; a damaged file counts as none."""

    path: Path

    @classmethod
    def of(cls, root: Path) -> Memory:
        """What is remembered of the data set at `root`."""
        return cls(cache_folder() / "digests" / f"{digest(bytes(root.resolve())).hex()}.parquet")

    def load(self) -> tuple[Digests, Digests]:
        """All stamps, sorted, and their digests."""
        try:
            table = pq.read_table(self.path, page_checksum_verification=True)
            return _strings(table.column("stamp")), _strings(table.column("digest"))
        except (OSError, KeyError, ValueError, pa.ArrowException):
            return np.zeros(0, f"S{WIDTH}"), np.zeros(0, f"S{WIDTH}")

    def find(self, stamps: Digests) -> Digests:
        """The digests of stamps, empty for unknown ones."""
        known, digests = self.load()
        if not len(known):
            return np.zeros(len(stamps), f"S{WIDTH}")
        places = np.minimum(np.searchsorted(known, stamps), len(known) - 1)
        return np.where(known[places] == stamps, digests[places], b"")

    def add(self, stamps: Digests, digests: Digests) -> None:
        """Remember more, beside what other processes have added meanwhile."""
        good = digests != b""
        with locked(self.path.parent):
            known, before = self.load()
            merged, first = np.unique(np.concatenate([stamps[good], known]), return_index=True)
            contents = np.concatenate([digests[good], before])[first]
            table = pa.table({"stamp": _binary(merged), "digest": _binary(contents)})
            with replacing(self.path) as handle:
                pq.write_table(table, handle, write_page_checksum=True, compression="none")


def _stamp(store: ImageStore, row: int) -> bytes:
    return digest(store.stamp(row).encode("utf-8", "surrogateescape"))


def _content(store: ImageStore, row: int) -> bytes:
    if data := store.read(row):
        return digest(data)
    raise DataError(f"row {row + 1}: the image file is empty")


def _mapped(
    function: Callable[[ImageStore, int], bytes], store: ImageStore, rows: Rows
) -> Iterator[Outcome]:
    """What `function` says of each row, or why it could not; threads, as most is waiting."""

    def task(start: int) -> list[Outcome]:
        return [_attempt(function, store, int(row)) for row in rows[start : start + TASK]]

    with ThreadPoolExecutor(2 * cores()) as pool:
        yield from chain.from_iterable(pool.map(task, range(0, len(rows), TASK)))


def _attempt(function: Callable[[ImageStore, int], bytes], store: ImageStore, row: int) -> Outcome:
    try:
        return function(store, row)
    except DataError as error:
        return error
    except OSError as error:
        return DataError(f"row {row + 1}: {error.filename or 'image'}: {error.strerror or error}")


def _parted(outcomes: Iterator[Outcome] | list[Outcome]) -> tuple[Digests, dict[int, str]]:
    """Values (empty where there is none), and the reasons by position."""
    listed = list(outcomes)
    values = [b"" if isinstance(outcome, DataError) else outcome for outcome in listed]
    reasons = {
        i: str(outcome) for i, outcome in enumerate(listed) if isinstance(outcome, DataError)
    }
    return np.array(values, f"S{WIDTH}"), reasons


def _strings(column: pa.ChunkedArray) -> Digests:
    packed = (
        pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], pa.binary(WIDTH))
    )
    if packed.null_count:
        raise ValueError("a gap among the digests")
    return np.frombuffer(packed.buffers()[1], f"S{WIDTH}", len(packed), packed.offset * WIDTH)


def _binary(values: Digests) -> pa.Array:
    return pa.FixedSizeBinaryArray.from_buffers(
        pa.binary(WIDTH), len(values), [None, pa.py_buffer(np.ascontiguousarray(values))]
    )

"""What a picture's bytes are called: a digest per row, remembered so that no file is read twice."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from jaxtyping import Int, Shaped

from trope.data.pairs import Pairs
from trope.data.stores import ImageStore
from trope.errors import DataError, TropeError
from trope.files import locked, replacing
from trope.runtime import cache_folder, cores, progress_bar

WIDTH = 16  # bytes of a digest
TASK = 64  # pictures a thread takes at a time
BLOCK = 8_192  # pictures between two visits to the memory on disk: the most a kill can cost
SEGMENTS = 32  # files of a memory before they are merged

Rows = Int[np.ndarray, " rows"]
Digests = Shaped[
    np.ndarray, " rows"
]  # dtype S16 (numpy hides final zeros); empty where there is none
Outcome = bytes | DataError
Segment = tuple[Shaped[np.ndarray, " _"], Shaped[np.ndarray, " _"]]  # stamps, sorted; digests


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
    """Digests by stamp, in a folder of segments: each is whole, sorted, or counts as none.

    A block of news is a segment of its own; when there are many, one takes the place of all.
    """

    folder: Path

    @classmethod
    def of(cls, root: Path) -> Memory:
        """What is remembered of the data set at `root`."""
        return cls(cache_folder() / "digests" / digest(bytes(root.resolve())).hex())

    def find(self, stamps: Digests) -> Digests:
        """The digests of stamps, empty for unknown ones."""
        found = np.zeros(len(stamps), f"S{WIDTH}")
        segments = self.segments()
        if len(stamps) > BLOCK and segments:  # one search among all is then the faster way
            segments = [_merged(segments)]
        for known, digests in segments:
            places = np.minimum(np.searchsorted(known, stamps), len(known) - 1)
            found = np.where((found == b"") & (known[places] == stamps), digests[places], found)
        return found

    def add(self, stamps: Digests, digests: Digests) -> None:
        """Remember more, beside what other processes have added meanwhile."""
        good = digests != b""
        if not good.any():
            return
        with cache_written(), locked(self.folder):
            old = self._files()
            parts = [(stamps[good], digests[good])]
            if len(old) < SEGMENTS:
                self._write(parts)
            else:
                self._write([*parts, *self.segments()])
                for path in [*old, *self.folder.glob(".*.partial")]:
                    path.unlink(missing_ok=True)

    def segments(self) -> list[Segment]:
        """All that can be read, the newest first; listed again if merged meanwhile."""
        while True:
            files = self._files()
            read = [_segment(path) for path in files]
            good = [segment for segment in read if segment is not None]
            if len(good) == len(files) or files == self._files():
                return good

    def _files(self) -> list[Path]:
        found = (path for path in self.folder.glob("*.parquet") if path.stem.isdecimal())
        return sorted(found, reverse=True)

    def _write(self, parts: list[Segment]) -> None:
        """A new segment, with the next number."""
        stamps, digests = _merged(parts)
        table = pa.table({"stamp": _binary(stamps), "digest": _binary(digests)})
        number = 1 + max((int(path.stem) for path in self._files()), default=0)
        with replacing(self.folder / f"{number:09d}.parquet") as handle:
            pq.write_table(table, handle, write_page_checksum=True, compression="none")


@contextmanager
def cache_written() -> Iterator[None]:
    """Where the cache cannot be written, the one line also says how to choose another place."""
    try:
        yield
    except TropeError as error:
        said = str(error)
        ours = said.startswith(str(cache_folder())) and "TROPE_CACHE" not in said
        if ours and "cannot be written" in said:
            raise type(error)(f"{error}; TROPE_CACHE names another cache folder") from None
        raise


def _merged(parts: list[Segment]) -> Segment:
    """One sorted segment of several; of two digests with one stamp the first stays."""
    known, digests = (np.concatenate(column) for column in zip(*parts, strict=True))
    stamps, first = np.unique(known, return_index=True)
    return stamps, digests[first]


def _segment(path: Path) -> Segment | None:
    """Stamps and digests; None for a file that is damaged, empty or gone."""
    try:
        table = pq.read_table(path, page_checksum_verification=True)
        stamps, digests = (_strings(table.column(name)) for name in ("stamp", "digest"))
    except (OSError, KeyError, ValueError, pa.ArrowException):
        return None
    return (stamps, digests) if len(stamps) else None


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

"""The map of an index: its items as points, made once and kept beside it."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import pyarrow as pa
from jaxtyping import Float32

from trope.errors import DataError, TropeError
from trope.files import replacing, write_array
from trope.index import Engine
from trope.index.items import MODALITIES, MODALITY, Modality
from trope.index.local import Local
from trope.runtime import generator
from trope.search.ranking import from_vectors
from trope.web.collection import Collection
from trope.web.colors import Color, colors
from trope.web.drawing import drawn
from trope.web.projection import Flat, Vectors, refuse_missing, started

MOST = 50_000  # points
DIGITS = 4
VERSION = b"1"

State: TypeAlias = Literal["ready", "making", "failed"]


@dataclass(frozen=True)
class Points:
    """Items in two dimensions, and what they can be colored by; `total` counts all there are."""

    state: State
    total: int
    x: tuple[float, ...] = field(default=(), repr=False)
    y: tuple[float, ...] = field(default=(), repr=False)
    keys: tuple[str, ...] = field(default=(), repr=False)
    modality: tuple[Modality, ...] = field(default=(), repr=False)
    colors: tuple[Color, ...] = ()
    message: str = ""


class Maps:
    """The maps of some indexes; each is made when it is first asked for."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = list(folders)
        self._ready: dict[int, tuple[str, Points]] = {}  # with the version that it is of
        self._jobs: dict[int, _Job] = {}
        self._lock = threading.Lock()

    def get(self, number: int, collection: Collection) -> Points:
        """The map, or how far it is."""
        with self._lock:
            version, ready = self._ready.get(number, ("", None))
            if ready is not None and version == collection.version:
                return ready
            path = self._folders[number] / f"map-{collection.version}.arrow"
            total = len(collection.index)
            if (kept := _read(path)) is not None:
                ready = _points(collection, kept, total)
                self._ready[number] = (collection.version, ready)
                return ready
            refuse_missing()
            job = self._jobs.get(number)
            if job is None or not job.alive:
                if job is not None and job.error and job.path == path:
                    return Points("failed", total, message=job.error)
                self._jobs[number] = _Job(collection.index.engine, path)
        return Points("making", total, message=_told(total))

    def close(self) -> None:
        """End what is being made."""
        with self._lock:
            for job in self._jobs.values():
                job.end()


class _Job:
    """One map in the making: vectors to a file, a process, its points to the kept file."""

    def __init__(self, engine: Engine, path: Path) -> None:
        self.path, self.error, self._ended = path, "", False
        self._process: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._run, args=(engine, path), daemon=True)
        self._thread.start()

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    def end(self) -> None:
        self._ended = True
        if self._process is not None:
            self._process.kill()
        self._thread.join()

    def _run(self, engine: Engine, path: Path) -> None:
        source, target = (path.with_name(f".{path.name}.{end}.npy") for end in ("in", "out"))
        try:
            keys, vectors = _sampled(engine)
            with replacing(source) as file:
                write_array(file, vectors)
            if self._ended:
                return
            self._process = started(source, target)
            _, said = self._process.communicate()
            if self._process.returncode:
                lines = said.decode(errors="replace").strip().splitlines()
                raise DataError(f"the map cannot be made ({lines[-1][:200] if lines else 'ended'})")
            _write(path, keys, np.load(target, allow_pickle=False))
            _only(path)
        except (TropeError, OSError, ValueError) as error:
            self.error = str(error)
        finally:
            for left in (source, target):
                left.unlink(missing_ok=True)


def _sampled(engine: Engine) -> tuple[list[str], Vectors]:
    """Keys and vectors of at most `MOST` items, of all kinds as they come."""
    keys = _chosen(engine) if isinstance(engine, Local) else drawn(engine, MOST)
    vectors = engine.get(keys).vectors
    mean = from_vectors(vectors).mean.numpy() if len(keys) else np.zeros((0, 1), np.float32)
    return keys, np.ascontiguousarray(mean)


def _chosen(engine: Local) -> list[str]:
    keys = [key for modality in MODALITIES for key in _keys(engine, modality)]
    if len(keys) <= MOST:
        return keys
    chosen = generator(0, "map").choice(len(keys), MOST, replace=False)
    return [keys[i] for i in np.sort(chosen)]


def _keys(engine: Local, modality: Modality) -> list[str]:
    part = engine.parts.get(modality)
    if part is None:
        return []
    alive = part.keys if part.dead is None else part.keys.filter(pa.array(~part.dead))
    found: list[str] = alive.to_pylist()
    return found


def _write(path: Path, keys: list[str], flat: Flat) -> None:
    columns: dict[str, Any] = {"key": keys, "x": flat[:, 0], "y": flat[:, 1]}
    table = pa.table(columns).replace_schema_metadata({b"trope.map": VERSION})
    with replacing(path) as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)


def _only(path: Path) -> None:
    """Maps of other states go: nobody will ask for them again."""
    for other in path.parent.glob("map-*.arrow"):
        if other != path:
            other.unlink(missing_ok=True)


def _read(path: Path) -> pa.Table | None:
    try:
        with pa.OSFile(str(path)) as file:
            table = pa.ipc.open_file(file).read_all()
    except (OSError, pa.ArrowException):
        return None
    known = (table.schema.metadata or {}).get(b"trope.map") == VERSION
    return table if known and table.column_names == ["key", "x", "y"] else None


def _points(collection: Collection, kept: pa.Table, total: int) -> Points:
    keys = kept.column("key").to_pylist()
    rows = collection.index.engine.get(keys).rows
    said = "" if len(keys) == total else f"{len(keys):,} of {total:,} items, drawn by chance"
    return Points(
        "ready",
        total,
        _rounded(kept.column("x")),
        _rounded(kept.column("y")),
        tuple(keys),
        tuple(rows.column(MODALITY).to_pylist()),
        colors(rows, collection.facets),
        said,
    )


def _rounded(column: pa.ChunkedArray) -> tuple[float, ...]:
    values: Float32[np.ndarray, " points"] = column.to_numpy()
    return tuple(np.round(values.astype(np.float64), DIGITS).tolist())


def _told(total: int) -> str:
    return f"the map of {min(total, MOST):,} items is being made; it is kept once it is there"

"""The items of one modality on disk: lines, vectors, which vectors each item has, who is removed.

Equal vectors are kept once: item i has the vectors `nodes[senses[i]]`. A graph over equal vectors
would fall into islands, and a text that thousands of rows share need not be compared so often.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from errno import ENOENT
from functools import cached_property
from pathlib import Path
from typing import IO, Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from jaxtyping import Bool, Float32, Int, Int32, Shaped

from trope.errors import DataError
from trope.files import write_array
from trope.index import graphs
from trope.index.details import Details, Kind
from trope.index.filters import Filter, mask
from trope.index.folder import File, PartState, verified, write_file
from trope.index.items import KEY, Items, Vectors, joined
from trope.index.segments import read_details, write_details
from trope.neighbors.rows import copies
from trope.recent import Recent

Nodes: TypeAlias = Float32[np.ndarray, "nodes d"]
Places: TypeAlias = Int[np.ndarray, " places"]
REMEMBERED = 16  # filters whose answers are kept
FEW = 100_000  # items whose ids become objects of Python at once
ASKING = 4  # searches at a time whose items are then looked up
SELDOM = 4  # searches after which those of more do too, and lookups after which ids are sorted
HANDFUL = 64  # ids that are looked up one by one


@dataclass(frozen=True, eq=False)
class Part:
    """Items that can be searched; `graph` leads to near nodes where there are many."""

    rows: pa.Table = field(repr=False)
    senses: Int32[np.ndarray, "items senses"] = field(repr=False)
    nodes: Nodes = field(repr=False)
    dead: Bool[np.ndarray, " items"] | None = field(default=None, repr=False)
    graph: Any = field(default=None, repr=False)
    details: Details | None = field(default=None, repr=False)
    _passing: Recent[Filter | None, tuple[Bool[np.ndarray, " items"] | None]] = field(
        default_factory=lambda: Recent(REMEMBERED), repr=False
    )
    _last: deque[tuple[np.ndarray, np.ndarray]] = field(
        default_factory=lambda: deque(maxlen=ASKING), repr=False
    )
    _searches: list[int] = field(default_factory=lambda: [0], repr=False)
    _lookups: list[int] = field(default_factory=lambda: [0], repr=False)

    def __len__(self) -> int:
        """How many items there are, without those removed."""
        return len(self.senses) - (0 if self.dead is None else int(self.dead.sum()))

    @cached_property
    def plain(self) -> bool:
        """Whether item i has the one vector i."""
        count = len(self.senses)
        single = self.senses.shape[1] == 1 and len(self.nodes) == count
        return single and bool((self.senses[:, 0] == np.arange(count)).all())

    @cached_property
    def keys(self) -> pa.Array:
        """The items' ids."""
        column = self.rows.column(KEY)
        return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()

    @cached_property
    def members(self) -> tuple[Places, Int[np.ndarray, " bounds"]]:
        """The items of each node, one node after the other, and where those of each begin."""
        order = np.argsort(self.senses.ravel(), kind="stable")
        counts = np.bincount(self.senses.ravel(), minlength=len(self.nodes))
        return order // self.senses.shape[1], np.concatenate([[0], np.cumsum(counts)])

    def allowed(self, where: Filter | None) -> Bool[np.ndarray, " items"] | None:
        """Which items may be found; None for all. The last few answers are kept."""
        if (known := self._passing.get(where)) is None:
            passing = None if where is None else mask(where, self.rows)
            if self.dead is not None:
                passing = ~self.dead if passing is None else passing & ~self.dead
            known = self._passing.put(where, (passing,))
        return known[0]

    def places(self, ids: pa.Array) -> Places:
        """Where items are that are not removed; -1 of one that is not there."""
        for found, where in list(self._last):  # looking a few up among millions takes long
            before = dict(zip(found.ravel().tolist(), where.ravel().tolist(), strict=True))
            known = [before.get(name) for name in ids.to_pylist()]
            if None not in known:
                return np.array(known, np.int64)
        self._lookups[0] += 1
        if self._lookups[0] > SELDOM and len(ids) <= HANDFUL:
            return np.array([self._place(name) for name in ids.to_pylist()], np.int64)
        alive = np.arange(len(self.senses)) if self.dead is None else np.flatnonzero(~self.dead)
        keys = self.keys if self.dead is None else self.keys.take(pa.array(alive))
        found = np.asarray(pc.fill_null(pc.index_in(ids, value_set=keys), -1), np.int64)
        return np.where(found >= 0, alive[found], -1) if len(alive) else np.full(len(ids), -1)

    def _place(self, name: str) -> int:
        """Where the item of an id is, among all sorted; one removed may have had the same id."""
        at = bisect_left(self.sorted, name, key=lambda place: self.keys[int(place)].as_py())
        for place in map(int, self.sorted[at:]):
            if self.keys[place].as_py() != name:
                break
            if self.dead is None or not self.dead[place]:
                return place
        return -1

    @cached_property
    def sorted(self) -> Places:
        """Where items are in the order of their ids: quick, where single ones are looked up."""
        return np.asarray(pc.sort_indices(self.keys), np.int64)

    def names(self, places: Int[np.ndarray, "queries k"]) -> Shaped[np.ndarray, "queries k"]:
        """The ids of items that were found; None where there is no item (-1)."""
        self._searches[0] += 1
        if len(self.senses) <= FEW or self._searches[0] > SELDOM:
            found = self.named[places]
        else:
            numbers = pa.array(places.ravel(), mask=places.ravel() < 0)
            found = self.keys.take(numbers).to_numpy(zero_copy_only=False).reshape(places.shape)
        self._last.appendleft((found, places))
        return np.asarray(found)

    @cached_property
    def named(self) -> Shaped[np.ndarray, " more"]:
        """The ids as Python's own, and None at the end: quick, where many queries are asked."""
        found = np.full(len(self.keys) + 1, None, object)
        found[:-1] = self.keys.to_numpy(zero_copy_only=False)
        return found

    def vectors(self, places: Places) -> Vectors:
        """The vectors of items."""
        return np.asarray(self.nodes[self.senses[places]], np.float32)

    def items(self, places: Places) -> Items:
        """Items by their places."""
        details = None if self.details is None else self.details.take(places)
        return Items(self.vectors(places), self.rows.take(pa.array(places)), details)

    def without(self, places: Places) -> Part:
        """The same with some items marked as removed."""
        dead = np.zeros(len(self.senses), bool) if self.dead is None else self.dead.copy()
        dead[places] = True
        return Part(self.rows, self.senses, self.nodes, dead, self.graph, self.details)

    def with_items(self, items: Items) -> Part:
        """The same with more items at the end; nodes keep their numbers."""
        count, each, size = items.vectors.shape
        everything = np.concatenate([self.nodes, items.vectors.reshape(-1, size)])
        numbers = copies(everything)
        first = np.unique(numbers, return_index=True)[1]
        nodes = everything if len(first) == len(everything) else everything[first]
        senses = numbers[len(self.nodes) :].reshape(count, each).astype(np.int32)
        dead = None if self.dead is None else np.concatenate([self.dead, np.zeros(count, bool)])
        lines = joined([self.rows, items.rows]) if len(self.rows) else items.rows.combine_chunks()
        details = items.details
        if self.details is not None and details is not None:
            details = self.details.with_items(details)
        both = np.concatenate([self.senses, senses])
        return Part(lines, both, nodes, dead, self.graph, details)

    def compacted(self) -> Part:
        """The same without what is removed; a graph has to be built anew."""
        if self.dead is None:
            return self
        alive = self.items(np.flatnonzero(~self.dead))
        if alive.details is not None:  # rows of what is removed must not stay in a file
            alive = replace(alive, details=replace(alive.details, kept=0))
        return empty(self.senses.shape[1], self.nodes.shape[1]).with_items(alive)


def empty(senses: int, size: int) -> Part:
    """No items yet."""
    nothing = pa.table({KEY: pa.array([], pa.string())})
    return Part(nothing, np.empty((0, senses), np.int32), np.empty((0, size), np.float32))


def read_part(folder: Path, state: PartState, kind: Kind = "", *, mapped: bool = True) -> Part:
    """A part from its files; those who only read map them."""
    at = {kind: verified(folder, file) for kind, file in state.files.items()}
    try:
        lines = pa.ipc.open_file(pa.memory_map(str(at["rows"]))).read_all()
        senses = np.load(at["senses"], mmap_mode="r", allow_pickle=False)
        dead = np.load(at["dead"], allow_pickle=False) if "dead" in at else None
        details = read_details(at, kind)
        if "graph" in at:
            graph = graphs.read(at["graph"], mapped=mapped)
            nodes = graphs.vectors(graph)
        else:
            graph, nodes = None, np.load(at["vectors"], mmap_mode="r", allow_pickle=False)
    except (KeyError, ValueError, OSError, RuntimeError, pa.ArrowException) as error:
        if gone := [path for path in at.values() if not path.exists()]:
            raise FileNotFoundError(ENOENT, "missing", str(gone[0])) from None
        raise DataError(f"{folder}: damaged, or not made by trope ({error})") from None
    return Part(lines, np.asarray(senses), nodes, dead, graph, details)


def write_part(
    folder: Path, stem: str, part: Part, old: dict[str, File], *, same: bool
) -> PartState:
    """The files of a part; with `same`, all but who is removed are those there are."""
    if same:
        files = {kind: file for kind, file in old.items() if kind != "dead"}
    else:
        whole = "vectors" if part.graph is None else "graph"
        made: dict[str, Callable[[IO[bytes]], Any]] = {
            "rows": lambda file: _write_lines(file, part.rows),
            "senses": lambda file: write_array(file, part.senses),
            "vectors": lambda file: write_array(file, part.nodes),
            "graph": lambda file: graphs.write(part.graph, file),
        }
        kinds = ("rows", "senses", whole)
        files = {kind: write_file(folder, stem, kind, made[kind]) for kind in kinds}
        if part.details is not None:
            files |= write_details(folder, stem, part.details, old)
    dead = np.empty(0, bool) if part.dead is None else part.dead
    if dead.any():
        files["dead"] = write_file(folder, stem, "dead", lambda file: write_array(file, dead))
    return PartState(len(part.senses), int(dead.sum()), files)


def _write_lines(file: IO[bytes], rows: pa.Table) -> None:
    with pa.ipc.new_file(file, rows.schema) as writer:
        writer.write_table(rows)

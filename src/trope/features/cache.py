"""Features computed once per picture content, backbone and preparation, and shared by all runs.

A picture is known by the digest of its bytes, so a second run opens no picture at all. Features are
written shard by shard: a killed process loses at most the shard it was filling.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

import numpy as np
from jaxtyping import Bool, Int

from trope.data import images
from trope.data.digests import Digests, cache_written, digest, distinct, image_digests
from trope.data.loading import ImageBatches
from trope.data.pairs import Pairs
from trope.data.unusable import unusable
from trope.errors import DataError, UsageError, suggestion
from trope.features import backbones, failures, kinds, shards
from trope.features.kinds import GRID, KINDS, Backbone, Kind
from trope.features.precomputed import Precomputed
from trope.features.shards import Places, Shard, look_up
from trope.features.table import FeatureTable
from trope.files import locked
from trope.runtime import cache_folder, progress_bar, remark

SHARD_BYTES = 32 * 2**20
SHARD_SECONDS = 60.0  # of work that a killed process may lose
SHARD_IMAGES = 2_048  # about half a minute of a small network's work on two cores
BATCH = 64

Rows: TypeAlias = Int[np.ndarray, " images"]
Reasons: TypeAlias = dict[int, str]  # number of a distinct picture -> why it has no features
Done: TypeAlias = list[tuple[np.ndarray, np.ndarray]]  # rows and features, batch by batch


def features(
    pairs: Pairs,
    backbone: Backbone | Precomputed | str = "efficientnet-lite0",
    kind: Kind = "pooled",
    *,
    side: int = GRID,
    workers: int | None = None,
) -> FeatureTable:
    """The features of every row's picture: read from the cache, computed where it has none.

    Rows with the same picture share a position; one that cannot be used is listed in `failed`.
    A grid may have `side` by `side` cells, each the mean of those it joins: made once and kept too.
    """
    if kind not in KINDS:
        raise UsageError(f"no kind of features '{kind}'{suggestion(kind, KINDS)}")
    if not 1 <= side <= GRID or (side < GRID and kind != "grid"):
        raise UsageError(f"side {side}: of a grid alone, and from 1 to {GRID}")
    network = backbones.backbone(backbone) if isinstance(backbone, str) else backbone
    if isinstance(network, Precomputed):
        return network.images(pairs, kind)
    named = image_digests(pairs)
    rows = np.flatnonzero(named.values != b"")
    first, number = distinct(named.values[rows])
    job = _Job(pairs, network, kind, side, rows[first], named.values[rows[first]], workers)
    found = job.run()
    for told in job.remarks:
        remark(told)
    failed = [*named.failed, *_blamed(job.reasons, rows, number)]
    return _table(pairs, found, rows, number, sorted(failed), job.remarks)


class NoPictures(DataError):  # noqa: N818
    """No row has a picture that can be used; `failed` says of each that has one why not."""

    def __init__(self, message: str, failed: list[tuple[int, str]]) -> None:
        super().__init__(message)
        self.failed = failed


@dataclass
class _Job:
    """Distinct pictures by row and digest, and what became of them."""

    pairs: Pairs
    network: Backbone
    kind: Kind
    side: int
    rows: Rows
    digests: Digests
    workers: int | None
    reasons: Reasons = field(default_factory=dict)
    broken: dict[int, str] = field(default_factory=dict)  # by row, not yet written down
    remarks: list[str] = field(default_factory=list)
    checked: dict[Path, Shard] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.folder = folder_of(self.network, self.kind, self.side)

    def run(self) -> Places:
        """Look first, waiting for no one; compute what is missing while holding the folder."""
        found = self._find()
        if not len(self._wanted(found)):
            return found
        with cache_written(), locked(self.folder):
            self.remarks.extend(shards.clean(self.folder))
            missing = self._wanted(self._find(remove=True))
            self._compute(missing) if self.side == GRID else self._join(missing)
            return self._find()

    def _wanted(self, found: Places) -> Rows:
        """What has no features yet and is not known to be broken."""
        broken = failures.recall(self.digests[found.missing])
        for place, why in broken.items():
            number = int(found.missing[place])
            self.reasons[number] = f"row {self.rows[number] + 1}: {why}"
        return np.delete(found.missing, np.fromiter(broken, np.int64, len(broken)))

    def _find(self, remove: bool = False) -> Places:
        """Look the digests up; a shard with a wrong checksum is told, and never used."""
        there = [self.checked.get(shard.path, shard) for shard in shards.shards(self.folder)]
        while True:
            found = look_up(there, self.digests)
            used = np.unique(found.part[found.part >= 0])
            broken = [there[i] for i in used if not there[i].intact]
            if not broken:
                self.checked.update((shard.path, shard) for shard in there)
                return found
            there = [shard for shard in there if all(shard is not other for other in broken)]
            if remove:
                self._remove(broken)

    def _remove(self, broken: list[Shard]) -> None:
        for shard in broken:
            shard.remove()
            self.remarks.append(f"{shard.path}: damaged; its features are computed again")

    def _numbers(self, rows: Rows) -> Rows:
        return np.searchsorted(self.rows, rows)  # rows are sorted: each is a first appearance

    def _same(self, rows: Rows) -> Bool[np.ndarray, " images"]:
        """Which pictures are still those whose digests were taken."""
        now = image_digests(self.pairs.take(rows)).values
        return np.asarray(now == self.digests[self._numbers(rows)])

    def _blame(self, failed: list[tuple[int, str]]) -> None:
        """Keep the reasons; those that hold for good are also noted for later runs."""
        for row, reason in failed:
            self.reasons[int(np.searchsorted(self.rows, row))] = reason
            if why := failures.lasting(reason):
                self.broken[row] = why
        if len(self.broken) >= SHARD_IMAGES:
            self._note()

    def _note(self) -> None:
        """Write down which pictures are broken, without those that changed in the meantime."""
        if self.broken:
            rows = np.array(list(self.broken))
            rows = rows[self._same(rows)]
            reasons = [self.broken[row] for row in rows.tolist()]
            failures.remember(self.digests[self._numbers(rows)], reasons)
            self.broken = {}

    def _join(self, missing: Rows) -> None:
        """Fewer cells of distinct pictures by number, from their whole grids."""
        rows, digests = self.rows[missing], self.digests[missing]
        grids = _Job(self.pairs, self.network, self.kind, GRID, rows, digests, self.workers)
        found = grids.run()
        self.remarks.extend(grids.remarks)
        self.reasons |= {int(missing[number]): why for number, why in grids.reasons.items()}
        good = np.flatnonzero(found.part >= 0)
        table = _stored(found, good)
        for start in range(0, len(good), SHARD_IMAGES):
            some = np.arange(start, min(start + SHARD_IMAGES, len(good)))
            shards.write(self.folder, digests[good[some]], _coarser(table.read(some), self.side))

    def _compute(self, missing: Rows) -> None:
        """Features of distinct pictures by number, written as soon as a shard is full."""
        batches = ImageBatches(
            self.pairs.images,
            self.rows[missing],
            size=self.network.size,
            batch=BATCH,
            workers=self.workers,
        )
        done: Done = []
        begun = time.monotonic()
        try:
            with progress_bar(f"{self.network.name}: {self.kind} features", len(missing)) as bar:
                for batch in batches:
                    self._blame(batch.failed)
                    if len(batch.rows):
                        done.append((batch.rows, self.network.encode(batch.pixels, self.kind)))
                    bar.advance(bar.task_ids[0], len(batch.rows) + len(batch.failed))
                    if _full(done) or time.monotonic() - begun > SHARD_SECONDS:
                        full, done = done, []
                        self._write(full)
                        begun = time.monotonic()
        finally:  # also when interrupted: what is computed is kept
            self._write(done)
            self._note()

    def _write(self, done: Done) -> None:
        """One shard of what was computed, without pictures that changed in the meantime."""
        if not done:
            return
        rows = np.concatenate([rows for rows, _ in done])
        values = np.concatenate([values for _, values in done])
        numbers, same = self._numbers(rows), self._same(rows)
        for changed in numbers[~same].tolist():
            self.reasons[changed] = "the picture changed while its features were computed"
        if same.any():
            shards.write(self.folder, self.digests[numbers[same]], values[same])


def folder_of(network: Backbone, kind: Kind, side: int = GRID) -> Path:
    """Where a backbone's features are kept; other weights, pixels or code, another folder."""
    key = f"{network.fingerprint()}|{network.size}|{images.VERSION}|{kinds.VERSION}"
    name = re.sub(r"[^\w.-]+", "-", Path(network.name).name) or "model"
    fewer = kind if side == GRID else f"{kind}-{side}"
    return cache_folder() / "features" / f"{name}-{digest(key.encode()).hex()}" / fewer


def _full(done: Done) -> bool:
    count = sum(len(rows) for rows, _ in done)
    return count >= SHARD_IMAGES or sum(values.nbytes for _, values in done) >= SHARD_BYTES


def _blamed(reasons: Reasons, rows: Rows, number: Rows) -> list[tuple[int, str]]:
    """Every row of a picture without features."""
    affected = np.flatnonzero(np.isin(number, list(reasons)))
    return [(int(rows[i]), reasons[int(number[i])]) for i in affected]


def _table(
    pairs: Pairs,
    found: Places,
    rows: Rows,
    number: Rows,
    failed: list[tuple[int, str]],
    remarks: list[str],
) -> FeatureTable:
    good = found.part >= 0
    if not good.any():
        why = f" ({unusable(pairs, *failed[0])})" if failed else ""
        raise NoPictures(f"{pairs.source}: no row has a picture that can be used{why}", failed)
    position = np.where(good, np.cumsum(good) - 1, -1)
    of_row = np.full(len(pairs), -1)
    of_row[rows] = position[number]
    table = _stored(found, np.flatnonzero(good))
    return replace(table, rows=of_row, failed=tuple(failed), remarks=tuple(remarks))


def _stored(found: Places, good: Rows) -> FeatureTable:
    """Those pictures whose places are known, one position each."""
    used, part = np.unique(found.part[good], return_inverse=True)
    parts = tuple(found.parts[i].features() for i in used)
    return FeatureTable(np.arange(len(good)), parts, part, found.offset[good])


def _coarser(cells: np.ndarray, side: int) -> np.ndarray:
    """Cells joined to fewer, a few pictures at a time: they are wide."""
    import torch  # not before: who finds all features in the cache needs no network

    from trope.features.backbones.outputs import coarser

    parts = torch.split(torch.from_numpy(cells), BATCH)
    return np.asarray(torch.cat([coarser(part, side) for part in parts]).numpy())

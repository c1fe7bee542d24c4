"""Whole jobs: an index made of a run and a data set, rows added to it, replaced and removed."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np

from trope import config
from trope.checkpoints import Checkpoint, load_model
from trope.data import images
from trope.data.digests import WIDTH, image_digests
from trope.data.identity import refuse_repeated
from trope.data.kept import FILE as SPLITS
from trope.data.kept import learned_from
from trope.data.pairs import Pairs
from trope.data.splits import SplitPlan
from trope.data.text import listed
from trope.data.unusable import Unusable, unusable
from trope.errors import DataError, UsageError
from trope.evaluation.trained import refuse_broken, unfinished
from trope.files import locked, refuse_existing
from trope.index.building import (
    MADE,
    appear,
    building,
    clear_building,
    forget_begun,
    refuse_made,
)
from trope.index.compared import kind_of
from trope.index.encoding import Encoding, Side
from trope.index.engine import Engine
from trope.index.folder import (
    State,
    named,
    read_state,
    write_state,
    writing,
)
from trope.index.items import MODALITIES, Items, joined, row_of, together
from trope.index.lines import Lines
from trope.index.model import MODEL, bring, checkpoint_of, refuse_other_model
from trope.index.opening import create, open_engine, refuse_unreachable
from trope.index.replaced import of_rows, refuse_unnamed
from trope.index.settings import IndexSettings

STAGED = "staged"  # blocks of vectors of a job that is not done


@dataclass(frozen=True)
class Indexed:
    """What a job put into an index, and what it could not."""

    images: int
    texts: int
    replaced: int = 0
    empty: int = 0
    failed: tuple[Unusable, ...] = field(default=(), repr=False)
    remarks: tuple[str, ...] = ()

    def document(self) -> dict[str, object]:
        """For programs."""
        failed = [asdict(row) for row in self.failed]
        counts = {name: getattr(self, name) for name in ("images", "texts", "replaced", "empty")}
        return {**counts, "failed": failed, "remarks": list(self.remarks)}


def build(run: Path, pairs: Pairs, out: Path, settings: IndexSettings | None = None) -> Indexed:
    """A new index; it appears when it is complete, and a job that was killed goes on."""
    refuse_repeated(pairs)
    checkpoint = load_model(run)
    refuse_broken(run, checkpoint)
    clear_building(out)
    refuse_existing(out)
    refuse_unreachable(settings or IndexSettings())
    home = building(out)
    with locked(home):
        refuse_made(out, home)
        folder = home / MADE
        forget_begun(out)
        bring(run, folder)
        state = _first_state(checkpoint, folder, _seen_from(out, pairs), settings)
        encoding = Encoding(checkpoint, pairs, folder / STAGED / _job(folder, pairs), state.details)
        items, done = _items(encoding, folder, 0)
        engine = create(folder, state)
        engine.add(items.ids, items.vectors, items.rows, details=items.details)
        engine.close()
        appear(folder, out, STAGED)
        shutil.rmtree(home)
    return replace(done, remarks=unfinished(run, checkpoint))


def add(folder: Path, pairs: Pairs, run: Path | None = None) -> Indexed:
    """Put the rows of a data set in; rows of the same id are replaced, whatever they had."""
    refuse_repeated(pairs)
    clear_building(folder)
    checkpoint = checkpoint_of(folder)
    if run is not None:
        refuse_other_model(folder, run)
    place = _seen_from(folder, pairs)
    with closing(open_engine(folder)) as engine:
        refuse_unnamed(engine, pairs, read_state(folder).sources, place)
        _refuse_other_columns(engine, pairs)
    source = _source(folder, place)
    staged = folder / STAGED / _job(folder, pairs)
    encoding = Encoding(checkpoint, pairs, staged, read_state(folder).details)
    items, done = _items(encoding, folder, source)
    with writing(folder), closing(open_engine(folder)) as engine:
        old = of_rows(engine, pairs.ids)
        engine.add(items.ids, items.vectors, items.rows, instead_of=old, details=items.details)
    shutil.rmtree(staged, ignore_errors=True)
    with suppress(OSError):  # another job may be at work
        staged.parent.rmdir()
    return replace(done, replaced=len(old))


def remove(folder: Path, ids: Sequence[str]) -> int:
    """Take rows out, with all their items; a row that is not there is refused."""
    wanted = list(dict.fromkeys(listed(ids, "ids")))
    clear_building(folder)
    with writing(folder), closing(open_engine(folder)) as engine:
        keys = of_rows(engine, wanted)
        known = {row_of(key) for key in keys}
        if lost := [name for name in wanted if name not in known]:
            more = f" ({len(lost):,} such ids)" if len(lost) > 1 else ""
            raise UsageError(f"{folder}: holds no row '{lost[0]}'{more}; nothing was removed")
        engine.remove(keys)
    return len(wanted)


def _refuse_other_columns(engine: Engine, pairs: Pairs) -> None:
    """Better now than after hours of encoding; rows that all go are no reason to refuse others."""
    nobody, nothing = np.zeros(len(pairs), bool), np.empty(0, np.int64)
    lines = Lines(pairs, 0, nobody, np.zeros(len(pairs), f"S{WIDTH}")).images(nothing)
    try:
        joined([engine.schema.empty_table(), lines.schema.empty_table()])
    except DataError:
        count = sum(engine.count(modality) for modality in MODALITIES)
        if len(of_rows(engine, pairs.ids)) < count:
            raise


def _first_state(
    checkpoint: Checkpoint, folder: Path, source: str, settings: IndexSettings | None
) -> State:
    plan = checkpoint.plan
    others = {name: named(folder / name) for name in (MODEL, SPLITS) if (folder / name).exists()}
    chosen = settings or IndexSettings()
    return State(plan.width, plan.head.senses, kind_of(plan), 0, chosen, others, (source,))


def _items(encoding: Encoding, folder: Path, source: int) -> tuple[Items, Indexed]:
    """Everything of a data set that can be found, and what cannot."""
    pairs = encoding.pairs
    with locked(encoding.folder):
        shown, said = encoding.images(), encoding.texts()
    settings = encoding.checkpoint.description.get("settings", {})
    plan = config.parse(SplitPlan, settings.get("split", {}), f"{folder}: split")
    learned = learned_from(folder / SPLITS, pairs, plan.images)
    lines = Lines(pairs, source, learned, image_digests(pairs).values)
    if not len(shown.owners) + len(said.owners):
        why = f" ({unusable(pairs, *shown.failed[0])})" if shown.failed else ""
        raise DataError(f"{pairs.source}: no row has a picture or a text that can be used{why}")
    images = Items(shown.vectors, lines.images(shown.owners), shown.details)
    texts = Items(said.vectors, lines.texts(said.owners), said.details)
    return together([images, texts]), _told(pairs, shown, said)


def _told(pairs: Pairs, shown: Side, said: Side) -> Indexed:
    failed = tuple(unusable(pairs, row, why) for row, why in shown.failed)
    empty = shown.empty + said.empty
    return Indexed(len(shown.owners), len(said.owners), 0, empty, failed)


def _job(folder: Path, pairs: Pairs) -> str:
    """A name for what is to be encoded by what: another model or other pictures, another name."""
    model = named(folder / MODEL)
    stored = sorted((pairs.root / "features").glob("*.npy"))  # features that come with the data
    content = image_digests(pairs).values.tobytes()
    content += repr([(path.name, path.stat().st_mtime_ns) for path in stored]).encode()
    known = f"{model.bytes}|{model.crc}|{pairs.fingerprint}|{images.VERSION}".encode()
    return hashlib.blake2b(known + content, digest_size=8).hexdigest()


def _seen_from(folder: Path, pairs: Pairs) -> str:
    """Where the data is, seen from the index: both may be moved together."""
    return os.path.relpath(pairs.source.resolve(), folder.resolve())


def _source(folder: Path, source: str) -> int:
    """The number of a data set among those of an index; a new one is noted first.

    The state keeps its number: on a server, the next one may be that of a write that was killed.
    """
    with writing(folder) as state:
        if source not in state.sources:
            state = replace(state, sources=(*state.sources, source))
            write_state(folder, state)
        return state.sources.index(source)

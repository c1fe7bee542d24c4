"""A data set through a trained model: the vectors of its pictures and texts, block by block.

Each picture and each different text goes through the model once. Blocks are put down as they are
done, so that a job which is killed goes on where it was. What a scorer needs of items besides their
vectors is read from there again, and never in memory as a whole.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
import torch
from jaxtyping import Float32, Int

from trope.checkpoints import Checkpoint
from trope.data.digests import WIDTH, digest, distinct
from trope.data.images import decode
from trope.data.pairs import Pairs
from trope.encoders import encode
from trope.encoders.inputs import Inputs
from trope.encoders.model import Tower
from trope.encoders.pixels import Pixels
from trope.errors import DataError
from trope.evaluation.scoring import refuse_strange
from trope.features.backbones import backbone
from trope.features.cache import NoPictures
from trope.features.precomputed import Precomputed
from trope.files import replacing, write_array
from trope.index.compared import details_of
from trope.index.details import Counts, Details, Kind, Rows, one_after_another
from trope.runtime import progress_bar
from trope.views import Encoded

BLOCK = 4_096  # items that are put down together
WITH_PARTS = 512  # the same, where each has many vectors

Numbers: TypeAlias = Int[np.ndarray, " _items"]
Vectors: TypeAlias = Float32[np.ndarray, "items senses d"]


@dataclass(frozen=True, eq=False)
class Side:
    """The vectors of one modality: `owners` are rows, or texts of the whole data set by number."""

    owners: Int[np.ndarray, " items"]
    vectors: Vectors = field(repr=False)
    failed: tuple[tuple[int, str], ...] = ()  # rows, each with a reason
    empty: int = 0  # items without content
    details: Details | None = field(default=None, repr=False)


class Made(NamedTuple):
    """Encoded items: vectors, and what a scorer needs besides."""

    vectors: Vectors
    details: Details | None = None

    def take(self, places: Int[np.ndarray, " _places"]) -> Made:
        """Some of them."""
        details = None if self.details is None else self.details.take(places)
        return Made(self.vectors[places], details)


class Block(NamedTuple):
    """A few encoded items; `rows` are those of all their details, `counts` how many each has."""

    vectors: Vectors
    rows: Rows
    counts: Counts


@dataclass(frozen=True, eq=False)
class Encoding:
    """A model, a data set, and the folder where finished blocks are put down.

    `details` are what is wanted besides vectors.
    """

    checkpoint: Checkpoint
    pairs: Pairs
    folder: Path
    details: Kind = ""

    def images(self) -> Side:
        """The picture of every row that has one which can be used."""
        if not self._shown():
            return self._nothing()
        try:
            pictures = self.checkpoint.plan.pictures(self.pairs)
        except NoPictures as error:
            return self._nothing(tuple(error.failed))
        made, broken = self.encoded("image", self.checkpoint.model.image, pictures.inputs)
        failed = dict(pictures.failed)
        shown = pictures.rows.copy()
        for number, why in broken.items():
            failed |= {int(row): why for row in np.flatnonzero(pictures.rows == number)}
            shown[pictures.rows == number] = -1
        rows = np.flatnonzero(shown >= 0)
        return _side(rows, made.take(shown[rows]), tuple(sorted(failed.items())))

    def texts(self) -> Side:
        """Every text, each different one encoded once."""
        said = self.pairs.flat_texts()[0].to_pylist()
        if not said:
            return self._nothing()
        named = [digest(text.encode("utf-8", "surrogatepass")) for text in said]
        first, number = distinct(np.array(named, f"S{WIDTH}"))
        inputs = self.checkpoint.plan.texts(self.pairs).inputs
        made, _ = self.encoded("text", self.checkpoint.model.text, inputs, first)
        return _side(np.arange(len(said)), made.take(number))

    def _nothing(self, failed: tuple[tuple[int, str], ...] = ()) -> Side:
        plan = self.checkpoint.plan
        none = np.empty((0, plan.head.senses, plan.width), np.float32)
        return Side(np.empty(0, np.int64), none, failed)

    def _shown(self) -> bool:
        """Whether a row has a picture, or features of one that come with the data."""
        image = self.checkpoint.plan.image
        if image.encoder == "frozen" and isinstance(backbone(image.backbone), Precomputed):
            return "image_feature" in self.pairs.extra_columns
        return bool(self.pairs.has_image.any())

    def encoded(
        self, side: str, tower: Tower, inputs: Inputs, chosen: Numbers | None = None
    ) -> tuple[Made, dict[int, str]]:
        """Chosen items; what cannot be decoded is zeros, and told."""
        items = np.arange(len(inputs)) if chosen is None else chosen
        size = min(BLOCK, WITH_PARTS) if self.details == "locals" else BLOCK
        blocks: list[Block] = []
        broken: dict[int, str] = {}
        with progress_bar(f"vectors of {side}s", len(items)) as bar:
            for start in range(0, len(items), size):
                part = items[start : start + size]
                path = self.folder / f"{side}-{start:09d}-{len(part)}"
                make = partial(_encoded, tower, inputs, part, side, self.details)
                done, why = _kept(path, make, bool(self.details))
                blocks.append(done)
                broken |= {int(part[place]): reason for place, reason in why.items()}
                bar.advance(bar.task_ids[0], len(part))
        return self._joined(blocks), broken

    def _joined(self, blocks: list[Block]) -> Made:
        plan = self.checkpoint.plan
        none = np.empty((0, plan.head.senses, plan.width), np.float32)
        vectors = np.concatenate([none, *(block.vectors for block in blocks)])
        if not self.details or not blocks:
            return Made(vectors)
        rows, counts = [block.rows for block in blocks], [block.counts for block in blocks]
        return Made(vectors, one_after_another(self.details, rows, np.concatenate(counts)))


def _side(owners: Numbers, made: Made, failed: tuple[tuple[int, str], ...] = ()) -> Side:
    """Without items that have no content: they are like nothing, and must not be found."""
    some = made.vectors.any(axis=(1, 2))
    empty = int((~some).sum())
    if empty:
        owners, made = owners[some], made.take(np.flatnonzero(some))
    return Side(owners, made.vectors, failed, empty, made.details)


def _kept(
    path: Path, make: Callable[[], tuple[Block, dict[int, str]]], details: bool
) -> tuple[Block, dict[int, str]]:
    """A block that was put down, or made now; one with something broken is always made again."""
    try:
        return _read(path, details), {}
    except (OSError, ValueError, EOFError):
        found, broken = make()
    if details:
        for kind in ("rows", "counts"):
            _put(path.with_suffix(f".{kind}"), getattr(found, kind))
        rows = np.load(path.with_suffix(".rows"), mmap_mode="r", allow_pickle=False)
        found = found._replace(rows=np.asarray(rows))
    if not broken:
        _put(path.with_suffix(".npy"), found.vectors)  # last: what is there is whole
    return found, broken


def _read(path: Path, details: bool) -> Block:
    vectors = np.load(path.with_suffix(".npy"), allow_pickle=False)
    if not details:
        return _plain(vectors)
    rows = np.load(path.with_suffix(".rows"), mmap_mode="r", allow_pickle=False)
    return Block(
        vectors, np.asarray(rows), np.load(path.with_suffix(".counts"), allow_pickle=False)
    )


def _plain(vectors: Vectors) -> Block:
    return Block(vectors, np.empty((0, 0), np.float32), np.zeros(len(vectors), np.int64))


def _put(path: Path, values: np.ndarray) -> None:
    with replacing(path) as file:
        write_array(file, values)


def _encoded(
    tower: Tower, inputs: Inputs, items: Numbers, side: str, details: Kind = ""
) -> tuple[Block, dict[int, str]]:
    """A block; pictures that are decoded only now may turn out to be broken."""
    broken = {}
    parts = details == "locals"
    try:
        made = encode(tower, inputs, items, parts=parts)
    except DataError:
        if not isinstance(inputs, Pixels):
            raise
        broken = _undecodable(inputs, items)
        if not broken:
            raise
        good = np.setdiff1d(np.arange(len(items)), list(broken))
        made = _spread(encode(tower, inputs, items[good], parts=parts), good, len(items))
    refuse_strange(made, [str(item) for item in items], side)
    points = made.mean[:, None] if made.points is None else made.points
    vectors = points.float().cpu().numpy()
    return (Block(vectors, *details_of(made, details)) if details else _plain(vectors)), broken


def _undecodable(inputs: Pixels, items: Numbers) -> dict[int, str]:
    """Which pictures of a block cannot be decoded, by place, and why."""
    found = {}
    for place, row in enumerate(inputs.rows[items].tolist()):
        try:
            decode(inputs.store.read(row), f"row {row + 1}", inputs.size)
        except DataError as error:
            found[place] = str(error)
    return found


def _spread(made: Encoded, places: Numbers, count: int) -> Encoded:
    """Vectors at some places, zeros at the others."""

    def wide(values: torch.Tensor) -> torch.Tensor:
        whole = values.new_zeros((count, *values.shape[1:]))
        whole[torch.from_numpy(places)] = values
        return whole

    kept = ("points", "locals", "present", "log_sigma")
    fields = {name: getattr(made, name) for name in kept}
    return Encoded(wide(made.mean), **{k: v if v is None else wide(v) for k, v in fields.items()})

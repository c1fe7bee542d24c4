"""A data set through a trained model: the vectors of its pictures and texts, block by block.

Each picture and each different text goes through the model once. Blocks are put down as they are
done, so that a job which is killed goes on where it was.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeAlias

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
from trope.files import replacing
from trope.runtime import progress_bar
from trope.views import Encoded

BLOCK = 4_096  # items that are put down together

Numbers: TypeAlias = Int[np.ndarray, " _items"]
Vectors: TypeAlias = Float32[np.ndarray, "items senses d"]


@dataclass(frozen=True, eq=False)
class Side:
    """The vectors of one modality: `owners` are rows, or texts of the whole data set by number."""

    owners: Int[np.ndarray, " items"]
    vectors: Vectors = field(repr=False)
    failed: tuple[tuple[int, str], ...] = ()  # rows, each with a reason
    empty: int = 0  # items without content


@dataclass(frozen=True, eq=False)
class Encoding:
    """A model, a data set, and the folder where finished blocks are put down."""

    checkpoint: Checkpoint
    pairs: Pairs
    folder: Path

    def images(self) -> Side:
        """The picture of every row that has one which can be used."""
        if not self._shown():
            return self._nothing()
        try:
            pictures = self.checkpoint.plan.pictures(self.pairs)
        except NoPictures as error:
            return self._nothing(tuple(error.failed))
        made, broken = self._vectors("image", self.checkpoint.model.image, pictures.inputs)
        failed = dict(pictures.failed)
        shown = pictures.rows.copy()
        for number, why in broken.items():
            failed |= {int(row): why for row in np.flatnonzero(pictures.rows == number)}
            shown[pictures.rows == number] = -1
        rows = np.flatnonzero(shown >= 0)
        return _side(rows, made[shown[rows]], tuple(sorted(failed.items())))

    def texts(self) -> Side:
        """Every text, each different one encoded once."""
        said = self.pairs.flat_texts()[0].to_pylist()
        if not said:
            return self._nothing()
        named = [digest(text.encode("utf-8", "surrogatepass")) for text in said]
        first, number = distinct(np.array(named, f"S{WIDTH}"))
        inputs = self.checkpoint.plan.texts(self.pairs).inputs
        made, _ = self._vectors("text", self.checkpoint.model.text, inputs, first)
        return _side(np.arange(len(said)), made[number])

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

    def _vectors(
        self, side: str, tower: Tower, inputs: Inputs, chosen: Numbers | None = None
    ) -> tuple[Vectors, dict[int, str]]:
        """The vectors of chosen items; what cannot be decoded is zeros, and told."""
        items = np.arange(len(inputs)) if chosen is None else chosen
        plan = self.checkpoint.plan
        broken: dict[int, str] = {}
        found = np.zeros((len(items), plan.head.senses, plan.width), np.float32)
        with progress_bar(f"vectors of {side}s", len(items)) as bar:
            for start in range(0, len(items), BLOCK):
                part = items[start : start + BLOCK]
                path = self.folder / f"{side}-{start // BLOCK:06d}.npy"
                done, why = _kept(path, partial(_encoded, tower, inputs, part, side))
                found[start : start + len(part)] = done
                broken |= {int(part[place]): reason for place, reason in why.items()}
                bar.advance(bar.task_ids[0], len(part))
        return found, broken


def _side(owners: Numbers, vectors: Vectors, failed: tuple[tuple[int, str], ...] = ()) -> Side:
    """Without items that have no content: they are like nothing, and must not be found."""
    some = vectors.any(axis=(1, 2))
    if some.all():
        return Side(owners, vectors, failed)
    return Side(owners[some], vectors[some], failed, int((~some).sum()))


def _kept(
    path: Path, make: Callable[[], tuple[Vectors, dict[int, str]]]
) -> tuple[Vectors, dict[int, str]]:
    """A block that was put down, or made now; one with something broken is always made again."""
    try:
        return np.load(path, allow_pickle=False), {}
    except (OSError, ValueError, EOFError):
        found, broken = make()
    if not broken:
        with replacing(path) as file:
            np.save(file, found, allow_pickle=False)
    return found, broken


def _encoded(
    tower: Tower, inputs: Inputs, items: Numbers, side: str
) -> tuple[Vectors, dict[int, str]]:
    """A block; pictures that are decoded only now may turn out to be broken."""
    broken = {}
    try:
        made = encode(tower, inputs, items, parts=False)
    except DataError:
        if not isinstance(inputs, Pixels):
            raise
        broken = _undecodable(inputs, items)
        if not broken:
            raise
        good = np.setdiff1d(np.arange(len(items)), list(broken))
        made = _spread(encode(tower, inputs, items[good], parts=False), good, len(items))
    refuse_strange(made, [str(item) for item in items], side)
    points = made.mean[:, None] if made.points is None else made.points
    return points.float().cpu().numpy(), broken


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

    points = None if made.points is None else wide(made.points)
    return Encoded(wide(made.mean), points)

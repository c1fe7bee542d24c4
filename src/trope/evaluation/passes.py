"""One pass over the scores of a direction: every metric looks at the same blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
from jaxtyping import Float64, Int
from scipy import sparse

from trope.evaluation.chance import by_chance
from trope.evaluation.relevance import Graded
from trope.evaluation.scoring import Scores
from trope.metrics import Block, Labels, Metric, tie_priority
from trope.metrics.block import Relevance
from trope.runtime import progress_bar

MEMORY = 2**28  # bytes of a block and of what metrics make of it
LITTLE, MUCH = 20, 64  # bytes a score: for counts alone, or with labels or relevance

Values: TypeAlias = Float64[np.ndarray, " _queries"]
Named: TypeAlias = dict[str, Values]

_NONE: Mapping[str, Graded] = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class Truth:
    """What else is right, by people's judgment: a name, the right items, and what is measured."""

    name: str
    right: sparse.csr_matrix
    metrics: tuple[Metric, ...]


@dataclass(frozen=True, eq=False)
class Direction:
    """Queries of one side, items of the other, and all that is known about which are right.

    `purpose` tells the random draws of this direction, and of this fold, from those of others.
    """

    scores: Scores
    right: sparse.csr_matrix
    labels: Labels | None = None
    relevance: Mapping[str, Graded] = field(default_factory=lambda: _NONE)
    truths: tuple[Truth, ...] = ()
    purpose: tuple[str, ...] = ()

    @property
    def fewest(self) -> int:
        """The smallest number of wrong items that a query has."""
        return int(self.right.shape[1] - np.diff(self.right.indptr).max(initial=0))


@dataclass(frozen=True, eq=False)
class Measured:
    """A number for each query under each name, and what chance alone would give it."""

    values: Named
    chance: Named


def measured(
    direction: Direction,
    metrics: Sequence[Metric],
    *,
    what: str = "scores",
    most: int | None = None,
) -> Measured:
    """All metrics of all queries; `most` queries a block, by default as memory allows."""
    scores = direction.scores
    priority = tie_priority(scores.shape[1])
    found: list[Named] = []
    chances: list[Named] = []
    with progress_bar(what, scores.shape[0]) as bar:
        for rows in scores.blocks(most or _fitting(direction)):
            block = _block(direction, rows, priority)
            values = {name: some for metric in metrics for name, some in metric(block).items()}
            judged, chance = _judged(direction, block)
            found.append(values | judged)
            chances.append(by_chance(block, values) | chance)
            bar.advance(bar.task_ids[0], len(rows))
    return Measured(_joined(found), _joined(chances))


def _block(direction: Direction, rows: Int[np.ndarray, " rows"], priority: np.ndarray) -> Block:
    labels = direction.labels
    return Block(
        rows,
        direction.scores(rows),
        direction.right[rows],
        priority,
        None if labels is None else Labels(labels.queries[rows], labels.items),
        {name: _bound(grade, rows) for name, grade in direction.relevance.items()},
        direction.fewest,
        direction.purpose,
    )


def _bound(grade: Graded, rows: Int[np.ndarray, " rows"]) -> Relevance:
    return lambda: grade(rows)


def _judged(direction: Direction, block: Block) -> tuple[Named, Named]:
    """The same scores under other truths, and chance; what was sorted is not sorted again."""
    found: Named = {}
    chance: Named = {}
    for truth in direction.truths:
        other = Block(block.rows, block.scores, truth.right[block.rows], block.priority)
        if "order" in block.__dict__:
            other.__dict__["order"] = block.order
        values = {name: some for metric in truth.metrics for name, some in metric(other).items()}
        found |= _under(truth.name, values)
        chance |= _under(truth.name, by_chance(other, values))
    return found, chance


def _under(truth: str, values: Named) -> Named:
    return {f"{truth}/{name}": some for name, some in values.items()}


def _joined(parts: Sequence[Named]) -> Named:
    names = parts[0] if parts else {}
    return {name: np.concatenate([part[name] for part in parts]) for name in names}


def _fitting(direction: Direction) -> int:
    """Queries of a block, so that memory suffices."""
    much = direction.labels is not None or direction.relevance
    return MEMORY // ((MUCH if much else LITTLE) * max(1, direction.scores.shape[1]))

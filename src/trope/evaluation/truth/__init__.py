"""What people said is right beyond the pairs of the data: ECCV Caption and Crisscrossed Captions.

Both judge COCO's test split: rows have COCO's number of their image as `id`, and `caption_ids`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from trope.data.pairs import Pairs
from trope.errors import UsageError
from trope.evaluation.gallery import Gallery, Side
from trope.evaluation.passes import Truth
from trope.evaluation.truth import cxc, eccv
from trope.evaluation.truth.coco import Judgments, is_coco, numbered
from trope.metrics import Metric
from trope.metrics.precision import MAPAtR, RPrecision
from trope.metrics.recall import Recall

CUTS = (1, 5, 10)
METRICS: dict[str, tuple[Metric, ...]] = {
    "eccv": (Recall(CUTS), RPrecision(), MAPAtR()),
    "cxc": (Recall(CUTS),),
}


@dataclass(frozen=True, eq=False)
class Truths:
    """For both sides what is right besides, and a sentence on how much of it was found."""

    of: dict[Side, tuple[Truth, ...]]
    remarks: tuple[str, ...] = ()


def truths(names: tuple[str, ...], gallery: Gallery, pairs: Pairs | None) -> Truths:
    """The judgments named `eccv`, `cxc` or `cxc=FOLDER`, for the pictures and texts at hand."""
    if not names:
        return Truths({})
    if pairs is None or not is_coco(pairs):
        raise UsageError(f"--truth {names[0]}: needs COCO data, with a column 'caption_ids'")
    numbers = numbered(gallery, pairs)
    found = {name: numbers.placed(_read(name)) for name in names}
    sides: dict[Side, tuple[Truth, ...]] = {
        side: tuple(
            Truth(_plain(name), placed.of(side), METRICS[_plain(name)])
            for name, placed in found.items()
        )
        for side in ("image", "text")
    }
    return Truths(sides, tuple(f"{_plain(name)}: {p.told()}" for name, p in found.items()))


def _plain(name: str) -> str:
    return name.partition("=")[0]


def _read(name: str) -> Judgments:
    kind, _, folder = name.partition("=")
    if kind == "eccv":
        return eccv.judgments()
    return cxc.judgments(Path(folder) if folder else None)


__all__ = ["Truths", "is_coco", "truths"]

"""Everything that is measured of one source: plan, both directions, both modalities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from trope.errors import DataError, UsageError
from trope.evaluation.embedded import Bank, Embedded, Source
from trope.evaluation.folds import folds_of
from trope.evaluation.gallery import Side
from trope.evaluation.hubs import Hubs
from trope.evaluation.idle import refuse_idle
from trope.evaluation.measuring import (
    DIRECTIONS,
    Measurements,
    Plan,
    direction_of,
    measure,
    preserved,
    refuse_tiny,
)
from trope.evaluation.passes import measured
from trope.evaluation.predictions import agreements
from trope.evaluation.selection import (
    PREDICTED,
    Request,
    metrics_of,
    pmrp_of,
    refuse_impossible,
    refuse_other_labels,
    request,
    suitable,
)
from trope.evaluation.settings import EvaluationSettings
from trope.evaluation.sizes import refuse_oversized, rooms_of, too_small_for
from trope.evaluation.thresholds import Chosen, thresholds
from trope.evaluation.truth import is_coco, truths
from trope.metrics.precision import MAP
from trope.metrics.rank import MeanRank
from trope.wording import counted


@dataclass(frozen=True, eq=False)
class Answers:
    """Measurements, what of them was asked for, which options hold, and what there is to say."""

    measurements: Measurements
    wanted: Request
    told: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def answers(
    source: Source, split: str, settings: EvaluationSettings, remarks: Sequence[str] = ()
) -> Answers:
    """Measure a split of a source."""
    embedded = replace(source.embedded(split), candidates=settings.candidates)
    if settings.candidates and embedded.scorer is None:
        raise UsageError("--set candidates: changes nothing where points alone are compared")
    refuse_tiny(embedded.gallery, f"split '{split}'")
    coco = source.pairs is not None and is_coco(source.pairs)
    wanted = _wanted(source, embedded, settings, coco)
    rooms = rooms_of(folds_of(embedded.gallery, settings.folds))
    refuse_oversized(rooms, wanted, settings)
    judged = truths(settings.truth, embedded.gallery, source.pairs)
    bank = source.bank() if settings.hubs.method != "none" else None
    hubs, untuned = _hubs(source, settings.hubs, bank, split)
    metrics = (*metrics_of(wanted, settings, coco), MeanRank())  # the rank of every query
    plan = Plan(metrics, wanted.measures, settings.folds, hubs, judged.of)
    found = measure(embedded, plan, bank)
    found, labels = _with_labels(source, embedded, found, wanted, settings, split)
    found, near, unknown = _with_meaning(source, embedded, found, wanted, settings)
    _refuse_missing(found, wanted)
    told = (*_told(found, settings, hubs), *labels.told, *near)
    notes = [*remarks, *embedded.remarks, *judged.remarks, *untuned, *labels.remarks, *unknown]
    notes += filter(None, [too_small_for(rooms, wanted, settings)])
    return Answers(found, wanted, told, tuple(notes))


def _wanted(
    source: Source, embedded: Embedded, settings: EvaluationSettings, coco: bool
) -> Request:
    gallery = embedded.gallery
    has = {
        "labels": gallery.labels is not None,
        "space": source.pairs is not None and (settings.space != "run" or source.has_space),
        "predictions": embedded.predicted is not None,
    }
    words = bool(gallery.words)
    if not settings.metrics:
        wanted = suitable(**has, texts=len(gallery.texts) if words else np.iinfo(np.int64).max)
        refuse_idle(settings, wanted)
        return wanted
    wanted = request(settings.metrics)
    refuse_idle(settings, wanted)
    refuse_impossible(wanted, **has, words=words, truth=settings.truth)
    refuse_other_labels(wanted, pmrp_of(settings, coco))
    return wanted


def _with_labels(
    source: Source,
    embedded: Embedded,
    found: Measurements,
    wanted: Request,
    settings: EvaluationSettings,
    split: str,
) -> tuple[Measurements, Chosen]:
    """How far predicted labels are the right ones, and from which scores on they are predicted."""
    if embedded.predicted is None or not any(map(wanted.asks, PREDICTED)):
        return found, Chosen()
    chosen = thresholds(source, embedded, settings, split)
    right = agreements(embedded.gallery, embedded.predicted, chosen.of)
    return replace(found, values=found.values | right), chosen


def _with_meaning(
    source: Source,
    embedded: Embedded,
    found: Measurements,
    wanted: Request,
    settings: EvaluationSettings,
) -> tuple[Measurements, list[str], list[str]]:
    """Preservation; where the space cannot be made unasked, a remark."""
    if not wanted.neighbors:
        return found, [], []
    try:
        meaning = source.meaning(settings.space)
    except DataError as error:
        if settings.metrics:
            raise
        return found, [], [f"no preservation: {error}"]
    numbers = [settings.neighbors if number is None else number for number in wanted.neighbors]
    kept = preserved(embedded, meaning, numbers)
    values = {side: found.values.get(side, {}) | some for side, some in kept.values.items()}
    found = replace(found, values=found.values | values, chance=found.chance | kept.chance)
    near = kept.near
    each = ", ".join(counted(k, f"nearest {side}") for side, k in near.items())
    told = f" of the {each}" if near else ""
    return found, [f"preservation{told}: {source.space(settings.space)}"], []


def _hubs(
    source: Source, asked: Hubs, bank: Bank | None, split: str
) -> tuple[dict[Side, Hubs], list[str]]:
    """What holds for each direction; what is open is chosen on the validation split.

    Not for results on that split itself, which would be better than they are.
    """
    if asked.method == "none":
        return {}, []
    if split == "train":
        raise UsageError("--hubs: the bank is of training queries; ask for another split")
    if bank is None:
        raise UsageError("--hubs: needs vectors of training queries, and there are none")
    if asked.nearest is not None and asked.nearest > len(bank):
        raise UsageError(
            f"--set hubs.nearest={asked.nearest}: a side of the bank has only {len(bank):,}"
        )
    val = None if asked.settled or split == "val" else source.validation()
    if val is None:
        told = ["hubs: the default strength; on val itself none is chosen"]
        default = {side: asked.default() for side in DIRECTIONS.values()}
        return default, [] if asked.settled or split != "val" else told
    chosen = {
        side: max(asked.choices(), key=lambda choice: _precision(val, side, choice, bank))
        for side in DIRECTIONS.values()
    }
    return chosen, []


def _precision(val: Embedded, side: Side, hubs: Hubs, bank: Bank) -> float:
    """Mean average precision on the validation split; recall@1 would depend on a few queries."""
    found = measured(direction_of(val, side, hubs, bank), [MAP()], what="hubs")
    return float(np.nanmean(found.values["map"]))


def _refuse_missing(found: Measurements, wanted: Request) -> None:
    """A metric that was named must be there."""
    there = {name for values in found.values.values() for name in values}
    gallery = found.gallery
    for name in sorted(wanted.names - there):
        images, texts = len(gallery.images), len(gallery.texts)
        size = f"{counted(images, 'image')} and {counted(texts, 'text')}"
        raise UsageError(f"--metrics {name}: not to be had with {size}")


def _told(found: Measurements, settings: EvaluationSettings, hubs: dict[Side, Hubs]) -> list[str]:
    """Which options hold, in words."""
    told = []
    if settings.candidates:
        told.append(f"{counted(settings.candidates, 'candidate')} by cosine, ranked by the scorer")
    if settings.draws:
        draws = counted(settings.draws, "random draw")
        told.append(f"tasks: {draws} for each right item")
    if found.folds is not None:
        numbers = found.folds["image"]
        count, left = int(numbers.max()) + 1, int((numbers < 0).sum())
        folds, rest = counted(count, "fold"), counted(left, "image")
        told.append(f"{folds} of {settings.folds:,} images, {rest} in none")
    if hubs:
        sides = {name.replace("_", " "): hubs[side].told() for name, side in DIRECTIONS.items()}
        told.append("hubs: " + ", ".join(f"{name} {text}" for name, text in sides.items()))
    return told

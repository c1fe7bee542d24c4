"""Everything that is measured of one source: plan, both directions, both modalities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from trope import config
from trope.data.identity import refuse_repeated
from trope.errors import DataError, UsageError
from trope.evaluation.embedded import Bank, Embedded, Source
from trope.evaluation.folds import folds_of
from trope.evaluation.gallery import Side
from trope.evaluation.hubs import Hubs
from trope.evaluation.idle import refuse_idle
from trope.evaluation.left_out import unlabeled_split
from trope.evaluation.measuring import (
    DIRECTIONS,
    Measurements,
    Plan,
    direction_of,
    measure,
    refuse_tiny,
)
from trope.evaluation.modalities import with_modalities
from trope.evaluation.passes import measured
from trope.evaluation.selection import (
    Request,
    metrics_of,
    pmrp_of,
    refuse_impossible,
    refuse_other_labels,
    request,
    suitable,
)
from trope.evaluation.settings import EvaluationSettings
from trope.evaluation.sizes import refuse_oversized, rooms_of, too_small_for, ways_of
from trope.evaluation.truth import is_coco, truths
from trope.metrics.precision import MAP
from trope.metrics.rank import MeanRank
from trope.wording import counted


@dataclass(frozen=True, eq=False)
class Answers:
    """Measurements, what of them was asked for, which options hold, and what there is to say.

    `resolved` are settings that were left open, as they came to be for each side.
    """

    measurements: Measurements
    wanted: Request
    told: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    resolved: Mapping[str, Any] = field(default_factory=dict)


def answers(
    source: Source,
    split: str,
    settings: EvaluationSettings,
    remarks: Sequence[str] = (),
    changed: Sequence[str] = (),
) -> Answers:
    """Measure a split of a source; `changed` says how the data differs from what it was."""
    embedded = replace(_embedded(source, split, changed), candidates=settings.candidates)
    if settings.candidates and embedded.scorer is None:
        raise UsageError("--set candidates: changes nothing where points alone are compared")
    coco = source.pairs is not None and is_coco(source.pairs)
    unlabeled = unlabeled_split(source, embedded, split)
    wanted = _wanted(source, embedded, settings, coco, unlabeled)
    rooms = rooms_of(embedded.gallery, folds_of(embedded.gallery, settings.folds))
    refuse_oversized(rooms, wanted, settings)
    judged = truths(settings.truth, embedded.gallery, source.pairs)
    bank = source.bank() if settings.hubs.method != "none" else None
    hubs, untuned = _hubs(source, settings.hubs, bank, split)
    metrics = (*metrics_of(wanted, settings, coco), MeanRank())  # the rank of every query
    plan = Plan(metrics, wanted.measures, settings.folds, hubs, judged.of)
    ranked = measure(embedded, plan, bank)
    sides = with_modalities(source, embedded, ranked, wanted, settings, rooms, split)
    found = sides.measurements
    _refuse_missing(found, wanted)
    told = (*_told(found, settings, hubs), *sides.told)
    notes = [*changed, *remarks, *embedded.remarks, *judged.remarks, *untuned, *sides.remarks]
    if unlabeled and not settings.metrics:
        notes.append(f"left out, metrics by labels: {unlabeled}")
    notes += filter(None, [too_small_for(rooms, wanted, settings)])
    return Answers(found, wanted, told, tuple(notes), _resolved(found, hubs, sides.near))


def _embedded(source: Source, split: str, changed: Sequence[str]) -> Embedded:
    """The vectors of a split; where there are none to be had, that may come from what changed."""
    if source.pairs is not None:
        refuse_repeated(source.pairs)
    try:
        found = source.embedded(split)
        where = "" if source.pairs is None else f"{source.pairs.source}: "
        refuse_tiny(found.gallery, f"{where}split '{split}'")
    except DataError as error:
        raise DataError("; ".join([str(error), *changed])) from None
    return found


def _wanted(
    source: Source, embedded: Embedded, settings: EvaluationSettings, coco: bool, unlabeled: str
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
        refuse_idle(settings, wanted, coco)
        return wanted
    wanted = request(settings.metrics)
    refuse_idle(settings, wanted, coco)
    refuse_impossible(wanted, **has, words=words, truth=settings.truth, unlabeled=unlabeled)
    refuse_other_labels(wanted, pmrp_of(settings, coco))
    return wanted


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


def _resolved(
    found: Measurements, hubs: Mapping[Side, Hubs], near: Mapping[str, int]
) -> dict[str, Any]:
    """Sizes of tasks, the k of preservation, strengths against hubs: what data and choice made."""
    ways = {name: ways_of(found.values[name]) for name in DIRECTIONS}
    chosen = {name: config.plain(hubs[side]) for name, side in DIRECTIONS.items() if hubs}
    return {"ways": ways, "neighbors": dict(near), "hubs": chosen}

"""What is measured of one modality alone: labels that were predicted, neighborhoods that stayed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from trope.errors import DataError, UsageError
from trope.evaluation.embedded import Embedded, Source
from trope.evaluation.measuring import OTHER, Measurements, preserved
from trope.evaluation.predictions import agreements
from trope.evaluation.selection import PREDICTED, Request
from trope.evaluation.settings import EvaluationSettings
from trope.evaluation.sizes import Room
from trope.evaluation.thresholds import Chosen, thresholds
from trope.wording import counted


@dataclass(frozen=True, eq=False)
class Modalities:
    """Measurements with those of modalities, the k that was left open, and what there is to say."""

    measurements: Measurements
    near: Mapping[str, int] = field(default_factory=dict)
    told: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def with_modalities(
    source: Source,
    embedded: Embedded,
    found: Measurements,
    wanted: Request,
    settings: EvaluationSettings,
    rooms: Sequence[Room],
    split: str,
) -> Modalities:
    """Predicted labels, and preservation."""
    found, labels = _with_labels(source, embedded, found, wanted, settings, split)
    kept = _with_meaning(source, embedded, found, wanted, settings, rooms)
    told, remarks = (*labels.told, *kept.told), (*labels.remarks, *kept.remarks)
    return replace(kept, told=told, remarks=remarks)


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
    if chosen.lacking:
        if settings.metrics:
            asked = next(filter(wanted.asks, PREDICTED))
            raise UsageError(f"--metrics {asked}: {chosen.lacking}")
        remarks = (*chosen.remarks, f"no {' and '.join(PREDICTED)}: {chosen.lacking}")
        return found, replace(chosen, remarks=remarks)
    right = agreements(embedded.gallery, embedded.predicted, chosen.of)
    return replace(found, values=found.values | right), chosen


def _with_meaning(
    source: Source,
    embedded: Embedded,
    found: Measurements,
    wanted: Request,
    settings: EvaluationSettings,
    rooms: Sequence[Room],
) -> Modalities:
    """Preservation; where the space cannot be made unasked, a remark."""
    if not wanted.neighbors:
        return Modalities(found)
    try:
        meaning = source.meaning(settings.space)
    except DataError as error:
        if settings.metrics:
            raise
        return Modalities(found, remarks=(f"no preservation: {error}",))
    numbers = [settings.neighbors if number is None else number for number in wanted.neighbors]
    kept = preserved(embedded, meaning, numbers)
    values = {side: found.values.get(side, {}) | some for side, some in kept.values.items()}
    found = replace(found, values=found.values | values, chance=found.chance | kept.chance)
    told = _told(kept.near, source.space(settings.space), settings.folds)
    return Modalities(_fitting(found, rooms), kept.near, (told,))


def _fitting(found: Measurements, rooms: Sequence[Room]) -> Measurements:
    """Without neighborhoods that hold all others of their modality."""
    room = {room.name: room for room in rooms}
    values = {
        side: {name: some for name, some in found.values[side].items() if not there.lacks(name)}
        for side in OTHER
        for there in [room[f"{side}s"]]
    }
    return replace(found, values=found.values | values)


def _told(near: Mapping[str, int], space: str, folds: int) -> str:
    """Which preservation was measured, in words."""
    each = ", ".join(counted(k, f"nearest {side}") for side, k in near.items())
    whole = ", over the whole split" if folds else ""
    return f"preservation{f' of the {each}' if near else ''}: {space}{whole}"

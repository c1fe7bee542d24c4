"""From which score on a label counts as predicted: chosen on validation, not on what is tested.

Where validation has no labels, on training pictures; a threshold is one number for all labels.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from trope.evaluation.embedded import Embedded, Source
from trope.evaluation.gallery import Side
from trope.evaluation.predictions import Thresholds, truth_of
from trope.evaluation.settings import EvaluationSettings
from trope.metrics.predictions import best_threshold
from trope.wording import counted

SIDES: tuple[Side, ...] = ("image", "text")
LACKING = (
    "neither val nor train has labels to choose by which scores are predicted; "
    "name one with --set threshold=0.4"
)


@dataclass(frozen=True)
class Chosen:
    """The threshold of each modality, None for the highest score; which hold, and remarks.

    `lacking` says why there is none at all.
    """

    of: Thresholds = field(default_factory=dict)
    told: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    lacking: str = ""


def thresholds(
    source: Source, embedded: Embedded, settings: EvaluationSettings, split: str
) -> Chosen:
    """What is asked for, or what suits the model and its data."""
    assert embedded.predicted is not None
    remarks = unknown_labels(embedded, split)
    if settings.threshold is not None:
        return Chosen(dict.fromkeys(SIDES, settings.threshold), remarks=remarks)
    if embedded.predicted.single:
        told = "labels: the one with the highest score is predicted"
        return Chosen(dict.fromkeys(SIDES), (told,), remarks)
    if source.threshold is not None:
        told = f"labels: a score of at least {source.threshold} is predicted"
        return Chosen(dict.fromkeys(SIDES, source.threshold), (told,), remarks)
    name, known = _labeled(source, embedded, split)
    if known is None:
        return Chosen(remarks=remarks, lacking=LACKING)
    of = {side: _best(known, side) for side in SIDES}
    told = "labels: at least " + ", ".join(f"{value:.3g} of {side}s" for side, value in of.items())
    if split == name:
        remarks += ("labels: the thresholds were chosen on this split itself; F1 is too high",)
    why = "" if name == "val" else ", as val has no labels"
    return Chosen(of, (f"{told} is predicted, the best on {name}{why}",), remarks)


def _labeled(source: Source, embedded: Embedded, split: str) -> tuple[str, Embedded | None]:
    """The first of val and train that has labels, and its name."""
    for name, vectors in (("val", source.validation), ("train", source.training)):
        found = embedded if split == name else vectors()
        if found is not None and found.predicted is not None and found.gallery.labels is not None:
            return name, found
    return "", None


def unknown_labels(embedded: Embedded, split: str) -> tuple[str, ...]:
    """Remarks on pictures without labels, and on labels that the model has never seen."""
    gallery, predicted = embedded.gallery, embedded.predicted
    if gallery.labels is None or predicted is None:
        return ()
    without = int((np.diff(gallery.labels.indptr) == 0).sum())
    unknown = sorted(set(gallery.label_names) - set(predicted.names))
    told = []
    if without:
        what = counted(without, "image")
        told.append(f"labels: {what} of split '{split}' without any: not asked what they are")
    if unknown:
        what = counted(len(unknown), "label")
        told.append(
            f"labels: {what} of split '{split}' that the model does not know, the first is "
            f"{unknown[0]}: never predicted, and counted as missed"
        )
    return tuple(told)


def _best(val: Embedded, side: Side) -> float:
    """The threshold with the highest micro-F1 over the items that have labels."""
    assert val.predicted is not None
    names = list(dict.fromkeys([*val.predicted.names, *val.gallery.label_names]))
    right = truth_of(val.gallery, names)
    right = right if side == "image" else right[val.gallery.owners]
    known = right.any(axis=1)
    own = right[known][:, : len(val.predicted.names)]
    return best_threshold(val.predicted.of(side)[known], own)

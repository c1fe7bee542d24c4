"""From the places of judged pairs to figures: every curve of a measure, and differences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Bool

from trope.experiments.crisscrossed import Judged
from trope.experiments.mined_positives.agreement import (
    Draws,
    Estimate,
    Images,
    agreement,
    at_recall,
    needed,
    recall,
    spearman,
)
from trope.experiments.mined_positives.places import Counts, Places, likelihood
from trope.experiments.mined_positives.scorers import LABELS


@dataclass(frozen=True, eq=False)
class Comparison:
    """Judged pairs of a task, with all that turns places into figures."""

    judged: Judged
    threshold: float
    share: float
    mined: Counts
    draws: Draws

    @cached_property
    def positive(self) -> Bool[np.ndarray, " _"]:
        """Which pairs of a query with another image's caption people call positive."""
        return np.asarray(self.judged.scores[~self.judged.own] >= self.threshold)

    def curves(self, places: Places) -> dict[str, Estimate]:
        """Everything that is known of one measure."""
        other = ~self.judged.own
        everything = Images(self.judged.images, self.judged.caption_images)
        ranked, images = places.only(other), everything.only(other)
        found = likelihood(ranked.above, ranked.tied, self.mined.astype(float))
        scores, people = places.scores.astype(float), self.judged.scores
        agreed = agreement(found, self.positive, images, self.draws)
        recalled = recall(found, self.positive, images, self.draws)
        return {
            "agreement": agreed,
            "recall": recalled,
            "agreement_at_half": at_recall(agreed, recalled, 0.5),
            "judged": Estimate.exact(found.sum(axis=0) / self.judged.ways),
            "found": Estimate.exact(found[self.positive].sum(axis=0) / self.judged.ways),
            "needed": needed(ranked, self.positive, self.share, images, self.draws),
            "spearman": spearman(scores, people, everything, self.draws),
            "spearman_other": spearman(scores[other], people[other], images, self.draws),
        }


def described(curves: Mapping[str, Mapping[str, Estimate]]) -> dict[str, Any]:
    """Plain values, with the paired difference from class-based mining where that was asked for."""
    documents = {
        measure: {name: curve.document() for name, curve in known.items()}
        for measure, known in curves.items()
    }
    for measure in documents.keys() - {LABELS} if LABELS in curves else ():
        gain = curves[measure]["agreement"].minus(curves[LABELS]["agreement"])
        documents[measure]["gain"] = gain.document()
    return documents

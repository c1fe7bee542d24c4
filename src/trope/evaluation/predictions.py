"""Labels that a model predicts of pictures and texts, and how far they are the right ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from jaxtyping import Bool, Float, Float64, Int

from trope.evaluation.gallery import Gallery, Side
from trope.metrics.predictions import chosen, highest, macro_parts, micro_parts

Scores: TypeAlias = Float[np.ndarray, "_items labels"]
Values: TypeAlias = Float64[np.ndarray, " _items"]
Rows: TypeAlias = Int[np.ndarray, " _items"]
Thresholds: TypeAlias = Mapping[Side, float | None]


@dataclass(frozen=True, eq=False)
class Predicted:
    """A score of every label for each picture and each text of a gallery; `names` are the labels'.

    What is at least the threshold is predicted, or of a model that knows but `single` labels the
    one with the highest score.
    """

    names: tuple[str, ...]
    image: Scores
    text: Scores
    single: bool = False

    def of(self, side: Side) -> Scores:
        """The scores of one side."""
        return self.image if side == "image" else self.text

    def take(self, images: Rows, texts: Rows) -> Predicted:
        """Those of some pictures and texts."""
        return Predicted(self.names, self.image[images], self.text[texts], self.single)

    def guessed(self, side: Side, threshold: float | None) -> Bool[np.ndarray, "_items labels"]:
        """The labels that are predicted; without a threshold, the one with the highest score."""
        scores = self.of(side)
        return highest(scores) if threshold is None else chosen(scores, threshold)


def agreements(
    gallery: Gallery, predicted: Predicted, thresholds: Thresholds
) -> dict[str, dict[str, Values]]:
    """By modality, micro-F1 and macro-F1 as numbers whose means they are.

    Labels that only one side knows count too: never predicted, or never right. Items without
    labels are left out: nobody knows what is right for them.
    """
    found: dict[str, dict[str, Values]] = {}
    names = list(dict.fromkeys([*predicted.names, *gallery.label_names]))
    truth = truth_of(gallery, names)
    sides: tuple[tuple[Side, Bool[np.ndarray, "_items labels"]], ...] = (
        ("image", truth),
        ("text", truth[gallery.owners]),
    )
    for side, right in sides:
        guessed = np.zeros(right.shape, bool)
        guessed[:, : len(predicted.names)] = predicted.guessed(side, thresholds[side])
        known = np.asarray(right.any(axis=1))
        found[side] = {
            name: _spread(parts(guessed[known], right[known]), known)
            for name, parts in (("micro-f1", micro_parts), ("macro-f1", macro_parts))
        }
    return found


def truth_of(gallery: Gallery, names: list[str]) -> Bool[np.ndarray, "images labels"]:
    """Which of some labels, all of the gallery's among them, each picture has."""
    right = np.zeros((len(gallery.images), len(names)), bool)
    if gallery.labels is not None:
        places = {name: place for place, name in enumerate(names)}
        rows, columns = gallery.labels.nonzero()
        right[rows, np.array([places[name] for name in gallery.label_names])[columns]] = True
    return right


def _spread(values: Values, known: Bool[np.ndarray, " items"]) -> Values:
    found = np.full(len(known), np.nan)
    found[known] = values
    return found

"""Labels that a model predicts of pictures and texts, and how far they are the right ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from jaxtyping import Bool, Float, Float64, Int

from trope.evaluation.gallery import Gallery, Side
from trope.metrics.predictions import chosen, macro_parts, micro_parts

Scores: TypeAlias = Float[np.ndarray, "_items labels"]
Values: TypeAlias = Float64[np.ndarray, " _items"]
Rows: TypeAlias = Int[np.ndarray, " _items"]


@dataclass(frozen=True, eq=False)
class Predicted:
    """A score of every label for each picture and each text of a gallery; `names` are the labels'.

    What is at least the threshold is predicted.
    """

    names: tuple[str, ...]
    image: Scores
    text: Scores

    def of(self, side: Side) -> Scores:
        """The scores of one side."""
        return self.image if side == "image" else self.text

    def take(self, images: Rows, texts: Rows) -> Predicted:
        """Those of some pictures and texts."""
        return Predicted(self.names, self.image[images], self.text[texts])


def agreements(
    gallery: Gallery, predicted: Predicted, threshold: float
) -> dict[str, dict[str, Values]]:
    """By modality, micro-F1 and macro-F1 as numbers whose means they are.

    Labels that only one side knows count too: never predicted, or never right. Items without
    labels are left out: nobody knows what is right for them.
    """
    found: dict[str, dict[str, Values]] = {}
    names = list(dict.fromkeys([*predicted.names, *gallery.label_names]))
    truth = _truth(gallery, names)
    sides: tuple[tuple[Side, Bool[np.ndarray, "_items labels"]], ...] = (
        ("image", truth),
        ("text", truth[gallery.owners]),
    )
    for side, right in sides:
        scores = chosen(predicted.of(side), threshold)
        guessed = np.zeros(right.shape, bool)
        guessed[:, : len(predicted.names)] = scores
        known = np.asarray(right.any(axis=1))
        found[side] = {
            name: _spread(parts(guessed[known], right[known]), known)
            for name, parts in (("micro-f1", micro_parts), ("macro-f1", macro_parts))
        }
    return found


def _truth(gallery: Gallery, names: list[str]) -> Bool[np.ndarray, "images labels"]:
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

"""Which items a model of distributions is most and least certain of: by how far they reach."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from jaxtyping import Float, Int

from trope.explain.cards import Card, text_card
from trope.matching import spread
from trope.training import WeighedRun
from trope.views import Encoded

Numbers: TypeAlias = Float[np.ndarray, " n"]


@dataclass(frozen=True, eq=False)
class Certainty:
    """Items of one modality: how spread out they are on average, and both ends.

    `spreads` are those of the items at each end.
    """

    side: str
    count: int
    mean: float
    deviation: float
    most: tuple[Card, ...]
    least: tuple[Card, ...]
    spreads: Mapping[str, tuple[float, ...]]

    def document(self) -> dict[str, Any]:
        """As plain values, with ids in place of cards."""
        plain = {name: getattr(self, name) for name in ("side", "count", "mean", "deviation")}
        ends = {
            end: [_plain(*one) for one in zip(getattr(self, end), self.spreads[end], strict=True)]
            for end in ("most", "least")
        }
        return plain | ends


def certainties(found: WeighedRun, shown: int) -> tuple[Certainty, ...]:
    """Of training images and texts, an image once; none where items are points."""
    if found.image.log_sigma is None or found.text.log_sigma is None:
        return ()
    pictures = np.unique(found.train.images, return_index=True)[1]
    texts = np.unique(found.train.texts, return_index=True)[1]
    return (
        _certainty("images", found, reach_of(found.image), pictures, shown),
        _certainty("texts", found, reach_of(found.text), texts, shown),
    )


def reach_of(items: Encoded) -> Numbers:
    """The spread of each item, as a search tells it of a query."""
    return spread(items).double().cpu().numpy()


def _certainty(
    side: str, found: WeighedRun, reach: Numbers, places: Int[np.ndarray, " some"], shown: int
) -> Certainty:
    order = places[np.argsort(reach[places], kind="stable")]
    shown = min(shown, (len(order) + 1) // 2)

    def cards(chosen: Int[np.ndarray, " some"]) -> tuple[Card, ...]:
        return tuple(
            text_card(found.pairs, int(found.train.texts[i]), f"spread {reach[i]:.3f}")
            for i in chosen
        )

    known = reach[places]
    ends = {"most": order[:shown], "least": order[::-1][: min(shown, len(order) - shown)]}
    spreads = {end: tuple(reach[chosen].tolist()) for end, chosen in ends.items()}
    shares = (side, len(known), float(known.mean()), float(known.std()))
    return Certainty(*shares, cards(ends["most"]), cards(ends["least"]), spreads)


def _plain(card: Card, spread: float) -> dict[str, Any]:
    return {"id": card.id, "text": card.text, "spread": spread}

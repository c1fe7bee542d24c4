"""How little picture and text of each pair support each other: scores, the higher the wronger.

Four witnesses foretell what a pair should have. None of them was made from the pair.

    image-neighbors     the text, from the texts of pictures that look like its own
    text-neighbors      the picture, from the pictures of texts that mean the same as its own
    image-regression    the text, from the picture, as all other pairs have it
    text-regression     the picture, from the text, as all other pairs have it

Each tells by how many deviations what the pair has suits better than what others have; a score is
minus the mean of what some of them tell. What a pair has itself has a vote beside each witness:

    p_i + trust · mean |p| · q_i        p_i foretold, q_i what the pair has

A witness that says little, because its neighbors contradict each other, then does not count against
a pair; one that clearly says something else does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from jaxtyping import Float32, Float64, Int

from trope.explain.wrong.around import Ids, around, foretold
from trope.explain.wrong.regression import left_out
from trope.explain.wrong.sides import Sides
from trope.explain.wrong.standing import outdone, standing

WITNESSES = ("image-neighbors", "text-neighbors", "image-regression", "text-regression")
SCORES: dict[str, tuple[str, ...]] = {
    "support": WITNESSES,
    "neighbors": WITNESSES[:2],
    "regression": WITNESSES[2:],
    **{name: (name,) for name in WITNESSES},
}

Told: TypeAlias = dict[str, Float64[np.ndarray, " n"]]
Vectors: TypeAlias = Float32[np.ndarray, "n _"]
Sample: TypeAlias = Int[np.ndarray, " sample"]


@dataclass(frozen=True)
class Hearing:
    """How witnesses are asked: by `k` neighbors, a regression of a `strength`, and with `trust`."""

    k: int = 10
    strength: float = 1.0
    trust: float = 0.3

    def __post_init__(self) -> None:
        if self.k < 1:
            raise ValueError(f"k must be at least 1, found {self.k}")
        if not 0 < self.strength < float("inf"):
            raise ValueError(f"strength must be above 0, found {self.strength}")
        if not 0 <= self.trust < float("inf"):
            raise ValueError(f"trust must be at least 0, found {self.trust}")


@dataclass(frozen=True, eq=False)
class Testimony:
    """What some witnesses tell of each pair: its standing, and the share of others that outdo it.

    `look` and `meaning` are the neighbors of each pair by picture and by text, by number.
    """

    standing: Told = field(repr=False)
    outdone: Told = field(repr=False)
    look: Ids = field(repr=False)
    meaning: Ids = field(repr=False)

    def score(self, name: str = "support") -> Float64[np.ndarray, " n"]:
        """Minus the mean standing by the witnesses of a score."""
        told = [self.standing[witness] for witness in SCORES[name]]
        return np.asarray(-np.mean(told, axis=0))


def hear(sides: Sides, how: Hearing, sample: Sample, score: str = "support") -> Testimony:
    """Ask the witnesses of a score."""
    near = {"image": around(sides.image, sides.tied, how.k)}
    near["text"] = around(sides.text, sides.tied, how.k)
    told: Told = {}
    shares: Told = {}
    for witness in SCORES[score]:
        wanted, has = _asked(witness, sides, near, how.strength)
        shares[witness] = outdone(wanted, has, sample)
        vote = how.trust * float(np.linalg.norm(wanted, axis=1).mean())
        told[witness] = standing(wanted + np.float32(vote) * has, has)
    return Testimony(told, shares, near["image"], near["text"])


def _asked(
    witness: str, sides: Sides, near: dict[str, Ids], strength: float
) -> tuple[Vectors, Vectors]:
    """What a witness foretells of each pair, and what the pair has."""
    side, kind = witness.split("-")
    own, other = sides.image, sides.text
    if side == "text":
        own, other = other, own
    if kind == "neighbors":
        return foretold(near[side], other), other
    return left_out(own, other, sides.tied, strength), other

"""Random batches as a model sees them, and similarities in loops."""

from __future__ import annotations

import math

import torch
from hypothesis import strategies as st

from trope.maths import normalize
from trope.views import Encoded, View


def batch(n: int, senses: int = 1, kinds: int = 100, seed: int = 0, size: int = 6) -> View:
    """Pairs, of which few `kinds` make some the same."""
    random = torch.Generator().manual_seed(seed)
    points = normalize(torch.randn(2, n, senses, size, generator=random, dtype=torch.float64))
    sides = [Encoded(normalize(side.sum(1)), side if senses > 1 else None) for side in points]
    image = torch.randint(kinds, (n,), generator=random) if kinds < 100 else torch.arange(n)
    return View(sides[0], sides[1], image[:, None] == image)


batches = st.builds(
    batch,
    n=st.integers(1, 7),
    senses=st.sampled_from([1, 3]),
    kinds=st.sampled_from([3, 100]),
    seed=st.integers(0, 2**31),
)


def points(side: Encoded) -> list[list[list[float]]]:
    """The senses of each item."""
    found = side.mean[:, None] if side.points is None else side.points
    return found.tolist()


def alike(left: list[list[float]], right: list[list[float]]) -> float:
    """The largest product of two items' senses."""
    return max(math.fsum(x * y for x, y in zip(a, b, strict=True)) for a in left for b in right)


def scores(view: View) -> list[list[float]]:
    """Of each image and each text."""
    return [[alike(a, b) for b in points(view.text)] for a in points(view.image)]

"""Random batches, and ranking losses over them in plain loops."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from hypothesis import strategies as st
from torch import Tensor

from trope.maths import normalize
from trope.views import Encoded, Near, View

ODDS = torch.tensor(6.0, dtype=torch.float64)

Term = Callable[[float, Sequence[tuple[float, float]], int], float]


def items(n: int, senses: int, random: torch.Generator, size: int = 5) -> Encoded:
    """Random unit vectors, and senses if there are several."""

    def draw(*shape: int) -> Tensor:
        return torch.randn(*shape, size, generator=random, dtype=torch.float64)

    if senses == 1:
        return Encoded(normalize(draw(n)))
    return Encoded(normalize(draw(n)), normalize(draw(n, senses)), draw(n, senses))


def batch(n: int, senses: int = 1, kinds: int = 100, seed: int = 0) -> View:
    """A batch with neighbors and teachers; few `kinds` of images and texts make duplicates."""
    random = torch.Generator().manual_seed(seed)
    image, text, other = (torch.randint(kinds, (n,), generator=random) for _ in range(3))
    if kinds >= 100:
        image, text, other = torch.arange(3 * n).view(3, n)
    same = (image[:, None] == image) | (text[:, None] == text)
    near = Near(
        items(n, senses, random), items(n, senses, random), other[:, None] == image[None, :]
    )
    meaning, look = (torch.randn(n, 4, generator=random, dtype=torch.float64) for _ in range(2))
    sides = items(n, senses, random), items(n, senses, random)
    return View(*sides, same, near, meaning, look, odds=ODDS)


batches = st.builds(
    batch,
    n=st.integers(1, 6),
    senses=st.sampled_from([1, 3]),
    kinds=st.sampled_from([2, 4, 100]),
    seed=st.integers(0, 2**31),
)


def cosine(left: Encoded, i: int, right: Encoded, j: int) -> float:
    """The similarity of two items, in loops over their senses and numbers."""
    ones = [left.mean[i]] if left.points is None else list(left.points[i])
    others = [right.mean[j]] if right.points is None else list(right.points[j])
    return max(math.fsum(a * b for a, b in zip(x.tolist(), y.tolist(), strict=True))
               for x in ones for y in others)  # fmt: skip


def matrix(left: Encoded, right: Encoded) -> list[list[float]]:
    """All similarities of two lists of items."""
    n = len(left.mean)
    return [[cosine(left, i, right, j) for j in range(n)] for i in range(n)]


def ranking(view: View, term: Term, weights: Sequence[float]) -> list[float]:
    """The four terms of a ranking loss: image to text, text to image, text, image.

    `term` gets s(anchor, positive), the pairs of s(anchor, other) and s(positive, other), and n.
    """
    assert view.near is not None
    n, near = len(view.same), view.near
    sides = [
        (view.image, view.text, view.text, view.same),
        (view.text, view.image, view.image, view.same),
        (view.text, near.text, view.text, view.same | near.same),
        (view.image, near.image, view.image, view.same | near.same),
    ]
    return [
        sum(
            weight
            * term(
                cosine(anchor, i, positive, i),
                [
                    (cosine(anchor, i, others, j), cosine(positive, i, others, j))
                    for j in range(n)
                    if not left_out[i, j]
                ],
                n,
            )
            for weight, (anchor, positive, others, left_out) in zip(weights, sides, strict=True)
        )
        for i in range(n)
    ]


def shares(values: Sequence[float], chosen: Sequence[int]) -> dict[int, float]:
    """The softmax over some entries of a row."""
    total = math.fsum(math.exp(values[j]) for j in chosen)
    return {j: math.exp(values[j]) / total for j in chosen}


def paired(n: int, seed: int = 0, size: int = 8) -> tuple[Tensor, Tensor]:
    """Images and texts that are all different."""
    random = torch.Generator().manual_seed(seed)
    draw = torch.randn(2, n, size, generator=random, dtype=torch.float64)
    image, text = normalize(draw)
    return image, text


def both_ways(peer: Callable[..., Tensor], image: Tensor, text: Tensor) -> Tensor:
    """A loss of pytorch-metric-learning from images to texts, plus that from texts to images."""
    n = len(image)
    pairs = {"labels": torch.arange(n), "ref_labels": torch.arange(n)}  # two tensors, not one
    return peer(image, ref_emb=text, **pairs) + peer(text, ref_emb=image, **pairs)


def view_of(image: Tensor, text: Tensor) -> View:
    """A batch of pairs that are all different."""
    return View(Encoded(image), Encoded(text), torch.eye(len(image), dtype=torch.bool))

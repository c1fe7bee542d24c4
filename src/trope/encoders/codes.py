"""Groups of features by Lloyd's k-means: names for what has none, such as cells of a picture."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor

ROUNDS = 15
BLOCK = 8_192  # features compared at once


def centers_of(
    values: Float[Tensor, "items c"], count: int, random: torch.Generator
) -> Float[Tensor, "count c"]:
    """The centers of `count` groups, which begin as items drawn by lot.

    A group that has lost all its items begins anew with the item that is farthest from its center;
    of fewer items than groups some stand twice.
    """
    order = torch.randperm(len(values), generator=random)
    centers = values[order[torch.arange(count) % len(values)]].clone()
    for _ in range(ROUNDS):
        groups = nearest(values, centers)
        sums = torch.zeros_like(centers).index_add(0, groups, values)
        sizes = torch.bincount(groups, minlength=count)
        empty = sizes == 0
        far = (values - centers[groups]).square().sum(dim=1).argsort(descending=True, stable=True)
        centers = sums / sizes.clamp(min=1)[:, None]
        centers[empty] = values[far[torch.arange(int(empty.sum())) % len(values)]]
    return centers


def nearest(
    values: Float[Tensor, "items c"], centers: Float[Tensor, "count c"]
) -> Int[Tensor, " items"]:
    """The number of the center nearest to each item."""
    half = centers.square().sum(dim=1) / 2
    blocks = torch.split(values, BLOCK)  # one, without items, where there are none
    return torch.cat([(block @ centers.T - half).argmax(dim=1) for block in blocks])

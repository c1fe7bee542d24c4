"""Where the parts of a picture are: left, top, right and bottom edge and area, as shares of it."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

EDGES = 4


def grid_boxes(side: int) -> Float[Tensor, "cells 5"]:
    """Of `side` by `side` equal cells, row by row."""
    edges = torch.arange(side + 1) / side
    top, left = torch.meshgrid(edges[:-1], edges[:-1], indexing="ij")
    corners = torch.stack([left, top, left + 1 / side, top + 1 / side], dim=-1)
    return with_area(corners.flatten(0, 1))


def with_area(edges: Float[Tensor, "*n 4"]) -> Float[Tensor, "*n 5"]:
    """Boxes of which only the edges are known, with their area."""
    left, top, right, bottom = edges.unbind(-1)
    return torch.cat([edges, ((right - left) * (bottom - top))[..., None]], dim=-1)

"""From pixels to a network's input, and from its output to the three kinds of features.

Who changes the numbers that come out raises `VERSION` of `trope.features.kinds`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from trope.features.kinds import GRID, Features, Kind, Pixels
from trope.runtime import cores

PART = 4  # pictures at a time: with more, every layer asks the system for fresh memory
HALF_RANGE = 65_504.0  # the largest 16-bit float

Map = Float[Tensor, "images channels height width"]
Tokens = Float[Tensor, "images tokens channels"]


def prepared(pixels: Pixels, mean: Sequence[float], std: Sequence[float], device: str) -> Map:
    """(x - mean) / std with values of 0 to 255; the memory stays in the order of the pixels."""
    values = torch.from_numpy(np.require(pixels, requirements=["C", "W"])).to(device)
    centers, widths = (torch.tensor(v, dtype=torch.float32, device=device) for v in (mean, std))
    return ((values.float() - centers) / widths).permute(0, 3, 1, 2)


def cells(features: Map) -> Tokens:
    """A map as a list of cells, row by row."""
    return features.flatten(2).transpose(1, 2)


def as_map(tokens: Tokens) -> Map:
    """Tokens of a square picture back in their places."""
    side = math.isqrt(tokens.shape[1])
    if side * side != tokens.shape[1]:
        raise ValueError(f"{tokens.shape[1]} tokens are not a square")
    return tokens.transpose(1, 2).reshape(len(tokens), -1, side, side)


def grid(features: Map, side: int = GRID) -> Tokens:
    """7x7 cells, or others, each the mean of the part of the map below it."""
    if tuple(features.shape[2:]) == (side, side):
        return cells(features)
    return cells(functional.adaptive_avg_pool2d(features, side))


def coarser(tokens: Tokens, side: int) -> Float[Tensor, "images fewer channels"]:
    """Cells of a square picture joined to fewer, in numbers of the same kind."""
    return grid(as_map(tokens.float()), side).to(tokens.dtype)


def chosen(hidden: Tensor, pooled: Tensor | None, patches: int, kind: Kind) -> Tensor:
    """One kind of features from a last layer: a map, or tokens of which the first may be special.

    Pooled is the network's own pooling, else its class token, else the mean.
    """
    if hidden.ndim == 4:
        tokens, special = cells(hidden), None
    else:
        extra = max(hidden.shape[1] - patches, 0) if patches <= hidden.shape[1] else 0
        tokens, special = hidden[:, extra:], hidden[:, 0] if extra else None
    if kind == "tokens":
        return tokens
    if kind == "grid":
        return grid(hidden if hidden.ndim == 4 else as_map(tokens))
    if pooled is not None:
        return pooled.flatten(1)
    return tokens.mean(1) if special is None else special


def in_parts(
    pixels: Pixels, network: Callable[[Pixels], Tensor], kind: Kind, device: str
) -> Features:
    """Run a network; on a processor each core takes a few pictures at a time.

    That is several times faster than all cores on one operation, which wait for each other at every
    step and badly so when another program has one of them. Other devices want the whole batch.
    """
    quick = torch.inference_mode()(network)
    values = _by_cores(pixels, quick) if device == "cpu" else quick(pixels)
    if kind != "pooled":
        values = values.clamp(-HALF_RANGE, HALF_RANGE).half()
    return np.asarray(values.cpu().numpy())


def _by_cores(pixels: Pixels, network: Callable[[Pixels], Tensor]) -> Tensor:
    parts = [pixels[i : i + PART] for i in range(0, len(pixels), PART)]
    with one_core_each(), ThreadPoolExecutor(cores()) as pool:
        return torch.cat(list(pool.map(network, parts)))


@contextmanager
def one_core_each() -> Iterator[None]:
    """Operations of torch on one core, so that several can run side by side."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)

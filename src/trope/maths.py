"""Tensor operations whose signs and small constants must be the same everywhere."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional

SHORTEST = 1e-12  # a vector below this length has no direction
REGISTER = 16  # numbers
SUREST = 1e-6  # a score this near to 0 or 1 is as sure as a score gets
NEAREST = 1e-4  # added to squared distances: the root has no derivative at zero


def normalize(vectors: Float[Tensor, "*n d"]) -> Float[Tensor, "*n d"]:
    """Rows of length one; a row of zeros stays as it is, and no gradient passes it."""
    length: Tensor = torch.linalg.vector_norm(vectors, dim=-1, keepdim=True)
    return vectors / length.masked_fill(length < SHORTEST, torch.inf)


def log_one_plus_sum_exp(
    values: Float[Tensor, "n m"],
    allowed: Bool[Tensor, "n m"],
    weights: Float[Tensor, "n m"] | None = None,
) -> Float[Tensor, " n"]:
    """log(1 + Σ w exp) over the allowed entries of each row, for values of any size; w is 1."""
    if weights is not None:
        values, allowed = values + weights.clamp(min=SHORTEST).log(), allowed & (weights > 0)
    masked = values.masked_fill(~allowed, -torch.inf)
    return torch.cat([values.new_zeros(len(values), 1), masked], dim=1).logsumexp(dim=1)


def log_softmax(values: Float[Tensor, "n m"], allowed: Bool[Tensor, "n m"]) -> Float[Tensor, "n m"]:
    """Logarithms of shares among the allowed entries of each row; elsewhere minus infinity."""
    return values.masked_fill(~allowed, -torch.inf).log_softmax(dim=1)


def softmax(values: Float[Tensor, "*n m"]) -> Float[Tensor, "*n m"]:
    """Shares among the last dimension's entries.

    Torch takes ten times as long for an entry where there are fewer than a vector register holds.
    """
    count = values.shape[-1]
    if count >= REGISTER:
        return torch.softmax(values, dim=-1)
    more = functional.pad(values, (0, REGISTER - count), value=-torch.inf)
    return torch.softmax(more, dim=-1)[..., :count]


def distance(cosines: Float[Tensor, "*n"]) -> Float[Tensor, "*n"]:
    """Euclidean distances of unit vectors, from their cosines."""
    return ((2 - 2 * cosines).clamp(min=0) + NEAREST).sqrt()


def log_odds(scores: Float[Tensor, "*n c"]) -> Float[Tensor, "*n c"]:
    """The logarithms of the odds of scores from 0 to 1, whose sigmoid gives them back.

    In 32 bits at least: with fewer, 1 less a little is 1.
    """
    wide = scores.to(torch.promote_types(scores.dtype, torch.float32))
    return torch.logit(wide.clamp(SUREST, 1 - SUREST))

"""How likely two normal distributions match: PCME (Chun et al., CVPR 2021) and PCME++ (ICLR 2024).

    PCME      s_kl = -a ‖z_k - z'_l‖ + b     p = mean over the K² couples of e^s / (e^s + e^-s)
    PCME++    s    = -a (‖μ - μ'‖² + Σ (σ² + σ'²)) + b                       p = 1 / (1 + e^-s)

z are K samples of an item, z_k = μ + σ ε_k, and are not scaled to length one. All is computed as
the logarithm of the odds p / (1 - p), so that nothing is lost where p is near to 0 or 1.
"""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import logsigmoid

from trope.views import Encoded

SMALLEST_SQUARE = 1e-6  # added to squared distances: the root has no derivative at zero

FARTHEST = 60.0  # between two exponents of one sum in 32 bits

Noise = Float[Tensor, "*n k d"]
Number = Float[Tensor, ""]


def samples(items: Encoded, noise: Noise) -> Float[Tensor, "n k d"]:
    """K points of each item; noise may be that of all items alike."""
    assert items.log_sigma is not None, "items without a spread"
    return items.mean[:, None] + items.log_sigma.exp()[:, None] * noise


def sampled_odds(
    left: Float[Tensor, "n k d"], right: Float[Tensor, "m l d"], scale: Number, shift: Number
) -> Float[Tensor, "n m"]:
    """Log-odds of a match by all couples of samples; holds n k m l numbers."""
    (n, k, _), (m, other, _) = left.shape, right.shape
    apart = squared_distances(left.flatten(0, 1), right.flatten(0, 1)) + SMALLEST_SQUARE
    double = 2 * (shift - scale * apart.sqrt()).view(n, k, m, other)  # a logistic of 2s
    match = logsigmoid(double)
    return match.logsumexp(dim=(1, 3)) - (match - double).logsumexp(dim=(1, 3))


@torch.no_grad()
def sampled_odds_at_rest(
    left: Float[Tensor, "n k d"], right: Float[Tensor, "m l d"], scale: Number, shift: Number
) -> Float[Tensor, "n m"]:
    """The same without gradients, couple by couple of samples; holds a few times n m numbers.

    Sums of p and of 1 - p, each divided by that of the first couple where it is small; of p, by
    that of a later one if it is far nearer.
    """
    lengths = [points.square().sum(dim=2).T.contiguous() for points in (left, right)]
    ours, theirs = (points.transpose(0, 1).contiguous() for points in (left, right))
    match = miss = low = high = below = above = ours.new_empty(0)
    for one, length in zip(ours, lengths[0], strict=True):
        for other, others in zip(theirs, lengths[1], strict=True):
            apart = torch.addmm(length[:, None] + others, one, other.T, alpha=-2)
            double = (
                apart.clamp_(min=0).add_(SMALLEST_SQUARE).sqrt_().mul_(-2 * scale).add_(2 * shift)
            )
            if not len(match):
                low, high = double.clamp(max=0), double.clamp(min=0, max=FARTHEST)
                below, above = low.exp(), (-high).exp()
                match, miss = torch.zeros_like(double), torch.zeros_like(double)
            elif bool((double > low + FARTHEST).any()):
                nearer = torch.maximum(low, double.clamp(max=0))
                match *= (low - nearer).exp_()
                low, below = nearer, nearer.exp()
            match += (low - double).exp_().add_(below).reciprocal_()
            miss += double.sub_(high).exp_().add_(above).reciprocal_()
    return match.log_().add_(low) - miss.log_().sub_(high)


def expected_distances(left: Encoded, right: Encoded) -> Float[Tensor, "n m"]:
    """Squared distance of a sample of one and a sample of the other, as expected: PCME++."""
    apart = squared_distances(left.mean, right.mean)
    return apart + variance(left)[:, None] + variance(right)


def squared_distances(
    left: Float[Tensor, "n d"], right: Float[Tensor, "m d"]
) -> Float[Tensor, "n m"]:
    """‖x - y‖² of all couples, by one product."""
    own, others = left.square().sum(dim=1), right.square().sum(dim=1)
    return (own[:, None] + others - 2 * left @ right.T).clamp(min=0)


def variance(items: Encoded) -> Float[Tensor, " n"]:
    """Of an item, over all dimensions: Σ σ²."""
    assert items.log_sigma is not None, "items without a spread"
    return (2 * items.log_sigma).exp().sum(dim=1)


def spread(items: Encoded) -> Float[Tensor, " n"]:
    """How far from its mean the samples of an item lie: √ Σ σ²; means are at most 2 apart."""
    return variance(items).sqrt()


def divergence(items: Encoded) -> Float[Tensor, " n"]:
    """KL of an item's distribution from the standard normal, σ² = e^{2 log σ}."""
    assert items.log_sigma is not None, "items without a spread"
    double = 2 * items.log_sigma
    return 0.5 * (double.exp() + items.mean.square() - 1 - double).sum(dim=1)


def released_divergence(
    points: Float[Tensor, "n k d"], log_sigma: Float[Tensor, "n d"]
) -> Float[Tensor, " n"]:
    """KL as PCME's code has it: log σ in place of log σ², the samples' mean in place of μ."""
    mean = points.mean(dim=1)
    return -0.5 * (1 + log_sigma - mean.square() - log_sigma.exp()).sum(dim=1)


def uniformity(points: Float[Tensor, "n d"]) -> Number:
    """How evenly points are spread: log mean_{i<j} exp(-2 ‖z_i - z_j‖²) (Wang & Isola 2020)."""
    if len(points) < 2:
        return points.new_zeros(())
    apart: Tensor = torch.pdist(points)
    return (-2 * apart.square()).logsumexp(dim=0) - math.log(len(apart))

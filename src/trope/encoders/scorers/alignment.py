"""Each word beside what an image shows of it: the similarity vectors of SGRAF.

    A_wr = v_r · t_w
    B    = leaky-ReLU(A), slope 0.1                U_wr = B_wr / √Σ_w B_wr²      over words
    P    = softmax_r(τ U), τ = 9                   x_w  = normalize(Σ_r P_wr v_r)
    z_w  = W |x_w - t_w|² + b

Diao et al. (AAAI 2021); of each pair of an image and a text. |·|² is of each coordinate.
What is as large as pairs times words times dimensions exists for one block at a time, on the way
back too: only U is kept for it, and the attended x is made again.
"""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

from trope.maths import SHORTEST, softmax

SLOPE = 0.1

Regions = Float[Tensor, "n r d"]
Words = Float[Tensor, "c l d"]


def aligned(
    regions: Regions,
    words: Words,
    weight: Float[Tensor, "s d"],
    bias: Float[Tensor, " s"],
    temperature: float,
) -> Float[Tensor, "n c l s"]:
    """z of all words with all images; padding is zeros, changes nothing and gets no meaning.

    In the precision of the weights, whatever the rest of a model computes in.
    """
    function: Any = _Aligned.apply
    with torch.autocast(regions.device.type, enabled=False):
        return torch.as_tensor(function(regions, words, weight, bias, temperature))


class _Aligned(torch.autograd.Function):
    """The formula above; a block is all it is given."""

    @staticmethod
    def forward(ctx: Any, *inputs: Any) -> Any:
        """Attention, the attended, the differences."""
        regions, words, weight, bias, temperature = inputs
        unit, lengths = over_words(regions, words)
        squares = attended(regions, unit, temperature)[0]
        squares = squares.sub_(words.flatten(0, 1))
        squares = squares.mul_(squares)
        found = torch.addmm(bias, squares.flatten(0, 1), weight.T)
        ctx.save_for_backward(regions, words, weight, unit, lengths)
        ctx.temperature = temperature
        return found.view(len(regions), *words.shape[:2], -1)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *outputs: Any) -> Any:
        """Gradients of regions, words, weight and bias."""
        regions, words, weight, unit, lengths = ctx.saved_tensors
        flat, (n, c, count) = words.flatten(0, 1), outputs[0].shape[:3]
        reaching = outputs[0].reshape(n * c * count, -1)
        found, shares, long = attended(regions, unit, ctx.temperature)
        apart = found - flat
        by_apart = (reaching @ (2 * weight)).view_as(apart).mul_(apart)
        by_weight = reaching.T @ apart.mul_(apart).flatten(0, 1)
        by_words = -by_apart.sum(dim=0)
        # Through the length: what points along x does not change it.
        along = torch.mul(by_apart, found, out=apart).sum(dim=2, keepdim=True)
        by_sum = by_apart.addcmul_(found, along, value=-1).mul_(long)
        by_shares = torch.bmm(by_sum, regions.transpose(1, 2))
        by_regions = torch.bmm(shares.transpose(1, 2), by_sum)
        by_unit = _through_softmax(shares, by_shares, ctx.temperature)
        by_products = _through_lengths(by_unit, unit, lengths, (n, c, count))
        by_words = by_words + torch.mm(
            by_products.transpose(0, 1).reshape(c * count, -1), regions.flatten(0, 1)
        )
        by_regions = by_regions.baddbmm_(by_products.transpose(1, 2), flat.expand(n, -1, -1))
        return by_regions, by_words.view_as(words), by_weight, reaching.sum(dim=0), None


def over_words(
    regions: Regions, words: Words
) -> tuple[Float[Tensor, "n words r"], Float[Tensor, "n c 1 r"]]:
    """U, and what it was multiplied by: one over the length of each region's products."""
    n, (c, count) = len(regions), words.shape[:2]
    products = torch.mm(words.flatten(0, 1), regions.flatten(0, 1).T)
    products = products.view(c, count, n, -1).permute(2, 0, 1, 3).contiguous()
    products = functional.leaky_relu_(products, SLOPE)
    lengths = products.square().sum(dim=2, keepdim=True).sqrt_()
    lengths = lengths.masked_fill_(lengths < SHORTEST, torch.inf).reciprocal_()
    return products.mul_(lengths).view(n, c * count, -1), lengths


def attended(
    regions: Regions, unit: Float[Tensor, "n words r"], temperature: float
) -> tuple[Float[Tensor, "n words d"], Float[Tensor, "n words r"], Float[Tensor, "n words 1"]]:
    """x, the shares P it is made of, and one over the length it had."""
    shares = softmax(unit * temperature)
    found = torch.bmm(shares, regions)
    length = torch.linalg.vector_norm(found, dim=2, keepdim=True)
    length = length.masked_fill_(length < SHORTEST, torch.inf).reciprocal_()
    return found.mul_(length), shares, length


def _through_softmax(shares: Tensor, reaching: Tensor, temperature: float) -> Tensor:
    mean = torch.linalg.vecdot(shares, reaching).unsqueeze_(2)
    return reaching.sub_(mean).mul_(shares).mul_(temperature)


def _through_lengths(
    reaching: Tensor, unit: Tensor, lengths: Tensor, shape: tuple[int, int, int]
) -> Float[Tensor, "n words r"]:
    """What reaches the products: through the lengths over words, then the leaky ReLU."""
    unit, reaching = unit.view(*shape, -1), reaching.view(*shape, -1)
    along = (reaching * unit).sum(dim=2, keepdim=True)
    found = torch.addcmul(reaching, unit, along, value=-1).mul_(lengths)
    found = torch.where(unit < 0, SLOPE * found, found)
    return found.view(shape[0], shape[1] * shape[2], -1)

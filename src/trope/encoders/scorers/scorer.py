"""What SGR and SAF share: similarity vectors of a pair, and a score read from them.

    s_w = normalize(z_w)                           a word and what the image shows of it: alignment
    s_0 = normalize(W' |g - h|² + b')              global vectors of image and text
    score = sigmoid(w · read(s_0 ... s_L) + b)

Diao et al. (AAAI 2021). Pairs are compared in blocks, texts of like length together, without a loop
over texts. Pairs times words times dimensions is never held but for a block of 4 · `blocks.NUMBERS`
bytes, a few times over; for the way back training keeps pairs times words times a few vectors of
`size` for each step, and a number for each region.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeAlias

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from trope.encoders.batch_norm import Statistics
from trope.encoders.heads import xavier
from trope.encoders.scorers.alignment import aligned
from trope.encoders.scorers.blocks import Block, in_blocks, locals_of
from trope.encoders.scorers.comparing import Comparing
from trope.maths import normalize
from trope.views import Encoded


class Nodes(NamedTuple):
    """Similarity vectors of pairs, the global one first; those of padding mean nothing.

    `known` are statistics of all pairs of a batch, where a scorer in training needs them.
    """

    vectors: Float[Tensor, "n c nodes s"]
    present: Bool[Tensor, "c nodes"]
    known: Statistics | None = None


Compared: TypeAlias = tuple[Block, Nodes]


class Scorer(Comparing):
    """Similarity vectors of `size` dimensions, from parts and global vectors of a joint space."""

    def __init__(self, dimensions: int, size: int, temperature: float) -> None:
        super().__init__()
        self.temperature = temperature
        self.local = xavier(nn.Linear(dimensions, size))
        self.whole = xavier(nn.Linear(dimensions, size))
        self.judge = xavier(nn.Linear(size, 1))

    @abstractmethod
    def read(self, nodes: Nodes) -> Float[Tensor, "n c s"]:
        """One vector a pair."""

    def forward(self, image: Encoded, text: Encoded) -> Float[Tensor, "n m"]:
        """How alike every image and every text are, from 0 to 1."""
        columns: list[list[Tensor]] = []
        order = []
        found = ((block, self.nodes(image, text, block)) for block in in_blocks(image, text))
        for block, nodes in self.looked_at(found):
            if not block.images.start:
                columns.append([])
                order.append(block.texts)
            columns[-1].append(self.scored(nodes))
        if not columns:
            return image.mean.new_zeros(len(image.mean), len(text.mean))
        whole = torch.cat([torch.cat(column) for column in columns], dim=1)
        return whole.index_select(1, torch.argsort(torch.cat(order)))

    def looked_at(self, found: Iterator[Compared]) -> Iterable[Compared]:
        """All blocks before any is scored, where a scorer needs to know them all."""
        return found

    def nodes(self, image: Encoded, text: Encoded, block: Block) -> Nodes:
        """The similarity vectors of a block's pairs."""
        regions = locals_of(image, "image")[block.images].to(self.local.weight.dtype)
        words = block.words.to(self.local.weight.dtype)
        local = aligned(regions, words, self.local.weight, self.local.bias, self.temperature)
        images, texts = image.mean[block.images], text.mean.index_select(0, block.texts)
        apart = (images[:, None] - texts).square()
        vectors = torch.cat([self.whole(apart)[:, :, None], local], dim=2)
        there = torch.cat([block.present.new_ones(len(texts), 1), block.present], dim=1)
        return Nodes(normalize(vectors), there)

    def scored(self, nodes: Nodes) -> Float[Tensor, "n c"]:
        """The scores of a block."""
        return torch.sigmoid(self.judge(self.read(nodes)).squeeze(2))

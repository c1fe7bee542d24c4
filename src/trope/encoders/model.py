"""A model of two towers: an encoder and a head for each modality, one space for both."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn

from trope.encoders.content import Encoder
from trope.encoders.inputs import Inputs, Items, Tensors
from trope.encoders.joining import Packed, join, packed, unpacked
from trope.encoders.scorers.comparing import Comparing
from trope.similarity import similarity
from trope.views import Encoded


class Tower(nn.Module):
    """One modality: from what its inputs give to points of the joint space, or to parts."""

    def __init__(self, encoder: Encoder, head: nn.Module) -> None:
        super().__init__()
        self.encoder, self.head = encoder, head

    def forward(self, *inputs: Tensor) -> Packed:
        """Encoded items, as plain tensors: wrappers of modules cannot look into records."""
        return unpacked(self.head(self.encoder(*inputs)))


class Model(nn.Module):
    """Pictures and texts in, points of one space out; heads may share what both learn.

    `scorer(image, text)` says how alike encoded items are, where a cosine does not.
    """

    def __init__(self, image: Tower, text: Tower, scorer: Comparing | None = None) -> None:
        super().__init__()
        self.image, self.text, self.scorer = image, text, scorer

    def forward(self, images: Tensors, texts: Tensors) -> tuple[Packed, Packed]:
        """Both modalities of a batch in one call."""
        return self.image(*images), self.text(*texts)


@torch.no_grad()
def encode(
    tower: Tower, inputs: Inputs, items: Items, batch: int = 256, *, parts: bool = True
) -> Encoded:
    """Chosen items of one modality, in order, without gradients or dropout.

    Without `parts` only where they lie, which takes far less memory for a model that keeps them.
    """
    training = tower.training
    tower.eval()
    device = next(tower.parameters()).device
    chosen = [items[i : i + batch] for i in range(0, len(items), batch)]
    try:
        done = []
        for tensors in inputs.batches(chosen, None):
            found = packed(tower(*(tensor.to(device) for tensor in tensors)))
            done.append(found if parts else found.points_only())
    finally:
        tower.train(training)
    return join(done)


@torch.no_grad()
def compare(scorer: Comparing | None, image: Encoded, text: Encoded) -> Float[Tensor, "n m"]:
    """Every image with every text as the model compares them, as it does in use."""
    if scorer is None:
        return similarity(image, text)
    training = scorer.training
    scorer.eval()
    try:
        found: Tensor = scorer(image, text)
    finally:
        scorer.train(training)
    return found

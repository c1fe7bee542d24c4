"""What a model is fed for texts and pictures that just came in: nothing goes through the cache."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from trope.data.text import listed, prepare, tokenize
from trope.data.vocabulary import Vocabulary
from trope.encoders.inputs import Inputs, Rows, Tokens, Words
from trope.encoders.plan import WORDS, Plan
from trope.encoders.sentences import pieces
from trope.encoders.tuned import tunable
from trope.errors import UsageError
from trope.features.backbones import backbone
from trope.features.backbones.outputs import coarser
from trope.features.kinds import GRID, Pixels
from trope.features.precomputed import Precomputed
from trope.features.sentences import sentence_encoder
from trope.features.tokens import Ragged, TokenTable


def text_inputs(plan: Plan, texts: Sequence[str]) -> Inputs:
    """Texts as the text tower takes them."""
    found = [prepare(text, plan.text.preparation) for text in listed(texts, "texts")]
    if plan.text.encoder == "precomputed":
        raise UsageError(
            "the model takes vectors of texts that come with a data set; it cannot be asked with "
            "words"
        )
    if plan.text.encoder in WORDS:
        words = Vocabulary(plan.words)
        return Words.of(words.encode(tokenize(text)[: plan.text.longest]) for text in found)
    if plan.text.encoder == "sentence-tuned":
        return pieces(found, plan.text.model, plan.text.longest)
    network = sentence_encoder(plan.text.model)
    if plan.parts:
        return Tokens(TokenTable.of(Ragged.of(network.encode_tokens(found))))
    return Rows(torch.from_numpy(network.encode(found)))


def image_size(plan: Plan) -> int:
    """Height and width of the pictures that the model takes."""
    if plan.image.encoder == "tuned":
        return tunable(plan.image.backbone).size
    network = backbone(plan.image.backbone)
    if isinstance(network, Precomputed):
        raise UsageError(
            "the model takes features of pictures that come with a data set; it cannot be asked "
            "with a picture"
        )
    return network.size


def image_inputs(plan: Plan, pixels: Pixels) -> Inputs:
    """Decoded pictures as the image tower takes them."""
    if plan.image.encoder == "tuned":
        return Rows(torch.from_numpy(pixels))
    network = backbone(plan.image.backbone)
    assert not isinstance(network, Precomputed)  # `image_size` has refused it
    found = torch.from_numpy(network.encode(pixels, "grid" if plan.parts else "pooled"))
    fewer = plan.parts and plan.image.grid < GRID
    return Rows(coarser(found, plan.image.grid) if fewer else found)

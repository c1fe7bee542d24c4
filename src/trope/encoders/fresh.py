"""What a model is fed for texts and pictures that just came in: nothing goes through the cache."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

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
from trope.features.kinds import GRID, Backbone, Pixels
from trope.features.precomputed import Precomputed
from trope.features.sentences import SentenceEncoder, sentence_encoder
from trope.features.tokens import Ragged, TokenTable


@dataclass(frozen=True, eq=False)
class Fresh:
    """Inputs for a model's towers; networks that make features are loaded once, when needed."""

    plan: Plan

    def texts(self, texts: Sequence[str]) -> Inputs:
        """Texts as the text tower takes them."""
        plan = self.plan
        found = [prepare(text, plan.text.preparation) for text in listed(texts, "texts")]
        if plan.text.encoder == "precomputed":
            raise UsageError(
                "the model takes vectors of texts that come with a data set; it cannot be asked "
                "with words"
            )
        if plan.text.encoder in WORDS:
            numbers = (self._vocabulary.encode(tokenize(t)[: plan.text.longest]) for t in found)
            return Words.of(numbers)
        if plan.text.encoder == "sentence-tuned":
            return pieces(found, plan.text.model, plan.text.longest)
        if plan.parts:
            return Tokens(TokenTable.of(Ragged.of(self._sentences.encode_tokens(found))))
        return Rows(torch.from_numpy(self._sentences.encode(found)))

    @cached_property
    def image_size(self) -> int:
        """Height and width of the pictures that the model takes."""
        if self.plan.image.encoder == "tuned":
            return tunable(self.plan.image.backbone).size
        return self._backbone.size

    def images(self, pixels: Pixels) -> Inputs:
        """Decoded pictures as the image tower takes them."""
        plan = self.plan
        if plan.image.encoder == "tuned":
            return Rows(torch.from_numpy(pixels))
        made = self._backbone.encode(pixels, "grid" if plan.parts else "pooled")
        found = torch.from_numpy(made)
        fewer = plan.parts and plan.image.grid < GRID
        return Rows(coarser(found, plan.image.grid) if fewer else found)

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        return Vocabulary(self.plan.words)

    @cached_property
    def _sentences(self) -> SentenceEncoder:
        return sentence_encoder(self.plan.text.model)

    @cached_property
    def _backbone(self) -> Backbone:
        found = backbone(self.plan.image.backbone)
        if isinstance(found, Precomputed):
            raise UsageError(
                "the model takes features of pictures that come with a data set; it cannot be "
                "asked with a picture"
            )
        return found

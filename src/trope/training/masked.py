"""What masked parts can be, before training: words, or groups of the training split's features."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from trope.data.samples import Samples
from trope.data.vocabulary import Vocabulary
from trope.encoders import Model, Plan
from trope.encoders.codes import centers_of
from trope.encoders.frozen import Frozen
from trope.encoders.inputs import Inputs
from trope.encoders.plan import WORDS, Pictures, Texts
from trope.runtime import generator

MOST = 3_000  # items whose parts are grouped
READ = 256  # at a time


def with_targets(plan: Plan, pictures: Pictures, texts: Texts) -> tuple[Plan, list[str]]:
    """The plan with what masked parts can be; and a remark on items that cannot be masked."""
    chosen = plan.head.transformer
    if plan.head.kind != "transformer":
        return plan, []
    plan = replace(plan, boxes=pictures.boxes)
    if not chosen.mask:
        return plan, []
    image, text = pictures.parts, texts.parts and plan.text.encoder != "sentence-tuned"
    words = len(Vocabulary(plan.words)) if plan.text.encoder in WORDS else chosen.codes
    told = [
        f"nothing of {what} is masked: they have no parts whose features stay the same"
        for masked, what in ((image, "pictures"), (text, "texts"))
        if not masked
    ]
    return replace(plan, image_targets=image * chosen.codes, text_targets=text * words), told


def start_codes(model: Model, inputs: Mapping[str, Inputs], train: Samples, seed: int) -> None:
    """Group the features of training items, where what is masked has no name of its own."""
    for side, numbers in (("image", np.unique(train.images)), ("text", train.texts)):
        encoder = getattr(model, side).encoder
        if not isinstance(encoder, Frozen) or encoder.mask is None:
            continue
        random = torch.Generator().manual_seed(int(generator(seed, "codes", side).integers(2**62)))
        chosen = numbers[torch.randperm(len(numbers), generator=random)[:MOST].numpy()]
        values = _parts(inputs[side], np.sort(chosen))
        encoder.mask.centers.copy_(centers_of(values, len(encoder.mask.centers), random))


def _parts(inputs: Inputs, items: np.ndarray) -> Float[Tensor, "parts c"]:
    """The features of all parts of some items."""
    chosen = [items[start : start + READ] for start in range(0, len(items), READ)]
    found = []
    for values, *more in inputs.batches(chosen, None):
        present = more[0] if more else torch.ones(values.shape[:2], dtype=torch.bool)
        found.append(values[present].float())
    return torch.cat(found)

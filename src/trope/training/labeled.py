"""Labels of the pairs that are trained and validated on; losses and heads that need each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from jaxtyping import Bool, Int
from scipy import sparse
from torch import Tensor

from trope.data.labels import is_single, labels_of_samples, told_of_labels
from trope.data.pairs import Pairs
from trope.data.samples import Samples
from trope.encoders import Plan
from trope.errors import UsageError
from trope.losses import Loss
from trope.training.settings import Recipe

GIVEN: Mapping[str, frozenset[str]] = {
    "linear": frozenset(),
    "dscmr": frozenset({"logits", "length"}),
    "transformer": frozenset({"logits"}),
}


@dataclass(frozen=True, eq=False)
class Labeled:
    """The labels of each pair of a split, as sparse rows; whether every pair has one."""

    train: sparse.csr_matrix
    val: sparse.csr_matrix
    single: bool
    remarks: tuple[str, ...]

    def of(
        self,
        split: Literal["train", "val"],
        rows: Int[np.ndarray, " rows"],
        device: torch.device | None = None,
    ) -> Bool[Tensor, "rows labels"]:
        """Those of some pairs."""
        chosen = self.train if split == "train" else self.val
        return torch.from_numpy(chosen[rows].toarray()).to(device)


def labeled(pairs: Pairs, plan: Plan, train: Samples, val: Samples) -> Labeled | None:
    """The labels of both splits, where the model predicts any."""
    if not plan.labels:
        return None
    learned, kept = (labels_of_samples(pairs, some, plan.labels) for some in (train, val))
    told = told_of_labels(learned, kept, pairs, plan.labels)
    return Labeled(learned, kept, is_single(learned), tuple(told))


def refuse_unread(settings: Recipe, loss: Loss) -> None:
    """A loss that learns from labels needs a head that predicts them, and the other way round."""
    kind, name = settings.head.kind, settings.loss["name"]
    known = frozenset().union(*GIVEN.values())
    if missing := (loss.needs & known) - GIVEN[kind]:
        fitting = [head for head, given in GIVEN.items() if loss.needs & known <= given]
        raise UsageError(
            f"loss '{name}': needs the {min(missing)} that head.kind={' or '.join(fitting)} gives, "
            f"not {kind}"
        )
    if settings.head.predicts and "labels" not in loss.needs:
        raise UsageError(
            f"head.kind={kind}: predicts labels, and loss '{name}' does not look at them"
        )
    if settings.training.select == "labels" and not settings.head.predicts:
        raise UsageError("training.select=labels: the model knows no labels; choose recall or loss")

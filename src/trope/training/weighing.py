"""A weight over the epochs of a run: what it learns from one, and how the next is weighed by it.

The first process keeps the bank and learns; all others are told, so that each weighs alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from lightning_fabric import Fabric
from torch import Tensor, nn

from trope.encoders import encode
from trope.evaluation.scoring import some
from trope.neighbors import Chain
from trope.runtime import generator
from trope.training.bank import Bank
from trope.training.steps import Step
from trope.training.task import Task
from trope.views import View
from trope.weights import Combined, PairWeight, Semantic, ViewWeight, chain_of, effective
from trope.weights.condition import condition, steadiness
from trope.weights.weight import Batches, Weights

BLOCK = 4_096  # pairs encoded before they are put into the bank
STEADINESS = "steadiness"  # kept with what is known: it cannot be made again from one epoch


class Known(nn.Module):
    """What a weight has learned, in tensors that a state keeps like those of a model."""

    def __init__(self, blank: Mapping[str, np.ndarray]) -> None:
        super().__init__()
        for name, array in blank.items():
            self.register_buffer(name, torch.from_numpy(array))

    def learn(self, found: Mapping[str, np.ndarray]) -> None:
        """Put new numbers in the place of the old."""
        for name, buffer in self.named_buffers():
            buffer.copy_(torch.from_numpy(np.ascontiguousarray(found[name])))

    def arrays(self) -> dict[str, np.ndarray]:
        """By name."""
        return {name: buffer.numpy() for name, buffer in self.named_buffers()}


class Weighing:
    """The weights of a run's steps, of which the first epoch has none but equal ones."""

    def __init__(
        self, task: Task, batch: int, seed: int, folder: Path, fabric: Fabric, fresh: bool
    ) -> None:
        assert task.weight is not None
        self.task, self.weight, self.seed, self.fabric = task, task.weight, seed, fabric
        self.batch, self.folder, self.fresh = batch, folder, fresh
        steady = {STEADINESS: np.zeros(1)} if isinstance(self.weight, Semantic) else {}
        self.known = Known({**self.weight.blank(self.shape), **steady})
        self._epoch, self._weights = -1, np.empty((0, 0))

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Of the bank."""
        plan = self.task.plan
        senses = plan.head.senses if self.weight.by_sense else 1
        return 2, len(self.task.train), senses, plan.width

    @cached_property
    def bank(self) -> Bank | None:
        """Kept by the first process, where the weight looks at it."""
        if "bank" not in self.weight.needs or not self.fabric.is_global_zero:
            return None
        return Bank(self.folder, self.shape, self.fresh)

    @cached_property
    def chain(self) -> Chain | None:
        """Steps to the neighbors of each pair."""
        return None if self.task.around is None else chain_of(self.task.around)

    def kept(self, step: Step, view: View) -> None:
        """Note where the pairs of a step are."""
        if self.bank is not None and not self._fresh:
            self.bank.write(step.pairs, view.image, view.text)

    def flush(self) -> None:
        """Before the state is saved."""
        if self.bank is not None:
            self.bank.flush()

    def seen(self, step: Step, view: View, epoch: int) -> View:
        """The view with the weights in it that its loss applies."""
        if not isinstance(self.weight, ViewWeight):
            return view
        known = self._here if epoch and "bank" in self.weight.needs else None
        barred = self._barred(step) if known is not None and "rows" in known else None
        return self.weight.seen(view, known, barred, self._random(epoch, str(step.number)))

    def weighed(self, step: Step, losses: Float[Tensor, " n"], epoch: int) -> Float[Tensor, " n"]:
        """The losses of a step's pairs by their weights."""
        if not isinstance(self.weight, PairWeight):
            return losses
        weights = torch.from_numpy(self.weights(epoch)[step.number])
        return losses * weights.to(losses.device, losses.dtype)

    def weights(self, epoch: int) -> Weights:
        """Of all steps of an epoch."""
        if epoch != self._epoch:
            self._epoch, self._weights = epoch, self._over(epoch)
        return self._weights

    def learn(self, epoch: int) -> None:
        """What the weights of this epoch, which now begins, are made of."""
        if "bank" not in self.weight.needs:
            return
        found: Any = None
        if self.bank is not None:
            self._encode(self.bank, self._missing(epoch))
            found = self._learned(self.bank, epoch)
        self.known.learn(self.fabric.broadcast(found))
        vars(self).pop("_here", None)  # to be moved to the device anew

    def told(self, epoch: int) -> dict[str, float]:
        """How large and uneven weights of an epoch are, by the means over its steps, and why.

        Their mean; the effective sample size as a share of the batch; the largest and the smallest
        weight of a step as multiples of its mean; what the scores are like that they are made of.
        """
        if not isinstance(self.weight, PairWeight):
            return {}
        weights = self.weights(epoch)
        means = np.maximum(weights.mean(axis=1), 1e-12)
        return {
            "weight_mean": float(weights.mean()),
            "weight_ess": float(effective(np.maximum(weights, 1e-30)).mean()),
            "weight_largest": float((weights.max(axis=1) / means).mean()),
            "weight_smallest": float((weights.min(axis=1) / means).mean()),
            **{f"weight_{name}": value for name, value in self._condition(epoch).items()},
        }

    def _learned(self, bank: Bank, epoch: int) -> dict[str, np.ndarray]:
        found = dict(self.weight.learn(bank.points, self.chain, self._random(epoch, "learn")))
        if isinstance(self.weight, Semantic):
            steady = steadiness(self._scores(), found) if epoch > 1 else 0.0
            found[STEADINESS] = np.array([steady])
        return found

    def _condition(self, epoch: int) -> dict[str, float]:
        """Of the scores, from the second epoch on; their steadiness from the third."""
        if not isinstance(self.weight, Semantic) or epoch < 1:
            return {}
        found = condition(scores := self._scores())
        if isinstance(self.weight, Combined):
            found["beta"], found["gamma"] = self.weight.factors(scores)
        if epoch > 1:
            found[STEADINESS] = float(self.known.arrays()[STEADINESS][0])
        return found

    def _scores(self) -> dict[str, np.ndarray]:
        return {name: v for name, v in self.known.arrays().items() if name != STEADINESS}

    def _over(self, epoch: int) -> Weights:
        assert isinstance(self.weight, PairWeight)
        known: dict[str, np.ndarray] | None = {
            name: array.astype(np.float64) for name, array in self.known.arrays().items()
        }
        if self.task.density is not None:
            known = {"density": self.task.density}
        elif "bank" in self.weight.needs and not epoch:
            known = None
        lasting = generator(self.seed, "weights", "lasting")
        return self.weight.over(known, self._order(epoch), self._random(epoch, "weigh"), lasting)

    def _order(self, epoch: int) -> Batches:
        return self.task.train.order(self.seed, epoch, self.batch, self.fabric.world_size)

    def _random(self, epoch: int, *purpose: str) -> np.random.Generator:
        return generator(self.seed, "weights", str(epoch), *purpose)

    @property
    def _fresh(self) -> bool:
        return isinstance(self.weight, Semantic) and self.weight.fresh

    def _missing(self, epoch: int) -> Int[np.ndarray, " m"]:
        """Pairs that steps have not put there: all, or those of the first's last, short batch."""
        everyone = np.arange(len(self.task.train))
        if self._fresh:
            return everyone
        return np.setdiff1d(everyone, self._order(0)) if epoch == 1 else everyone[:0]

    def _encode(self, bank: Bank, pairs: Int[np.ndarray, " m"]) -> None:
        """Put where the model sees these pairs now, without dropout, into the bank."""
        model, train = self.task.model, self.task.train
        for first in range(0, len(pairs), BLOCK):
            chosen = pairs[first : first + BLOCK]
            pictures, which = np.unique(train.images[chosen], return_inverse=True)
            image = encode(model.image, self.task.images, pictures, parts=False)
            text = encode(model.text, self.task.texts, train.texts[chosen], parts=False)
            bank.write(chosen, some(image, which), text)

    @cached_property
    def _here(self) -> dict[str, Tensor]:
        """What is known, where the model is."""
        return {name: value.to(self.fabric.device) for name, value in self.known.named_buffers()}

    def _barred(self, step: Step) -> Bool[Tensor, "b m"]:
        """Pairs of the bank that are in the batch, or are the same as one of it."""
        rows = self.known.get_buffer("rows").numpy()
        same = self.task.train.same(step.pairs, rows) | np.isin(rows, step.pairs)
        return torch.from_numpy(same).to(self.fabric.device)

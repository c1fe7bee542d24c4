"""What is learned at which rate, and what decays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torch import nn
from torch.nn import Parameter
from torch.optim import Adam

from trope.encoders import Model
from trope.errors import UsageError
from trope.losses import Loss
from trope.training.settings import Optimization


def adam(model: Model, loss: Loss, settings: Optimization) -> Adam:
    """Adam over all that is learned."""
    return Adam(
        groups(model, loss, settings),
        settings.learning_rate,
        fused=settings.precision != "16-mixed",  # all of a step in one pass over the weights
    )


def groups(model: Model, loss: Loss, settings: Optimization) -> list[dict[str, Any]]:
    """Parameters of equal rate and decay together; `factor` multiplies the learning rate.

    Neither tables of words decay, of which most stand in no batch, nor what a loss itself learns,
    nor single numbers.
    """
    still = {id(m.weight) for m in model.modules() if isinstance(m, nn.Embedding)}
    found: dict[tuple[float, float], list[Parameter]] = {}
    parts = set()
    for part, parameter in learned(model, loss):
        decays = part != "loss" and parameter.ndim > 0 and id(parameter) not in still
        rate = settings.rates.get(part, 1.0)
        key = rate, settings.weight_decay if decays else 0.0
        found.setdefault(key, []).append(parameter)
        parts.add(part)
    if idle := sorted(settings.rates.keys() - parts):
        raise UsageError(f"training.rates: nothing is learned in {idle[0]}, so that it has no rate")
    return [
        {"params": parameters, "factor": rate, "weight_decay": decay}
        for (rate, decay), parameters in found.items()
    ]


def learned(model: Model, loss: Loss) -> Iterator[tuple[str, Parameter]]:
    """What is learned, and the part it belongs to; what both towers share, once."""
    for name, parameter in model.named_parameters():
        tower, _, inside = name.partition(".")
        if parameter.requires_grad:
            yield ("head" if inside.startswith("head.") else tower), parameter
    for parameter in loss.parameters():
        if parameter.requires_grad:
            yield "loss", parameter


def set_rate(optimizer: Any, rate: float) -> None:
    """The learning rate from now on, each part's by its factor."""
    for group in optimizer.param_groups:
        group["lr"] = rate * group["factor"]


def falling(settings: Optimization, epoch: int, share: float) -> float:
    """The rate after some epochs and a share of the next: all of it at first, none at the end."""
    return settings.learning_rate * max(0.0, 1 - (epoch + share) / settings.epochs)


def lowered(settings: Optimization, epochs: int, waited: int) -> bool:
    """Whether the rate is multiplied after so many epochs, some of them in wait of a lower loss."""
    if settings.schedule == "step":
        return epochs % settings.patience == 0
    return settings.schedule == "plateau" and waited >= settings.patience

"""Frozen image networks by name: the table `BACKBONES`, and any image model of `transformers`."""

from __future__ import annotations

from collections.abc import Callable

from trope.features.kinds import Backbone
from trope.features.precomputed import Precomputed

__all__ = ["BACKBONES", "backbone"]


def _efficientnet_lite0(device: str) -> Backbone:
    from trope.features.backbones.efficientnet import EfficientNetLite0

    return EfficientNetLite0(device)


def _precomputed(device: str) -> Precomputed:
    return Precomputed()


BACKBONES: dict[str, Callable[[str], Backbone | Precomputed]] = {
    "efficientnet-lite0": _efficientnet_lite0,
    "precomputed": _precomputed,
}


def backbone(name: str, *, device: str = "cpu", download: bool = False) -> Backbone | Precomputed:
    """A backbone by its name; one the table does not know is a model of `transformers`.

    That may be a folder, or the name of a model stored on this machine. The network is used only
    with `download`.
    """
    if name in BACKBONES:
        return BACKBONES[name](device)
    from trope.features.backbones.models import model_folder
    from trope.features.backbones.preparation import preparation
    from trope.features.backbones.transformers import TransformersModel

    folder = model_folder(name, BACKBONES, download)
    return TransformersModel(name, folder, preparation(folder), device)

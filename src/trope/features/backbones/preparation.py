"""How a model wants its pixels, read from the `preprocessor_config.json` in its folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from trope.errors import DataError

FILES = ("preprocessor_config.json", "processor_config.json")


@dataclass(frozen=True)
class Preparation:
    """A size, and (x - mean) / std per color for values of 0 to 255."""

    size: int
    mean: tuple[float, ...]
    std: tuple[float, ...]


def preparation(folder: Path) -> Preparation:
    """What the model's folder says; nothing is guessed."""
    path, found = _read(folder)
    try:
        factor = (
            float(found.get("rescale_factor", 1 / 255)) if found.get("do_rescale", True) else 1.0
        )
        normalized = found.get("do_normalize", True)
        mean = _colors(found["image_mean"]) if normalized else (0.0,) * 3
        std = _colors(found["image_std"]) if normalized else (1.0,) * 3
        cropped = found.get("do_center_crop", True) and "crop_size" in found
        size = _size(found["crop_size"] if cropped else found["size"])
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"{path}: cannot be followed ({error!r})") from None
    return Preparation(size, tuple(m / factor for m in mean), tuple(s / factor for s in std))


def _read(folder: Path) -> tuple[Path, dict[str, Any]]:
    """The part of the file that is about pictures."""
    for path in (folder / name for name in FILES):
        if path.is_file():
            try:
                content = orjson.loads(path.read_bytes())
                return path, dict(content.get("image_processor", content))
            except (OSError, ValueError, TypeError, AttributeError) as error:
                raise DataError(f"{path}: not a JSON table ({error})") from None
    raise DataError(f"{folder}: no {FILES[0]}, which says how the model wants its pixels")


def _colors(value: Any) -> tuple[float, ...]:
    """One number per color; a single one stands for all three."""
    values = [float(v) for v in value] if isinstance(value, list) else [float(value)] * 3
    if len(values) != 3:
        raise ValueError(f"{len(values)} colors")
    return tuple(values)


def _size(value: Any) -> int:
    """Height and width, which must be the same."""
    if isinstance(value, dict):
        sides = {int(value[key]) for key in ("height", "width", "shortest_edge") if key in value}
        if len(sides) != 1:
            raise ValueError(f"size {value}: not a square")
        return sides.pop()
    return int(value)

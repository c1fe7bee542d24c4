"""Backgrounds: patterns of two colors, computed as fields over the picture."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from jaxtyping import Float
from PIL import Image

from trope.data.emblems.colors import colors
from trope.data.emblems.scene import Ground

Field = Float[np.ndarray, "side side"]

VIGNETTE = 0.16  # how much darker the corners are
BUSY = 0.6  # how strongly fine patterns show, so that they stay behind the motifs


def background(ground: Ground, size: int) -> Image.Image:
    """The ground of a square picture, its corners softly darkened."""
    canvas = Image.new("RGB", (size, size), colors()[ground.first])
    if ground.pattern != "plain":
        canvas.paste(colors()[ground.second], (0, 0), _as_mask(field(ground, size)))
    canvas.paste((0, 0, 0), (0, 0), _corners(size))
    return canvas


def field(ground: Ground, size: int) -> Field:
    """How much of the second color is at each point, from 0 to 1."""
    x, y = _grid(size)
    turn = 2 * math.pi * ground.angle
    along = x * math.cos(turn) + y * math.sin(turn)
    across = y * math.cos(turn) - x * math.sin(turn)
    soft = 160 / size  # patterns fade over about a pixel
    return PATTERNS[ground.pattern](ground, along, across, soft)


@cache
def _grid(size: int) -> tuple[Field, Field]:
    """Coordinates from -1 to 1, the middle at 0."""
    line = np.linspace(-1, 1, size, dtype=np.float32)
    x, y = np.meshgrid(line, line)
    return x, y


@cache
def _corners(size: int) -> Image.Image:
    x, y = _grid(size)
    return _as_mask(VIGNETTE * np.clip(x**2 + y**2 - 0.5, 0, 1.5) / 1.5)


def _as_mask(values: Field) -> Image.Image:
    return Image.fromarray((255 * values + 0.5).astype(np.uint8))


def _edge(distance: Field, soft: float) -> Field:
    """1 where the distance is positive, 0 where it is negative, smooth over about a pixel."""
    return np.clip(distance / (0.02 * soft) + 0.5, 0, 1)


def _wave(values: Field) -> Field:
    """A zigzag of period 1 between -0.25 and 0.25: positive on one half, negative on the other."""
    return np.asarray(np.abs(values - np.floor(values) - 0.5) - 0.25)


def _length(x: Field, y: Field) -> Field:
    return np.asarray(np.sqrt(x * x + y * y))


def _plain(ground: Ground, along: Field, across: Field, soft: float) -> Field:
    return np.zeros_like(along)


def _shaded(ground: Ground, along: Field, across: Field, soft: float) -> Field:
    return np.clip(0.5 + 0.5 * along, 0, 1)


def _glowing(ground: Ground, along: Field, across: Field, soft: float) -> Field:
    return np.clip(_length(along - 0.3 * ground.shift, across) / 1.2, 0, 1)


def _striped(ground: Ground, along: Field, across: Field, soft: float) -> Field:
    period = 0.16 + 0.24 * ground.scale
    return BUSY * _edge(_wave(along / period + ground.shift), soft / period)


def _dotted(ground: Ground, along: Field, across: Field, soft: float) -> Field:
    period = 0.18 + 0.16 * ground.scale
    u, v = _wave(along / period), _wave(across / period + ground.shift)
    return BUSY * _edge(0.26 - _length(u + 0.25, v + 0.25), soft / period)


def _checkered(ground: Ground, along: Field, across: Field, soft: float) -> Field:
    period = 0.3 + 0.3 * ground.scale
    one = _edge(_wave(along / period + ground.shift), soft / period)
    two = _edge(_wave(across / period), soft / period)
    return np.asarray(BUSY * (one + two - 2 * one * two))


def _rays(ground: Ground, along: Field, across: Field, soft: float) -> Field:
    count = 8 + round(8 * ground.scale)
    turn = np.arctan2(across, along) * (count / (2 * math.pi))
    width = np.maximum(_length(along, across), 0.05)
    return BUSY * _edge(_wave(turn) * width, soft * count / 6)


def _hills(ground: Ground, along: Field, across: Field, soft: float) -> Field:
    """Two ridges along the bottom, whatever the direction of other patterns."""
    x, y = _grid(len(along))
    phase = 2 * math.pi * ground.shift
    near = y - 0.55 - 0.12 * np.sin((2 + 2 * ground.scale) * x + phase)
    far = y - 0.2 - 0.15 * np.sin((2.5 + ground.scale) * x + 2 * phase + 1)
    return 0.5 * _edge(far, soft) + 0.5 * _edge(near, soft)


def _wavy(ground: Ground, along: Field, across: Field, soft: float) -> Field:
    period = 0.22 + 0.2 * ground.scale
    bend = along + 0.06 * np.sin(2 * math.pi * (1.2 * across + ground.shift))
    return BUSY * _edge(_wave(bend / period), soft / period)


def _rings(ground: Ground, along: Field, across: Field, soft: float) -> Field:
    period = 0.24 + 0.2 * ground.scale
    distance = _length(along - 0.2 * ground.shift, across)
    return BUSY * _edge(_wave(distance / period), soft / period)


def _split(ground: Ground, along: Field, across: Field, soft: float) -> Field:
    return _edge(along + 0.3 * (ground.shift - 0.5), soft)


def _bordered(ground: Ground, along: Field, across: Field, soft: float) -> Field:
    """A frame around the picture, whatever the direction of other patterns."""
    x, y = _grid(len(along))
    return _edge(np.maximum(np.abs(x), np.abs(y)) - (0.86 + 0.07 * ground.scale), soft)


PATTERNS = {
    "plain": _plain,
    "shaded": _shaded,
    "glowing": _glowing,
    "striped": _striped,
    "dotted": _dotted,
    "checkered": _checkered,
    "rays": _rays,
    "hills": _hills,
    "wavy": _wavy,
    "rings": _rings,
    "split": _split,
    "bordered": _bordered,
}

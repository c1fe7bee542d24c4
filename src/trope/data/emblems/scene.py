"""What a picture shows, before it is drawn: motifs of one topic among things that mean nothing.

Only the motifs depend on the topic. Colors, background, places and distractors are drawn without
regard to it, so that none of them gives the topic away.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trope.data.emblems.colors import Palette, palettes
from trope.data.emblems.layouts import LAYOUTS, Layout, Slot, overlapping
from trope.data.emblems.topics import Motif, Topic, trinkets

PATTERNS = (
    *("plain", "shaded", "glowing", "striped", "dotted", "checkered"),
    *("rays", "hills", "wavy", "rings", "split", "bordered"),
)
SHAPES = ("dot", "ring", "square", "triangle", "diamond")
FINISHES = ("flat", "shadow", "outline", "sticker")
MOTIF_COUNTS = (0.36, 0.36, 0.28)  # shares of pictures with one, two and three motifs
TRINKET_COUNTS = (0.50, 0.38, 0.12)  # with none, one and two
MARK_COUNTS = (0.45, 0.15, 0.20, 0.20)  # with none, one, two and three
PLATES = 0.25  # how often a lone motif stands on a disc
TRIES = 24  # places looked at for a small thing


@dataclass(frozen=True)
class Ground:
    """The background: a pattern in two colors, with its direction, fineness and shift."""

    pattern: str
    first: str
    second: str
    angle: float
    scale: float
    shift: float


@dataclass(frozen=True)
class Figure:
    """One icon: what, in which color, where, how large, how tilted; perhaps on a disc."""

    motif: Motif
    color: str
    x: float
    y: float
    size: float
    angle: float
    plate: str | None = None


@dataclass(frozen=True)
class Mark:
    """One small shape that means nothing."""

    shape: str
    color: str
    x: float
    y: float
    size: float


@dataclass(frozen=True)
class Scene:
    """Everything in one picture, back to front."""

    ground: Ground
    marks: tuple[Mark, ...]
    trinkets: tuple[Figure, ...]
    figures: tuple[Figure, ...]
    finish: str


def compose(topic: Topic, random: np.random.Generator) -> Scene:
    """A picture for a topic."""
    palette = palettes()[random.integers(len(palettes()))]
    chosen = _motifs(topic, random)
    options = LAYOUTS[len(chosen) - 1]
    layout = options[random.integers(len(options))]
    figures = _figures(chosen, layout, palette, random)
    small = _trinkets(figures, palette, random)
    marks = _marks((*figures, *small), palette, random)
    return Scene(_ground(palette, random), marks, small, figures, _finish(layout, random))


def _count(shares: tuple[float, ...], random: np.random.Generator) -> int:
    return int(np.searchsorted(np.cumsum(shares), random.random(), side="right"))


def _motifs(topic: Topic, random: np.random.Generator) -> list[Motif]:
    count = 1 + _count(MOTIF_COUNTS, random)
    return [topic.motifs[index] for index in random.permutation(len(topic.motifs))[:count]]


def _ground(palette: Palette, random: np.random.Generator) -> Ground:
    first, second = (palette.grounds[index] for index in random.permutation(2))
    pattern = PATTERNS[random.integers(len(PATTERNS))]
    angle, scale, shift = random.random(3)
    return Ground(pattern, first, second, float(angle), float(scale), float(shift))


def _finish(layout: Layout, random: np.random.Generator) -> str:
    """How the motifs are set off; where they overlap, an edge has to part them."""
    choices = FINISHES[2:] if overlapping(layout) else FINISHES
    return choices[random.integers(len(choices))]


def _figures(
    chosen: list[Motif], layout: Layout, palette: Palette, random: np.random.Generator
) -> tuple[Figure, ...]:
    one_color = random.random() < 0.25
    inks = [palette.inks[index] for index in random.permutation(len(palette.inks))]
    plated = len(chosen) == 1 and random.random() < PLATES
    drawn = []
    for index, (motif, slot) in enumerate(zip(chosen, layout, strict=True)):
        ink = inks[0 if one_color else index % len(inks)]
        x, y, size = _jitter(slot, random)
        angle = float(np.clip(random.normal(0, 7), -16, 16))
        if plated:
            drawn.append(Figure(motif, palette.grounds[0], x, y, 0.92 * size, angle, plate=ink))
        else:
            drawn.append(Figure(motif, ink, x, y, size, angle))
    return tuple(drawn)


def _jitter(slot: Slot, random: np.random.Generator) -> Slot:
    """A slot moved and scaled a little, still inside the picture."""
    size = slot[2] * float(random.uniform(0.92, 1.06))
    edge = size / 2 + 0.03
    x, y = np.clip(np.array(slot[:2]) + random.uniform(-0.025, 0.025, 2), edge, 1 - edge).tolist()
    return x, y, size


def _trinkets(
    figures: tuple[Figure, ...], palette: Palette, random: np.random.Generator
) -> tuple[Figure, ...]:
    placed: list[Figure] = []
    kinds = random.permutation(len(trinkets()))
    for index in range(_count(TRINKET_COUNTS, random)):
        size = float(random.uniform(0.12, 0.16))
        if spot := _free_spot((*figures, *placed), size, random):
            color = palette.inks[random.integers(len(palette.inks))]
            angle = float(random.uniform(-25, 25))
            placed.append(Figure(trinkets()[kinds[index]], color, *spot, size, angle))
    return tuple(placed)


def _marks(
    taken: tuple[Figure, ...], palette: Palette, random: np.random.Generator
) -> tuple[Mark, ...]:
    """Up to three small shapes of one kind and color."""
    shape = SHAPES[random.integers(len(SHAPES))]
    color = palette.inks[random.integers(len(palette.inks))]
    placed: list[Mark] = []
    for _ in range(_count(MARK_COUNTS, random)):
        size = float(random.uniform(0.045, 0.075))
        if spot := _free_spot((*taken, *placed), size, random):
            placed.append(Mark(shape, color, *spot, size))
    return tuple(placed)


def _free_spot(
    taken: tuple[Figure | Mark, ...], size: float, random: np.random.Generator
) -> tuple[float, float] | None:
    """A place clear of what is there already, or none among a few at random.

    What is there gets a circle wider than it is, for an icon's corners reach out of the circle.
    """
    margin = size / 2 + 0.02
    spots = random.uniform(margin, 1 - margin, (TRIES, 2))
    middles = np.array([(item.x, item.y) for item in taken])
    needed = 0.5 * (size + 1.25 * np.array([item.size for item in taken]))
    clear = (np.linalg.norm(spots[:, None] - middles, axis=-1) > needed).all(axis=-1)
    x, y = spots[clear.argmax()].tolist()
    return (x, y) if clear.any() else None

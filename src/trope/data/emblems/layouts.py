"""Where one to three motifs stand in a picture: slots of (x, y, size) as shares of its side."""

from __future__ import annotations

Slot = tuple[float, float, float]
Layout = tuple[Slot, ...]

ONE: tuple[Layout, ...] = (
    ((0.50, 0.50, 0.70),),
    ((0.50, 0.50, 0.80),),
    ((0.50, 0.49, 0.66),),
    ((0.42, 0.50, 0.68),),
    ((0.58, 0.50, 0.68),),
    ((0.40, 0.56, 0.64),),
    ((0.60, 0.56, 0.64),),
)
TWO: tuple[Layout, ...] = (
    ((0.28, 0.50, 0.48), (0.73, 0.50, 0.46)),
    ((0.29, 0.38, 0.48), (0.71, 0.62, 0.48)),
    ((0.71, 0.38, 0.48), (0.29, 0.62, 0.48)),
    ((0.50, 0.27, 0.44), (0.50, 0.74, 0.44)),
    ((0.41, 0.43, 0.62), (0.79, 0.77, 0.34)),
    ((0.59, 0.43, 0.62), (0.21, 0.77, 0.34)),
    ((0.38, 0.57, 0.62), (0.80, 0.23, 0.34)),
    ((0.37, 0.42, 0.56), (0.66, 0.62, 0.50)),  # these two overlap
    ((0.63, 0.42, 0.56), (0.34, 0.62, 0.50)),
)
THREE: tuple[Layout, ...] = (
    ((0.50, 0.27, 0.44), (0.26, 0.72, 0.42), (0.74, 0.72, 0.42)),
    ((0.26, 0.28, 0.42), (0.74, 0.28, 0.42), (0.50, 0.73, 0.44)),
    ((0.39, 0.45, 0.56), (0.81, 0.27, 0.32), (0.78, 0.76, 0.34)),
    ((0.61, 0.45, 0.56), (0.19, 0.27, 0.32), (0.22, 0.76, 0.34)),
    ((0.50, 0.36, 0.54), (0.22, 0.76, 0.36), (0.78, 0.76, 0.36)),
    ((0.30, 0.36, 0.46), (0.70, 0.36, 0.46), (0.50, 0.66, 0.48)),  # these three overlap
)
LAYOUTS: tuple[tuple[Layout, ...], ...] = (ONE, TWO, THREE)


def overlapping(layout: Layout) -> bool:
    """Whether two motifs of a layout cover each other in part."""
    pairs = [(one, two) for index, one in enumerate(layout) for two in layout[:index]]
    return any(distance(one, two) < 0.42 * (one[2] + two[2]) for one, two in pairs)


def distance(one: Slot, two: Slot) -> float:
    """How far the middles of two slots are apart."""
    return float(((one[0] - two[0]) ** 2 + (one[1] - two[1]) ** 2) ** 0.5)

"""Colors with names, and the palettes that bring together those that look well."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from trope.data.emblems.tables import read_table

RGB = tuple[int, int, int]


@dataclass(frozen=True)
class Palette:
    """Two grounds for the background and the inks that stand out on both, by name."""

    name: str
    grounds: tuple[str, str]
    inks: tuple[str, ...]


@cache
def colors() -> Mapping[str, RGB]:
    """The named colors."""
    table = read_table("palettes.toml")["colors"]
    return {name: (red, green, blue) for name, (red, green, blue) in table.items()}


@cache
def palettes() -> tuple[Palette, ...]:
    """All palettes, by name."""
    table = read_table("palettes.toml")["palettes"]
    return tuple(
        Palette(name, tuple(spec["grounds"]), tuple(spec["inks"])) for name, spec in table.items()
    )


def luminance(color: RGB) -> float:
    """How bright a color looks, from 0 (black) to 1 (white): WCAG 2, relative luminance."""
    linear = [_linear(channel / 255) for channel in color]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: RGB, other: RGB) -> float:
    """How well two colors can be told apart, from 1 (not at all) to 21: WCAG 2, contrast ratio."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def mixed(one: RGB, other: RGB, share: float) -> RGB:
    """A color between two others."""
    red, green, blue = (round(a + share * (b - a)) for a, b in zip(one, other, strict=True))
    return red, green, blue


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else float(((channel + 0.055) / 1.055) ** 2.4)

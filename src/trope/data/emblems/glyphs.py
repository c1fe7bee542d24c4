"""What covers which pixels: masks of icons, turned and smooth, and of small shapes."""

from __future__ import annotations

import math
from contextlib import suppress
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from trope.errors import MissingExtra

FONT = ("static", "fontawesomefree", "otfs", "Font Awesome 6 Free-Solid-900.otf")
FINE = 2  # icons are drawn this much larger and scaled down while being turned: smooth edges
REFERENCE = 200  # font size at which icons are measured
FINE_SHAPE = 4
CORNERS = {  # of a shape, as shares of its square
    "square": ((0.1, 0.1), (0.9, 0.1), (0.9, 0.9), (0.1, 0.9)),
    "triangle": ((0.5, 0.0), (1.0, 1.0), (0.0, 1.0)),
    "diamond": ((0.5, 0.0), (1.0, 0.5), (0.5, 1.0), (0.0, 0.5)),
}
RIMS = {"ring": 4, "rim": 50}  # circles drawn as a line, so many times thinner than they are wide


@cache
def font_file() -> Path:
    """The icon font of the package `fontawesomefree`, or word of the extra that brings it."""
    with suppress(ModuleNotFoundError):
        path = Path(str(resources.files("fontawesomefree").joinpath(*FONT)))
        if path.is_file():
            return path
    raise MissingExtra("the built-in data", "demo")


def icon_mask(glyph: str, pixels: float, angle: float, stroke: float = 0.0) -> Image.Image:
    """An icon so many pixels long, turned counterclockwise, in the middle of its mask."""
    font = _font(max(4, round(FINE * pixels * REFERENCE / _extent(glyph))))
    side = round(pixels * _reach(angle) + 2 * stroke) + 2
    fine = Image.new("L", (FINE * side, FINE * side))
    left, top, right, bottom = font.getbbox(glyph)
    corner = (FINE * side - left - right) / 2, (FINE * side - top - bottom) / 2
    ImageDraw.Draw(fine).text(corner, glyph, 255, font, stroke_width=round(FINE * stroke))
    turn = _turn(angle, side)
    return fine.transform((side, side), Image.Transform.AFFINE, turn, Image.Resampling.BILINEAR)


def shape_mask(shape: str, pixels: float) -> Image.Image:
    """A dot, ring, rim, square, triangle or diamond that fills its mask."""
    side = FINE_SHAPE * max(2, round(pixels))
    mask = Image.new("L", (side, side))
    draw = ImageDraw.Draw(mask)
    if shape in CORNERS:
        draw.polygon([(x * (side - 1), y * (side - 1)) for x, y in CORNERS[shape]], fill=255)
    elif shape in RIMS:
        draw.ellipse((0, 0, side - 1, side - 1), outline=255, width=side // RIMS[shape])
    else:
        draw.ellipse((0, 0, side - 1, side - 1), fill=255)
    return mask.reduce(FINE_SHAPE)


@lru_cache(maxsize=512)
def _font(size: int) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(str(font_file()), size)


@cache
def _extent(glyph: str) -> float:
    """The longer side of an icon at the reference font size."""
    left, top, right, bottom = _font(REFERENCE).getbbox(glyph)
    return float(max(right - left, bottom - top))


def _reach(angle: float) -> float:
    """How much wider a square gets when it is turned."""
    return abs(math.cos(math.radians(angle))) + abs(math.sin(math.radians(angle)))


def _turn(angle: float, side: int) -> tuple[float, ...]:
    """Where each point of the turned mask comes from in the finer, upright one."""
    cosine, sine = (FINE * function(math.radians(angle)) for function in (math.cos, math.sin))
    middle = side / 2
    x = FINE * middle - cosine * middle + sine * middle
    y = FINE * middle - sine * middle - cosine * middle
    return cosine, -sine, x, sine, cosine, y

"""Drawing a scene with Pillow: icons and small shapes, set off from a patterned ground."""

from __future__ import annotations

from PIL import Image, ImageFilter

from trope.data.emblems.backgrounds import background
from trope.data.emblems.colors import RGB, colors, luminance, mixed
from trope.data.emblems.glyphs import icon_mask, shape_mask
from trope.data.emblems.scene import Figure, Mark, Scene

WHITE: RGB = (255, 255, 255)
BLACK: RGB = (0, 0, 0)
EDGE = 0.022  # width of outlines, as a share of the picture
ON_PLATE = 0.7  # size of an icon on a disc, as a share of the disc
FAINT = [round(0.42 * value) for value in range(256)]  # how dark shadows are


def render(scene: Scene, size: int = 256) -> Image.Image:
    """The scene as a square RGB picture."""
    canvas = background(scene.ground, size)
    for mark in scene.marks:
        _paste(canvas, colors()[mark.color], shape_mask(mark.shape, mark.size * size), mark)
    for trinket in scene.trinkets:
        _draw(canvas, trinket, _icon(trinket, trinket.size * size))
    for figure in scene.figures:
        if figure.plate:
            _draw_on_plate(canvas, figure, scene.finish)
        else:
            _draw_finished(canvas, figure, scene)
    return canvas


def _icon(figure: Figure, pixels: float, stroke: float = 0.0) -> Image.Image:
    return icon_mask(figure.motif.glyph, pixels, figure.angle, stroke)


def _draw(canvas: Image.Image, figure: Figure, mask: Image.Image) -> None:
    """An icon in ink that is a little lighter at the top than at the bottom."""
    ink = colors()[figure.color]
    fade = Image.linear_gradient("L").resize(mask.size, Image.Resampling.NEAREST)
    layer = Image.new("RGB", mask.size, mixed(ink, WHITE, 0.14))
    layer.paste(mixed(ink, BLACK, 0.10), (0, 0), fade)
    canvas.paste(layer, _corner(canvas, mask, figure), mask)


def _draw_finished(canvas: Image.Image, figure: Figure, scene: Scene) -> None:
    """An icon with its shadow, its outline, or both as on a sticker."""
    pixels = figure.size * canvas.width
    icon = under = _icon(figure, pixels)
    if scene.finish in ("outline", "sticker"):
        under = _icon(figure, pixels, max(1.5, EDGE * canvas.width))
    if scene.finish in ("shadow", "sticker"):
        _drop_shadow(canvas, under, figure)
    if under is not icon:
        _paste(canvas, _edge_color(scene, figure), under, figure)
    _draw(canvas, figure, icon)


def _edge_color(scene: Scene, figure: Figure) -> RGB:
    """A sticker's paper is light or dark, against its ink; an outline is cut from the ground."""
    ink = colors()[figure.color]
    if scene.finish == "outline":
        return colors()[scene.ground.first]
    return mixed(ink, WHITE, 0.93) if luminance(ink) < 0.3 else mixed(ink, BLACK, 0.82)


def _draw_on_plate(canvas: Image.Image, figure: Figure, finish: str) -> None:
    """An icon on a disc, which gets the shadow and the rim."""
    pixels = figure.size * canvas.width
    disc = shape_mask("dot", pixels)
    if finish in ("shadow", "sticker"):
        _drop_shadow(canvas, disc, figure)
    _paste(canvas, colors()[str(figure.plate)], disc, figure)
    if finish in ("outline", "sticker"):
        _paste(canvas, colors()[figure.color], shape_mask("rim", 0.93 * pixels), figure)
    _draw(canvas, figure, _icon(figure, ON_PLATE * pixels))


def _drop_shadow(canvas: Image.Image, mask: Image.Image, figure: Figure) -> None:
    """A soft shadow below and to the right."""
    blur = 0.012 * canvas.width
    margin = round(3 * blur)
    wide = Image.new("L", (mask.width + 2 * margin, mask.height + 2 * margin))
    wide.paste(mask, (margin, margin))
    soft = wide.filter(ImageFilter.BoxBlur(blur)).filter(ImageFilter.BoxBlur(blur))
    shift = 0.014 + 0.012 * figure.size
    _paste(canvas, BLACK, soft.point(FAINT), figure, shift)


def _paste(
    canvas: Image.Image, color: RGB, mask: Image.Image, item: Figure | Mark, shift: float = 0.0
) -> None:
    canvas.paste(color, _corner(canvas, mask, item, shift), mask)


def _corner(
    canvas: Image.Image, mask: Image.Image, item: Figure | Mark, shift: float = 0.0
) -> tuple[int, int]:
    """The upper left corner of a mask whose middle is where the item stands."""
    left = (item.x + shift) * canvas.width - mask.width / 2
    top = (item.y + shift) * canvas.height - mask.height / 2
    return round(left), round(top)

"""A contact sheet: pictures of a data set side by side, each with its text below."""

from __future__ import annotations

from collections.abc import Sequence

from PIL import Image, ImageDraw, ImageFont

from trope.data.images import thumbnail
from trope.data.pairs import Pairs
from trope.errors import DataError

PAPER, INK, BLANK = (255, 255, 255), (40, 44, 52), (228, 230, 234)
GAP = 14
TEXT_SIZE = 13
LINES = 4
ELLIPSIS = "…"

Font = ImageFont.FreeTypeFont | ImageFont.ImageFont


def contact_sheet(
    pairs: Pairs, rows: Sequence[int], columns: int = 6, *, size: int = 160
) -> Image.Image:
    """Thumbnails of `rows` in reading order on one sheet; where there is no picture, it is gray."""
    if columns < 1 or size < 16:
        raise ValueError(f"columns and size must be positive, not {columns} and {size}")
    font = ImageFont.load_default(TEXT_SIZE)
    line = round(1.35 * TEXT_SIZE)
    wide, high = size + GAP, size + GAP + LINES * line + GAP // 2
    columns = min(columns, max(1, len(rows)))
    deep = -(-len(rows) // columns)
    sheet = Image.new("RGB", (columns * wide + GAP, max(1, deep) * high + GAP), PAPER)
    for place, row in enumerate(rows):
        left, top = GAP + place % columns * wide, GAP + place // columns * high
        _paste(sheet, pairs, row, (left, top), size)
        text = "\n".join(wrapped(_caption(pairs, row), font, size, LINES))
        ImageDraw.Draw(sheet).multiline_text((left, top + size + 5), text, INK, font, spacing=3)
    return sheet


def wrapped(text: str, font: Font, width: int, lines: int) -> list[str]:
    """The text in at most `lines` lines of `width` pixels, with an ellipsis if that is not all."""
    done: list[str] = []
    rest = " ".join(text.split())
    while rest and len(done) < lines:
        taken = _fitting(rest, font, width)
        done.append(rest[:taken].rstrip())
        rest = rest[taken:].lstrip()
    if rest:
        done[-1] = _shortened(done[-1], font, width)
    return done


def _fitting(text: str, font: Font, width: int) -> int:
    """How much fits one line: whole words, or letters where one word is longer than the line."""
    length = 1
    while length < len(text) and font.getlength(text[: length + 1]) <= width:
        length += 1
    if length == len(text) or text[length] == " ":
        return length
    return text.rfind(" ", 0, length) + 1 or length


def _shortened(text: str, font: Font, width: int) -> str:
    while text and font.getlength(text + ELLIPSIS) > width:
        text = text[:-1]
    return text.rstrip() + ELLIPSIS


def _caption(pairs: Pairs, row: int) -> str:
    pair = pairs[row]
    return pair.texts[0] if pair.texts else pair.id


def _paste(sheet: Image.Image, pairs: Pairs, row: int, corner: tuple[int, int], size: int) -> None:
    left, top = corner
    try:
        small = thumbnail(pairs.images.read(row), pairs[row].id, size)
    except DataError:
        small = Image.new("RGB", (size, size), BLANK)
    sheet.paste(small, (left + (size - small.width) // 2, top + (size - small.height) // 2))

"""Pages: one HTML file and its pictures, without scripts and without a request to anywhere."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from PIL import Image

from trope.data.images import thumbnail
from trope.data.pairs import Pairs
from trope.errors import DataError
from trope.files import replacing
from trope.runtime import progress

PICTURES = "pictures"
LARGE, SMALL = 560, 280  # pixels
QUALITY = 82
LONGEST = {"pair": 500, "card": 140, "id": 60}  # characters of a text that are shown


def write_page(
    folder: Path,
    template: str,
    pairs: Pairs,
    found: object,
    *,
    large: Iterable[int] = (),
    small: Iterable[int] = (),
) -> None:
    """Write `index.html` about what was found, and thumbnails of the rows that it shows."""
    first = set(large)
    drawn = {
        row: _draw(folder, pairs, row, LARGE if row in first else SMALL)
        for row in progress(sorted(first.union(small)), "thumbnails")
    }
    page = _environment().get_template(template).render(found=found, pictures=drawn)
    with replacing(folder / "index.html", "w") as file:
        file.write(page)


def _draw(folder: Path, pairs: Pairs, row: int, size: int) -> dict[str, object] | None:
    """A small copy of a row's picture: its name and size on the page; None if it cannot be had."""
    try:
        small: Image.Image = thumbnail(pairs.images.read(row), pairs[row].id, size)
    except DataError:
        return None
    name = f"{PICTURES}/{row}.jpg"
    with replacing(folder / name) as file:
        small.save(file, "JPEG", quality=QUALITY)
    return {"name": name, "width": small.width, "height": small.height}


def _environment() -> Environment:
    """Everything that comes from rows is escaped; a name that is not there is an error."""
    environment = Environment(
        loader=PackageLoader("trope.explain"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["shown"] = shown
    environment.filters["percent"] = "{:.1%}".format
    return environment


def shown(text: str, kind: str = "card") -> str:
    """A text as it can stand on a page: no control characters, not longer than there is room."""
    longest = LONGEST[kind]
    plain = " ".join(text[: 4 * longest].split())
    plain = "".join("\ufffd" if unicodedata.category(c) == "Cc" else c for c in plain)
    if len(plain) <= longest and len(text) <= 4 * longest:
        return plain
    return plain[: longest - 1].rstrip() + "…"

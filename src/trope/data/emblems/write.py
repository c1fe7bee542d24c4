"""Writing the Emblem Book as a data set folder: whole or not at all, resumed after a kill."""

from __future__ import annotations

import io
import os
import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from trope import config
from trope.data.emblems.book import Emblem, EmblemBook, emblems
from trope.data.emblems.glyphs import font_file
from trope.data.emblems.render import render
from trope.data.emblems.topics import topics
from trope.data.writer import write_rows
from trope.files import replacing, replacing_folder
from trope.runtime import cores, progress, version

SETTINGS = "emblems.toml"
QUALITY = 85  # JPEG, colors at full resolution: 32 MB for 2,400 pictures
JPEG_END = b"\xff\xd9"
ABOUT = """\
The Emblem Book
===============

{pairs:,} pairs of a picture and a sentence, made by Trope (seed {seed}): {topics} topics, and
pictures that stand for them as an emblem does. The sentence means the topic of the picture and
names nothing that is drawn. `pairs.jsonl` holds one row per pair; `description` says in plain
words what the picture shows, `sentence` is the figurative sentence, and `text` is one of the two.

Licenses
--------

Pictures: composed from icons of Font Awesome Free by Fonticons, Inc. (https://fontawesome.com),
icons licensed CC BY 4.0 (https://creativecommons.org/licenses/by/4.0/), drawn with its font,
licensed SIL OFL 1.1 (https://openfontlicense.org). The icons were recolored, turned and combined.

Sentences and descriptions: written for Trope, Apache License 2.0.
"""


def write_emblem_book(
    out: Path, settings: EmblemBook | None = None, *, workers: int | None = None
) -> Path:
    """Make the built-in data set in the new folder `out`; pictures a killed run left are kept."""
    book = settings or EmblemBook()
    font_file()  # say what is missing before anything is created
    with replacing_folder(out) as folder:
        _begin(folder, book)
        pages = list(emblems(book))
        _draw(folder, pages, book.size, workers or cores())
        write_rows(folder / "pairs.jsonl", (page.row() for page in pages))
        _write_about(folder, book)
    return out


def _begin(folder: Path, book: EmblemBook) -> None:
    """Keep what a killed run left, but nothing made with other settings or another version."""
    stamp = folder / SETTINGS
    wanted = {**config.plain(book), "trope": version()}
    if not stamp.is_file() or config.read_toml(stamp) != wanted:
        _clear(folder)
        config.save(wanted, stamp)
    (folder / "images").mkdir(exist_ok=True)


def _clear(folder: Path) -> None:
    for entry in folder.iterdir():
        if entry.is_dir():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def _draw(folder: Path, pages: Sequence[Emblem], size: int, workers: int) -> None:
    """Draw what is not there yet. Threads suffice: Pillow works outside the interpreter's lock."""
    missing = [page for page in pages if not _whole(folder / page.image)]
    with ThreadPoolExecutor(workers) as pool:
        done = pool.map(partial(_draw_one, folder, size), missing)
        try:
            for _ in progress(done, "drawing emblems", total=len(missing)):
                pass
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)  # an interrupt need not wait for all
            raise


def _draw_one(folder: Path, size: int, page: Emblem) -> None:
    path = folder / page.image
    data = encode(page, size)
    part = path.with_suffix(".partial")
    part.write_bytes(data)
    part.replace(path)


def encode(page: Emblem, size: int) -> bytes:
    """The picture of an emblem as a JPEG file."""
    buffer = io.BytesIO()
    render(page.scene, size).save(buffer, "JPEG", quality=QUALITY, subsampling=0)
    return buffer.getvalue()


def _whole(path: Path) -> bool:
    """Whether a picture is there to its last byte."""
    try:
        with path.open("rb") as handle:
            handle.seek(-len(JPEG_END), os.SEEK_END)
            return handle.read() == JPEG_END
    except OSError:
        return False


def _write_about(folder: Path, book: EmblemBook) -> None:
    text = ABOUT.format(pairs=book.pairs, seed=book.seed, topics=len(topics()))
    with replacing(folder / "LICENSE.txt", "w") as handle:
        handle.write(text)

"""The folder in which an index is made until it is complete; it goes when the index appears.

Until then its `index.json` is in that folder, or where it is about to appear: what it names on a
server is nobody's, once the process is gone that has begun it.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from trope.errors import UsageError
from trope.files import locked, partial_of, refuse_existing, replacing_folder
from trope.index.folder import FILE
from trope.index.opening import forget

MADE = "index"  # below the folder in which it is made


def clear_building(folder: Path) -> None:
    """Take away what the making of an index that is there has left, if it was killed at the end."""
    home = building(folder)
    if home.exists() and (folder / FILE).exists():
        with locked(home):
            forget_begun(folder)
            shutil.rmtree(home)


def forget_begun(out: Path) -> None:
    """Take away what a server holds for an index that never appeared. Needs the lock."""
    for begun in (building(out) / MADE, partial_of(out)):
        forget(begun)


def building(out: Path) -> Path:
    """Where an index is made until it is complete."""
    return out.absolute().with_name(f".{out.absolute().name}.building")


def refuse_made(out: Path, home: Path) -> None:
    """Another process may have finished while this one waited, which makes the folder anew."""
    try:
        refuse_existing(out)
    except UsageError:
        if (out / FILE).exists():
            shutil.rmtree(home, ignore_errors=True)
        raise


def appear(folder: Path, out: Path, staged: str) -> None:
    """Under its own name in one step, without the blocks `staged` it was made from."""
    state = (folder / FILE).read_bytes()
    try:
        with replacing_folder(out, fresh=True) as partial:
            for path in folder.iterdir():
                if path.name != staged:
                    path.rename(partial / path.name)
    except BaseException:
        if not (out / FILE).exists():
            (folder / FILE).write_bytes(state)  # the next attempt has to know what was begun
        raise

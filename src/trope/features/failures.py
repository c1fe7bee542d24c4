"""Pictures known to be broken, by content: a later run tells why without opening them again."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import PIL

from trope.data import images
from trope.data.digests import Digests
from trope.files import locked, write_json
from trope.runtime import cache_folder

# What the bytes alone decide. A disk or memory that failed may serve the next time.
LASTING = re.compile(r"row \d+: (?P<why>(?!.*memory)(?:cannot be decoded \(|.*\bpixels\b).*)", re.I)


def lasting(reason: str) -> str | None:
    """Why a picture is broken for good, without the row; None if it may be read another time."""
    found = LASTING.fullmatch(reason)
    return found["why"] if found else None


def recall(digests: Digests) -> dict[int, str]:
    """Which of the pictures are known to be broken, by position, and why."""
    known = _load(_path())
    if not known:
        return {}
    names = np.array([bytes.fromhex(name) for name in known], digests.dtype)
    places = np.flatnonzero(np.isin(digests, names))
    return {int(i): known[_name(digests[i])] for i in places}


def remember(digests: Digests, reasons: list[str]) -> None:
    """Note broken pictures, beside what other processes have noted meanwhile."""
    path = _path()
    with locked(path.parent):
        named = {_name(value): why for value, why in zip(digests, reasons, strict=True)}
        write_json(path, _load(path) | named)


def _path() -> Path:
    """Another decoder, or one with another limit, may read what this one cannot."""
    name = f"{images.VERSION}-{PIL.__version__}-{images.max_pixels()}.json"
    return cache_folder() / "broken" / name


def _load(path: Path) -> dict[str, str]:
    """What is noted; a file that is damaged counts as none."""
    try:
        content: Any = orjson.loads(path.read_bytes())
        return {_name(bytes.fromhex(name)): str(why) for name, why in content.items()}
    except (OSError, ValueError, AttributeError):
        return {}


def _name(value: bytes) -> str:
    return bytes(value).rstrip(b"\0").hex()  # numpy hides final zeros

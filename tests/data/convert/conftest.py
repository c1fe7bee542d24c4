from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

import trope
from trope.types import Pair


@pytest.fixture
def jpeg() -> Callable[..., None]:
    """Writes tiny real pictures, each of another gray, below a folder."""

    def write(folder: Path, *names: str) -> None:
        for shade, name in enumerate(names):
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.new("RGB", (4, 4), (40 * shade % 256,) * 3).save(path, "JPEG")

    return write


@pytest.fixture
def dump() -> Callable[[Path, Any], None]:
    """Writes a JSON document, making the folders above it."""

    def write(path: Path, document: Any) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(document), encoding="utf-8")

    return write


@pytest.fixture
def note() -> Callable[..., None]:
    """Writes lines of text, making the folders above them."""

    def write(path: Path, *lines: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    return write


@pytest.fixture
def rows() -> Callable[[Path], dict[str, Pair]]:
    """The converted data set as the package itself opens it; every picture must be readable."""

    def read(out: Path) -> dict[str, Pair]:
        pairs = trope.open(out)
        for number, pair in enumerate(pairs):
            if pair.image:
                assert pairs.images.read(number)[:3] == b"\xff\xd8\xff"
        return {pair.id: pair for pair in pairs}

    return read


@pytest.fixture
def lost() -> Callable[[Path], dict[str, str]]:
    """What `missing.jsonl` lists: the reason by id."""

    def read(out: Path) -> dict[str, str]:
        lines = (out / "missing.jsonl").read_text(encoding="utf-8").splitlines()
        return {item["id"]: item["reason"] for item in map(json.loads, lines)}

    return read

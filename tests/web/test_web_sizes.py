"""Widths and heights of pictures: from the first bytes of a file, and tried again."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from trope.data.stores import FolderImages
from trope.search import Index
from trope.web import sources
from trope.web.sources import HEAD, Sources, _measured


@pytest.fixture
def known(home: Path) -> tuple[Sources, str]:
    index = Index(home / "infonce-index")
    return Sources(index.engine, index.sources()), index.sources()[0]


def test_a_picture_is_measured_without_reading_it_whole(
    known: tuple[Sources, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FolderImages, "read", lambda *_: pytest.fail("read whole"))
    assert known[0].size("r5", known[1]) == (40, 30)


def test_what_could_not_be_measured_is_tried_again(
    known: tuple[Sources, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1_000.0]
    monkeypatch.setattr(sources, "monotonic", lambda: now[0])
    with monkeypatch.context() as broken:
        for name in ("head", "read"):
            broken.setattr(FolderImages, name, lambda *_: b"")
        assert known[0].size("r5", known[1]) is None
    assert known[0].size("r5", known[1]) is None
    now[0] += 61
    assert known[0].size("r5", known[1]) == (40, 30)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "BMP"])
def test_the_first_bytes_tell_the_size(kind: str) -> None:
    pixels = np.random.default_rng(0).integers(0, 255, (300, 500, 3), np.uint8)
    buffer, exif = io.BytesIO(), Image.Exif()
    exif[0x0112] = 6
    Image.fromarray(pixels).save(
        buffer, kind, **({"exif": exif} if kind in ("PNG", "JPEG") else {})
    )
    assert len(buffer.getvalue()) > HEAD
    expected = (300, 500) if kind in ("PNG", "JPEG") else (500, 300)
    assert _measured(buffer.getvalue()[:HEAD]) == expected

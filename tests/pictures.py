"""Small pictures for tests."""

from __future__ import annotations

import io

from PIL import Image


def jpeg(color: tuple[int, int, int] = (200, 30, 30), size: tuple[int, int] = (32, 24)) -> bytes:
    """A picture of one color."""
    data = io.BytesIO()
    Image.new("RGB", size, color).save(data, "JPEG")
    return data.getvalue()

"""The one way a picture is decoded: bounded, upright, RGB, resized.

JPEG files are decoded at a reduced scale where the target is small (`draft`), every mode ends as
8-bit RGB, transparency lies on white, an animation is its first frame, EXIF rotation is applied.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from jaxtyping import UInt8
from PIL import Image, ImageOps

from trope.errors import DataError

SIZE = 224
MAX_PIXELS = 100_000_000
WHITE = (255, 255, 255, 255)


@contextmanager
def opened(data: bytes, name: str) -> Iterator[Image.Image]:
    """The picture's header, with its size checked before a single pixel is decoded."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the size is judged below; metadata quirks are harmless
            with Image.open(io.BytesIO(data)) as image:
                pixels = image.width * image.height
                if pixels > MAX_PIXELS:
                    raise DataError(f"{name}: {pixels:,} pixels, more than {MAX_PIXELS:,}")
                yield image
    except DataError:
        raise
    except Image.DecompressionBombError as error:
        raise DataError(f"{name}: {error}") from None
    except Exception as error:  # Pillow's plugins raise whatever their parsers stumble on
        raise DataError(f"{name}: cannot be decoded ({_short(error)})") from None


def decode(data: bytes, name: str = "image", size: int = SIZE) -> UInt8[np.ndarray, "h w 3"]:
    """The picture as `size` × `size` RGB values, stretched as the papers do it."""
    with opened(data, name) as image:
        image.draft("RGB", (size, size))
        return np.asarray(rgb(image).resize((size, size), Image.Resampling.BICUBIC))


def thumbnail(data: bytes, name: str = "image", size: int = 256) -> Image.Image:
    """A small copy that keeps the picture's proportions."""
    with opened(data, name) as image:
        image.draft("RGB", (size, size))
        small = rgb(image)
        small.thumbnail((size, size), Image.Resampling.BICUBIC)
        return small


def rgb(image: Image.Image) -> Image.Image:
    """Upright 8-bit RGB from any mode Pillow reads."""
    upright = ImageOps.exif_transpose(image)
    if upright.mode.startswith("I;16") or upright.mode in ("I", "F"):
        upright = _eight_bit(upright)
    if upright.mode in ("RGBA", "LA", "PA", "RGBa", "La") or "transparency" in upright.info:
        layer = upright.convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", layer.size, WHITE), layer).convert("RGB")
    return upright.convert("RGB")


def _eight_bit(image: Image.Image) -> Image.Image:
    """Deep gray values scaled to 8 bits by the range of their type (16 bits), floats by their own."""
    values = np.asarray(image, dtype=np.float64)
    if image.mode == "F":
        low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)
        values = (values - low) * (255.0 / (high - low or 1.0))
    else:
        values = values / 257.0
    return Image.fromarray(np.clip(np.rint(values), 0, 255).astype(np.uint8))


def _short(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0][:120]

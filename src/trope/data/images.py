"""The one way a picture is decoded: bounded, upright, RGB, resized.

JPEG files are decoded at a reduced scale where the target is small (`draft`), every mode ends as
8-bit RGB, transparency lies on white, an animation is its first frame, EXIF rotation is applied.
"""

from __future__ import annotations

import io
import os
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from jaxtyping import UInt8
from PIL import ExifTags, Image, UnidentifiedImageError

from trope.errors import DataError, UsageError

SIZE = 224
VERSION = (
    1  # raised when the same bytes come to mean other pixels: what was computed from them is old
)
MAX_PIXELS = 100_000_000  # more only where TROPE_MAX_PIXELS says so
WHITE = (255, 255, 255, 255)
ALPHA = frozenset(["RGBA", "LA", "PA", "RGBa", "La"])
FORMATS = frozenset(
    ["AVIF", "BMP", "DIB", "GIF", "ICO", "JPEG", "JPEG2000", "MPO", "PNG", "PPM", "TIFF", "WEBP"]
)  # others Pillow knows are rare, and one of them (EPS) is a program to be run
TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}  # EXIF orientation -> what makes the picture upright


class TooLargeError(DataError):
    """A picture with more pixels than any honest one has."""


class _Quiet:
    """Silences Pillow and lifts its limit to ours; both are global, so threads share the change."""

    def __init__(self) -> None:
        self._lock, self._inside = threading.Lock(), 0

    def __enter__(self) -> None:
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                self._filters = warnings.catch_warnings()
                self._filters.__enter__()
                warnings.simplefilter("ignore")
                self._limit = Image.MAX_IMAGE_PIXELS
                if self._limit is not None:  # Pillow refuses what has more than twice as many
                    Image.MAX_IMAGE_PIXELS = max(self._limit, max_pixels() // 2)

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._filters.__exit__(None, None, None)
                Image.MAX_IMAGE_PIXELS = self._limit


_QUIET = _Quiet()


@contextmanager
def opened(data: bytes, name: str) -> Iterator[Image.Image]:
    """The picture's header, with its size checked before a single pixel is decoded."""
    if not data:
        raise DataError(f"{name}: the file is empty")
    with _told(name, most := max_pixels()), _QUIET, Image.open(io.BytesIO(data)) as image:
        _refuse_size(image, name, most)
        if image.format not in FORMATS:
            raise DataError(f"{name}: cannot be decoded ({image.format} files are not supported)")
        yield image


@contextmanager
def _told(name: str, most: int) -> Iterator[None]:
    """Whatever Pillow raises as one line that names the picture."""
    try:
        yield
    except DataError:
        raise
    except Image.DecompressionBombError:
        raise TooLargeError(_too_large(name, "its header claims", most)) from None
    except UnidentifiedImageError:
        raise DataError(f"{name}: cannot be decoded (not an image of a known format)") from None
    except Exception as error:  # Pillow's plugins raise whatever their parsers stumble on
        raise DataError(f"{name}: cannot be decoded ({_short(error)})") from None


def max_pixels() -> int:
    """The most pixels a picture may have: `TROPE_MAX_PIXELS`, else 100 million."""
    told = os.environ.get("TROPE_MAX_PIXELS") or str(MAX_PIXELS)
    if not told.isdecimal() or int(told) < 1:
        raise UsageError(f"TROPE_MAX_PIXELS={told}: expected a whole number of at least 1")
    return int(told)


def decode(data: bytes, name: str = "image", size: int = SIZE) -> UInt8[np.ndarray, "h w 3"]:
    """The picture as `size` by `size` RGB values, stretched as the papers do it."""
    with opened(data, name) as image:
        drafted = image.draft("RGB", (size, size))
        box = drafted[1] if drafted else None  # where the picture ends between two reduced pixels
        return _stretched(image, size, box)


def decode_opened(
    image: Image.Image, name: str = "image", size: int = SIZE
) -> UInt8[np.ndarray, "h w 3"]:
    """What `decode` makes of the file of a picture that Pillow has opened; it stays as it is.

    JPEG files are decoded here at full scale, which differs in rounding from a reduced one.
    """
    with _told(name, most := max_pixels()), _QUIET:
        _refuse_size(image, name, most)
        return _stretched(image, size)


def thumbnail(data: bytes, name: str = "image", size: int = 256) -> Image.Image:
    """A small copy that keeps the picture's proportions."""
    with opened(data, name) as image:
        image.draft("RGB", (size, size))
        small = rgb(image)
        small.thumbnail((size, size), Image.Resampling.BICUBIC)
        return small


def rgb(image: Image.Image) -> Image.Image:
    """Upright 8-bit RGB from any mode Pillow reads, as a copy."""
    changed = _upright(_colors(image), image)
    return image.copy() if changed is image else changed


def _refuse_size(image: Image.Image, name: str, most: int) -> None:
    """Stop at the header what must not be decoded."""
    pixels = image.width * image.height
    if pixels > most:
        raise TooLargeError(_too_large(name, f"{pixels:,} pixels,", most))
    if not pixels:
        raise DataError(f"{name}: cannot be decoded (it has no pixels)")


def _stretched(image: Image.Image, size: int, box: Any = None) -> UInt8[np.ndarray, "h w 3"]:
    small = _colors(image).resize((size, size), Image.Resampling.BICUBIC, box)
    return np.asarray(_upright(small, image))


def _upright(picture: Image.Image, source: Image.Image) -> Image.Image:
    """`picture` turned as the camera was held for `source`; the work is least after shrinking."""
    try:
        turn = TURNS.get(source.getexif().get(ExifTags.Base.Orientation, 1))
    except Exception:  # broken metadata; the picture itself was decoded
        return picture
    return picture if turn is None else picture.transpose(turn)


def _colors(image: Image.Image) -> Image.Image:
    """8-bit RGB; an RGB picture is returned as it is, without a copy."""
    image.load()
    if image.mode.startswith("I;16") or image.mode in ("I", "F"):
        image = _eight_bit(image)
    if image.mode in ALPHA or "transparency" in image.info:
        layer = image.convert("LA" if image.mode == "La" else "RGBA").convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", layer.size, WHITE), layer).convert("RGB")
    return image if image.mode == "RGB" else image.convert("RGB")


def _eight_bit(image: Image.Image) -> Image.Image:
    """Deep gray values scaled by the range of 16 bits; floats and wider integers by their own."""
    values = np.nan_to_num(np.asarray(image, dtype=np.float32))
    low, high = float(values.min()), float(values.max())
    if image.mode == "F" or low < 0 or high > 65_535:
        values = (values - low) * (255.0 / (high - low or 1.0))
    else:
        values = values / 257.0
    return Image.fromarray(np.clip(np.rint(values), 0, 255).astype(np.uint8))


def _too_large(name: str, found: str, most: int) -> str:
    return f"{name}: {found} more than {most:,} pixels; TROPE_MAX_PIXELS allows more"


def _short(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0][:120]

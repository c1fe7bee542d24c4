from __future__ import annotations

import io
import struct
import threading
import warnings
import zlib

import numpy as np
import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from trope.data.images import MAX_PIXELS, TooLargeError, decode, opened, rgb, thumbnail
from trope.errors import DataError, UsageError

RED, GREEN, BLUE, WHITE = (255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255)


def quarters(width: int = 64, height: int = 48) -> Image.Image:
    """Red, green / blue, white: every rotation and mirroring looks different."""
    image = Image.new("RGB", (width, height), RED)
    image.paste(GREEN, (width // 2, 0, width, height // 2))
    image.paste(BLUE, (0, height // 2, width // 2, height))
    image.paste(WHITE, (width // 2, height // 2, width, height))
    return image


def encoded(image: Image.Image, kind: str = "PNG", **options: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def corners(pixels: np.ndarray) -> list[tuple[int, ...]]:
    """The colors in the middle of the four quarters, row by row."""
    near, far = len(pixels) // 4, 3 * len(pixels) // 4
    places = [(near, near), (near, far), (far, near), (far, far)]
    return [tuple(map(int, pixels[place])) for place in places]


def check(data: bytes, colors: list[tuple[int, ...]], tolerance: int = 6, size: int = 32) -> None:
    pixels = decode(data, size=size)
    assert pixels.shape == (size, size, 3)
    assert pixels.dtype == np.uint8
    np.testing.assert_allclose(corners(pixels), colors, atol=tolerance)


QUARTERS = [RED, GREEN, BLUE, WHITE]
GRAY_QUARTERS = [(76,) * 3, (150,) * 3, (29,) * 3, WHITE]


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "BMP", "GIF", "TIFF", "WEBP", "JPEG2000", "PPM"])
def test_formats(kind: str) -> None:
    check(encoded(quarters(), kind), QUARTERS, tolerance=25)


def test_default_size_is_that_of_the_backbones() -> None:
    assert decode(encoded(quarters())).shape == (224, 224, 3)


def test_cmyk() -> None:
    plain = [RED, GREEN, BLUE, WHITE]
    check(encoded(quarters().convert("CMYK"), "TIFF"), plain)
    check(encoded(quarters().convert("CMYK"), "JPEG", quality=95), plain, tolerance=12)


def test_cmyk_draft_keeps_colors() -> None:
    data = encoded(quarters(640, 480).convert("CMYK"), "JPEG", quality=95)
    check(data, QUARTERS, tolerance=12)


def test_palette() -> None:
    check(encoded(quarters().convert("P", palette=Image.Palette.ADAPTIVE)), QUARTERS)


def test_palette_with_one_transparent_color() -> None:
    palette = quarters().convert("P", palette=Image.Palette.ADAPTIVE, colors=4)
    red = palette.getpixel((1, 1))
    check(encoded(palette, transparency=red), [WHITE, GREEN, BLUE, WHITE])
    check(encoded(palette, "GIF", transparency=red), [WHITE, GREEN, BLUE, WHITE])


def test_palette_with_a_transparency_table() -> None:
    palette = quarters().convert("P", palette=Image.Palette.ADAPTIVE, colors=4)
    alphas = bytearray([255] * 4)
    alphas[palette.getpixel((1, 1))] = 128
    check(encoded(palette, transparency=bytes(alphas)), [(255, 127, 127), GREEN, BLUE, WHITE])


def test_alpha_lies_on_white() -> None:
    image = quarters().convert("RGBA")
    alpha = Image.new("L", image.size, 255)
    alpha.paste(0, (0, 0, 32, 24))
    alpha.paste(128, (32, 0, 64, 24))
    image.putalpha(alpha)
    check(encoded(image), [WHITE, (127, 255, 127), BLUE, WHITE])
    check(encoded(image, "WEBP", lossless=True), [WHITE, (127, 255, 127), BLUE, WHITE])


def test_gray_with_alpha() -> None:
    image = Image.new("LA", (64, 48), (50, 255))
    image.paste((0, 0), (0, 0, 32, 24))
    check(encoded(image), [WHITE, (50,) * 3, (50,) * 3, (50,) * 3])


def test_rgb_and_gray_with_a_transparent_color() -> None:
    check(encoded(quarters(), transparency=RED), [WHITE, GREEN, BLUE, WHITE])
    gray = quarters().convert("L")
    check(encoded(gray, transparency=29), [(76,) * 3, (150,) * 3, WHITE, WHITE])


def test_premultiplied_alpha() -> None:
    image = Image.new("LA", (8, 8), (100, 128)).convert("La")
    assert rgb(image).getpixel((0, 0)) == pytest.approx((177,) * 3, abs=2)


def gray_levels(kind: str, scale: float) -> np.ndarray:
    levels = np.asarray(quarters().convert("L"), dtype=np.float64)
    return (levels * scale).astype(kind)


@pytest.mark.parametrize("order", ["<u2", ">u2"])
def test_sixteen_bit_gray(order: str) -> None:
    image = Image.fromarray(gray_levels(order, 257.0))
    assert image.mode.startswith("I;16")
    check(encoded(image, "TIFF"), GRAY_QUARTERS)


def test_sixteen_bit_png_keeps_middle_gray() -> None:
    image = Image.fromarray(np.full((20, 20), 0x8000, np.uint16))
    check(encoded(image), [(128,) * 3] * 4, tolerance=1)


def test_integers_of_sixteen_and_of_more_bits() -> None:
    narrow = Image.fromarray(gray_levels("int32", 257.0))
    assert narrow.mode == "I"
    check(encoded(narrow, "TIFF"), GRAY_QUARTERS)
    wide = np.array([[0, 2**24], [2**23, 2**24]], np.int32).repeat(8, 0).repeat(8, 1)
    check(encoded(Image.fromarray(wide), "TIFF"), [(0,) * 3, WHITE, (128,) * 3, WHITE])


def test_one_bit() -> None:
    image = Image.new("1", (64, 48), 0)
    image.paste(1, (32, 0, 64, 24))
    for kind in ("PNG", "TIFF", "BMP"):
        check(encoded(image, kind), [(0,) * 3, WHITE, (0,) * 3, (0,) * 3])


def test_float_is_scaled_by_its_own_range() -> None:
    values = np.array([[-1.0, 3.0], [1.0, np.nan]], np.float32).repeat(8, 0).repeat(8, 1)
    check(encoded(Image.fromarray(values), "TIFF"), [(0,) * 3, WHITE, (128,) * 3, (64,) * 3])


def test_constant_float() -> None:
    assert decode(encoded(Image.new("F", (8, 8), 7.0), "TIFF"), size=4).shape == (4, 4, 3)


UNDO = {
    1: None,
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_90,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_270,
}  # how a camera that writes this orientation stores the upright picture


def rotated(orientation: int, kind: str, width: int = 640, height: int = 480) -> bytes:
    turn = UNDO[orientation]
    image = quarters(width, height)
    exif = Image.Exif()
    exif[0x0112] = orientation
    return encoded(image if turn is None else image.transpose(turn), kind, exif=exif)


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "TIFF"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_all_exif_rotations(orientation: int, kind: str) -> None:
    check(rotated(orientation, kind), QUARTERS, tolerance=12)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_thumbnails_are_upright_and_keep_proportions(orientation: int) -> None:
    small = thumbnail(rotated(orientation, "JPEG"), size=64)
    assert small.size == (64, 48)
    np.testing.assert_allclose(small.getpixel((10, 10)), RED, atol=12)
    np.testing.assert_allclose(small.getpixel((54, 10)), GREEN, atol=12)


def test_unknown_orientation_and_broken_exif_are_ignored() -> None:
    exif = Image.Exif()
    exif[0x0112] = 77
    check(encoded(quarters(), "JPEG", exif=exif, quality=95), QUARTERS, tolerance=25)
    broken = encoded(quarters(), "JPEG", exif=b"Exif\0\0MM\0*\xff\xff\xff\xff", quality=95)
    check(broken, QUARTERS, tolerance=25)
    profile = PngInfo()
    profile.add_text("Raw profile type exif", "\nexif\n 4\nnot hexadecimal")
    check(encoded(quarters(), pnginfo=profile), QUARTERS)


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG", "TIFF"])
def test_an_animation_is_its_first_frame(kind: str) -> None:
    frames = [Image.new("RGB", (64, 48), color) for color in (GREEN, BLUE)]
    data = encoded(quarters(), kind, save_all=True, append_images=frames)
    with opened(data, "moving") as image:
        assert image.n_frames == 3
    check(data, QUARTERS, tolerance=25)


def photo(width: int, height: int) -> Image.Image:
    """Soft color fields with fine noise."""
    down, right = np.mgrid[0:height, 0:width].astype(np.float64)
    fields = [np.sin(right / 60) * np.cos(down / 45), np.cos(right / 90), np.sin(down / 70)]
    noise = np.random.default_rng(0).normal(0, 6, (height, width, 3))
    pixels = np.stack(fields, -1) * 90 + 128 + noise
    return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))


@pytest.mark.parametrize("shape", [(640, 480), (1001, 777), (641, 1283), (2000, 450)])
def test_draft_equals_full_decoding_closely(shape: tuple[int, int]) -> None:
    data = encoded(photo(*shape), "JPEG", quality=90)
    with Image.open(io.BytesIO(data)) as image:
        full = np.asarray(image.convert("RGB").resize((224, 224), Image.Resampling.BICUBIC))
    difference = np.abs(full.astype(int) - decode(data).astype(int))
    assert difference.mean() < 0.8
    assert difference.max() < 8
    assert difference[:, -8:].mean() < 0.7  # the far edges do not drift where sizes are odd
    assert difference[-8:].mean() < 0.7


@pytest.mark.parametrize("shape", [(1, 1), (1, 5000), (5000, 1), (3, 2), (2, 900)])
def test_odd_shapes(shape: tuple[int, int]) -> None:
    for kind in ("PNG", "JPEG"):
        check(encoded(Image.new("RGB", shape, (200, 100, 50)), kind), [(200, 100, 50)] * 4)


def test_tall_image_keeps_its_order() -> None:
    image = Image.new("RGB", (1, 4000), RED)
    image.paste(BLUE, (0, 2000, 1, 4000))
    check(encoded(image), [RED, RED, BLUE, BLUE])


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
def test_truncated(kind: str) -> None:
    data = encoded(photo(200, 150), kind)
    with pytest.raises(DataError, match=r"cut\.jpg: cannot be decoded"):
        decode(data[: len(data) // 2], "cut.jpg")


def test_truncated_jpeg_says_so() -> None:
    data = encoded(photo(200, 150), "JPEG")
    with pytest.raises(DataError, match="truncated"):
        decode(data[: len(data) // 2])


def test_empty_and_rubbish() -> None:
    with pytest.raises(DataError, match=r"^a\.png: the file is empty$"):
        decode(b"", "a.png")
    with pytest.raises(DataError, match=r"^a\.png: cannot be decoded \(not an image"):
        decode(b"\x00rubbish" * 100, "a.png")


def test_corrupt_png_is_one_line() -> None:
    data = bytearray(encoded(photo(100, 80)))
    data[60:90] = bytes(30)
    with pytest.raises(DataError) as caught:
        decode(bytes(data), "bad.png")
    assert "\n" not in str(caught.value)


def bomb(width: int, height: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = chunk(b"IDAT", zlib.compress(bytes(1000)))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + body + chunk(b"IEND", b"")


@pytest.mark.parametrize("side", [50_000, 10_001])
def test_decompression_bomb_is_refused_at_its_header(side: int) -> None:
    assert side * side > MAX_PIXELS
    with pytest.raises(TooLargeError, match=r"^huge\.png: .*pixels; TROPE_MAX_PIXELS allows more"):
        decode(bomb(side, side), "huge.png")


def test_the_limit_can_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    before = Image.MAX_IMAGE_PIXELS
    for limit, side in ((999, 32), (400_000_000, 20_001)):
        monkeypatch.setenv("TROPE_MAX_PIXELS", str(limit))
        with pytest.raises(TooLargeError, match=rf"more than {limit:,} pixels"):
            decode(bomb(side, side), "x")
    with opened(bomb(19_999, 20_000), "x") as image:  # beyond what Pillow allows by itself
        assert image.size == (19_999, 20_000)
    assert before == Image.MAX_IMAGE_PIXELS
    monkeypatch.setenv("TROPE_MAX_PIXELS", "many")
    with pytest.raises(UsageError, match="TROPE_MAX_PIXELS=many: expected a whole number"):
        decode(encoded(quarters()))
    monkeypatch.delenv("TROPE_MAX_PIXELS")
    assert decode(encoded(quarters()), size=8).shape == (8, 8, 3)


def test_postscript_is_never_run() -> None:
    with pytest.raises(DataError, match="EPS files are not supported"):
        decode(encoded(quarters(), "EPS"), "page.eps")


def test_threads_leave_the_warning_filters_alone() -> None:
    data = encoded(quarters().convert("P"), transparency=b"\x80" * 10)
    before = list(warnings.filters)
    threads = [threading.Thread(target=lambda: [decode(data) for _ in range(30)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(warnings.filters) == before

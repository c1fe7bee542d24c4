"""Texts and pictures in every form that other programs have them in: one vector for one content."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import ExifTags, Image

from trope.embedder import Embedder
from trope.errors import TropeError, UsageError

MODES = [
    "1",
    "L",
    "LA",
    "La",
    "P",
    "PA",
    "RGB",
    "RGBA",
    "RGBa",
    "RGBX",
    "CMYK",
    "YCbCr",
    "HSV",
    "LAB",
    "I",
    "I;16",
    "F",
]


@pytest.fixture(scope="module")
def model(pictured: Path) -> Embedder:
    return Embedder(pictured / "run")


@pytest.fixture
def picture() -> Image.Image:
    """Another color in each corner, so that a turn is seen."""
    values = np.zeros((60, 90, 3), np.uint8)
    values[:30, :45], values[:30, 45:], values[30:, :45] = (250, 20, 30), (20, 240, 40), (0, 0, 255)
    return Image.fromarray(values)


@pytest.mark.parametrize("kind", ["png", "jpg"])
@pytest.mark.parametrize("turn", [1, 3, 6, 8])
def test_a_picture_has_the_vector_of_its_file(
    model: Embedder, picture: Image.Image, tmp_path: Path, turn: int, kind: str
) -> None:
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = turn
    path = tmp_path / f"turned.{kind}"
    picture.save(path, exif=exif)
    loaded = Image.open(path)
    loaded.load()
    found = model.encode([path, Image.open(path), loaded, path.read_bytes(), picture])
    np.testing.assert_allclose(found[1:4], found[[0, 0, 0]], atol=1e-5)
    if kind == "png":  # a turn is seen
        assert (float(found[0] @ found[4]) > 0.9999) == (turn == 1)
    assert loaded.getexif()[ExifTags.Base.Orientation] == turn  # it is not ours


@pytest.mark.parametrize("mode", MODES)
def test_a_picture_of_any_mode_is_read(model: Embedder, picture: Image.Image, mode: str) -> None:
    way = {"La": "LA", "PA": "P", "RGBa": "RGBA", "I;16": "I", "LAB": ""}.get(mode, mode)
    if mode == "LAB":
        made = Image.merge("LAB", picture.split())
    else:
        made = picture.convert(way).convert(mode)
    assert made.mode == mode
    vector = model.encode(made)
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)
    if mode in ("RGBA", "RGBa", "RGBX", "CMYK", "HSV"):
        assert float(vector @ model.encode(picture)) > 0.999
    assert made.mode == mode  # it is not ours


def test_a_picture_that_is_none_is_one_line(
    model: Embedder, picture: Image.Image, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(TropeError, match=r"^image: cannot be decoded"):
        model.encode(Image.new("RGB", (0, 4)))
    monkeypatch.setenv("TROPE_MAX_PIXELS", "100")
    with pytest.raises(TropeError, match=r"5,400 pixels, more than 100"):
        model.encode(picture)


@pytest.mark.parametrize("kind", ["U", "O"])
def test_arrays_of_texts(model: Embedder, kind: str) -> None:
    texts = np.array(["red", "blue"], dtype=kind)
    np.testing.assert_array_equal(model.encode(texts), model.encode(["red", "blue"]))
    np.testing.assert_array_equal(model.encode(texts[:1]), model.encode(["red"]))
    np.testing.assert_array_equal(model.encode(np.array("red", dtype=kind)), model.encode("red"))
    assert model.encode(texts[:0]).shape == (0, 12)


def test_arrays_of_pictures(model: Embedder, picture: Image.Image) -> None:
    """Of the model's own size as they are, of any other as a picture of that size."""
    values = np.asarray(picture)
    wanted = model.encode(picture)
    np.testing.assert_allclose(model.encode(values), wanted, atol=1e-6)
    np.testing.assert_allclose(model.encode(values[None])[0], wanted, atol=1e-6)
    fitting = np.asarray(picture.resize((model.pixels,) * 2, Image.Resampling.BICUBIC))
    several = model.encode([fitting, "red", values])
    np.testing.assert_allclose(several[[0, 2]], [wanted, wanted], atol=1e-5)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (np.zeros((4, 4, 3), np.float32), "not 4 by 4 by 3 of float32"),
        (np.zeros((4, 4), np.uint8), "not 4 by 4 of uint8"),
        (np.zeros((3, 4, 4), np.uint8), "not 3 by 4 by 4 of uint8"),
    ],
)
def test_arrays_that_are_no_pictures(model: Embedder, wrong: np.ndarray, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        model.encode(wrong)


@pytest.mark.usefixtures("untyped")
def test_arrays_of_numbers_are_refused(model: Embedder) -> None:
    with pytest.raises(
        UsageError, match="a text is a str; a picture is a path, bytes, an array or Pillow's image"
    ):
        model.encode(np.arange(3))


def test_texts_without_content_are_told_once(
    pictured: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = Embedder(pictured / "run")
    found = model.encode(["apple", "", "\u200b", "qwerty"])
    assert found.any(axis=1).tolist() == [True, False, False, True]
    told = capsys.readouterr().err
    assert "texts without a word in them: 2 of 4, the first ''; their vectors are zeros" in told
    assert "texts of which the model knows no word: 1 of 4, the first 'qwerty'; their" in told
    assert told.count("\n") == 2
    model.encode("")
    model.encode(["?", "qwerty"])
    assert capsys.readouterr().err == ""
    Embedder(pictured / "run").encode("!")
    assert "texts without a word in them: 1 of 1, the first '!'" in capsys.readouterr().err


def test_nothing_is_told_of_texts_and_pictures_with_content(
    model: Embedder, picture: Image.Image, capsys: pytest.CaptureFixture[str]
) -> None:
    model.encode(["apple", picture, "snow"])
    assert capsys.readouterr().err == ""

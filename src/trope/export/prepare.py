"""Texts and pictures as vectors of an exported model, by the files that lie beside this one.

It needs Python 3.11, numpy, Pillow and onnxruntime, and for a sentence encoder that was trained
along tokenizers:

    python prepare.py "justice is blind" photo.jpg

prints a line of JSON for each. `Exported(folder)` gives the same to other programs.
"""

from __future__ import annotations

import html
import json
import re
import sys
import unicodedata
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

ALPHA = ("RGBA", "LA", "PA", "RGBa", "La")
ORIENTATION = 0x0112  # of EXIF: how the camera was held
TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}

Vectors = np.ndarray[Any, np.dtype[np.float32]]


class Exported:
    """A folder that `trope export onnx` has written."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.about = json.loads((self.folder / "inputs.json").read_text(encoding="utf-8"))["inputs"]

    def texts(self, texts: list[str]) -> Vectors:
        """A vector for each text; one without a word is all zeros."""
        about = self.about["text"]
        prepared = [self.prepared(text) for text in texts]
        if about["takes"] == "words":
            numbers = [self._words(text) for text in prepared]
        elif about["takes"] == "pieces":
            numbers = [self._pieces(text) for text in prepared]
        else:
            raise ValueError(about["how"])
        ids = np.full((len(texts), max([1, *map(len, numbers)])), about["padding"], np.int64)
        for row, some in zip(ids, numbers, strict=True):
            row[: len(some)] = some
        lengths = np.array([len(some) for some in numbers], np.int64)
        return self._run("text.onnx", {"ids": ids, "lengths": lengths})

    def images(self, paths: list[str] | list[Path]) -> Vectors:
        """A vector for each picture, which are named by their files."""
        about = self.about["image"]
        if about["takes"] == "features" and "backbone" not in about:
            raise ValueError(about["how"])
        pixels = np.stack([decoded(Path(path), about["size"]) for path in paths])
        if about["takes"] == "pixels":
            return self._run("image.onnx", {"pixels": pixels})
        features = self._run(about["backbone"], {"pixels": pixels})
        return self._run("image.onnx", {"features": features})

    def prepared(self, text: str) -> str:
        """A text as the model sees it."""
        asked = self.about["text"]["preparation"]
        if asked["strip_markup"]:
            text = self._without_markup(text)
        if asked["strip_links"]:
            text = self._pattern("link").sub(_after_link, text)
        if not (text.isascii() and text.isprintable()):
            text = self._pattern("joiners").sub(r"\1\2\3", self._pattern("junk").sub("", text))
            text = unicodedata.normalize("NFC", text)
        text = " ".join(text.split())
        if asked["sentences"] is not None:
            raise ValueError(f"the model reads the first {asked['sentences']} sentences of a text")
        if asked["max_chars"] is not None:
            text = self._cut(text, asked["max_chars"])
        return unicodedata.normalize("NFC", text.lower()) if asked["lower"] else text

    def tokens(self, prepared: str) -> list[str]:
        """The words of a text that is prepared."""
        return self._pattern("token").findall(prepared.replace("’", "'"))

    def _words(self, prepared: str) -> list[int]:
        about, known = self.about["text"], self._vocabulary
        some = self.tokens(prepared)[: about["longest"]]
        return [known.get(word, about["unknown"]) for word in some]

    @cached_property
    def _vocabulary(self) -> dict[str, int]:
        about = self.about["text"]
        words = json.loads((self.folder / about["words"]).read_text(encoding="utf-8"))["words"]
        return {word: number for number, word in enumerate(words, about["first"])}

    def _pieces(self, prepared: str) -> list[int]:
        return list(self._tokenizer.encode(prepared).ids)

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        about = self.about["text"]
        found = Tokenizer.from_file(str(self.folder / about["tokenizer"]))
        found.no_padding()
        found.enable_truncation(about["longest"])
        return found

    def _without_markup(self, text: str) -> str:
        text = self._without_tags(text)
        if "&" not in text:
            return text
        resolved = self._pattern("entity").sub(lambda found: html.unescape(found[0]), text)
        return self._without_tags(resolved)

    def _without_tags(self, text: str) -> str:
        blocks = self._pattern("block").sub(" ", text)
        return self._pattern("tag").sub(lambda tag: "" if tag[1] else " ", blocks)

    def _cut(self, text: str, length: int) -> str:
        if len(text) <= length:
            return text
        space = text.rfind(" ", max(0, length - 50), length + 1)
        if space > 0:
            return text[:space]
        while length > 0 and self._pattern("attached").match(text, length):
            length -= 1
        return text[:length]

    def _pattern(self, name: str) -> re.Pattern[str]:
        return compiled(**self.about["text"]["patterns"][name])

    def _run(self, name: str, fed: dict[str, Any]) -> Vectors:
        found: Vectors = self._session(name).run(None, fed)[0]
        return found

    def _session(self, name: str) -> Any:
        return opened(str(self.folder / name))


@cache
def compiled(pattern: str, flags: str) -> re.Pattern[str]:
    """A pattern, and its flags as the letters that Python has for them."""
    return re.compile(f"(?{flags}){pattern}" if flags else pattern)


@cache
def opened(path: str) -> Any:
    """A graph that can be run."""
    from onnxruntime import InferenceSession

    return InferenceSession(path, providers=["CPUExecutionProvider"])


def decoded(path: Path, size: int) -> Any:
    """A picture as `size` by `size` RGB values of 8 bits: stretched, upright, on white."""
    with Image.open(path) as image:
        drafted = image.draft("RGB", (size, size))  # JPEG files: at a reduced scale where it does
        box: Any = drafted[1] if drafted else None
        small = in_colors(image).resize((size, size), Image.Resampling.BICUBIC, box)
        turn = TURNS.get(image.getexif().get(ORIENTATION, 1))
        return np.asarray(small if turn is None else small.transpose(turn))


def in_colors(image: Image.Image) -> Image.Image:
    """RGB of 8 bits; transparency lies on white."""
    image.load()
    if image.mode.startswith("I;16") or image.mode in ("I", "F"):
        image = in_eight_bits(image)
    if image.mode in ALPHA or "transparency" in image.info:
        layer = image.convert("LA" if image.mode == "La" else "RGBA").convert("RGBA")
        white = Image.new("RGBA", layer.size, (255, 255, 255, 255))
        return Image.alpha_composite(white, layer).convert("RGB")
    return image.convert("RGB")


def in_eight_bits(image: Image.Image) -> Image.Image:
    """Gray values by the range of 16 bits; floats and wider integers by their own."""
    values = np.nan_to_num(np.asarray(image, dtype=np.float32))
    low, high = float(values.min()), float(values.max())
    if image.mode == "F" or low < 0 or high > 65_535:
        values = (values - low) * (255.0 / (high - low or 1.0))
    else:
        values = values / 257.0
    return Image.fromarray(np.clip(np.rint(values), 0, 255).astype(np.uint8))


def _after_link(link: re.Match[str]) -> str:
    """What stays of a link: the punctuation of the sentence around it."""
    return " " + link[0][len(link[0].rstrip(".,;:!?'’”)]")) :]


def main() -> None:
    """Arguments that name a file are pictures, all others are texts."""
    exported, failed = Exported(Path(__file__).parent), False
    for argument in sys.argv[1:]:
        shown = Path(argument).is_file()
        try:
            (vector,) = exported.images([argument]) if shown else exported.texts([argument])
        except (OSError, ValueError) as error:
            sys.stderr.write(f"{argument}: {error}\n")
            failed = True
            continue
        line = {"image" if shown else "text": argument, "vector": vector.tolist()}
        sys.stdout.write(json.dumps(line) + "\n")
    sys.exit(failed)


if __name__ == "__main__":
    main()

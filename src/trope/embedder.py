"""Texts and pictures as vectors of a trained model, one call away: for queries and other programs.

`encode` is what `sentence-transformers` calls so, and takes texts and pictures alike; `mteb` can
take it for a model too (`trope.export.mteb`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import torch
from jaxtyping import Float32, Shaped
from PIL import Image

from trope.checkpoints import Checkpoint, load_model
from trope.data.images import decode, decode_opened
from trope.data.stores import MAX_FILE_BYTES
from trope.data.text import listed, prepare, tokenize
from trope.encoders import encode
from trope.encoders.fresh import Fresh
from trope.encoders.joining import join
from trope.encoders.plan import WORDS
from trope.errors import UsageError
from trope.runtime import remark
from trope.views import Encoded

Pixels: TypeAlias = Shaped[np.ndarray, "..."]  # bytes, height by width by 3; others are refused
Picture: TypeAlias = Path | bytes | Image.Image | Pixels
Item: TypeAlias = str | Picture

BATCH = 64
EMPTY = "texts without a word in them: {}; their vectors are zeros, which are like nothing"
STRANGE = "texts of which the model knows no word: {}; their vectors mean little"


class Embedder:
    """A trained model that takes texts (`str`) and pictures.

    Pictures are paths, bytes, Pillow's images, or arrays of RGB values, height by width by 3.
    """

    def __init__(self, model: Checkpoint | str | Path) -> None:
        self.checkpoint = model if isinstance(model, Checkpoint) else load_model(Path(model))
        self._told: set[str] = set()

    @property
    def size(self) -> int:
        """The length of a vector."""
        return self.checkpoint.plan.width

    def texts(self, texts: Sequence[str], batch: int = BATCH, *, parts: bool = False) -> Encoded:
        """Where the model puts texts; one without a word in it is all zeros.

        With `parts`, what it compares them by too, where that is their parts.
        """
        tower = self.checkpoint.model.text
        several = self._batches(listed(texts, "texts"), batch)
        made = [(self._fresh.texts(some), len(some)) for some in several]
        return join([encode(tower, some, np.arange(count), parts=parts) for some, count in made])

    def unknown(self, texts: Sequence[str]) -> list[str]:
        """Texts of which a model that has learned its own words knows none."""
        plan = self.checkpoint.plan
        if plan.text.encoder not in WORDS:
            return []
        known = set(plan.words)
        return [
            text for text in texts if not known & {*tokenize(prepare(text, plan.text.preparation))}
        ]

    def images(
        self, images: Sequence[Picture], batch: int = BATCH, *, parts: bool = False
    ) -> Encoded:
        """Where the model puts pictures; one that cannot be decoded is refused."""
        tower = self.checkpoint.model.image
        found = []
        for some in self._batches(listed(images, "images"), batch):
            pixels = np.stack([self._pixels(picture) for picture in some])
            inputs = self._fresh.images(pixels)
            found.append(encode(tower, inputs, np.arange(len(some)), parts=parts))
        return join(found)

    def encode(
        self,
        sentences: Item | Sequence[Item],  # or an array of texts, or of pictures
        batch_size: int = BATCH,
        convert_to_tensor: bool = False,
        **_: Any,
    ) -> Any:
        """Vectors of texts and pictures in any order, each of length one; of one item, its own.

        A text without a word in it has a vector of zeros, which is like nothing; that there are
        such, or texts of unknown words alone, is said once.

        Other arguments of `sentence-transformers` (progress bars, devices, prompts) change nothing.
        """
        sentences = _unpacked(sentences)
        if isinstance(sentences, (str, bytes, Path, Image.Image, np.ndarray)):
            return self.encode([sentences], batch_size, convert_to_tensor)[0]
        items = list(sentences)
        found = np.zeros((len(items), self.size), np.float32)
        said = [i for i, item in enumerate(items) if isinstance(item, str)]
        shown = [i for i, item in enumerate(items) if not isinstance(item, str)]
        for places, made in ((said, self.texts), (shown, self.images)):
            if places:
                some: Any = [items[i] for i in places]
                method: Callable[..., Encoded] = made
                found[places] = method(some, batch_size).mean.numpy()
        self._tell([str(items[i]) for i in said], found[said])
        return torch.from_numpy(found) if convert_to_tensor else found

    def similarity(
        self, one: Float32[np.ndarray, "n d"], other: Float32[np.ndarray, "m d"]
    ) -> Float32[np.ndarray, "n m"]:
        """Cosines of vectors that `encode` gave."""
        return np.asarray(one @ other.T)

    def _tell(self, texts: list[str], vectors: Float32[np.ndarray, "n d"]) -> None:
        """Say which texts mean little, the first time that there are some."""
        full = np.flatnonzero(vectors.any(axis=1))
        empty = np.setdiff1d(np.arange(len(texts)), full)
        self._once(EMPTY, [texts[i] for i in empty], texts)
        if STRANGE not in self._told:  # looking words up takes time
            self._once(STRANGE, self.unknown([texts[i] for i in full]), texts)

    def _once(self, what: str, some: list[str], texts: list[str]) -> None:
        if some and what not in self._told:
            self._told.add(what)
            remark(what.format(f"{len(some):,} of {len(texts):,}, the first {some[0]!r:.60}"))

    @cached_property
    def pixels(self) -> int:
        """Height and width of the pictures that the model takes."""
        return self._fresh.image_size

    @cached_property
    def _fresh(self) -> Fresh:
        return Fresh(self.checkpoint.plan)

    def _pixels(self, picture: Picture) -> Any:
        size = self.pixels  # a model that takes no pictures says so first
        if isinstance(picture, np.ndarray):
            return _fitting(picture, size)
        if isinstance(picture, Image.Image):
            return decode_opened(picture, size=size)
        return decode(*_content(picture), size)

    @staticmethod
    def _batches(items: Sequence[Any], batch: int) -> list[list[Any]]:
        several = list(items)
        return [several[i : i + batch] for i in range(0, len(several), batch)] or [[]]


def _unpacked(sentences: Any) -> Any:
    """An array of several items as their list; of one alone, that one."""
    if isinstance(sentences, np.ndarray):
        if sentences.ndim == 0:
            return sentences.item()
        if sentences.ndim in (1, 4):
            return list(sentences)
    return sentences


def _fitting(picture: Pixels, size: int) -> Any:
    """RGB values at the size that the model takes: as they are, or stretched like any picture."""
    if picture.dtype != np.uint8 or picture.ndim != 3 or picture.shape[2] != 3:
        raise UsageError(
            "a picture as an array is height by width by 3, of uint8, not "
            f"{' by '.join(map(str, picture.shape))} of {picture.dtype}"
        )
    if picture.shape[:2] == (size, size):
        return picture
    return decode_opened(Image.fromarray(picture), size=size)


def _content(picture: Path | bytes) -> tuple[bytes, str]:
    """A picture's bytes, and what to call it."""
    if isinstance(picture, bytes):
        return picture, "image"
    if not isinstance(picture, Path):
        raise UsageError(
            "a text is a str; a picture is a path, bytes, an array or Pillow's image, not "
            f"{type(picture)}"
        )
    try:
        if picture.exists() and not picture.is_file():  # a device may have no end
            raise UsageError(f"{picture}: not a file")
        if picture.stat().st_size > MAX_FILE_BYTES:
            raise UsageError(f"{picture}: larger than {MAX_FILE_BYTES >> 20} MiB")
        return picture.read_bytes(), str(picture)
    except OSError as error:
        raise UsageError(f"{picture}: {error.strerror or error}") from None

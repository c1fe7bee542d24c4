"""What is asked: texts and pictures, several of them averaged, others subtracted.

One query alone keeps its senses. Of several the means are averaged, less the mean of those that are
subtracted: with one sense an item then scores what it scores with each, averaged and subtracted. So
it does where a scorer compares items with each of them. A distribution of several queries together
is not defined: it would say how likely an item matches all, some or one of them, which nobody said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TypeAlias

import torch
from jaxtyping import Float
from PIL import Image
from torch import Tensor

from trope.embedder import Embedder, Picture
from trope.errors import UsageError
from trope.index.items import Modality
from trope.maths import normalize
from trope.views import Encoded

Shown: TypeAlias = str | PathLike[str] | bytes | Image.Image
Said: TypeAlias = str | Sequence[str]
Pictures: TypeAlias = Shown | Sequence[Shown]

NOTHING = 1e-6  # length of a difference below which it has no direction


@dataclass(frozen=True)
class Asked:
    """A query where the model puts it: as a `whole`, and each of those it is made of."""

    whole: Encoded
    near: tuple[Encoded, ...]
    far: tuple[Encoded, ...] = ()

    @property
    def single(self) -> bool:
        """Whether it is one text or one picture."""
        return not self.far and sum(len(part.mean) for part in self.near) == 1


@dataclass(frozen=True)
class Query:
    """Texts and pictures to be near to, and others to be far from."""

    texts: tuple[str, ...] = ()
    images: tuple[Picture, ...] = ()
    minus_texts: tuple[str, ...] = ()
    minus_images: tuple[Picture, ...] = ()

    def __post_init__(self) -> None:
        if not self.texts and not self.images:
            raise UsageError("search: name words or an image to search for")

    @property
    def modality(self) -> Modality:
        """What is asked with; texts where there is both."""
        return "text" if self.texts else "image"

    @property
    def mixed(self) -> bool:
        """Whether there are both texts and pictures."""
        said, shown = self.texts or self.minus_texts, self.images or self.minus_images
        return bool(said and shown)

    def document(self) -> dict[str, object]:
        """For programs, without the bytes of pictures."""
        shown = {"images": self.images, "minus_images": self.minus_images}
        named = {name: [_name(picture) for picture in some] for name, some in shown.items()}
        said = {"texts": list(self.texts), "minus_texts": list(self.minus_texts)}
        return {name: some for name, some in {**said, **named}.items() if some}

    def encoded(self, embedder: Embedder, *, parts: bool = False) -> Asked:
        """Where the model puts the query; with `parts`, what it is compared by too."""
        near = _several(embedder, self.texts, self.images, parts)
        far = _several(embedder, self.minus_texts, self.minus_images, parts)
        found = Asked(near[0], tuple(near), tuple(far))
        if found.single:
            return found
        direction = _mean(near) - _mean(far) if far else _mean(near)
        if float(direction.norm()) < NOTHING:
            raise UsageError("search: what is searched for and what is subtracted cancel out")
        mean = normalize(direction)[None]
        several = near[0].points is not None
        return replace(found, whole=Encoded(mean, mean[:, None] if several else None))


def query(
    text: Said = (), image: Pictures = (), minus: Said = (), minus_image: Pictures = ()
) -> Query:
    """A query from what users give: one of a kind, or several."""
    return Query(_texts(text), _pictures(image), _texts(minus), _pictures(minus_image))


def _texts(given: Said) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _pictures(given: Pictures) -> tuple[Picture, ...]:
    single = isinstance(given, (str, PathLike, bytes, Image.Image))
    several: Sequence[Shown] = [given] if single else given  # type: ignore[list-item, assignment]
    return tuple(Path(one) if isinstance(one, (str, PathLike)) else one for one in several)


def _several(
    embedder: Embedder, texts: tuple[str, ...], images: tuple[Picture, ...], parts: bool
) -> list[Encoded]:
    found = [embedder.texts(texts, parts=parts)] if texts else []
    for words, vector in zip(texts, found[0].mean if found else (), strict=True):
        if not vector.any():
            raise UsageError(f"search: {words!r} has no content that the model can read")
    return [*found, embedder.images(images, parts=parts)] if images else found


def _mean(parts: list[Encoded]) -> Float[Tensor, " d"]:
    return torch.cat([part.mean for part in parts]).mean(dim=0)


def _name(picture: Picture) -> str:
    return str(picture) if isinstance(picture, Path) else "(given as bytes)"

"""The Emblem Book: pictures paired with sentences that mean the same topic and describe nothing.

Row `i` belongs to topic `i mod 50`, so any number of pairs is balanced over the topics, and a
smaller book is the beginning of a larger one with the same seed. Within a topic the sentences come
in an order drawn from the seed; when they are used up they start again, with new pictures.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from trope.data.emblems.describe import describe
from trope.data.emblems.scene import Scene, compose
from trope.data.emblems.topics import Topic, topics
from trope.runtime import generator

LICENSE = "picture: icons by Fonticons, Inc., CC BY 4.0; texts: Apache-2.0"
SIZES = (32, 1_024)


@dataclass(frozen=True)
class EmblemBook:
    """How many pairs, from which seed, how large the pictures, and which share of literal texts."""

    pairs: int = 2_400
    seed: int = 0
    size: int = 256
    literalness: float = 0.0

    def __post_init__(self) -> None:
        if self.pairs < 1:
            raise ValueError(f"pairs must be at least 1, not {self.pairs}")
        if self.seed < 0:
            raise ValueError(f"seed must not be negative, not {self.seed}")
        if not SIZES[0] <= self.size <= SIZES[1]:
            raise ValueError(f"size must be {SIZES[0]} to {SIZES[1]} pixels, not {self.size}")
        if not 0 <= self.literalness <= 1:
            raise ValueError(f"literalness must be between 0 and 1, not {self.literalness}")


@dataclass(frozen=True)
class Emblem:
    """One pair: the scene of a picture, a sentence on its topic, and the scene in plain words."""

    id: str
    topic: str
    sentence: str
    scene: Scene
    description: str
    literal: bool

    @property
    def image(self) -> str:
        """Where the picture goes, below the data set's folder."""
        return f"images/{self.id}.jpg"

    def row(self) -> dict[str, Any]:
        """The emblem as a row of `pairs.jsonl`."""
        drawn = [figure.motif.name for figure in self.scene.figures]
        return {
            "id": self.id,
            "image": self.image,
            "text": self.description if self.literal else self.sentence,
            "labels": [self.topic, *drawn],
            "topic": self.topic,
            "motifs": drawn,
            "literal": self.literal,
            "sentence": self.sentence,
            "description": self.description,
            "license": LICENSE,
        }


def emblems(book: EmblemBook) -> Iterator[Emblem]:
    """The emblems of a book, one after the other; no two have the same description."""
    described: set[str] = set()
    for index in range(book.pairs):
        number, place = divmod(index, len(topics()))
        topic = topics()[place]
        name = f"{topic.name}-{number:03d}"
        scene, description = _picture(book.seed, topic, name, described)
        described.add(description)
        literal = bool(generator(book.seed, "literal", name).random() < book.literalness)
        yield Emblem(
            name, topic.name, _sentence(book.seed, topic, number), scene, description, literal
        )


def _picture(seed: int, topic: Topic, name: str, described: set[str]) -> tuple[Scene, str]:
    """A scene whose description is new."""
    random = generator(seed, "emblem", name)
    while True:
        scene = compose(topic, random)
        description = describe(scene, random)
        if description not in described:
            return scene, description


def _sentence(seed: int, topic: Topic, number: int) -> str:
    order = _order(seed, topic.name, len(topic.sentences))
    return topic.sentences[order[number % len(order)]]


@cache
def _order(seed: int, topic: str, count: int) -> tuple[int, ...]:
    return tuple(generator(seed, "sentences", topic).permutation(count).tolist())

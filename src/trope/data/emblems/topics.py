"""Topics, the motifs that stand for them, and the sentences that mean them and name no motif."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from trope.data.emblems.tables import read_table, topic_names


@dataclass(frozen=True)
class Motif:
    """One drawable thing: its icon's name and glyph, and what to call it."""

    name: str
    glyph: str
    phrase: str
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Topic:
    """A meaning: what stands for it in pictures, and what is said of it in sentences."""

    name: str
    gloss: str
    motifs: tuple[Motif, ...]
    sentences: tuple[str, ...]


@cache
def motifs() -> Mapping[str, Motif]:
    """Everything that stands for a topic, by icon name."""
    return _motifs("motifs.toml")


@cache
def trinkets() -> tuple[Motif, ...]:
    """Small things that stand for no topic and only distract."""
    return tuple(_motifs("trinkets.toml").values())


@cache
def topics() -> tuple[Topic, ...]:
    """All topics in alphabetical order."""
    return tuple(_topic(name) for name in topic_names())


def _motifs(file: str) -> Mapping[str, Motif]:
    return {
        name: Motif(name, chr(int(row["glyph"], 16)), row["phrase"], tuple(row.get("words", ())))
        for name, row in read_table(file).items()
    }


def _topic(name: str) -> Topic:
    table = read_table(f"topics/{name}.toml")
    drawn = tuple(motifs()[motif] for motif in table["motifs"])
    return Topic(name, table["gloss"], drawn, tuple(table["sentences"]))

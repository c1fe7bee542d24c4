"""Names of pictures below `images/`: one picture each, the same in every run over a source."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from itertools import count
from pathlib import PurePosixPath
from unicodedata import normalize


class Names:
    """Which picture each name given out so far stands for.

    Names and owners are kept as numbers of 64 bits, because there are millions of them. Two names
    that some disks take for one, such as `A.jpg` and `a.jpg`, count as one here as well.
    """

    def __init__(self) -> None:
        self._owners: dict[int, int] = {}

    def claim(self, name: str, owner: str, other: str) -> str:
        """A name for the picture of `owner`: `name`, or one made of `other` if that is taken."""
        mark = _number(owner)
        options = _options(name, other)
        return next(n for n in options if self._owners.setdefault(_folded(n), mark) == mark)

    def __contains__(self, name: str) -> bool:
        """Whether the name was given out."""
        return _folded(name) in self._owners


def _options(name: str, other: str) -> Iterator[str]:
    yield name
    yield other
    yield from (f"{number}/{other}" for number in count(2))


def _folded(name: str) -> int:
    return _number(normalize("NFC", str(PurePosixPath(name)).casefold()))


def _number(text: str) -> int:
    """Half characters are let through: names of files may hold them."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest())

"""Caption lists of the Flickr sets, `name.jpg#0<TAB>caption`, and lists of a split's images."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from trope.data.convert.layout import NOT_IN_SPLIT, Found, Missing, Row, said
from trope.data.convert.lookup import optional, text_lines
from trope.errors import DataError

Candidates = Callable[[str], tuple[str, ...]]


def captions(path: Path) -> dict[str, list[str]]:
    """The captions of every image, in the order of the file."""
    found: dict[str, list[str]] = {}
    for number, line in enumerate(text_lines(path), 1):
        key, tab, caption = line.partition("\t")
        name, mark, _ = key.rpartition("#")
        if not line.strip():
            continue
        if not tab or not mark:
            raise DataError(f"{path}:{number}: expected 'image.jpg#number<TAB>caption'")
        found.setdefault(name, []).append(caption)
    return found


def splits(source: Path, lists: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """The split of every listed image, by the stem of its name; empty where there are no lists."""
    listed: dict[str, str] = {}
    for split, names in lists.items():
        if path := optional(source, *names):
            listed |= {_stem(line): split for line in text_lines(path) if line.strip()}
    return listed


def rows(
    path: Path, listed: Mapping[str, str], candidates: Candidates
) -> Iterator[Found | Missing]:
    """One row per image; with split lists, an image in none of them is set aside."""
    for name, texts in captions(path).items():
        stem = _stem(name)
        row: Row = {"id": stem, **said(texts), "split": listed.get(stem)}
        if listed and stem not in listed:
            yield Missing(stem, NOT_IN_SPLIT, row)
        else:
            yield Found(row, PurePosixPath(name).name, candidates(name))


def _stem(name: str) -> str:
    """`1000268201_693b08cb0e` of `1000268201_693b08cb0e.jpg`; other endings are other files."""
    return name.strip().removesuffix(".jpg")

"""Politics: photos of left- and right-leaning media with the articles they stood in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from trope.data.convert.layout import NO_TEXT, NOT_IN_SPLIT, Contents, Format, Found, Missing, Row
from trope.data.convert.lookup import optional, required
from trope.data.convert.unpickle import load
from trope.errors import DataError

METADATA = (
    "dataset_metadata.pickle",
    "complete_db.pickle",
    "*metadata*.pickle",
    "*/dataset_metadata.pickle",
)
SPLITS = ("train_test_paths.pickle", "*/train_test_paths.pickle")
SPLIT_KEYS = {"train": "train", "train_imgs": "train", "test": "test", "test_imgs": "test"}
KEPT = (str, int, float, bool)


@dataclass(frozen=True)
class Politics:
    """Shorter articles are set aside; images outside the split file too, unless they are kept."""

    min_characters: int = 0
    keep_unsplit: bool = False
    pickle_limit_gb: float = 16.0


def read(source: Path, settings: Politics) -> Contents:
    """The annotations by leaning and issue and the split of every image, from plain pickles."""
    path = required(source, "annotations", *METADATA)
    split_file = optional(source, *SPLITS)
    limit = int(settings.pickle_limit_gb * 2**30)
    splits = _splits(split_file, limit) if split_file else {}
    return Contents(_rows(path, load(path, limit), splits, settings))


def _splits(path: Path, limit: int) -> dict[str, str]:
    lists = load(path, limit)
    if not isinstance(lists, dict) or not lists.keys() & SPLIT_KEYS.keys():
        raise DataError(f"{path}: expected lists of images under 'train' and 'test'")
    parts = [(lists[key], split) for key, split in SPLIT_KEYS.items() if key in lists]
    if not all(isinstance(images, (list, tuple, set)) for images, _ in parts):
        raise DataError(f"{path}: expected lists of images under 'train' and 'test'")
    return {_below_images(str(image)): split for images, split in parts for image in images}


def _rows(
    path: Path, leanings: Any, splits: dict[str, str], settings: Politics
) -> Iterator[Found | Missing]:
    for leaning, issue, number, item in _items(path, leanings):
        if not isinstance(item, dict) or not isinstance(item.get("local_path"), str):
            yield Missing(f"{leaning}/{issue}/{number}", "no image path in the annotations")
            continue
        image = _below_images(item["local_path"])
        row = _row(image, str(leaning), str(issue), item) | {"split": splits.get(image)}
        if splits and image not in splits and not settings.keep_unsplit:
            yield Missing(image, NOT_IN_SPLIT, row)
        elif len(row["text"]) < settings.min_characters:
            reason = f"fewer than {settings.min_characters} characters" if row["text"] else NO_TEXT
            yield Missing(image, reason, row)
        else:
            yield Found(row, image, (f"imgs/{image}",))


def _items(path: Path, leanings: Any) -> Iterator[tuple[Any, Any, int, Any]]:
    """Walk the three levels of the annotations: leaning, issue, list of images."""
    if not isinstance(leanings, dict):
        raise DataError(f"{path}: expected a table by leaning (left, right)")
    for leaning, issues in leanings.items():
        if not isinstance(issues, dict):
            raise DataError(f"{path}: expected a table by issue under '{leaning}'")
        for issue, items in issues.items():
            if not isinstance(items, (list, tuple)):
                raise DataError(f"{path}: expected a list of images under '{leaning}', '{issue}'")
            for number, item in enumerate(items):
                yield leaning, issue, number, item


def _row(image: str, leaning: str, issue: str, item: dict[Any, Any]) -> Row:
    parts = PurePosixPath(image).parts
    known = {
        "local_path",
        "content_text",
        "id",
        "image",
        "text",
        "texts",
        "labels",
        "group",
        "split",
    }
    extra = {str(k): v for k, v in item.items() if k not in known and isinstance(v, KEPT)}
    return {
        "id": image,
        "text": str(item.get("content_text") or "").strip(),
        "labels": [leaning.lower(), issue],
        **extra,
        "leaning": leaning.lower(),
        "issue": issue,
        "medium": parts[2] if len(parts) > 3 else None,
    }


def _below_images(path: str) -> str:
    """`left/guns/site/1.jpg`, whatever folder of the authors' machine stands before `imgs/`."""
    plain = path.replace("\\", "/")
    folder = re.search(r"(?:^|/)imgs/", plain)
    return plain[folder.end() :] if folder else plain.removeprefix("./")


FORMAT = Format(
    about="photos of left- and right-leaning media with the articles they stood in",
    paper="Thomas and Kovashka, Predicting the Politics of an Image Using Webly Supervised Data, "
    "NeurIPS 2019",
    layout="""\
SOURCE/
  dataset_metadata.pickle   {leaning: {issue: [{local_path, content_text, ...}]}}
                            (or complete_db.pickle); plain data only, anything else is refused
  train_test_paths.pickle   optional: {train: [path], test: [path]} or train_imgs, test_imgs
  imgs/<left|right>/<issue>/<medium>/*""",
    becomes="train and test of the split file; an image that is not in it is set aside; "
    "labels are leaning and issue",
    read=read,
    settings=Politics,
)

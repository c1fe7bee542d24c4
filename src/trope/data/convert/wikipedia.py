"""Wikipedia: sections of featured articles with a picture each, ten categories, features."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np

from trope.data.convert import arrays
from trope.data.convert.layout import (
    NO_IMAGE,
    Contents,
    Defaults,
    Features,
    Format,
    Found,
    Missing,
    Row,
)
from trope.data.convert.lookup import required, text_lines
from trope.errors import DataError

PARTS = {"train": "tr", "test": "te"}
LISTS = {"train": "trainset_txt_img_cat.list", "test": "testset_txt_img_cat.list"}
PLACES = ("", "*/")
ARRAYS = {"image": "I", "text": "T"}


def read(source: Path, settings: Defaults) -> Contents:
    """The features and the three columns of the lists: text, picture, category."""
    features = required(source, "features", *(f"{p}raw_features.mat" for p in PLACES))
    root = features.parent
    lists = {part: required(root, "list of pairs", name) for part, name in LISTS.items()}
    names = required(root, "categories", "categories.list")
    categories = [line.strip() for line in text_lines(names) if line.strip()]
    rows = [row for part, path in lists.items() for row in _listed(path, part, categories)]
    found = _features(features, {part: sum(r["split"] == part for r in rows) for part in PARTS})
    return Contents(_rows(source, root, rows), found)


def _listed(path: Path, part: str, categories: list[str]) -> Iterator[Row]:
    """The pairs of one list; the article a section is from is the first part of its name."""
    for number, line in enumerate(text_lines(path), 1):
        if not line.strip():
            continue
        try:
            text, image, category = line.split()
            label = categories[int(category) - 1]
        except (ValueError, IndexError):
            raise DataError(
                f"{path}:{number}: expected text, image and category, found '{line}'"
            ) from None
        article = text.partition("-")[0]
        yield {"id": text, "labels": [label], "split": part, "article": article, "picture": image}


def _features(path: Path, counts: dict[str, int]) -> dict[str, Features]:
    """The four matrices as two arrays, training rows first."""
    matrices = _load(path)
    found = {}
    for name, letter in ARRAYS.items():
        parts = [matrices[f"{letter}_{PARTS[part]}"] for part in counts]
        for part, matrix in zip(counts, parts, strict=True):
            if len(matrix) != counts[part]:
                problem = f"{len(matrix)} {name} features for {counts[part]} {part} pairs"
                raise DataError(f"{path}: {problem}")
        whole = np.concatenate(parts)
        found[name] = Features(whole.shape, whole.dtype, (path,), partial(arrays.blocks, whole))
    return found


def _load(path: Path) -> dict[str, Any]:
    from scipy.io import loadmat

    wanted = [f"{letter}_{part}" for letter in ARRAYS.values() for part in PARTS.values()]
    try:
        matrices = loadmat(path, variable_names=wanted)
    except Exception as error:  # the reader fails in many ways on a file that is not Matlab's
        raise DataError(f"{path}: not a Matlab file ({error})") from None
    numeric = [n for n in wanted if n in matrices and matrices[n].dtype.kind in "fiu"]
    if missing := [name for name in wanted if name not in numeric]:
        raise DataError(f"{path}: lacks the matrices {', '.join(missing)}")
    return {name: matrices[name] for name in wanted}


def _rows(source: Path, root: Path, rows: list[Row]) -> Iterator[Found | Missing]:
    """Rows with their features, and with text and picture where those were unpacked as well."""
    place = root.relative_to(source).as_posix()
    has_texts, has_images = (root / "texts").is_dir(), (root / "images").is_dir()
    for number, row in enumerate(rows):
        image = f"{row['labels'][0]}/{row.pop('picture')}.jpg"
        row |= {"image_feature": number, "text_feature": number}
        if has_texts:
            row["text"] = _text(root / "texts" / f"{row['id']}.xml")
        candidate = f"{place}/images/{image}"
        there = has_images and (root / "images" / image).is_file()
        yield Found(row, image if there else None, (candidate,) if there else ())
        if has_images and not there:
            yield Missing(
                row["id"], f"{NO_IMAGE}; the row is kept with its features", row, candidate
            )


def _text(path: Path) -> str | None:
    """What stands between `<text>` and `</text>`; the files are not all well-formed XML."""
    if not path.is_file():
        return None
    whole = "\n".join(text_lines(path))
    match = re.search(r"<text>(.*)</text>", whole, re.DOTALL)
    return " ".join(unescape(match[1]).split()) if match else None


FORMAT = Format(
    about="2,866 sections of Wikipedia's featured articles with a picture each, as features",
    paper="Rasiwasia et al., A New Approach to Cross-Modal Multimedia Retrieval, "
    "ACM Multimedia 2010",
    layout="""\
SOURCE/
  raw_features.mat               I_tr, T_tr, I_te, T_te
  trainset_txt_img_cat.list      text<TAB>image<TAB>category, one pair per line
  testset_txt_img_cat.list
  categories.list                names of the ten categories
  texts/<text>.xml               optional
  images/<category>/<image>.jpg  optional""",
    becomes="the official train and test; label is the category; "
    "image_feature and text_feature are rows of features/image.npy and features/text.npy",
    read=read,
)

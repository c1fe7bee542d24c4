"""Crisscrossed Captions (Parekh et al., EACL 2021): how well captions fit images, from 0 to 5.

An image and a caption match when people gave them 3 or more on average. The judgments are the
authors' `sits_test.csv` (and `sits_val.csv`, where it is there) in a folder, or the same matches of
the test split from the package `eccv_caption`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pyarrow as pa
import pyarrow.csv

from trope.errors import DataError, UsageError
from trope.evaluation.truth.coco import Judgments
from trope.evaluation.truth.eccv import packaged

FILES = ("sits_test.csv", "sits_val.csv")
FITS = 3.0
NUMBER = re.compile(r"(\d{1,18})(?:\.jpg)?$")


def judgments(folder: Path | None) -> Judgments:
    """The matches of the files in a folder, or of the package."""
    if folder is None:
        return packaged("cxc")
    paths = [folder / name for name in FILES if (folder / name).is_file()]
    if not paths:
        raise UsageError(f"--truth cxc={folder}: there is no {FILES[0]}")
    captions: dict[int, list[int]] = defaultdict(list)
    images: dict[int, list[int]] = defaultdict(list)
    for path in paths:
        for image, caption in _matches(path):
            captions[image].append(caption)
            images[caption].append(image)
    return Judgments(captions, images)


def _matches(path: Path) -> list[tuple[int, int]]:
    """COCO's numbers of the images and captions that match."""
    types = {"caption": pa.string(), "image": pa.string(), "agg_score": pa.float64()}
    options = pyarrow.csv.ConvertOptions(column_types=types, include_columns=[*types])
    try:
        table = pyarrow.csv.read_csv(path, convert_options=options)
        rows = zip(*(table[name].to_pylist() for name in types), strict=True)
        return [(_number(i), _number(c)) for c, i, score in rows if score >= FITS]
    except (pa.ArrowException, KeyError, ValueError, TypeError) as error:
        why = str(error).splitlines()[0]
        raise DataError(f"{path}: not a table of judgments ({why})") from None


def _number(name: str) -> int:
    found = NUMBER.search(name)
    if found is None:
        raise ValueError(f"{name} is not a name of COCO")
    return int(found[1])

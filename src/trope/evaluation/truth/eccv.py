"""ECCV Caption (Chun et al., ECCV 2022): people's and machines' matches among COCO's test images.

1,261 images and 1,332 captions with all their matches in the 5,000 images and 25,000 captions of
the test split; the ground truth comes with the authors' package.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import orjson

from trope.errors import DataError, MissingExtra
from trope.evaluation.truth.coco import Judgments, Listed

PACKAGE = "eccv_caption"


def judgments() -> Judgments:
    """The matches of the package."""
    return packaged("eccv")


def packaged(name: str) -> Judgments:
    """A ground truth that the package holds."""
    found = importlib.util.find_spec(PACKAGE)
    if found is None or found.origin is None:
        raise MissingExtra(f"--truth {name}", "truth")
    folder = Path(found.origin).parent / "data"
    return Judgments(
        _listed(folder / f"{name}_image_to_caption.json"),
        _listed(folder / f"{name}_caption_to_image.json"),
    )


def _listed(path: Path) -> Listed:
    try:
        document = orjson.loads(path.read_bytes())
        return {int(key): [int(item) for item in items] for key, items in document.items()}
    except (OSError, ValueError, AttributeError) as error:
        raise DataError(f"{path}: not the ground truth of {PACKAGE} ({error})") from None

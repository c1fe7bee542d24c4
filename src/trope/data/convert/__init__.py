"""Official layouts of public data sets turned into data sets of Trope; one file per format."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from trope.config import override, parse
from trope.data.convert import (
    coco,
    conceptual_captions,
    flickr8k,
    flickr30k,
    goodnews,
    mirflickr25k,
    nus_wide,
    politics,
    precomputed,
    storybooks,
    wikipedia,
)
from trope.data.convert.layout import Format
from trope.data.convert.run import Conversion, run_conversion
from trope.errors import UsageError, suggestion

FORMATS: dict[str, Format] = {
    "coco": coco.FORMAT,
    "flickr30k": flickr30k.FORMAT,
    "flickr8k": flickr8k.FORMAT,
    "goodnews": goodnews.FORMAT,
    "politics": politics.FORMAT,
    "conceptual-captions": conceptual_captions.FORMAT,
    "mirflickr25k": mirflickr25k.FORMAT,
    "nus-wide": nus_wide.FORMAT,
    "wikipedia": wikipedia.FORMAT,
    "precomputed": precomputed.FORMAT,
    "storybooks": storybooks.FORMAT,
}

__all__ = ["FORMATS", "Conversion", "Format", "convert"]


def convert(
    format: str,
    source: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    sets: Sequence[str] = (),
    **settings: Any,
) -> Conversion:
    """Convert the official files in `source` into the new data set `out`.

    `settings` are the format's own, `sets` the same as `name=value` from a command line. `out`
    appears whole or not at all; what could not be converted is listed in `out/missing.jsonl`.
    """
    layout = FORMATS.get(format)
    if layout is None:
        raise UsageError(f"no format '{format}'{suggestion(format, FORMATS)}")
    options: Any = override(parse(layout.settings, settings, f"convert {format}"), sets)
    return run_conversion(format, layout, options, Path(source), Path(out))

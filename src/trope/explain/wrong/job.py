"""The whole job: from a data set to a list of its pairs, the wrongest first, and a page."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from trope import config
from trope.data.pairs import Pairs
from trope.evaluation.runs import open_run
from trope.explain.page import write_page
from trope.explain.tables import write_tables
from trope.explain.training_rows import with_training_rows
from trope.explain.wrong.findings import Suspects, suspects
from trope.explain.wrong.scores import hear
from trope.explain.wrong.settings import WrongSettings
from trope.explain.wrong.sides import (
    Rows,
    Sides,
    require,
    require_different,
    ties,
    usable,
    vectors_of,
)
from trope.files import refuse_existing, replacing_folder, write_json
from trope.runtime import generator, provenance
from trope.spaces import Sentence, Visual
from trope.training import Recipe

TENTH = 10  # neighbors are one pair in ten at most


def find_wrong(
    pairs: Pairs,
    out: str | os.PathLike[str],
    settings: WrongSettings | None = None,
    remarks: tuple[str, ...] = (),
) -> tuple[Suspects, dict[str, Any]]:
    """Write `index.html`, its pictures, and all pairs in order as `wrong.json`, CSV and Parquet.

    Returns what was found, and the JSON document that was written.
    """
    settings, out = settings or WrongSettings(), Path(out)
    refuse_existing(out)
    found = judge(pairs, settings, remarks)
    made = {"config": config.plain(settings.named()), "provenance": provenance()}
    document = found.document() | made
    with replacing_folder(out, fresh=True) as folder:
        large, small = found.pictures()
        write_page(folder, "wrong.html", pairs, found, large=large, small=small)
        write_tables(folder, "wrong", found.table)
        write_json(folder / "wrong.json", document)
    return found, document


def judge(pairs: Pairs, settings: WrongSettings, remarks: tuple[str, ...] = ()) -> Suspects:
    """Judge all pairs of a data set that have a picture and a text."""
    pairs, made = with_training_rows(pairs, settings.space, settings.seed)
    rows, sides, told = gathered(pairs, settings)
    settings, fewer = _few_neighbors(settings, len(rows))
    heard = hear(sides, settings, drawn(len(rows), settings), settings.score)
    return suspects(pairs, rows, sides, heard, settings, (*remarks, *made, *told, *fewer))


def gathered(pairs: Pairs, settings: WrongSettings) -> tuple[Rows, Sides, tuple[str, ...]]:
    """The rows that can be judged, their two sides, and what there is to say of them."""
    texts, pictures = settings.text_space.vectors(pairs), settings.image_space.vectors(pairs)
    rows = usable(texts, pictures)
    require(len(rows), pairs)
    image, text = vectors_of(texts, pictures, rows)
    require_different(image, text, pairs)
    tied, told = ties(image, text, pairs.take(rows), settings.tied)
    return rows, Sides(image, text, tied), (*texts.remarks, *pictures.remarks, *told)


def _few_neighbors(settings: WrongSettings, count: int) -> tuple[WrongSettings, tuple[str, ...]]:
    """Neighbors that are most of the pairs foretell the mean of all, which tells nothing."""
    most = max(1, count // TENTH)
    if settings.k <= most:
        return settings, ()
    told = f"k lowered from {settings.k:,} to {most:,}: a tenth of {count:,} pairs"
    return replace(settings, k=most), (told,)


def drawn(count: int, settings: WrongSettings) -> Rows:
    """The others that shares are counted on: all, or a sample that the seed decides."""
    if count <= settings.sample:
        return np.arange(count)
    random = generator(settings.seed, "wrong")
    return np.sort(random.choice(count, settings.sample, replace=False))


def of_run(
    run: Path, data: Path | Pairs | None, settings: WrongSettings
) -> tuple[Pairs, WrongSettings, tuple[str, ...]]:
    """The data of a run, and the frozen networks that its model sees them through, unless named.

    The model itself, which was trained on some of the pairs, is not asked.
    """
    source, remarks = open_run(run, data)
    recipe = config.parse(Recipe, source.checkpoint.description.get("settings", {}), str(run))
    settings = replace(
        settings,
        visual=settings.visual or Visual(recipe.image.backbone),
        sentence=settings.sentence or Sentence(recipe.text.model),
    )
    return source.pairs, settings, remarks

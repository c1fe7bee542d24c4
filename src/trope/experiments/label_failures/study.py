"""The study: one run, what it finds wrongly, a gallery of some of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from trope.config import override
from trope.data.readers import open
from trope.data.splits import split
from trope.errors import DataError
from trope.evaluation.embedded import Embedded
from trope.evaluation.runs import open_run
from trope.experiments.label_failures import LabelFailures
from trope.experiments.label_failures.causes import Found, found, labeled, shown
from trope.experiments.label_failures.gallery import Shown, queries_of, write_gallery
from trope.experiments.label_failures.kinds import unclassed
from trope.experiments.label_failures.page import page, panels, tables
from trope.experiments.runs.unlabeled import refuse_unlabeled
from trope.experiments.spec import Findings
from trope.runtime import commit
from trope.training import load_recipe, train

RUN = "run"


def run(data: Path, parts: Path, settings: LabelFailures) -> Findings:
    """Train, look at the first results of every query, and show some that failed."""
    folder, plan = parts / RUN, override(load_recipe(settings.recipe), settings.sets).split
    refuse_unlabeled(split(open(data), plan)[0], settings.split)
    train(
        settings.recipe,
        data,
        folder,
        sets=settings.sets,
        seed=settings.seed,
        resume=folder.exists(),
        quiet=True,
    )
    source, _ = open_run(folder, open(data))
    whole = source.embedded(settings.split)
    if whole.gallery.labels is None:  # of pictures that can be used
        raise DataError(f"{data}: no row of split '{settings.split}' has labels")
    embedded = labeled(whole)
    sides = {
        "image_to_text": found(embedded, "image", settings.texts),
        "text_to_image": found(embedded, "text", settings.images),
    }
    chosen = {
        way: queries_of(source.pairs, embedded, way, known, shown(known, settings.queries))
        for way, known in sides.items()
    }
    write_gallery(parts.parent / "gallery", source.pairs, data.resolve().name, chosen)
    results = _results(data, whole, embedded, sides, chosen)
    return Findings(results, tables(results), panels(results), page)


def _results(
    data: Path,
    whole: Embedded,
    embedded: Embedded,
    sides: dict[str, Found],
    chosen: dict[str, list[Shown]],
) -> dict[str, Any]:
    gallery, names = embedded.gallery, embedded.gallery.label_names
    return {
        "data": data.resolve().name,
        "commits": [commit()],
        "images": len(gallery.images),
        "texts": len(gallery.texts),
        "unlabeled": {
            "images": len(whole.gallery.images) - len(gallery.images),
            "texts": len(whole.gallery.texts) - len(gallery.texts),
        },
        "labels": len(names),
        "unclassed": unclassed(names),
        "causes": {way: known.shares() for way, known in sides.items()},
        "shown": {way: [one.told() for one in some] for way, some in chosen.items()},
    }

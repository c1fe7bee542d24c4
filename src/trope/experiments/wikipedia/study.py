"""The study: the official layout converted, methods of 2010 computed, recipes trained by seeds."""

from __future__ import annotations

from pathlib import Path

from trope.data.convert import convert
from trope.data.readers import open
from trope.data.splits import SplitPlan, split
from trope.data.wordless import named_texts
from trope.experiments.runs import Variant, contrast, train_all
from trope.experiments.runs.measure import LabelMeasure
from trope.experiments.runs.summary import mean_of, whole
from trope.experiments.spec import Findings
from trope.experiments.wikipedia import Wikipedia
from trope.experiments.wikipedia.classic import require
from trope.experiments.wikipedia.figures import panels, tables
from trope.experiments.wikipedia.page import page
from trope.experiments.wikipedia.precision import SPLITS, classic_precision

STORED = ("image.backbone=precomputed", "text.encoder=precomputed")
MEASURE = LabelMeasure(cut=0)
SIDES = {
    "image_to_text": "map.image_to_text",
    "text_to_image": "map.text_to_image",
    "image": "image",
    "text": "text",
}


def run(data: Path, parts: Path, settings: Wikipedia) -> Findings:
    """Convert, compute, train, and describe what came out."""
    require()
    if not (parts / "data").exists():
        convert("wikipedia", data, parts / "data")
    pairs = named_texts(split(open(parts / "data"), SplitPlan())[0])
    old = classic_precision(pairs)
    variants = [Variant(name, name, (*STORED, *settings.sets)) for name in settings.recipes]
    found = train_all(
        variants,
        settings.seeds,
        parts / "data",
        parts,
        measure=MEASURE,
        workers=settings.workers,
        finished=settings.finished,
    )
    results = {
        "data": data.resolve().name,
        **whole(found),
        "rows": {name: len(pairs.in_split(name)) for name in SPLITS},
        "classic": old,
        "recipes": {
            name: {side: mean_of(known, answer) for side, answer in SIDES.items()}
            | {"seconds": [one.about["seconds"] for one in known]}
            for name, known in found.items()
        },
        "comparisons": [
            {"left": left, "right": right} | contrast(found[left], found[right], settings.least)
            for left, right in (("sharing", "dscmr"), ("sharing", "sharing-consistency"))
            if {left, right} <= found.keys()
        ],
    }
    return Findings(results, tables(results), panels(results), page)

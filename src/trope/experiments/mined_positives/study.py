"""The study: rank everything, keep the judged pairs' places, compare them with people.

Every image (SITS) and every caption (STS) of COCO's test split ranks all captions of other images.
The first k of a ranking are its mined positives. Where Crisscrossed Captions has a judgment on
a mined pair, people agree with it if they gave it `positive` or more; unjudged pairs say nothing.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np

from trope.data.documents import dumps
from trope.errors import DataError
from trope.experiments.crisscrossed import Crisscrossed, read
from trope.experiments.mined_positives import MinedPositives, scorers
from trope.experiments.mined_positives.agreement import Draws, draw
from trope.experiments.mined_positives.comparison import Comparison, described
from trope.experiments.mined_positives.figures import TASKS, panels, tables
from trope.experiments.mined_positives.page import page
from trope.experiments.mined_positives.places import Counts, Places, chance, locate
from trope.experiments.spec import Findings
from trope.runtime import generator

FORM = 1  # of the places a stopped run leaves behind
STEPS = (1, 2, 5)


def run(data: Path, parts: Path, settings: MinedPositives) -> Findings:
    """Rank, compare with people, and describe what came out."""
    for measure in settings.measures:
        scorers.check(measure)
    found = read(data)
    draws = draw(len(found.pairs), settings.resamples, generator(settings.seed, "images"))
    tasks = {name: _task(found, name, parts, settings, draws) for name in TASKS}
    results = {
        "images": len(found.pairs),
        "captions": len(found.owners),
        "unlabeled": int(np.count_nonzero(scorers.label_counts(found) == 0)),
        "tasks": tasks,
    }
    return Findings(results, tables(results, settings.share), panels(results), page)


def _task(
    data: Crisscrossed, task: str, parts: Path, settings: MinedPositives, draws: Draws
) -> dict[str, Any]:
    """All measures on the images' or the captions' judged pairs."""
    judged = data.judged(task)
    compared = Comparison(judged, settings.positive, settings.share, _numbers(data), draws)
    if not compared.positive.any():
        raise DataError(f"{task}: no pair has a score of {settings.positive:g} or more")
    places = _places(data, task, parts, settings.measures)
    places["chance"] = chance(judged, data.query_images(task), data.owners)
    return {
        "judged": len(judged) // judged.ways,
        "unknown": judged.unknown,
        "judged_other": int((~judged.own).sum()) // judged.ways,
        "positive_other": int(compared.positive.sum()) // judged.ways,
        "queries": len(data.query_images(task)),
        "mined": compared.mined.tolist(),
        "measures": described({m: compared.curves(found) for m, found in places.items()}),
    }


def _places(
    data: Crisscrossed, task: str, parts: Path, measures: tuple[str, ...]
) -> dict[str, Places]:
    """The places of the judged pairs by each measure; what an earlier run found is used again."""
    made, found = scorers.scorers(data), {}
    for measure in measures:
        path, key = parts / f"{task}-{measure}.safetensors", _key(data, task, measure)
        known = Places.load(path, key)
        if known is None:
            known = _located(data, task, measure, made[measure]())
            known.save(path, key)
        found[measure] = known
    return found


def _located(data: Crisscrossed, task: str, measure: str, scorer: scorers.Scorer) -> Places:
    judged, images = data.judged(task), data.query_images(task)
    score = scorer.images if task == "sits" else scorer.captions
    places = locate(score, judged, images, data.owners, f"{task}: {measure}")
    if task == "sits":  # a caption of the image itself must not be compared with itself
        places.scores[judged.own] = scorer.left_out(judged.captions[judged.own])
    return places


def _key(data: Crisscrossed, task: str, measure: str) -> str:
    """What places depend on: captions and labels, the judged pairs, the measure and its weights."""
    judged = data.judged(task)
    made_of = [FORM, data.pairs.fingerprint, task, measure, scorers.weights(measure)]
    digest = hashlib.blake2b(dumps(made_of), digest_size=16)
    for rows in (judged.queries, judged.captions):
        digest.update(rows.tobytes())
    return digest.hexdigest()


def _numbers(data: Crisscrossed) -> Counts:
    """1, 2, 5, 10 and so on, up to all captions of other images."""
    most = len(data.owners) - int(data.pairs.text_counts.min())
    steps = np.multiply.outer(10 ** np.arange(12), STEPS).ravel()
    return np.append(steps[steps < most], most)

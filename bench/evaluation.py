"""Evaluation: every query of both directions, against the packages and scripts that papers use.

Each side starts from the same vectors, in a process of its own, and all give the same figures
before any time is told. Pictures have five texts each. Peers that would take too long are asked one
query in so many, as `against` says, and their time is scaled up. They keep all scores, and so the
product of the vectors counts once for them. `ratio_from_scores` leaves all products out.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy import sparse

from bench import evaluation_peers as peers
from bench.evaluation_data import CUTS, DIRECTIONS, SIZE, TEXTS, Data, Figures
from bench.memory import memory_mb
from trope.evaluation import passes, scoring
from trope.evaluation.embedded import Embedded
from trope.evaluation.gallery import Gallery
from trope.evaluation.measuring import direction_of
from trope.metrics.asp import Asp
from trope.metrics.block import Metric
from trope.metrics.pmrp import PMRP
from trope.metrics.precision import MAP, MAPAtR, RPrecision
from trope.metrics.recall import Recall
from trope.views import Encoded

ROOT = Path(__file__).parents[1]
IMAGES, IMAGES_FULL = 5_000, 50_000
REPEATS = 3
MOST_MB = 2_000  # of memory, at most
ROUNDING = 5e-4  # two products of the same vectors are not rounded alike, and places may change
TIES = 2e-3  # equal relevance has another order there, which scores do not know either

Run = Callable[[Data], Figures]


def measured(data: Data, *metrics: Metric) -> Figures:
    """Means over queries of both directions; all are measured, whichever are asked for."""
    scoring.similarity = data.product
    found: Figures = {}
    vectors = embedded(data)
    for name, side in DIRECTIONS.items():
        direction = direction_of(vectors, side)
        if data.relevance is not None:
            direction = replace(direction, relevance={"cider": partial(data.grades, side)})
        values = passes.measured(direction, metrics).values
        found[name] = {k: float(np.nanmean(part[:: data.every])) for k, part in values.items()}
    return found


def embedded(data: Data) -> Embedded:
    """As vectors of any model are evaluated."""
    images, texts = np.arange(len(data.images)), np.arange(len(data.owners))
    gallery = Gallery(
        images=images,
        texts=texts,
        starts=np.arange(0, len(texts) + 1, TEXTS),
        shown=images,
        rows=data.owners,
        places=texts % TEXTS,
        meaning=texts,
        clusters=images,
        labels=None if data.labels is None else sparse.csr_matrix(data.labels),
        ids=[str(image) for image in images],
    )
    sides = (Encoded(torch.from_numpy(vectors)) for vectors in (data.images, data.texts))
    return Embedded(gallery, *sides)


def our_recalls(data: Data) -> Figures:
    return measured(data, Recall(CUTS), RPrecision(), MAPAtR(), MAP())


def our_pmrp(data: Data) -> Figures:
    return measured(data, PMRP())


def our_asp(data: Data) -> Figures:
    return measured(data, Asp())


RUNS: dict[str, Run] = {
    "our_recalls": our_recalls,
    "our_pmrp": our_pmrp,
    "our_asp": our_asp,
    "eccv_sorted": peers.eccv_sorted,
    "eccv_top": peers.eccv_top,
    "torchmetrics": peers.torchmetrics,
    "plain_pmrp": peers.plain_pmrp,
    "plain_asp": peers.plain_asp,
}


def alone(run: str, images: int, every: int, repeats: int) -> dict[str, Any]:
    """Figures, the most memory and the median seconds of one side, with those of its products."""
    RUNS[run](Data(50, 1, run))  # compiled by now
    data, figures, times = Data(images, every, run), {}, []
    for _ in range(repeats):
        data.products = [0.0]
        started = time.perf_counter()
        figures = RUNS[run](data)
        times.append([time.perf_counter() - started, sum(data.products), sum(data.products[1:])])
    seconds, products, second = np.median(times, axis=0).tolist()
    found = {"seconds": seconds, "products": products, "second_product": second}
    return found | {"figures": figures, "peak": memory_mb()}


def _process(run: str, images: int, every: int, repeats: int = REPEATS) -> dict[str, Any]:
    command = [sys.executable, "-m", "bench.evaluation", run, str(images), str(every), str(repeats)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, cwd=ROOT)
    return dict(json.loads(done.stdout))


def compare(
    ours: str, theirs: str, against: str, images: int, every: int = 1, near: float = 1e-9
) -> dict[str, Any]:
    """Both sides one after the other; figures that both have differ by no more than `near`."""
    repeats = REPEATS if images == IMAGES else 1
    mine = _process(ours, images, every, repeats)
    other = _process(theirs, images, every, repeats)
    for direction, figures in other["figures"].items():
        for name, value in figures.items():
            apart = abs(mine["figures"][direction][name] - value)
            assert apart <= near, f"{direction}, {name}: {apart} apart"
    assert images > IMAGES or mine["peak"] < MOST_MB, f"{ours}: {mine['peak']:,.0f} MB"
    part = f"; one query in {every:,} asked, time scaled up" if every > 1 else ""
    spent = (other["seconds"] - other["second_product"]) * every
    from_scores = (other["seconds"] - other["products"]) * every
    return {
        "ratio": spent / mine["seconds"],
        "better": "higher",
        "ours": mine["seconds"],
        "theirs": spent,
        "against": against + part,
        "work": f"{images:,} pictures by {images * TEXTS:,} texts, {SIZE} numbers each, both ways",
        "ratio_from_scores": from_scores / (mine["seconds"] - mine["products"]),
        "peak_memory_mb": mine["peak"],
    }


def recalls(full: bool) -> dict[str, Any]:
    """Recall, R-precision and mAP@R against eccv_caption on whole rank lists."""
    images, every = (IMAGES_FULL, 1_000) if full else (IMAGES, 1)
    against = "eccv_caption, each gallery sorted by numpy"
    return compare("our_recalls", "eccv_sorted", against, images, every, ROUNDING)


def recalls_top(full: bool) -> dict[str, Any]:
    """The same against eccv_caption on lists of 50."""
    images, every = (IMAGES_FULL, 1_000) if full else (IMAGES, 1)
    against = "eccv_caption, the best 50 found by torch"
    return compare("our_recalls", "eccv_top", against, images, every, ROUNDING)


def recalls_torchmetrics(full: bool) -> dict[str, Any]:
    """Recall, R-precision and mAP against torchmetrics."""
    images, every = (IMAGES_FULL, 1_000) if full else (IMAGES, 10)
    return compare("our_recalls", "torchmetrics", "torchmetrics", images, every, ROUNDING)


def pmrp(full: bool) -> dict[str, Any]:
    """PMRP against rank lists and sets, as PCME's script has them; the same at either scale."""
    against = "rank lists and sets in Python"
    return compare("our_pmrp", "plain_pmrp", against, IMAGES, 10, ROUNDING)


def asp(full: bool) -> dict[str, Any]:
    """ASP against four sorts a query, as DAA's script has them; the same at either scale."""
    against = "two sorts of scores and two of relevance a query, numpy"
    return compare("our_asp", "plain_asp", against, IMAGES, 5, TIES)


CASES: dict[str, Callable[[bool], dict[str, Any]]] = {
    "recalls": recalls,
    "recalls-top": recalls_top,
    "recalls-torchmetrics": recalls_torchmetrics,
    "pmrp": pmrp,
    "asp": asp,
}


if __name__ == "__main__":
    name, *numbers = sys.argv[1:]
    print(json.dumps(alone(name, *map(int, numbers))))

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
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy import sparse

from bench.memory import memory_mb
from bench.relevance import synthetic
from trope.evaluation import passes, scoring
from trope.evaluation.embedded import Embedded
from trope.evaluation.gallery import Gallery, Side
from trope.evaluation.measuring import direction_of
from trope.metrics.asp import Asp
from trope.metrics.block import Metric
from trope.metrics.pmrp import PMRP
from trope.metrics.precision import MAP, MAPAtR, RPrecision
from trope.metrics.recall import Recall
from trope.spaces.captions import Corpus, Relevance
from trope.views import Encoded

ROOT = Path(__file__).parents[1]
IMAGES, IMAGES_FULL, TEXTS, SIZE = 5_000, 50_000, 5, 512
CUTS = (1, 5, 10)
CATEGORIES, OBJECTS = 80, 3  # labels there are, and that a picture has on average
PART = 4_096
REPEATS = 3
MOST_MB = 2_000  # of memory, at most
ROUNDING = 5e-4  # two products of the same vectors are not rounded alike, and places may change
TIES = 2e-3  # equal relevance has another order there, which scores do not know either
DIRECTIONS: dict[str, Side] = {"image_to_text": "image", "text_to_image": "text"}

Figures = dict[str, dict[str, float]]  # by direction and name
Run = Callable[["Data"], Figures]


class Data:
    """Unit vectors of pictures and, around them, of their texts; labels and relevance if needed."""

    def __init__(self, count: int, every: int, run: str) -> None:
        random = np.random.default_rng(0)
        self.every, self.products = every, [0.0]  # one query in so many; seconds
        self.images = random.standard_normal((count, SIZE), np.float32)
        self.relevance = self._grade() if run.endswith("asp") else None
        self.images /= np.linalg.norm(self.images, axis=1, keepdims=True)
        self.owners = np.repeat(np.arange(count), TEXTS)
        self.texts = np.empty((count * TEXTS, SIZE), np.float32)
        for start in range(0, len(self.texts), PART):  # all at once would be the peak of memory
            part = self.texts[start : start + PART]
            random.standard_normal(out=part, dtype=np.float32)
            part *= np.float32(0.3)
            part += self.images[self.owners[start : start + PART]]
            part /= np.linalg.norm(part, axis=1, keepdims=True)
        labels = (random.random((count, CATEGORIES)) < OBJECTS / CATEGORIES).astype(np.int32)
        self.labels = labels if run.endswith("pmrp") else None

    def _grade(self) -> np.ndarray:
        """CIDEr of made-up captions, kept: its making is not measured. Vectors come to know it."""
        captions = synthetic(len(self.images))
        corpus = Corpus.from_tokens(captions)
        words = [[w for some in each for w in some if w.startswith("word")] for each in captions]
        known = {word: k for k, word in enumerate(sorted({w for each in words for w in each}))}
        sense = np.random.default_rng(1).standard_normal((len(known), SIZE), np.float32)
        for image, each in enumerate(words):
            self.images[image] += sense[[known[word] for word in each]].sum(axis=0)
        return Relevance("cider").fit(corpus).on(corpus).rows(np.arange(len(captions)))

    def grades(self, side: Side, rows: np.ndarray) -> np.ndarray:
        """How relevant each item is for some queries of a side."""
        assert self.relevance is not None
        if side == "image":
            return self.relevance[rows]
        return np.ascontiguousarray(self.relevance[:, rows].T)

    def product(self, left: Encoded, right: Encoded) -> torch.Tensor:
        """All cosines, timed."""
        started = time.perf_counter()
        found = left.mean @ right.mean.T
        self.products[-1] += time.perf_counter() - started
        return found


# --- ours -------------------------------------------------------------------------------------


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


# --- theirs -----------------------------------------------------------------------------------


def asked(data: Data) -> Iterator[tuple[str, np.ndarray, np.ndarray, list[list[int]]]]:
    """Direction, the queries asked, their scores and their right items."""
    sides = [torch.from_numpy(vectors) for vectors in (data.images, data.texts)]
    texts = [list(range(i * TEXTS, (i + 1) * TEXTS)) for i in range(len(data.images))]
    for name, right in zip(DIRECTIONS, (texts, [[int(i)] for i in data.owners]), strict=True):
        queries = slice(None, None, data.every)
        scores = data.product(Encoded(sides[0][queries]), Encoded(sides[1])).numpy()
        yield name, np.arange(len(right))[queries], scores, right[queries]
        sides.reverse()
        data.products.append(0.0)


def eccv(data: Data, listed: Callable[[np.ndarray], np.ndarray]) -> Figures:
    """eccv_caption's functions on rank lists."""
    from eccv_caption import _metrics

    _metrics.tqdm = lambda items, **_: items  # one of its bars cannot be turned off
    found: Figures = {}
    for direction, numbers, scores, right in asked(data):
        lists = {int(q): listed(row) for q, row in zip(numbers, scores, strict=True)}
        truth = {int(q): items for q, items in zip(numbers, right, strict=True)}
        recalls = {f"recall@{k}": _metrics.compute_r_at_k(lists, truth, k) for k in CUTS}
        others = _metrics.compute_eccv_metrics(lists, truth)
        precision = {"r-precision": others["eccv_rprecision"], "map@r": others["eccv_map_at_r"]}
        found[direction] = {k: float(v) for k, v in (recalls | precision).items()}
    return found


def eccv_sorted(data: Data) -> Figures:
    """The whole gallery sorted for each query."""
    return eccv(data, lambda row: np.argsort(-row))


def eccv_top(data: Data) -> Figures:
    """Only the best 50, enough for at most five right items."""
    return eccv(data, lambda row: torch.from_numpy(row).topk(50).indices.numpy())


def torchmetrics(data: Data) -> Figures:
    """Its functions take a query at a time."""
    from torchmetrics.functional import retrieval

    found: Figures = {}
    for direction, _, scores, right in asked(data):
        values: dict[str, list[float]] = {}
        positive = torch.from_numpy(scores) + 1  # items of other scores it takes for not retrieved
        for row, items in zip(positive, right, strict=True):
            target = torch.zeros(len(row), dtype=torch.bool)
            target[items] = True
            for k in CUTS:
                hit = retrieval.retrieval_hit_rate(row, target, top_k=k)
                values.setdefault(f"recall@{k}", []).append(float(hit))
            precision = retrieval.retrieval_r_precision(row, target)
            values.setdefault("r-precision", []).append(float(precision))
            average = retrieval.retrieval_average_precision(row, target)
            values.setdefault("map", []).append(float(average))
        found[direction] = {name: float(np.mean(part)) for name, part in values.items()}
    return found


def plain_pmrp(data: Data) -> Figures:
    """As PCME's script: a rank list a query, sets of plausible items for each distance."""
    found: Figures = {}
    assert data.labels is not None
    labels = data.labels, data.labels[data.owners]
    for direction, numbers, scores, _ in asked(data):
        mine, others = labels if direction == "image_to_text" else labels[::-1]
        there = others.any(axis=1)
        values = []
        for row, own in zip(scores, mine[numbers], strict=True):
            if not own.any():
                continue
            ranking = np.argsort(-np.where(there, row, -np.inf)).tolist()
            apart = np.abs(others - own).sum(axis=1)
            for most in (0, 1, 2):
                plausible = set(np.flatnonzero(there & (apart <= most)).tolist())
                hits = len(set(ranking[: len(plausible)]) & plausible)
                values.append(hits / len(plausible))
        found[direction] = {"pmrp": float(np.mean(values))}
    return found


def plain_asp(data: Data) -> Figures:
    """As DAA's script: two sorts of scores and two of relevance, a query at a time."""
    found: Figures = {}
    for direction, numbers, scores, _ in asked(data):
        grades = data.grades(DIRECTIONS[direction], numbers)
        values = []
        for row, grade in zip(scores, grades, strict=True):
            left = np.argsort(np.argsort(-row)) + 1
            right = np.argsort(np.argsort(-grade)) + 1
            values.append(np.mean(np.minimum(left, right) / np.maximum(left, right)))
        found[direction] = {"asp/cider": float(np.mean(values))}
    return found


# --- side by side -----------------------------------------------------------------------------

RUNS: dict[str, Run] = {
    "our_recalls": our_recalls,
    "our_pmrp": our_pmrp,
    "our_asp": our_asp,
    "eccv_sorted": eccv_sorted,
    "eccv_top": eccv_top,
    "torchmetrics": torchmetrics,
    "plain_pmrp": plain_pmrp,
    "plain_asp": plain_asp,
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

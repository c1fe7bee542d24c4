"""The packages and scripts that papers evaluate with, asked one query in so many."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import torch

from bench.evaluation_data import CUTS, DIRECTIONS, TEXTS, Data, Figures
from trope.views import Encoded


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

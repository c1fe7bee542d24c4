"""Equality with the package `eccv_caption`, on its own ground truth and rankings of its kind."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from trope.metrics import Block
from trope.metrics.precision import MAPAtR, RPrecision
from trope.metrics.recall import Recall

QUERIES = 200


@pytest.fixture(scope="module")
def package() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it recommends another JSON parser
        import eccv_caption
    return eccv_caption.Metrics()


def some_queries(
    truth: dict[int, list[int]], gallery: np.ndarray, random: np.random.Generator
) -> tuple[np.ndarray, sparse.csr_matrix, np.ndarray]:
    """Some queries, what is right for them, and scores that find part of it."""
    queries = random.choice(sorted(truth), QUERIES, replace=False)
    place = {item: i for i, item in enumerate(gallery.tolist())}
    marks = np.zeros((QUERIES, len(gallery)), bool)
    for row, query in enumerate(queries.tolist()):
        marks[row, [place[item] for item in truth[query]]] = True
    scores = random.normal(size=marks.shape) + 3 * marks
    return queries, sparse.csr_matrix(marks), scores.astype(np.float32)


@pytest.mark.parametrize("kind", ["eccv", "cxc", "coco"])
@pytest.mark.parametrize("direction", ["i2t", "t2i"])
def test_equal_on_its_own_ground_truth(package: Any, kind: str, direction: str) -> None:
    gallery = np.array(sorted(package.coco_gts["t2i" if direction == "i2t" else "i2t"]))
    truth = getattr(package, f"{kind}_gts")[direction]
    random = np.random.default_rng(len(kind))
    queries, right, scores = some_queries(truth, gallery, random)
    block = Block(np.arange(QUERIES), scores, right, random.permutation(len(gallery)))
    ours = Recall((1, 5, 10))(block) | RPrecision()(block) | MAPAtR()(block)
    lists = {int(q): gallery[block.order[i]].tolist() for i, q in enumerate(queries)}
    theirs = expected(package, kind, direction, lists, {int(q): truth[int(q)] for q in queries})
    assert {name: ours[name].mean() for name in theirs} == pytest.approx(theirs)


def expected(
    package: Any,
    kind: str,
    direction: str,
    lists: dict[int, list[int]],
    truth: dict[int, list[int]],
) -> dict[str, float]:
    """What the package says of these rank lists."""
    from eccv_caption._metrics import compute_eccv_metrics, compute_r_at_k, compute_rprecision

    recalls = {f"recall@{k}": compute_r_at_k(lists, truth, k) for k in (1, 5, 10)}
    everything = quiet(compute_eccv_metrics, lists, truth)
    assert everything["eccv_r1"] == recalls["recall@1"]
    assert everything["eccv_rprecision"] == pytest.approx(compute_rprecision(lists, truth))
    return recalls | {
        "r-precision": everything["eccv_rprecision"],
        "map@r": everything["eccv_map_at_r"],
    }


def quiet(work: Callable[..., dict[str, float]], *arguments: object) -> dict[str, float]:
    """Without its progress bar, which no option turns off."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("eccv_caption._metrics.tqdm", lambda items, **_: items)
        return work(*arguments)

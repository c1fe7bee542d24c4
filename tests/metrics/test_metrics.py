"""What must hold for every metric of the table that looks at a ranking."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from trope.errors import UsageError
from trope.metrics import METRICS, Block, Labels, Metric, entry_of

PAGE = Path(__file__).parents[2] / "docs" / "metrics.md"
RANKING = {name: entry for name, entry in METRICS.items() if entry.metric is not None}
ITEMS = 60


@pytest.fixture
def block(block_of: Callable[..., Block]) -> Block:
    """Each query's own three labels are those of its right items, and of no others."""
    random = np.random.default_rng(0)
    classes = np.arange(ITEMS) % 6
    right = np.arange(6)[:, None] == classes
    labels = np.repeat(np.eye(6, dtype=bool), 3, axis=1)
    wanted = (right + 0.3 * random.random(right.shape)).astype(np.float32)
    return block_of(
        random.random((6, ITEMS)),
        right,
        labels,
        labels[classes],
        relevance={"cider": lambda: wanted, "bleu": lambda: wanted, "rouge": lambda: wanted},
    )


def measured(name: str, block: Block) -> dict[str, np.ndarray]:
    metric = RANKING[name].metric
    assert metric is not None
    return dict(metric()(block))


def scored(block: Block, scores: np.ndarray) -> Block:
    return replace(block, scores=scores.astype(np.float32))


def moved(block: Block, queries: np.ndarray, items: np.ndarray) -> Block:
    """The same block, its queries and items in another order."""
    labels = block.labels
    assert labels is not None
    return Block(
        block.rows[queries],
        np.ascontiguousarray(block.scores[queries][:, items]),
        block.right[queries][:, items],
        block.priority[items],
        Labels(labels.queries[queries], labels.items[items]),
        {
            name: lambda made=made: np.ascontiguousarray(made()[queries][:, items])
            for name, made in block.relevance.items()
        },
    )


@pytest.mark.parametrize("name", RANKING)
class TestEveryMetric:
    def test_one_number_a_query_under_names_of_its_own(self, name: str, block: Block) -> None:
        found = measured(name, block)
        assert found
        for reported, values in found.items():
            assert values.shape == (6,)
            assert values.dtype == np.float64
            assert np.isfinite(values).all()
            assert entry_of(reported) is METRICS[name]
            assert (values >= 0).all()
            assert (values <= (1 if METRICS[name].better == "higher" else ITEMS)).all()

    @pytest.mark.parametrize("steps", [10**6, 4])
    def test_the_order_of_queries_and_items_does_not_matter(
        self, name: str, block: Block, steps: int
    ) -> None:
        random = np.random.default_rng(1)
        block = scored(block, np.round(block.scores * steps) / steps)
        queries, items = random.permutation(6), random.permutation(ITEMS)
        shuffled = measured(name, moved(block, queries, items))
        for reported, values in measured(name, block).items():
            assert shuffled[reported] == pytest.approx(values[queries]), reported

    def test_perfect_scores_are_best_and_reversed_ones_worse(self, name: str, block: Block) -> None:
        perfect = block.relevance["cider"]()
        best = measured(name, scored(block, perfect))
        worse = measured(name, scored(block, -perfect))
        for reported, values in best.items():
            if METRICS[name].better == "higher":
                assert values == pytest.approx(np.ones(6)), reported
                assert (worse[reported] < 0.7).all(), reported
            else:
                assert values == pytest.approx(np.full(6, values[0])), reported
                assert values[0] in (0, 1)  # of a task, of the gallery
                assert (worse[reported] > 3).all(), reported

    def test_a_block_is_the_sum_of_its_parts(self, name: str, block: Block) -> None:
        whole = measured(name, block)
        for start in (0, 2, 4):
            part = measured(name, moved(block, np.arange(start, start + 2), np.arange(ITEMS)))
            for reported, values in part.items():
                assert values == pytest.approx(whole[reported][start : start + 2])

    def test_it_is_a_metric_that_says_what_it_needs(self, name: str, block: Block) -> None:
        entry = RANKING[name]
        assert entry.metric is not None
        assert isinstance(entry.metric(), Metric)
        assert entry.needs <= {"labels", "relevance"}
        bare = replace(block, labels=None, relevance={})
        if entry.needs == {"labels"}:
            with pytest.raises(UsageError, match="the data has no labels"):
                measured(name, bare)
        elif not entry.needs:
            assert measured(name, bare).keys() == measured(name, block).keys()


def test_every_entry_is_described() -> None:
    for entry in METRICS.values():
        assert entry.title
        assert entry.paper
        assert entry.names


def test_what_metrics_without_a_ranking_need() -> None:
    assert METRICS["preservation"].needs == {"space"}
    assert METRICS["micro-f1"].needs == METRICS["macro-f1"].needs == {"labels", "predictions"}
    assert METRICS["rsum"].needs == frozenset()


def test_every_entry_is_in_the_docs_with_its_paper() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for name, entry in METRICS.items():
        assert f"`{name}" in page or f"`{entry.names[0].replace('<', '').replace('>', '')}" in page
        assert all(paper in page for paper in entry.paper.split(",")[0].split("; ")), name


def test_the_example_in_the_docs() -> None:
    example = PAGE.read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    names: dict[str, Any] = {}
    exec(compile(example, PAGE.name, "exec"), names)
    block = names["block"]
    assert measured("recall", block)["recall@1"].tolist() == [0, 1]
    assert METRICS["recall"].metric(cuts=(2,))(block)["recall@2"].tolist() == [1, 1]
    assert measured("map@r", block)["map@r"].tolist() == [0.25, 1]


def test_the_entry_of_a_reported_name() -> None:
    assert entry_of("recall@5/20-way") is METRICS["recall/c-way"]
    assert entry_of("recall@5") is METRICS["recall"]
    assert entry_of("pmrp/labels/0") is METRICS["pmrp"]
    assert entry_of("eccv/map@r") is METRICS["map@r"]
    assert entry_of("median-rank").over == "median"
    assert entry_of("mean-rank/5-way").better == "lower"
    assert entry_of("pmrp/labels") is entry_of("pmrp/2") is METRICS["pmrp"]
    for wrong, form in (
        ("recall@x", "recall@<K>"),
        ("recall@-1", "recall@<K>"),
        ("recall@0", "recall@<K>"),
        ("recall@1/x-way", "recall@<k>/<c>-way"),
        ("preservation@0", "preservation@<k>"),
        ("gain@/cider", "gain@<k>/<measure>"),
    ):
        with pytest.raises(UsageError, match=f"no metric '{wrong}'; write it as {form}"):
            entry_of(wrong)
    for strange in ("coco/map@r", "eccv/cxc/none", "mine/recall@1"):
        with pytest.raises(UsageError, match="no metric"):
            entry_of(strange)
    with pytest.raises(UsageError, match="no metric 'recal'; did you mean 'recall'"):
        entry_of("recal")

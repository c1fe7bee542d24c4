"""One pass: the same numbers whatever the size of a block, and those of a full matrix."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from evaluation_samples import random_embedded
from scipy import sparse

from trope.errors import DataError
from trope.evaluation import scoring
from trope.evaluation.embedded import Embedded
from trope.evaluation.measuring import Plan, direction_of, measure
from trope.evaluation.passes import Direction, Truth, measured
from trope.evaluation.relevance import Captions
from trope.evaluation.scoring import Scores
from trope.metrics import Block, Labels, Metric, tie_priority
from trope.metrics.asp import Asp
from trope.metrics.ndcg import NDCG
from trope.metrics.pmrp import PMRP
from trope.metrics.precision import MAP, MAPAtR, RPrecision
from trope.metrics.rank import MeanRank, MedianRank
from trope.metrics.recall import Recall
from trope.metrics.semantic import SemanticMAP
from trope.metrics.tasks import TaskRank, TaskRecall
from trope.similarity import similarity
from trope.views import Encoded

ALL: tuple[Metric, ...] = (
    TaskRecall((5,)), TaskRank((5,)), Recall((1, 5)), MedianRank(), MeanRank(), RPrecision(),
    MAPAtR(), MAP(), NDCG((5, None)), SemanticMAP(), PMRP(), Asp(),
)  # fmt: skip


def labels(images: int, seed: int = 0) -> sparse.csr_matrix:
    return sparse.csr_matrix(np.random.default_rng(seed).integers(0, 2, (images, 4)))


@pytest.fixture(params=[0, 3])
def embedded(request: pytest.FixtureRequest) -> Embedded:
    counts = np.random.default_rng(1).integers(1, 4, 30).tolist()
    return random_embedded(0, counts, labels(30), request.param)


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize("side", ["image", "text"])
def test_blocks_of_any_size_give_the_same_bits(
    embedded: Embedded, side: str, kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scoring, "MOST", 4)  # queries a tile: so few queries make several
    if not kept:
        monkeypatch.setattr(scoring, "KEPT", 0)
    direction = _direction(embedded, side)
    whole = measured(direction, ALL)
    for most in (1, 7, 12):
        parts = measured(direction, ALL, most=most)
        assert whole.values.keys() == parts.values.keys()
        for name, values in whole.values.items():
            np.testing.assert_array_equal(values, parts.values[name], err_msg=name)
        for name, values in whole.chance.items():
            np.testing.assert_allclose(values, parts.chance[name], err_msg=name)


@pytest.mark.parametrize("side", ["image", "text"])
def test_a_pass_is_the_metrics_of_the_full_matrix(embedded: Embedded, side: str) -> None:
    gallery = embedded.gallery
    scores = similarity(embedded.image, embedded.text).numpy()
    right, texts = gallery.right, gallery.labels[gallery.owners]  # type: ignore[index]
    owned = Labels(gallery.labels, texts)
    if side == "text":
        scores, right, owned = scores.T.copy(), right.T.tocsr(), Labels(texts, gallery.labels)
    captions = Captions(gallery, ("cider", "bleu"))
    whole = {name: captions.matrix(name).rows(np.arange(30)) for name in captions.measures}
    relevance = {
        name: (lambda values=values: values if side == "image" else np.ascontiguousarray(values.T))
        for name, values in whole.items()
    }
    rows = np.arange(len(scores))
    block = Block(rows, scores, right, tie_priority(scores.shape[1]), owned, relevance)
    found = measured(_direction(embedded, side), ALL)
    for metric in ALL:
        for name, values in metric(block).items():
            np.testing.assert_allclose(found.values[name], values, atol=1e-6, err_msg=name)


def _direction(embedded: Embedded, side: str) -> Direction:
    made = direction_of(embedded, side)  # type: ignore[arg-type]
    gallery = embedded.gallery
    captions = Captions(gallery, ("cider", "bleu"))
    everything = (np.arange(len(gallery.images)), np.arange(len(gallery.texts)))
    relevance = captions.graded(side, *everything)  # type: ignore[arg-type]
    return Direction(made.scores, made.right, made.labels, relevance)


def test_the_two_directions_are_each_others_mirror() -> None:
    embedded = random_embedded(3, [1] * 20)
    turned = Embedded(embedded.gallery, embedded.text, embedded.image)
    plan = Plan((Recall((1, 5)), MeanRank()))
    found, other = measure(embedded, plan), measure(turned, plan)
    np.testing.assert_array_equal(
        found.values["image_to_text"]["mean-rank"], other.values["text_to_image"]["mean-rank"]
    )


def test_better_vectors_score_higher() -> None:
    embedded = random_embedded(3, [2] * 20)
    closer = embedded.image.mean[torch.from_numpy(embedded.gallery.owners)]
    better = Embedded(embedded.gallery, embedded.image, type(embedded.image)(closer))
    plan = Plan((Recall((1,)), MAP(), MeanRank()))
    worse, best = measure(embedded, plan), measure(better, plan)
    for side in ("image_to_text", "text_to_image"):
        assert best.values[side]["recall@1"].mean() == 1
        assert best.values[side]["map"].mean() > worse.values[side]["map"].mean()
        assert best.values[side]["mean-rank"].mean() < worse.values[side]["mean-rank"].mean()


def test_other_truths_are_measured_on_the_same_scores() -> None:
    embedded = random_embedded(3, [1] * 10)
    made = direction_of(embedded, "image")
    judged = np.roll(np.eye(10, dtype=bool), 1, axis=1)
    judged[4] = False  # nobody judged it
    other = sparse.csr_matrix(judged)
    truth = Truth("eccv", other, (Recall((1, 5)), MAPAtR()))
    both = measured(Direction(made.scores, made.right, truths=(truth,)), (Recall((1, 5)), Asp()))
    alone = measured(Direction(made.scores, other), (Recall((1, 5)), MAPAtR()))
    for name, values in alone.values.items():
        np.testing.assert_array_equal(both.values[f"eccv/{name}"], values)
        np.testing.assert_array_equal(both.chance[f"eccv/{name}"], alone.chance[name])
    assert np.isnan(both.values["eccv/recall@1"][4])


def test_vectors_that_are_no_numbers_are_refused_by_name() -> None:
    embedded = random_embedded(0, [1] * 5)
    embedded.text.mean[3, 2] = torch.nan
    with pytest.raises(DataError, match="the model gives text 'r3' a vector"):
        Embedded(embedded.gallery, embedded.image, embedded.text)


def test_blocks_hold_whole_tiles_and_all_queries_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "KEPT", 0)
    embedded = random_embedded(0, [1] * 2_500)
    scores = Scores(embedded.similarities, "image")
    assert embedded.similarities.tile("image") == scoring.MOST
    blocks = list(scores.blocks(1_500))
    assert [len(rows) for rows in blocks] == [1_024, 1_024, 452]
    np.testing.assert_array_equal(np.concatenate(blocks), np.arange(2_500))


@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (64, 65), (200, 333)])
def test_turned(shape: tuple[int, int]) -> None:
    scores = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    wide = np.concatenate([scores, scores], axis=1)[:, : shape[1]]  # of another stride
    np.testing.assert_array_equal(scoring.turned(wide), scores.T)


def test_other_kinds_of_numbers_are_scored_too() -> None:
    made = random_embedded(0, [2] * 6)
    halves = [Encoded(side.mean.bfloat16(), None) for side in (made.image, made.text)]
    scores = Scores(scoring.Similarities(*halves), "image")(np.arange(6))
    assert scores.dtype == np.float32
    np.testing.assert_allclose(scores, (made.image.mean @ made.text.mean.T).numpy(), atol=0.03)


@pytest.mark.parametrize("senses", [0, 3])
def test_scores_are_computed_once_for_both_directions(
    senses: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scoring, "MOST", 4)
    pairs: list[int] = []

    def counted(left: Encoded, right: Encoded, out: torch.Tensor) -> torch.Tensor:
        pairs.append(len(left.mean) * len(right.mean))
        return similarity(left, right, out)

    monkeypatch.setattr(scoring, "similarity", counted)
    made = random_embedded(0, [2] * 11, senses=senses)
    sides = [Scores(made.similarities, side) for side in ("text", "image")]
    found = [np.concatenate([scores(rows) for rows in scores.blocks(5)]) for scores in sides]
    assert sum(pairs) == 11 * 22
    np.testing.assert_array_equal(found[0], found[1].T)
    monkeypatch.setattr(scoring, "KEPT", 0)
    again = random_embedded(0, [2] * 11, senses=senses)
    other = [Scores(again.similarities, side) for side in ("text", "image")]
    for scores, known in zip(other, found, strict=True):
        parts = np.concatenate([scores(rows) for rows in scores.blocks(5)])
        np.testing.assert_allclose(parts, known, atol=1e-6)
    assert sum(pairs) == 3 * 11 * 22

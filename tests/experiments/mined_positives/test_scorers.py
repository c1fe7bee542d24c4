from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from trope.errors import UsageError
from trope.experiments.crisscrossed import Crisscrossed, read
from trope.experiments.mined_positives.scorers import (
    Corpora,
    LabelScores,
    SentenceScores,
    check,
    scorers,
)
from trope.spaces.captions import MEASURES, Corpus, Relevance


@pytest.fixture
def found(data: Path) -> Crisscrossed:
    return read(data)


@pytest.mark.parametrize("measure", ["cider", "cider-daa", "bleu", "rouge", "mean"])
def test_a_caption_left_out_is_not_compared_with_itself(found: Crisscrossed, measure: str) -> None:
    scorer = scorers(found)[measure]()
    texts = [list(row.texts) for row in found.pairs]
    fitted = Relevance(measure).fit(Corpus.from_texts(texts))
    rows = np.array([0, 4, 17, 47])
    for caption, score in zip(rows, scorer.left_out(rows), strict=True):
        image, place = divmod(int(caption), 3)
        own = texts[image]
        corpus = Corpus.from_texts([own[:place] + own[place + 1 :], [own[place]]])
        expected = fitted.on(corpus).block(np.array([0]), np.array([2]))[0, 0]
        assert score == pytest.approx(expected, abs=1e-6)
        assert score < scorer.images(np.array([image]))[0, caption]


def test_captions_score_each_other_as_single_references(found: Crisscrossed) -> None:
    scorer = scorers(found)["cider"]()
    texts = [text for row in found.pairs for text in row.texts]
    fitted = Relevance("cider").fit(Corpora(found).by_image)
    expected = fitted.on(Corpus.from_texts([[text] for text in texts])).rows(np.array([5, 9]))
    assert scorer.captions(np.array([5, 9])) == pytest.approx(expected, abs=1e-6)


def test_labels_count_what_two_images_agree_about(found: Crisscrossed) -> None:
    scorer = scorers(found)["labels"]()
    assert isinstance(scorer, LabelScores)
    sets = [set(row.labels) for row in found.pairs]
    classes = len(set.union(*sets))
    scores, own = scorer.images(np.arange(16)), scorer.captions(np.arange(48))
    for i in range(16):
        for j in range(48):
            expected = classes - len(sets[i] ^ sets[j // 3])
            assert scores[i, j] == expected
            assert own[3 * i + j % 3, j] == expected
    assert (scorer.left_out(np.arange(4)) == classes).all()


def test_sentences_are_compared_by_cosines() -> None:
    random = np.random.default_rng(0)
    vectors = random.normal(size=(6, 5)).astype(np.float32)
    vectors[3] = 0
    scorer = SentenceScores(vectors, np.array([0, 0, 0, 1, 1, 2]), 4)
    unit = [v / max(np.linalg.norm(v), 1e-12) for v in vectors]
    for i, refs in enumerate([[0, 1, 2], [3, 4], [5]]):
        expected = [1 + np.mean([unit[r] @ unit[j] for r in refs]) for j in range(6)]
        assert scorer.images(np.array([i]))[0] == pytest.approx(expected, abs=1e-6)
    assert (scorer.images(np.array([3])) == 1).all()  # the last image has no caption
    expected = [1 + unit[1] @ unit[j] for j in range(6)]
    assert scorer.captions(np.array([1]))[0] == pytest.approx(expected, abs=1e-6)
    expected = [1 + unit[0] @ (unit[1] + unit[2]) / 2, 1 + unit[3] @ unit[4], 1]
    assert scorer.left_out(np.array([0, 4, 5])) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("measure", [*MEASURES, "labels"])
def test_no_score_is_negative(found: Crisscrossed, measure: str) -> None:
    scorer = scorers(found)[measure]()
    for block in (scorer.images(np.arange(16)), scorer.captions(np.arange(48))):
        assert block.shape[1] == 48
        assert (block >= 0).all()


def test_an_unknown_measure_is_refused() -> None:
    with pytest.raises(UsageError, match="no measure 'lables'; did you mean 'labels'"):
        check("lables")

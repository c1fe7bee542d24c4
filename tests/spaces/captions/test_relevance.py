from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from caption_samples import CAPTIONS, CORPUS, IMAGES, REAL, whole

from trope.errors import DataError, UsageError
from trope.spaces.captions import MEASURES, Corpus, Matrix, Relevance, relevance


@pytest.fixture(params=MEASURES)
def matrix(request: pytest.FixtureRequest) -> Matrix:
    return Relevance(request.param).fit(CORPUS).on(CORPUS)


def test_a_block_is_part_of_the_rows(matrix: Matrix) -> None:
    rows = matrix.rows(np.arange(matrix.shape[0]))
    images, captions = np.array([3, 0, 16, 3]), np.array([7, 7, 0, 51, 2])
    assert rows.dtype == np.float32
    assert (matrix.block(images, captions) == rows[np.ix_(images, captions)]).all()
    assert (matrix.rows(images) == rows[images]).all()


def test_top_is_the_start_of_the_sorted_rows(
    matrix: Matrix, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = matrix.rows(np.arange(matrix.shape[0]))
    monkeypatch.setattr(relevance, "MEMORY", 5 * 24 * matrix.shape[1])
    for scores, found in ((rows, matrix.top(7)), (rows.T, matrix.top(7, of="caption"))):
        order = np.argsort(-scores, axis=1, kind="stable")[:, :7]
        assert (found.columns == order).all()
        assert (found.scores == np.take_along_axis(scores, order, axis=1)).all()


def test_small_tiles_and_many_threads_change_nothing(
    matrix: Matrix, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = np.tile(np.arange(matrix.shape[0]), 9)
    rows = matrix.rows(many)
    monkeypatch.setattr(relevance, "TILE", 11)
    tiled = Matrix(matrix.corpus, matrix.scorer)
    assert (tiled.rows(many) == rows).all()


def test_the_written_matrix_is_the_matrix(
    matrix: Matrix, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relevance, "MEMORY", 4 * 24 * matrix.shape[1])
    path = tmp_path / "relevance.npy"
    matrix.write(str(path))
    written = np.load(path, mmap_mode="r")
    assert (written == matrix.rows(np.arange(matrix.shape[0]))).all()


def test_a_caption_of_the_image_scores_above_those_of_others(matrix: Matrix) -> None:
    own = matrix.block(np.arange(len(REAL)), CORPUS.images[: len(REAL)])
    assert (own.argmax(axis=1) == np.arange(len(REAL))).all()
    assert (own.argmax(axis=0) == np.arange(len(REAL))).all()


@pytest.mark.parametrize("measure", MEASURES)
def test_any_script_is_measured(measure: str, script: str) -> None:
    corpus = Corpus.from_texts([[f"{script} {script}"], ["a dog on the beach"], ["two cats"]])
    found = whole(measure, corpus)
    assert np.isfinite(found).all()
    assert found[0, 0] > found[0, 1:].max()


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("images", [[[[]]], [[[], []], []], [[["a"]]]])
def test_next_to_nothing_is_measured(measure: str, images: list) -> None:
    corpus = Corpus.from_tokens(images)
    matrix = Relevance(measure).fit(corpus).on(corpus)
    found = matrix.rows(np.arange(corpus.image_count))
    assert found.shape == matrix.shape == (corpus.image_count, corpus.caption_count)
    assert np.isfinite(found).all()
    assert matrix.top(3).columns.shape == (corpus.image_count, min(3, corpus.caption_count))


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("images", [[], [[]]])
def test_nothing_is_measured_by_what_was_learned(measure: str, images: list) -> None:
    matrix = Relevance(measure).fit(CORPUS).on(Corpus.from_tokens(images))
    assert matrix.rows(np.arange(len(images))).shape == matrix.shape == (len(images), 0)
    assert matrix.top(3).columns.shape == (len(images), 0)


@pytest.mark.parametrize("measure", MEASURES)
def test_the_order_of_images_does_not_matter(measure: str) -> None:
    found = whole(measure, CORPUS)
    turned = whole(measure, Corpus.from_tokens(IMAGES[::-1]))
    places = np.split(np.arange(len(CAPTIONS)), CORPUS.images[1:-1])[::-1]
    assert turned == pytest.approx(found[::-1][:, np.concatenate(places)], abs=1e-6)
    assert (found >= 0).all()


def test_means_are_means() -> None:
    three = [whole(name, CORPUS) for name in ("cider", "bleu", "rouge")]
    assert whole("mean", CORPUS) == pytest.approx(np.mean(three, axis=0), abs=1e-6)
    three = [whole(name, CORPUS) for name in ("cider-daa", "bleu", "rouge-daa")]
    assert whole("mean-daa", CORPUS) == pytest.approx(np.mean(three, axis=0), abs=1e-6)


def test_a_long_text_takes_no_square_of_memory() -> None:
    words = [f"w{i % 5000}" for i in range(30_000)]
    corpus = Corpus.from_tokens([[words], [["w1", "w2", "w3", "w4", "w5"]], [["w9"]]])
    for measure in ("cider", "cider-d", "bleu", "rouge"):
        found = whole(measure, corpus)
        assert np.isfinite(found).all()
        assert found[1, 0] <= found[1, 1]


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("text", ["law court sea " * 75_000, "x" * 1_000_000, "正" * 350_000])
def test_a_megabyte_is_measured(measure: str, text: str) -> None:
    """As texts are prepared, where it is cut; the algebra itself takes it whole, see above."""
    images = [[text], ["one"], ["", "two words"], [], ["ሰላም ለዓለም"]]
    found = whole(measure, Corpus.from_texts(images))
    assert np.isfinite(found).all()
    assert (found.argmax(axis=1)[[0, 1, 4]] == [0, 1, 4]).all()
    assert not found[3].any()


def test_wrong_use_is_told(matrix: Matrix) -> None:
    with pytest.raises(UsageError, match="no relevance measure 'cidre'; did you mean 'cider'"):
        Relevance("cidre")
    with pytest.raises(ValueError, match="k must be at least 1"):
        matrix.top(0)
    for wrong in ([-1], [10_000]):
        with pytest.raises(IndexError, match="but there are"):
            matrix.rows(np.array(wrong))
        with pytest.raises(IndexError, match="but there are"):
            matrix.block(np.array([0]), np.array(wrong))


@pytest.mark.usefixtures("untyped")
def test_wrong_sides_and_rows_are_told() -> None:
    matrix = Relevance("bleu").fit(CORPUS).on(CORPUS)
    with pytest.raises(UsageError, match="of: no side 'captoin'; did you mean 'caption'"):
        matrix.top(3, of="captoin")  # type: ignore[arg-type]
    for wrong in ([0.5], [True], [[0]], 0):
        with pytest.raises(UsageError, match="rows: a list of row numbers is wanted, found"):
            matrix.rows(wrong)  # type: ignore[arg-type]
    assert matrix.rows([]).shape == (0, matrix.shape[1])  # type: ignore[arg-type]
    assert (matrix.rows([1]) == matrix.rows(np.array([1]))).all()  # type: ignore[arg-type]


@pytest.mark.parametrize("measure", ["cider", "cider-d", "cider-daa", "mean"])
@pytest.mark.parametrize("images", [[], [[], []]])
def test_nothing_to_learn_from_is_refused(measure: str, images: list[list[str]]) -> None:
    with pytest.raises(DataError, match=r"nothing to learn how rare words are from: \d images"):
        Relevance(measure).fit(Corpus.from_texts(images))

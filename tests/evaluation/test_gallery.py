"""Galleries: what is right for what, whose labels, which rows belong together."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from evaluation_samples import pairs_of, plain_gallery

from trope.data.pairs import Pairs
from trope.errors import DataError
from trope.evaluation.gallery import Gallery, gallery

ROWS = [
    {"id": "a", "texts": ["The tide", "a wave"], "labels": ["sea"], "split": "test"},
    {"id": "b", "texts": ["home"], "labels": ["house", "night"], "split": "test"},
    {"id": "skip", "texts": ["not asked"], "split": "train"},
    {"id": "c", "texts": ["the  TIDE"], "labels": ["sea", "moon"], "split": "test"},
    {"id": "d", "texts": ["a third of a"], "labels": ["gull"], "split": "test"},
    {"id": "e", "texts": ["alone", "far"], "group": "g", "split": "test"},
    {"id": "f", "texts": ["also far"], "group": "g", "split": "test"},
    {"id": "none", "texts": ["no picture"], "split": "test"},
]
# pictures of the rows, numbered in another order than they appear; d shows that of a
PICTURES = np.array([5, 2, 9, 1, 5, 7, 0, -1])


@pytest.fixture
def pairs(tmp_path: Path) -> Pairs:
    return pairs_of(tmp_path / "data", ROWS)


@pytest.fixture
def found(pairs: Pairs) -> Gallery:
    return gallery(pairs, PICTURES, "test")


def test_pictures_in_the_order_of_the_data_texts_beside_them(found: Gallery) -> None:
    assert found.images.tolist() == [5, 2, 1, 7, 0]
    assert found.captions() == [
        "The tide", "a wave", "a third of a", "home", "the  TIDE", "alone", "far", "also far",
    ]  # fmt: skip
    assert found.owners.tolist() == [0, 0, 0, 1, 2, 3, 3, 4]
    assert found.names_of("image") == ["a", "b", "c", "e", "f"]
    assert found.names_of("text") == ["a", "a", "d", "b", "c", "e", "e", "f"]
    assert found.places.tolist() == [0, 1, 0, 0, 0, 0, 1, 0]


def test_right_are_the_texts_of_a_picture_and_their_equals(found: Gallery) -> None:
    right = found.right.toarray()
    wanted = np.zeros((5, 8), bool)
    for image, texts in enumerate([[0, 1, 2, 4], [3], [4, 0], [5, 6], [7]]):
        wanted[image, texts] = True
    np.testing.assert_array_equal(right, wanted)


def test_labels_are_those_of_all_rows_that_show_a_picture(found: Gallery) -> None:
    assert found.labels is not None
    counts = np.asarray(found.labels.sum(axis=1)).ravel()
    assert counts.tolist() == [2, 2, 2, 0, 0]  # a's picture: sea, and gull of row d
    shared = (found.labels @ found.labels.T).toarray()
    assert shared[0, 2] == 1
    assert shared[0, 1] == 0


def test_no_labels_at_all(pairs: Pairs) -> None:
    assert gallery(pairs, PICTURES, "train").labels is None


def test_components_by_group_picture_and_text(found: Gallery) -> None:
    a, b, c, e, f = found.clusters
    assert a == c  # the same text
    assert e == f  # the same group
    assert len({a, b, e}) == 3
    assert found.components == 3
    np.testing.assert_array_equal(found.clusters_of("text"), found.clusters[found.owners])


def test_rows_that_share_a_picture_under_other_names_are_one_component(pairs: Pairs) -> None:
    pictures = np.array([5, 2, 9, 1, 4, 7, 0, -1])
    apart = gallery(pairs, pictures, "test")
    assert apart.components == 4
    pictures[4] = 2
    assert gallery(pairs, pictures, "test").components == 3


def test_some_pictures_with_their_texts(found: Gallery) -> None:
    some = found.take(np.array([3, 0]))
    assert some.captions() == ["alone", "far", "The tide", "a wave", "a third of a"]
    assert some.names_of("image") == ["e", "a"]
    assert some.right.toarray().tolist() == [[1, 1, 0, 0, 0], [0, 0, 1, 1, 1]]
    assert some.labels is not None
    assert some.labels.shape[0] == 2


def test_a_split_without_pairs_is_refused(pairs: Pairs) -> None:
    with pytest.raises(DataError, match="split 'val' has no row"):
        gallery(pairs, PICTURES, "val")


def test_same_queries(found: Gallery) -> None:
    assert found.same_as(found)
    assert not found.same_as(found.take(np.array([1, 0, 2, 3, 4])))
    assert not plain_gallery([2, 1]).same_as(plain_gallery([1, 2]))


def test_a_text_that_too_many_pictures_share_is_refused(
    found: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trope.evaluation.gallery.MOST_RIGHT", 9)
    with pytest.raises(DataError, match="row 'a': its text stands 2 times in the split"):
        _ = found.right

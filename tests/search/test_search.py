"""Queries of every kind, against plain products of what the model gives."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

import trope
from trope.checkpoints import load_model
from trope.embedder import Embedder
from trope.errors import DataError, UsageError
from trope.evaluation.hubs import Hubs, correction
from trope.evaluation.runs import RunSource
from trope.maths import normalize
from trope.search import Index, open_index
from trope.search.explaining import matched
from trope.search.ranking import from_vectors
from trope.similarity import similarity
from trope.views import Encoded


def encoded(home: Path, recipe: str = "infonce") -> tuple[list[str], Encoded, Encoded]:
    """Ids, pictures and texts of the whole data, encoded by the evaluation's way."""
    pairs = trope.open(home / "data")
    source = RunSource(load_model(home / recipe), pairs)
    model, everything = source.checkpoint.model, np.arange(len(pairs))
    from trope.encoders import encode

    images = encode(model.image, source.pictures.inputs, source.pictures.rows.copy())
    return pairs.ids, images, encode(model.text, source.texts.inputs, everything)


def test_words_find_the_pictures_the_model_puts_nearest(index: Index, home: Path) -> None:
    ids, images, _ = encoded(home)
    query = Embedder(home / "infonce").texts(["apple plum"])
    scores = similarity(query, images)[0]
    order = torch.argsort(-scores, stable=True)[:7].tolist()
    found = index.search("apple plum", k=7)
    assert [hit.id for hit in found] == [ids[i] for i in order]
    assert [hit.rank for hit in found] == list(range(1, 8))
    assert {hit.modality for hit in found} == {"image"}
    np.testing.assert_allclose([hit.score for hit in found], scores[order], atol=1e-5)


def test_a_query_is_encoded_as_the_index_was(index: Index, home: Path) -> None:
    """What goes through the cache and what comes in fresh end at the same place."""
    pairs = trope.open(home / "data")
    for row in (0, 33, 79):
        best = index.search(pairs[row].texts[0], find="text", k=1)[0]
        assert (best.id, best.place) == (pairs[row].id, 0)
        assert best.score == pytest.approx(1, abs=1e-5)


def test_what_was_learned_is_found(index: Index) -> None:
    """Of rows that the model has not seen, those of the words' topic come first."""
    for topic, words in enumerate(
        ("apple pear", "red green", "north east", "drum harp", "snow fog")
    ):
        best = index.search(words, k=1, where="split = 'test'")[0]
        assert best.row["labels"] == [f"topic{topic}"]
        assert not best.learned


def test_pages_follow_each_other(index: Index) -> None:
    whole = [hit.id for hit in index.search("rain", k=23)]
    pages = [index.search("rain", k=10, page=page) for page in (1, 2, 3)]
    assert [hit.id for page in pages for hit in page][:23] == whole
    assert [hit.rank for hit in pages[2]] == list(range(21, 31))
    assert len(index.search("rain", k=50, page=2)) == 30
    assert len(index.search("rain", k=50, page=3)) == 0


def test_more_than_there_is_can_be_asked_for(index: Index) -> None:
    for find, count in (("image", 80), ("both", 160)):
        assert len(index.search("apple", k=2_000_000_000, find=find).hits) == count  # type: ignore[arg-type]
    assert index.search("apple", k=2_000_000_000, page=2).hits == ()


def test_several_queries_are_averaged_and_subtracted(index: Index, home: Path) -> None:
    ids, images, _ = encoded(home)
    said = Embedder(home / "infonce").texts(["apple", "snow", "harp"]).mean
    direction = normalize((said[0] + said[1]) / 2 - said[2])
    scores = images.mean @ direction
    order = torch.argsort(-scores).tolist()[:5]
    found = index.search(["apple", "snow"], minus="harp", k=5)
    assert [hit.id for hit in found] == [ids[i] for i in order]
    np.testing.assert_allclose([hit.score for hit in found], scores[order], atol=1e-5)
    assert found.query == {"texts": ["apple", "snow"], "minus_texts": ["harp"]}
    with_harp = index.search(["apple", "harp"], k=20)
    without = index.search("apple", minus="harp", k=20)
    harps = [sum("topic3" in hit.row["labels"] for hit in hits) for hits in (with_harp, without)]
    assert harps[0] > harps[1]
    with pytest.raises(UsageError, match="cancel out"):
        index.search("apple", minus="apple")


def test_items_of_several_senses_are_one_item_each(home: Path, tmp_path: Path) -> None:
    index = trope.build_index(home / "pvse", home / "data", tmp_path / "index")
    ids, images, _ = encoded(home, "pvse")
    query = Embedder(home / "pvse").texts(["drum flute"])
    assert query.points is not None
    assert images.points is not None
    scores = similarity(query, images)[0]
    found = index.search("drum flute", k=80, explain=True)
    assert sorted(hit.id for hit in found) == sorted(ids)
    for hit in found:
        row = ids.index(hit.id)
        assert hit.score == pytest.approx(float(scores[row]), abs=1e-5)
        products = (query.points[0] @ images.points[row].T).numpy()
        assert hit.senses is not None
        one, other = hit.senses
        assert products[one - 1, other - 1] == pytest.approx(products.max(), abs=1e-6)


def test_senses_that_match_are_counted_from_one() -> None:
    senses = np.eye(3, dtype=np.float32)
    assert matched(senses[:2], senses[[2, 1]]) == (2, 2)
    assert matched(senses[:1], senses[[1, 2, 0]]) == (1, 3)
    assert matched(senses[:1], senses[:1]) is None


def test_a_hit_is_explained_by_the_nearest_that_was_learned_from(index: Index, home: Path) -> None:
    ids, images, _ = encoded(home)
    splits = trope.open(home / "data").column("split").to_pylist()
    hit = index.search("rain fog", k=1, where="split = 'test'", explain=True)[0]
    own = similarity(images, images)[ids.index(hit.id)]
    trained = [i for i in torch.argsort(-own).tolist() if splits[i] == "train"]
    assert hit.neighbors is not None
    assert [near.id for near in hit.neighbors] == [ids[i] for i in trained[:3]]
    assert hit.neighbors[0].score == pytest.approx(float(own[trained[0]]), abs=1e-5)
    query = similarity(Embedder(home / "infonce").texts(["rain fog"]), images)[0]
    assert hit.neighbors[0].query == pytest.approx(float(query[trained[0]]), abs=1e-5)
    learned = index.search("rain fog", k=1, where="split = 'train'", explain=True)[0]
    assert learned.neighbors is not None
    assert learned.id not in [near.id for near in learned.neighbors]


@pytest.mark.parametrize("method", ["nnn", "inverted-softmax", "qb-norm"])
def test_hubs_are_corrected_as_evaluation_does(index: Index, home: Path, method: str) -> None:
    ids, images, texts = encoded(home)
    splits = np.array(trope.open(home / "data").column("split").to_pylist())
    bank = texts.take(torch.from_numpy(np.flatnonzero(splits == "train")))
    query = Embedder(home / "infonce").texts(["red plum"])
    plain = similarity(query, images).numpy()
    made = correction(bank, images, Hubs(method).default())
    assert made is not None
    wanted = made(plain)[0]
    found = index.search("red plum", k=10, hubs=method)
    order = np.argsort(-wanted, kind="stable")[:10]
    np.testing.assert_allclose([hit.score for hit in found], wanted[order], atol=1e-4)
    assert {hit.id for hit in found} == {ids[i] for i in order}


def test_a_reranker_puts_the_candidates_in_its_own_order(index: Index, home: Path) -> None:
    """The seam for models that compare pairs themselves."""
    seen: list[tuple[Encoded, Encoded]] = []

    def reversing(query: Encoded, candidates: Encoded) -> torch.Tensor:
        seen.append((query, candidates))
        return -similarity(query, candidates)[0]

    plain = index.search("harp", k=80)
    again = open_index(index.folder, rerank=reversing).search("harp", k=5)
    assert [hit.id for hit in again] == [hit.id for hit in plain][::-1][:5]
    (query, candidates), *rest = seen
    assert not rest
    assert len(candidates.mean) == 80
    scores = similarity(query, candidates)[0]
    np.testing.assert_allclose(scores, [hit.score for hit in plain], atol=1e-5)


def test_vectors_of_an_index_are_what_the_model_gave() -> None:
    points = normalize(torch.randn(4, 3, 6, generator=torch.Generator().manual_seed(0)))
    whole = from_vectors(points.numpy())
    torch.testing.assert_close(whole.mean, normalize(points.sum(dim=1)))
    assert from_vectors(points[:, :1].numpy()).points is None


def test_pictures_find_texts_and_pictures(pictured: Path, tmp_path: Path) -> None:
    index = trope.build_index(pictured / "run", pictured / "data", tmp_path / "index")
    path = pictured / "data" / "7.png"
    for given in (path, str(path), path.read_bytes(), Image.open(path)):
        same = index.search(image=given, find="image", k=1)[0]
        assert (same.id, same.image) == ("r7", "7.png")
        assert same.score == pytest.approx(1, abs=1e-4)
    texts = index.search(image=path, k=3)
    assert texts.find == "text"
    assert {hit.modality for hit in texts} == {"text"}
    both = index.search("apple", image=path, find="both", k=60)
    assert {hit.modality for hit in both} == {"image", "text"}
    assert [hit.score for hit in both] == sorted((hit.score for hit in both), reverse=True)


@pytest.mark.usefixtures("untyped")
def test_wrong_queries_are_refused_in_one_line(index: Index, tmp_path: Path) -> None:
    for asked, why in (
        ({}, "name words or an image"),
        ({"text": "   "}, "has no content"),
        ({"text": "x", "k": 0}, "k must be at least 1"),
        ({"text": "x", "page": 0}, "page must be at least 1"),
        ({"text": "x", "find": "images"}, "did you mean 'image'"),
        ({"text": "x", "where": "yeer = 3"}, "did you mean 'year'"),
        ({"text": "x", "hubs": "nn"}, "nnn"),
        ({"text": "x", "find": "both", "hubs": "nnn"}, "not both"),
        ({"image": tmp_path / "none.jpg"}, "features of pictures that come with a data set"),
    ):
        with pytest.raises(UsageError, match=why):
            index.search(**asked)


def test_words_that_the_model_never_met_are_told(index: Index) -> None:
    assert index.search("apple zyzzyva").remarks == ()
    (told,) = index.search("zyzzyva quux", minus="harp").remarks
    assert told == "the model knows no word of 'zyzzyva quux': its answer means little"


def test_a_picture_that_cannot_be_read_is_told(pictured: Path, tmp_path: Path) -> None:
    index = trope.build_index(pictured / "run", pictured / "data", tmp_path / "index")
    with pytest.raises(UsageError, match=r"none\.jpg: No such file"):
        index.search(image=tmp_path / "none.jpg")
    (tmp_path / "broken.jpg").write_bytes(b"no picture")
    with pytest.raises(DataError, match=r"broken\.jpg: cannot be decoded"):
        index.search(image=tmp_path / "broken.jpg")


def test_what_is_no_file_is_not_read(pictured: Path, tmp_path: Path) -> None:
    """A device may have no end, and a folder no bytes."""
    model = Embedder(pictured / "run")
    for odd in (Path("/dev/zero"), tmp_path):
        with pytest.raises(UsageError, match="not a file"):
            model.images([odd])
    with pytest.raises(UsageError, match="No such file"):
        model.images([tmp_path / "gone.jpg"])

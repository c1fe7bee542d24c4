"""Models that compare pictures with texts themselves: a search ranks as an evaluation does."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
import torch
from search_samples import QUICK

import trope
from trope.checkpoints import load_model
from trope.embedder import Embedder
from trope.encoders import compare, encode
from trope.encoders.reranking import candidates, rerank
from trope.encoders.scorers.matching import Matching
from trope.evaluation.runs import RunSource
from trope.index import encoding
from trope.index.compared import details_of, encoded_from
from trope.index.details import one_after_another
from trope.index.folder import read_state, write_state
from trope.matching import spread
from trope.search import Index, Results, open_index
from trope.training import train
from trope.views import Encoded

RECIPES = ("pcme", "sgr")
ENGINES: dict[str, dict[str, Any]] = {
    "exact": {"engine": "exact"},
    "flat": {"engine": "faiss"},
    "graph": {"engine": "faiss", "flat": 4, "asking": 400},
}
SERVER = pytest.mark.xdist_group("milvus")  # one for all tests
WORDS = "apple rain drum"


@pytest.fixture(autouse=True)
def _known_features(scored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures go through the backbone once for all tests."""
    monkeypatch.setenv("TROPE_CACHE", str(scored / "cache"))


@pytest.fixture(params=[*ENGINES, pytest.param("milvus", marks=SERVER)])
def engine(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Settings of each engine; one of them is a real server."""
    if request.param != "milvus":
        return ENGINES[request.param]
    settings = request.getfixturevalue("milvus")
    return {name: getattr(settings, name) for name in ("engine", "uri", "links", "asking")}


@pytest.fixture(params=RECIPES)
def recipe(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def everything(home: Path, recipe: str) -> tuple[list[str], Encoded, Encoded]:
    """Ids, pictures and texts as an evaluation encodes them."""
    pairs = trope.open(home / "data")
    source = RunSource(load_model(home / recipe), pairs)
    model, texts = source.checkpoint.model, np.arange(len(pairs))
    images = encode(model.image, source.pictures.inputs, source.pictures.rows.copy())
    return pairs.ids, images, encode(model.text, source.texts.inputs, texts)


def expect(
    home: Path,
    recipe: str,
    found: Results,
    query: Encoded,
    side: Literal["image", "text"],
    most: int,
) -> None:
    """The order and scores that evaluation's own re-ranking gives; equal scores in any order."""
    ids, images, texts = everything(home, recipe)
    items = texts if side == "image" else images
    scorer = load_model(home / recipe).model.scorer
    wanted = rerank(scorer, query, items, candidates(query, items, most), side)
    places = [ids.index(hit.id) for hit in found]
    assert sorted(places) == sorted(wanted.items[0].tolist())
    np.testing.assert_allclose([hit.score for hit in found], wanted.scores[0], atol=1e-5)
    own = dict(zip(wanted.items[0].tolist(), wanted.scores[0].tolist(), strict=True))
    np.testing.assert_allclose([hit.score for hit in found], [own[i] for i in places], atol=1e-5)
    cosines = items.mean[places] @ query.mean[0]
    np.testing.assert_allclose([hit.cosine for hit in found], cosines, atol=1e-5)


def test_words_find_pictures_in_the_order_of_an_evaluation(
    scored: Path, tmp_path: Path, recipe: str, engine: dict[str, Any]
) -> None:
    index = trope.build_index(scored / recipe, scored / "data", tmp_path / "index", **engine)
    found = index.search(WORDS, k=40)
    assert found.ranked_by == {"pcme": "match", "sgr": "sgr"}[recipe]
    query = Embedder(scored / recipe).texts([WORDS], parts=True)
    expect(scored, recipe, found, query, "text", 40)
    assert [hit.id for hit in index.search(WORDS, k=40, rerank=False)] != [hit.id for hit in found]
    index.engine.close()


def test_a_picture_finds_texts_in_the_order_of_an_evaluation(
    scored: Path,
    tmp_path: Path,
    recipe: str,
    engine: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    index = trope.build_index(scored / recipe, scored / "data", tmp_path / "index", **engine)
    path = scored / "data" / "7.png"
    query = Embedder(scored / recipe).images([path], parts=True)
    expect(scored, recipe, index.search(image=path, k=40), query, "image", 40)
    monkeypatch.setattr("trope.search.index.CANDIDATES", 6)  # of which only the order is new
    expect(scored, recipe, index.search(image=path, k=6), query, "image", 6)
    pages = [index.search(image=path, k=5, page=page) for page in (1, 2)]
    assert [hit.cosine is None for page in pages for hit in page] == [False] * 6 + [True] * 4
    scorer = "match" if recipe == "pcme" else recipe
    assert [page.ranked_by for page in pages] == [scorer, scorer]  # the second has one of the six
    assert index.search(image=path, k=6, page=2).ranked_by == "cosine"
    index.engine.close()


@pytest.mark.parametrize(
    ("recipe", "engine"),
    [("pcme", "exact"), ("sgr", "graph"), pytest.param("sgr", "milvus", marks=SERVER)],
    indirect=["engine"],
)
def test_an_index_that_was_changed_ranks_like_one_made_at_once(
    scored: Path, tmp_path: Path, recipe: str, engine: dict[str, Any]
) -> None:
    """Rows added, replaced and removed, then enough of them for files to be written anew."""
    data = scored / "data"
    lines = [json.loads(line) for line in (data / "pairs.jsonl").read_text().splitlines()]
    index = trope.build_index(
        scored / recipe, part(data, tmp_path / "a", lines[:30]), tmp_path / "i", **engine
    )
    index.add(part(data, tmp_path / "b", [lines[3] | {"text": "snow fog"}, *lines[30:]]))
    index.add(part(data, tmp_path / "c", lines[3:4]))
    index.remove(["r0"])
    alike(index, scored, recipe, tmp_path / "d", lines[1:])
    assert "segment2" in kinds(index)
    index.remove([f"r{i}" for i in range(10, 30)])
    assert "segment1" not in kinds(index)
    alike(index, scored, recipe, tmp_path / "e", [*lines[1:10], *lines[30:]])
    index.remove([f"r{i}" for i in [*range(1, 10), *range(30, 40)]])
    assert len(index.search(WORDS)) == 0
    index.add(part(data, tmp_path / "f", lines[:5]))
    alike(index, scored, recipe, tmp_path / "g", lines[:5])
    index.engine.close()


def kinds(index: Index) -> set[str]:
    """What its files are, those of pictures among them."""
    parts = read_state(index.folder).parts
    return set(parts["image" if "image" in parts else "both"].files)


def part(data: Path, folder: Path, lines: list[dict[str, object]]) -> Path:
    """Some rows of the data as a data set of their own."""
    folder.mkdir()
    for line in lines:
        shutil.copy(data / str(line["image"]), folder)
    (folder / "pairs.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return folder


def alike(
    index: Index, home: Path, recipe: str, folder: Path, lines: list[dict[str, object]]
) -> None:
    """Both directions give what an index of these rows gives."""
    data = part(home / "data", folder, lines)
    fresh = trope.build_index(home / recipe, data, folder / "index", engine="exact")
    for asked in ({"text": WORDS}, {"image": data / "4.png"}):
        one, other = (some.search(**asked, k=40) for some in (index, fresh))  # type: ignore[arg-type]
        scores = {hit.id: hit.score for hit in other}
        wanted = [hit.score for hit in other]
        assert len(one) == len(other)
        np.testing.assert_allclose([hit.score for hit in one], wanted, atol=1e-5)
        np.testing.assert_allclose([scores[hit.id] for hit in one], wanted, atol=1e-5)


def test_many_additions_become_one_segment(
    scored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trope.index.segments.MOST", 3)
    lines = [json.loads(line) for line in (scored / "data/pairs.jsonl").read_text().splitlines()]
    folders = [part(scored / "data", tmp_path / f"{i}", lines[i : i + 1]) for i in range(5)]
    index = trope.build_index(scored / "sgr", folders[0], tmp_path / "index")
    counts = []
    for folder in folders[1:]:
        index.add(folder)
        names = read_state(index.folder).parts["text"].files
        counts.append(sum(name.startswith("segment") for name in names))
    assert counts == [2, 3, 1, 2]
    alike(index, scored, "sgr", tmp_path / "all", lines[:5])


def test_rows_with_the_same_text_keep_what_it_is_compared_by_once(
    scored: Path, tmp_path: Path
) -> None:
    (tmp_path / "data").mkdir()
    rows = [{"id": f"a{i}", "text": "snow fog rain"} for i in range(50)]
    (tmp_path / "data" / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)))
    index = trope.build_index(scored / "sgr", tmp_path / "data", tmp_path / "index")
    details = index.engine.get(["text:0:a7"]).details
    assert details is not None
    assert [len(rows) for rows in details.segments] == [3]
    assert details.segments[0].dtype == np.int16


def test_parts_in_16_bits_hardly_move_scores(scored: Path) -> None:
    _, images, texts = everything(scored, "sgr")
    scorer = load_model(scored / "sgr").model.scorer
    wanted = compare(scorer, images, texts)

    def moved(change: Callable[[Encoded], Encoded]) -> float:
        return float((compare(scorer, change(images), change(texts)) - wanted).abs().max())

    def kept(items: Encoded) -> Encoded:
        rows, counts = details_of(items, "locals")
        return encoded_from(one_after_another("locals", [rows], counts), items.mean.numpy())

    def halved(items: Encoded) -> Encoded:
        assert items.locals is not None
        return replace(items, locals=items.locals.half().float())

    assert moved(kept) < 5e-4 * float(wanted.std())
    assert moved(kept) < moved(halved) / 2


def test_what_a_scorer_does_not_compare_is_ranked_by_the_cosine_and_told(
    scored: Path, tmp_path: Path, recipe: str
) -> None:
    index = trope.build_index(scored / recipe, scored / "data", tmp_path / "index")
    path = scored / "data" / "7.png"
    for asked in (
        {"text": WORDS, "find": "text"},
        {"image": path, "find": "image"},
        {"text": WORDS, "find": "both"},
        {"text": WORDS, "image": path},
    ):
        found = index.search(**asked)  # type: ignore[arg-type]
        assert found.ranked_by == "cosine"
        assert "compares texts with images" in found.remarks[0]
        assert all(hit.match_probability is None for hit in found)
    found = index.search(WORDS, hubs="nnn")
    assert "hubs are taken off cosines" in found.remarks[0]
    assert index.search(WORDS, rerank=False).remarks == ()
    alone = open_index(index.folder, rerank=False).search(WORDS)
    assert (alone.ranked_by, alone.remarks) == ("cosine", ())


def test_of_several_queries_scores_are_averaged_and_subtracted(
    scored: Path, tmp_path: Path, recipe: str
) -> None:
    index = trope.build_index(scored / recipe, scored / "data", tmp_path / "index")
    single = {
        words: {hit.id: hit.score for hit in index.search(words, k=40)}
        for words in ("apple", "snow", "harp")
    }
    found = index.search(["apple", "snow"], minus="harp", k=40)
    for hit in found:
        apple, snow, harp = (scores[hit.id] for scores in single.values())
        assert hit.score == pytest.approx((apple + snow) / 2 - harp, abs=1e-5)
        assert hit.match_probability is None
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)
    assert found.spread is None


def test_distributions_tell_how_likely_they_match_and_how_far_they_reach(
    scored: Path, tmp_path: Path
) -> None:
    index = trope.build_index(scored / "pcme", scored / "data", tmp_path / "index")
    found = index.search(WORDS, k=40)
    scorer = load_model(scored / "pcme").model.scorer
    assert isinstance(scorer, Matching)
    scores = torch.tensor([hit.score for hit in found])
    chances = [hit.match_probability for hit in found]
    np.testing.assert_allclose(chances, scorer.probability(scores).detach(), rtol=1e-4)
    assert chances == sorted(chances, reverse=True)
    query = Embedder(scored / "pcme").texts([WORDS])
    assert found.spread == pytest.approx(float(spread(query)[0]))
    assert index.search(WORDS, find="text").spread == found.spread
    document = found.document()
    assert document["spread"] == found.spread
    assert document["hits"][0]["match_probability"] == chances[0]  # type: ignore[index]


def test_scores_that_no_loss_made_odds_are_no_probabilities(scored: Path, tmp_path: Path) -> None:
    """The triplet loss compares differences of scores, in which scale and shift cancel."""
    sets = [*QUICK, "image.grid=2", "training.epochs=1", "loss.name=triplet"]
    train("pcme", scored / "data", tmp_path / "run", sets=sets, quiet=True)
    index = trope.build_index(tmp_path / "run", scored / "data", tmp_path / "index")
    found = index.search(WORDS)
    assert found.ranked_by == "match"
    assert {hit.match_probability for hit in found} == {None}
    assert any("no match probabilities" in told for told in found.remarks)


def test_a_model_without_distributions_says_nothing_of_them(scored: Path, tmp_path: Path) -> None:
    index = trope.build_index(scored / "sgr", scored / "data", tmp_path / "index")
    document = index.search(WORDS).document()
    assert "spread" not in document
    assert "match_probability" not in document["hits"][0]  # type: ignore[index]


def test_a_function_of_the_users_gets_what_the_scorer_gets(scored: Path, tmp_path: Path) -> None:
    trope.build_index(scored / "sgr", scored / "data", tmp_path / "index")
    scorer = load_model(scored / "sgr").model.scorer
    assert scorer is not None

    def own(query: Encoded, items: Encoded) -> torch.Tensor:
        return -scorer(items, query)[:, 0]

    plain = open_index(tmp_path / "index").search(WORDS, k=40)
    found = open_index(tmp_path / "index", rerank=own).search(WORDS, k=40)
    assert found.ranked_by == "reranker"
    assert [hit.id for hit in found] == [hit.id for hit in plain][::-1]


def test_an_index_made_of_vectors_alone_is_told(scored: Path, tmp_path: Path) -> None:
    index = trope.build_index(scored / "sgr", scored / "data", tmp_path / "index", engine="exact")
    write_state(index.folder, replace(read_state(index.folder), details=""))
    found = open_index(index.folder).search(WORDS, k=40)
    assert found.ranked_by == "cosine"
    assert "the index keeps vectors alone" in found.remarks[0]
    scores = [hit.score for hit in found]
    assert scores == sorted(scores, reverse=True)


def test_a_job_that_was_killed_goes_on_with_what_scorers_need(
    scored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoding, "BLOCK", 8)
    plain, done = encoding._encoded, []

    def counted(*given: object) -> object:
        if len(done) == 7:
            raise KeyboardInterrupt
        done.append(given[2])
        return plain(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(encoding, "_encoded", counted)
    with pytest.raises(KeyboardInterrupt):
        trope.build_index(scored / "sgr", scored / "data", tmp_path / "index")
    assert not (tmp_path / "index").exists()
    done[:] = [0] * 8
    index = trope.build_index(scored / "sgr", scored / "data", tmp_path / "index")
    assert len(done) == 8 + 3  # of ten blocks
    query = Embedder(scored / "sgr").texts([WORDS], parts=True)
    expect(scored, "sgr", index.search(WORDS, k=40), query, "text", 40)


def test_a_search_reads_the_state_that_was_opened(
    recipe: str, scored: Path, tmp_path: Path
) -> None:
    index = trope.build_index(scored / recipe, scored / "data", tmp_path / "index")
    assert index.embedder.size  # the model is read when it is first needed
    (tmp_path / "index" / "index.json").unlink()
    assert index.search(WORDS, k=3).ranked_by != "cosine"

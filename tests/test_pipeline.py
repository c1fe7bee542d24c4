"""The demo: what it writes, that it can be run again, and that settings are not mixed."""

from __future__ import annotations

from collections import defaultdict
from contextlib import redirect_stderr
from dataclasses import replace
from io import StringIO
from pathlib import Path

import orjson
import pytest

import trope
from trope import config
from trope.cli.demo import show
from trope.data.check import check
from trope.data.emblems import EmblemBook
from trope.data.emblems.book import emblems
from trope.data.emblems.topics import topics
from trope.data.splits import SplitPlan, split
from trope.data.writer import write_rows
from trope.errors import UsageError
from trope.evaluation import Result
from trope.pipeline import Demo, DemoResult, demo

SMALL = Demo(emblems=EmblemBook(pairs=100, size=96))


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> DemoResult:
    home = tmp_path_factory.mktemp("demo")
    with pytest.MonkeyPatch.context() as patch, redirect_stderr(StringIO()) as said:
        patch.setenv("TROPE_CACHE", str(home / "cache"))
        made = demo(home / "out", SMALL)
    assert "rows: 80 train" in said.getvalue()
    assert "nothing to go on from" not in said.getvalue()  # a first demo goes on from nothing
    return made


@pytest.fixture
def made(result: DemoResult) -> Path:
    return result.data.parent


def test_the_demo_leaves_a_checked_and_split_data_set(made: Path) -> None:
    pairs = trope.open(made / "data")
    assert len(pairs) == 100
    assert {pair.split for pair in pairs} == {"train", "val", "test"}
    assert check(pairs).count("error") == 0
    assert (made / "contact-sheet.png").stat().st_size > 10_000


def test_results_carry_their_settings_and_provenance(made: Path) -> None:
    document = orjson.loads((made / "demo.json").read_bytes())
    assert document["config"]["emblems"]["pairs"] == 100
    assert document["provenance"]["trope"]
    assert document["split"]["rows"] == {"train": 80, "val": 10, "test": 10}
    assert document["statistics"]["splits"]["train"]["unknown_words"] == 0
    assert document["statistics"]["splits"]["test"]["unknown_words"] > 0
    assert config.load(Demo, made / "config.toml") == SMALL


def test_figures_are_shown_with_interval_and_chance(
    result: DemoResult, capsys: pytest.CaptureFixture[str]
) -> None:
    show(result)
    told = " ".join(capsys.readouterr().out.split())
    found = result.evaluation.text_to_image["recall@1/5-way"]
    interval = f"95 % interval {found.low:.1%} to {found.high:.1%}; by chance 20%)"
    assert f"text to image: {found.value:.1%} come first ({interval}" in told


def test_the_demo_ends_with_searches_of_pictures_that_are_new(
    result: DemoResult, made: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert result.index == made / "index"
    assert result.indexed is not None
    assert (result.indexed.images, result.indexed.texts) == (100, 100)
    by_topic, image = result.searches[:-1], result.searches[-1]
    assert [search.about for search in by_topic] == ["justice", "hunger", "freedom", ""]
    for search in result.searches:
        assert {hit.row["split"] for hit in search.results} == {"test"}
        assert not any(hit.learned for hit in search.results)
    assert {hit.modality for hit in image.results} == {"text"}
    hits = by_topic[0].results
    assert by_topic[0].right == sum("justice" in hit.row["labels"] for hit in hits)
    show(result)
    told = capsys.readouterr().out
    assert f"“justice”: {by_topic[0].right} of {len(hits)} are about it" in told
    assert "“justice” minus “hunger”" in told
    assert all(hit.id in told for hit in hits)
    again = trope.open_index(made / "index").search("justice", k=5, where="split = 'test'")
    assert [hit.id for hit in again] == [hit.id for hit in hits]


@pytest.mark.parametrize(("low", "said"), [(0.21, "above chance"), (0.19, "not told apart")])
def test_it_says_whether_chance_would_do_as_well(
    result: DemoResult, low: float, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    sides = {"recall@1/5-way": Result(0.25, low, 0.3)}
    planted = replace(result.evaluation, image_to_text=sides, text_to_image=sides)
    show(replace(result, evaluation=planted))
    assert capsys.readouterr().out.count(said) == 2


def test_a_sentence_and_all_its_pictures_are_on_one_side(tmp_path: Path) -> None:
    """The demo's book has three pictures a sentence: none may be learned and asked for."""
    book = Demo().emblems
    sentences = sum(len(topic.sentences) for topic in topics())
    assert book.pairs == 3 * sentences
    write_rows(tmp_path / "pairs.jsonl", (page.row() for page in emblems(book)))
    pairs, _ = split(trope.open(tmp_path), SplitPlan(images="path"))
    sides = defaultdict(list)
    for pair in pairs:
        sides[pair.texts[0]].append(pair.split)
    assert len(sides) == sentences
    assert all(len(side) == 3 and len(set(side)) == 1 for side in sides.values())


def test_running_it_again_changes_nothing(made: Path) -> None:
    before = {p.name: p.read_bytes() for p in (made / "data").glob("*.jsonl")}
    picture = next((made / "data" / "images").iterdir())
    changed = picture.stat().st_mtime_ns
    demo(made, SMALL)
    assert {p.name: p.read_bytes() for p in (made / "data").glob("*.jsonl")} == before
    assert picture.stat().st_mtime_ns == changed


def test_a_folder_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(UsageError, match="no demo folder"):
        demo(tmp_path, SMALL)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_other_settings_in_the_same_folder_are_refused(made: Path) -> None:
    other = Demo(emblems=EmblemBook(pairs=100, size=96, literalness=0.5))
    with pytest.raises(UsageError, match="made with other settings"):
        demo(made, other)

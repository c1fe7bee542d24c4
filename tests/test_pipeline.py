"""The demo: what it writes, that it can be run again, and that settings are not mixed."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

import trope
from trope import config
from trope.data.check import check
from trope.data.emblems import EmblemBook
from trope.errors import UsageError
from trope.pipeline import Demo, demo

SMALL = Demo(emblems=EmblemBook(pairs=100, size=96))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("demo")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TROPE_CACHE", str(home / "cache"))
        demo(home / "out", SMALL)
    return home / "out"


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

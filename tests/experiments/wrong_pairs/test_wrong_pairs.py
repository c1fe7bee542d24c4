"""The experiment on planted pairs: swaps are found, runs are resumed, the page says what it is."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest

import trope
from trope.config import plain
from trope.data.pairs import Pairs
from trope.errors import DataError, UsageError
from trope.experiments import run
from trope.experiments.runs.tables import NONE, command
from trope.experiments.wrong_pairs import OPTIONAL, PLAIN, SCORES, WrongPairs, heads, study
from trope.experiments.wrong_pairs.figures import comparable, tables
from trope.experiments.wrong_pairs.page import page
from trope.experiments.wrong_pairs.study import case, gather, swapped
from trope.spaces import Sentence, Vectors, Visual

pytest.importorskip("matplotlib")

DOCS = Path(__file__).parents[3] / "docs"
MEASURED = sorted(DOCS.glob("results/wrong-pairs*.json"))
COUNT, SUBJECTS, SIZE = 160, 8, 12
QUICK = ("seeds=2", "share=0.1", "near=30")


@pytest.fixture(autouse=True)
def _planted(monkeypatch: pytest.MonkeyPatch) -> None:
    """No network: vectors of pictures and texts of eight subjects, by the numbers of rows."""
    random = np.random.default_rng(0)
    subjects = np.arange(COUNT) % SUBJECTS
    values = {
        side: random.normal(size=(SUBJECTS, SIZE))[subjects]
        + 0.6 * random.normal(size=(COUNT, SIZE))
        for side in ("image", "text")
    }

    def vectors(side: str) -> Any:
        def of(_: object, pairs: Pairs) -> Vectors:
            rows = [int(name[1:]) for name in pairs.ids]
            return Vectors(values[side][rows].astype(np.float32), np.arange(len(rows)), side, "d")

        return of

    monkeypatch.setattr(Visual, "vectors", vectors("image"))
    monkeypatch.setattr(Sentence, "vectors", vectors("text"))
    monkeypatch.setattr(heads, "EPOCHS", 3)
    monkeypatch.setattr(heads, "BATCH", 32)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "planted"
    folder.mkdir()
    splits = ["train", "train", "val", "test"]
    rows = [
        {"id": f"r{i}", "image": f"{i}.png", "text": f"text {i}", "group": f"g{i // 4}"}
        | {"split": splits[i // 4 % 4]}
        for i in range(COUNT)
    ]
    (folder / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return folder


def test_swapped_pairs_are_found_and_told(data: Path, tmp_path: Path) -> None:
    swaps = 'swaps=["random", "near", "within"]'
    found = run("wrong-pairs", data, tmp_path / "out", sets=[*QUICK, swaps])
    results = orjson.loads((tmp_path / "out/results.json").read_bytes())
    assert results["pairs"] == COUNT
    for swap in ("random", "near", "within"):
        known = results["swaps"][swap]
        assert known["swapped"] == 16
        assert list(known["scores"]) == [score for score in SCORES if score not in OPTIONAL]
        for score, figures in known["scores"].items():
            if swap != "near" and not score.endswith("seen"):
                times = 1.5 if score.startswith("heads") else 3  # which hardly learn in a test
                assert figures["ap"]["value"] > times * known["chance"]["ap"], (swap, score)
        gain = known["scores"]["neighbors"]["gain"]["value"]
        ap = {score: figures["ap"]["value"] for score, figures in known["scores"].items()}
        assert gain == pytest.approx(ap["neighbors"] - ap["support"])
    random, near = (
        results["swaps"][swap]["scores"]["support"]["ap"] for swap in ("random", "near")
    )
    assert random["value"] > near["value"]  # what means alike may fit as well
    text = (tmp_path / "out/wrong-pairs.md").read_text(encoding="utf-8")
    assert "trope experiment wrong-pairs --data DATA --out OUT" in text
    assert "`planted`" in text
    assert "16 pairs" in found.tables[0].title
    assert found.tables[0].rows[-1][0] == "by chance"
    assert (tmp_path / "out/wrong-pairs.svg").stat().st_size > 0


def test_what_is_done_is_not_done_again(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = [*QUICK, 'scores=["support", "likeness"]', 'swaps=["random"]']
    first = run("wrong-pairs", data, tmp_path / "out", sets=few).results
    asked: list[int] = []
    swap = study.swapped
    monkeypatch.setattr(study, "swapped", lambda *given: (asked.append(given[2]), swap(*given))[1])
    assert run("wrong-pairs", data, tmp_path / "out", sets=few).results == first
    assert asked == []
    (tmp_path / "out/parts/random-1.json").write_text("{")  # torn
    more = [*few, "seeds=3"]
    assert run("wrong-pairs", data, tmp_path / "out", sets=more).results != first
    assert asked == [1, 2]
    with pytest.raises(UsageError, match=r"made with share=0\.1, not 0\.2"):
        run("wrong-pairs", data, tmp_path / "out", sets=[*few, "share=0.2"])


def test_scores_see_the_data_as_it_is_after_the_swap(data: Path) -> None:
    settings = WrongPairs(near=30)
    clean = gather(trope.open(data), settings)
    source = swapped(clean, "random", 0, 0.1)
    found = case(clean, source, 0, settings)
    np.testing.assert_array_equal(found.sides.text, clean.text[source])
    np.testing.assert_array_equal(found.sides.image, clean.image)
    assert (clean.components[source] != clean.components).sum() == 16
    np.testing.assert_array_equal(found.components, clean.components)  # texts are all different


def test_rows_can_be_chosen(data: Path) -> None:
    pairs = trope.open(data)
    held = gather(pairs, WrongPairs(splits=("val", "test"))).pairs
    assert set(held.column("split").to_pylist()) == {"val", "test"}
    assert len(held) == COUNT // 2
    some = gather(pairs, WrongPairs(rows=50)).pairs
    assert some.ids == gather(pairs, WrongPairs(rows=50)).pairs.ids
    assert len(some) == 50


def test_heads_judge_only_what_they_have_not_seen(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = WrongPairs(near=30)
    clean = gather(trope.open(data), settings)
    sides = case(clean, np.arange(COUNT), 0, settings).sides
    seen: list[set[int]] = []
    judged: list[int] = []
    train, judge = heads.trained, heads.judgment
    monkeypatch.setattr(
        heads, "trained", lambda s, rows, seed: (seen.append(set(rows)), train(s, rows, seed))[1]
    )

    def told(made: Any, s: Any, rows: np.ndarray) -> np.ndarray:
        groups = set(clean.components[rows])
        assert not groups & set(clean.components[list(seen[-1])])
        judged.extend(rows.tolist())
        return judge(made, s, rows)

    monkeypatch.setattr(heads, "judgment", told)
    heads.out_of_fold(sides, clean.components, 0)
    assert sorted(judged) == list(range(COUNT))
    assert len(seen) == heads.FOLDS


def test_plain_scores_are_those_without_a_vote(data: Path) -> None:
    settings = WrongPairs(near=30)
    clean = gather(trope.open(data), settings)
    source = swapped(clean, "random", 0, 0.1)
    voted = case(clean, source, 0, settings)
    silent = case(clean, source, 0, replace(settings, trust=0.0))
    for score in ("support", "regression"):
        found = voted.score(f"{score}-plain")
        np.testing.assert_allclose(found, silent.score(score))
        assert np.abs(found - voted.score(score)).max() > 0.1
    for score in set(PLAIN) - {"heads-apart", "heads-seen"}:  # as are these
        np.testing.assert_array_equal(voted.score(score), silent.score(score))


def test_like_is_compared_with_like() -> None:
    """A score without the vote has no difference from one with it, but its own."""
    document = orjson.loads((DOCS / "results/wrong-pairs.json").read_bytes())
    text = page(document)
    (table, *_) = tables(document)
    rows = {row[0]: row[2] for row in table.rows}
    for score in document["settings"]["scores"][1:]:
        unlike = score in PLAIN and score != "support-plain"
        assert (rows[SCORES[score]] == NONE) == unlike
        compared = [line for line in text.splitlines() if line.startswith("- Points of")]
        assert any(f"{SCORES[score]} " in line for line in compared) != unlike
    beside = [line for line in text.splitlines() if line.startswith("- Without a vote")]
    assert len(beside) == 2
    for score in set(PLAIN) - set(OPTIONAL):
        assert all(f"{SCORES[score]} 0." in line for line in beside)
    assert comparable("ranks", "support-plain")
    assert not comparable("ranks", "support")
    assert comparable("support-plain", "support")


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"scores": ("suport",)}, "did you mean 'support'"),
        ({"scores": ("support", "support")}, "each once"),
        ({"share": 0.9}, "share must be above 0 and at most 0.5"),
        ({"seeds": 0}, "at least 1"),
    ],
)
def test_wrong_settings_are_told(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        WrongPairs(**changes)


def test_the_page_of_the_docs_is_what_the_command_writes() -> None:
    document = orjson.loads((DOCS / "results/wrong-pairs.json").read_bytes())
    assert page(document) == (DOCS / "results/wrong-pairs.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", MEASURED, ids=lambda path: path.stem)
def test_figures_of_the_page_on_explaining_are_those_measured(path: Path) -> None:
    document = orjson.loads(path.read_bytes())
    text = (DOCS / "explain.md").read_text(encoding="utf-8")
    for known in document["swaps"].values():
        own, chance = known["scores"]["support"], known["chance"]
        found = f"{own['ap']['value']:.3f} ({own['ap']['low']:.3f} to {own['ap']['high']:.3f})"
        shares = [own[name]["value"] for name in ("precision", "recall@10%", "recall@20%")]
        row = [found, f"{chance['ap']:.3f}", *(f"{share:.0%}" for share in shares)]
        assert f"| {' | '.join(row)} |" in text


@pytest.mark.parametrize("path", MEASURED, ids=lambda path: path.stem)
def test_commands_of_the_page_on_explaining_are_those_run(path: Path) -> None:
    document = orjson.loads(path.read_bytes())
    text = (DOCS / "explain.md").read_text(encoding="utf-8")
    line = command("wrong-pairs", document, plain(WrongPairs())).replace("\\\n", " ")
    for word in shlex.split(line):
        if "=" in word:
            assert word in text


def test_nothing_to_swap_is_told(data: Path, tmp_path: Path) -> None:
    lines = (data / "pairs.jsonl").read_text().splitlines()
    rows = [json.loads(line) | {"group": "all"} for line in lines]
    (data / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(DataError, match="no pairs that can be swapped"):
        run("wrong-pairs", data, tmp_path / "out", sets=list(QUICK))
    assert not (tmp_path / "out").exists()

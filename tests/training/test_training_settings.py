"""Which settings hold, and on which rows a run is trained."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import planted
import pytest

import trope
from trope import config
from trope.data.kept import FILE, with_kept_splits
from trope.data.pairs import Pairs
from trope.data.splits import SplitPlan, split
from trope.errors import UsageError
from trope.training import Optimization, Recipe, load_recipe, recipe_names, resolve, train
from trope.training.idle import idle_settings
from trope.training.settings import dotted
from trope.training.small import SMALL, Scale, small_changes, small_lists
from trope.training.task import Task, prepare, spelled

MODULE = import_module("trope.training.train")
SHORT = [*planted.PRECOMPUTED, "training.epochs=1"]


@pytest.fixture
def lists(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """Lists of our own, so that no test depends on the measured ones."""
    found = {
        "always": ["training.learning_rate=1e-3", "image.dropout=0.5"],
        "gru": ["image.dropout=0.2", "text.hidden=64"],
        "sentence": ["text.dropout=0.4"],
        "sentence-tuned": [],
        "senses": ["head.dropout=0.1"],
    }
    monkeypatch.setattr("trope.training.small.small_lists", lambda: found)
    return found


@pytest.mark.parametrize("name", recipe_names())
@pytest.mark.parametrize("encoder", ["gru", "sentence", "sentence-tuned"])
def test_the_lists_of_the_package_fit_every_recipe(name: str, encoder: str) -> None:
    recipe = load_recipe(name)
    resolved = resolve(recipe, [f"text.encoder={encoder}"], 1_000)
    other = resolve(recipe, [f"text.encoder={encoder}"], SMALL)
    assert (resolved != other) == (recipe.small is not None)  # None: of one size only


def test_there_is_a_list_for_each_text_encoder() -> None:
    encoders = {"gru", "words", "sentence", "sentence-tuned", "precomputed"}
    assert {"always", *encoders, "senses"} == small_lists().keys()


def test_small_settings_hold_below_their_size_or_when_asked_for(lists: object) -> None:
    recipe = Recipe()
    assert resolve(recipe, [], SMALL - 1).training.learning_rate == 1e-3
    papers = replace(recipe, small=None)
    assert resolve(recipe, [], SMALL) == resolve(recipe, [], 5, "large") == papers
    assert resolve(recipe, [], SMALL, "small") == resolve(recipe, [], 5)


def test_a_later_list_wins_and_each_setting_is_told_once(lists: object) -> None:
    assert small_changes(Recipe(), [], 5, "auto") == [
        "training.learning_rate=1e-3",
        "image.dropout=0.2",
        "text.hidden=64",
    ]
    chosen = ["text.encoder=sentence", "head.senses=2"]
    assert small_changes(Recipe(), chosen, 5, "auto") == [
        "training.learning_rate=1e-3",
        "image.dropout=0.5",
        "text.dropout=0.4",
        "head.dropout=0.1",
    ]


def test_what_a_recipe_or_a_user_sets_stays(lists: object) -> None:
    recipe = Recipe(training=Optimization(learning_rate=3e-4), small=("head.size=32",))
    resolved = resolve(recipe, ["image.dropout=0"], 5)
    assert resolved.training.learning_rate == 3e-4
    assert resolved.image.dropout == 0
    assert resolved.head.size == 32
    assert small_changes(recipe, ["image.dropout=0", "text={hidden=8}"], 5, "auto") == [
        "head.size=32"
    ]
    own = Recipe(training=Optimization(learning_rate=3e-4), small=("training.learning_rate=1e-2",))
    assert resolve(own, [], 5).training.learning_rate == 1e-2


def test_what_a_file_says_stays_even_where_it_is_the_default(lists: object, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("[training]\nlearning_rate = 1e-4\n[text]\nhidden = 512\n")
    recipe = load_recipe(str(path))
    assert recipe == Recipe()
    assert small_changes(recipe, [], 5, "auto") == ["image.dropout=0.2"]
    assert resolve(recipe, [], 5).training.learning_rate == 1e-4
    path.write_text('small = ["text.hidden=32"]\n[text]\nhidden = 512\n')
    assert resolve(load_recipe(str(path)), [], 5).text.hidden == 32


def test_a_table_in_a_file_stays_whole(lists: dict[str, list[str]], tmp_path: Path) -> None:
    lists["always"] = ["training.rates={image=0.1}", "training.rates.head=2.0"]
    path = tmp_path / "mine.toml"
    path.write_text("[training.rates]\nimage = 1.0\n")
    found = resolve(load_recipe(str(path)), [], 5)
    assert dict(found.training.rates) == {"image": 1.0, "head": 2.0}


@pytest.mark.parametrize("scale", ["small", "large"])
def test_what_is_settled_stays(lists: dict[str, list[str]], tmp_path: Path, scale: Scale) -> None:
    """Also what is in no table yet, as an option of the loss."""
    lists["always"] += ["loss.angle=40"]
    recipe = Recipe(small=("head.size=32",))
    settled = resolve(recipe, ["text.hidden=512"], 5, scale)
    assert settled.head.size == (32 if scale == "small" else 256)
    config.save(settled, tmp_path / "config.toml")
    again = load_recipe(str(tmp_path / "config.toml"))
    for other in (settled, again):
        assert resolve(other, [], 5) == resolve(other, [], 5, "small") == settled
    assert resolve(again, ["small=[]"], 5).loss["angle"] == 40


def test_no_recipe_repeats_a_default_that_small_data_may_change() -> None:
    defaults = dotted(config.plain(Recipe()))
    for name in recipe_names():
        recipe = load_recipe(name)
        own = dotted(config.plain(recipe))
        changed = {key for key in own if key not in defaults or own[key] != defaults[key]}
        assert {key for key in recipe.written if not key.startswith("loss.")} <= changed, name


def test_the_settings_of_a_run_make_the_same_run(unsplit: Pairs, tmp_path: Path) -> None:
    sets = [change for change in SHORT if not change.startswith(("image.dropout", "training.l"))]
    one, two = tmp_path / "one", tmp_path / "two"
    first = train("angular", unsplit, one, sets=[*sets, "training.learning_rate=1e-4"], quiet=True)
    assert first.settings.image.dropout == 0.7
    second = train(str(one / "config.toml"), unsplit, two, quiet=True)
    assert spelled(second.settings) == spelled(first.settings)
    assert second.settings.loss["angle"] == 45  # written out, whatever the default will be
    for name in ("config.toml", "metrics.jsonl"):
        assert (one / name).read_bytes() == (two / name).read_bytes()


def test_small_settings_cannot_change_the_split() -> None:
    with pytest.raises(ValueError, match="the split comes first"):
        Recipe(small=("split.seed=3",))


@pytest.fixture
def unsplit(tmp_path: Path) -> Pairs:
    return trope.open(planted.write(tmp_path / "data", rows=80))


def test_a_run_is_trained_on_the_splits_that_are_asked_for(
    unsplit: Pairs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is evaluated as test must not have been trained on."""
    seen: list[tuple[Pairs, Task]] = []

    def watched(pairs: Pairs, *rest: object) -> Task:
        task = prepare(pairs, *rest)  # type: ignore[arg-type]
        seen.append((pairs, task))
        return task

    monkeypatch.setattr(MODULE, "prepare", watched)
    sets = [*SHORT, "split.again=true", "split.seed=5", "split.fractions=[0.6, 0.2, 0.2]"]
    done = train("angular", unsplit, tmp_path / "run", sets=sets, quiet=True)
    plan = SplitPlan(again=True, seed=5, fractions=(0.6, 0.2, 0.2))
    assert done.settings.split == plan
    wanted = split(unsplit, plan)[0]
    assert wanted.column("split") != unsplit.column("split")
    pairs, task = seen[0]
    assert pairs.column("split") == wanted.column("split")
    trained = {task.ids[text] for text in task.train.texts}
    assert trained == set(wanted.in_split("train").ids)
    kept = with_kept_splits(tmp_path / "run" / FILE, unsplit, done.settings.split)[0]
    assert kept.column("split") == wanted.column("split")
    assert not trained & set(kept.in_split("test").ids)


def test_what_is_small_goes_by_the_split_that_is_asked_for(
    unsplit: Pairs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts: list[int] = []

    def watched(recipe: Recipe, sets: list[str], pairs: int, *rest: object) -> Recipe:
        counts.append(pairs)
        return resolve(recipe, sets, pairs, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(MODULE, "resolve", watched)
    sets = [*SHORT, "split.again=true", "split.fractions=[0.5, 0.25, 0.25]"]
    train("angular", unsplit, tmp_path / "run", sets=sets, quiet=True)
    assert counts == [40]


def test_a_run_says_what_it_trains_on(
    unsplit: Pairs, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sets = [change for change in SHORT if not change.startswith("image.dropout")]
    train("angular", unsplit, tmp_path / "run", sets=sets)
    told = " ".join(capsys.readouterr().err.split())
    assert "rows: 64 train, 8 val, 8 test (splits as given)" in told
    assert "training on 64 pairs in batches of 16, validating on 8" in told
    assert "settings for small data (--scale large: the papers'): image.dropout=0.7" in told


def test_a_batch_is_what_all_processes_take_together(tmp_path: Path) -> None:
    data = trope.open(planted.write(tmp_path / "data", rows=64)).take(np.arange(13, 64))
    pairs, report = split(data, SplitPlan())
    settings = resolve(load_recipe("angular"), [*SHORT, "training.batch=64"], 5)
    task = prepare(pairs, settings, 0)
    for processes, size in ((1, 35), (2, 34), (4, 32)):
        told = MODULE.told(task, settings, report, processes)
        assert f"training on 35 pairs in batches of {size}," in told


def test_settings_by_keywords_are_those_of_the_command_line(unsplit: Pairs, tmp_path: Path) -> None:
    tables = {
        "image": {"backbone": "precomputed", "dropout": 0.0},
        "text": {"hidden": 16, "words": 12, "preparation": {"lower": True}},
        "training": {"batch": 16, "epochs": 1, "learning_rate": 1e-05},
        "split": {"fractions": [0.8, 0.1, 0.1], "column": None},
        "head.size": 12,
    }
    done = train("angular", str(unsplit.root), str(tmp_path / "run"), quiet=True, **tables)
    assert done.settings.text.hidden == 16
    assert done.settings.head.size == 12
    assert done.settings.training.learning_rate == 1e-5
    assert (tmp_path / "run" / "model.safetensors").exists()
    with pytest.raises(UsageError, match="no option 'hiden'; did you mean 'hidden'"):
        train("angular", unsplit, tmp_path / "other", text={"hiden": 3})
    with pytest.raises(UsageError, match="no option 'epochs'"):
        train("angular", unsplit, tmp_path / "other", epochs=3)


def test_the_package_offers_training() -> None:
    assert trope.train is train


IDLE = [
    ("angular", ["image.encoder=tuned", "image.normalize=true"], "with image.encoder=tuned"),
    ("angular", ["image.flip=false"], "with image.encoder=frozen"),
    ("angular", ["text.encoder=sentence", "text.hidden=8"], "with text.encoder=sentence"),
    ("angular", ["text.encoder=sentence", "text.words=8"], "with text.encoder=sentence"),
    ("angular", ["text.model=minilm"], "with text.encoder=gru"),
    ("angular", ["text.normalize=true"], "with text.encoder=gru"),
    ("angular", ["neighbors.k=3"], "with a loss that takes no neighbors"),
    ("neighborhoods-image", ["neighbors.space=sentence"], "where no space of texts is used"),
    ("angular", ["penalties.mmd=0.1"], "with one sense an item"),
    ("pcme", ["penalties.mmd=0.1"], "with one sense an item"),
    ("pcme", ["scorer.form=closed", "scorer.samples=3"], "where nothing is sampled"),
]


@pytest.mark.parametrize(("recipe", "sets", "why"), IDLE)
def test_settings_that_change_nothing_are_refused(
    unsplit: Pairs, tmp_path: Path, recipe: str, sets: list[str], why: str
) -> None:
    with pytest.raises(UsageError, match=f"changes nothing {why}"):
        train(recipe, unsplit, tmp_path / "run", sets=sets)
    assert not (tmp_path / "run").exists()


def test_what_another_part_looks_at_is_not_idle() -> None:
    plain = resolve(load_recipe("neighborhoods"), ["text.encoder=sentence"], 5)
    assert "text.words" not in idle_settings(plain)  # the size of the neighbors' Doc2Vec
    other = resolve(load_recipe("neighborhoods"), ["neighbors.space=sentence"], 5)
    assert "text.model" not in idle_settings(other)
    soft = resolve(load_recipe("soft-targets"), [], 5)
    assert "neighbors.space" not in idle_settings(soft)
    assert "neighbors.k" in idle_settings(soft)
    spread = resolve(load_recipe("pcme"), [], 5)
    assert not {"head.attention", "image.grid", "scorer.samples"} & idle_settings(spread).keys()


def test_what_a_recipe_sets_in_vain_is_told(
    unsplit: Pairs, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = Recipe(penalties={"mmd": 0.1})
    train(recipe, unsplit, tmp_path / "run", sets=SHORT)
    assert "penalties.mmd: changes nothing with one sense an item" in " ".join(
        capsys.readouterr().err.split()
    )

"""Runs that learn from labels: the four recipes, odd labels, features without words."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import planted
import pytest
import torch
from scipy.io import savemat

import trope
from trope.checkpoints import load_model, read_tensors
from trope.cli.train import found
from trope.data.convert import convert
from trope.encoders import Plan
from trope.encoders.bert import start_layers
from trope.errors import DataError, UsageError
from trope.evaluation import Evaluation, evaluate_run
from trope.training import load_recipe, loop, resolve, train
from trope.training.idle import refuse_idle
from trope.training.optimizer import groups
from trope.training.task import prepare

SETS = [*planted.PRECOMPUTED, "training.epochs=12", "text.min_count=1"]
SMALL = [*SETS, "head.size=16", "head.transformer.hidden=16", "head.transformer.codes=8"]
CLASSIFIED = [*SETS, "head.hidden=16"]
RECIPES = {
    "sharing": SMALL,
    "sharing-consistency": SMALL,
    "independent": SMALL,
    "dscmr": CLASSIFIED,
}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return planted.write(tmp_path_factory.mktemp("labeled") / "data", rows=160, labeled=True)


def changed(data: Path, to: Path, change: Callable[[int, dict[str, Any]], None]) -> Path:
    """The same data with other rows."""
    rows = [json.loads(line) for line in (data / "pairs.jsonl").read_text().splitlines()]
    for number, row in enumerate(rows):
        change(number, row)
    (to / "features").mkdir(parents=True)
    for path in (data / "features").iterdir():
        (to / "features" / path.name).write_bytes(path.read_bytes())
    (to / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return to


@pytest.mark.parametrize("recipe", RECIPES)
def test_every_recipe_learns_labels_and_retrieves_by_them(
    data: Path, tmp_path: Path, recipe: str
) -> None:
    run = train(recipe, data, tmp_path / "run", sets=RECIPES[recipe], quiet=True)
    lines = run.progress.history
    assert lines[-1]["val_f1_image"] > max(0.6, lines[0]["val_f1_image"] - 0.01)
    assert lines[-1]["val_f1_text"] > 0.6
    assert run.progress.best == pytest.approx(
        max((line["val_ndcg_image_to_text"] + line["val_ndcg_text_to_image"]) / 2 for line in lines)
    )
    found = evaluate_run(tmp_path / "run")
    assert found.image["micro-f1"].value > 0.6
    assert found.text["macro-f1"].value > 0.5
    assert found.image_to_text["semantic-map"].value > 0.6
    assert any("the best on val" in told for told in found.told)
    size = {"dscmr": 12}.get(recipe, 11)  # 8 topics and 3 kinds
    assert load_model(tmp_path / "run").plan.width == size


def test_one_transformer_is_one_in_file_optimizer_and_memory(data: Path, tmp_path: Path) -> None:
    sets = [*SMALL, "training.epochs=1"]
    train("sharing", data, tmp_path / "run", sets=sets, quiet=True)
    tensors, _ = read_tensors(tmp_path / "run" / "model.safetensors")
    shared = [name for name in tensors if ".transformer." in name]
    assert shared
    assert all(name.startswith("image.") for name in shared)
    model = load_model(tmp_path / "run").model
    assert model.image.head.transformer is model.text.head.transformer
    state = model.state_dict()
    for name in shared:
        assert torch.equal(state[name], state[name.replace("image.", "text.")])
    task = prepare(trope.open(data), resolve(load_recipe("sharing"), sets, 100), 0)
    settings = resolve(load_recipe("sharing"), sets, 100).training
    learned = [one for group in groups(task.model, task.loss, settings) for one in group["params"]]
    assert len({id(one) for one in learned}) == len(learned)
    assert sum(one.numel() for one in learned) == sum(p.numel() for p in task.model.parameters())


def test_a_stopped_run_goes_on_as_if_nothing_had_happened(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Shared weights, masks and groups of features too."""
    sets = [*SMALL, "training.epochs=2", "head.dropout=0.1"]
    save, whole, broken = loop.save_state, tmp_path / "whole", tmp_path / "broken"

    def killed(*values: Any) -> None:
        save(*values)
        if values[-1].epoch == values[-1].step == 1:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(loop, "SAVE_SECONDS", 0.0)
        patch.setattr(loop, "save_state", killed)
        with pytest.raises(KeyboardInterrupt):
            train("sharing", data, broken, sets=sets, seed=3, quiet=True)
    for out, resume in ((whole, False), (broken, True)):
        train("sharing", data, out, sets=sets, seed=3, resume=resume, quiet=True)
    for name in ("model", "state"):
        one, other = (read_tensors(run / f"{name}.safetensors") for run in (whole, broken))
        assert one[0].keys() == other[0].keys()
        assert all(torch.equal(one[0][key], other[0][key]) for key in one[0])
    assert one[0]["model.image.encoder.mask.centers"].any()


def test_labels_are_those_of_training_rows_and_odd_ones_are_told(
    data: Path, tmp_path: Path
) -> None:
    def odd(number: int, row: dict[str, Any]) -> None:
        if row["split"] == "train" and number % 5 == 0:
            row["labels"] = []
        if row["split"] == "test":
            row["labels"] = ["zebra", *row["labels"]] if number % 2 else []

    other = changed(data, tmp_path / "data", odd)
    pairs = trope.open(other)
    settings = resolve(load_recipe("sharing"), SMALL, 100)
    task = prepare(pairs, settings, 0)
    assert "zebra" not in task.plan.labels
    assert list(task.plan.labels) == sorted(task.plan.labels)
    train_rows = [row for row in pairs if row.split == "train"]
    bare, count = sum(not row.labels for row in train_rows), len(train_rows)
    assert bare > 0
    assert any(f"{bare} of {count} pairs of 'train' have none" in told for told in task.remarks)
    assert any("1 stand in no row of 'train'" in told and "zebra" in told for told in task.remarks)
    train("sharing", other, tmp_path / "run", sets=[*SMALL, "training.epochs=2"], quiet=True)
    found = evaluate_run(tmp_path / "run", metrics="micro-f1,macro-f1,ndcg")
    assert any("without any: not asked" in told for told in found.remarks)
    assert any("does not know, the first is zebra" in told for told in found.remarks)


def test_labels_of_a_picture_are_those_of_all_its_rows(data: Path, tmp_path: Path) -> None:
    def twice(number: int, row: dict[str, Any]) -> None:
        if row["split"] == "train":
            row["image_feature"] = number // 16 * 16  # rows of 16 share a picture
            row["labels"] = [f"row {number}"]

    pairs = trope.open(changed(data, tmp_path / "data", twice))
    task = prepare(pairs, resolve(load_recipe("sharing"), SMALL, 100), 0)
    assert task.labels is not None
    assert not task.labels.single
    assert task.labels.train.sum(axis=1).min() > 1


def test_where_every_pair_has_one_label_the_highest_score_is_predicted(
    data: Path, tmp_path: Path
) -> None:
    def one(number: int, row: dict[str, Any]) -> None:
        row["labels"] = row["labels"][:1]

    other = changed(data, tmp_path / "data", one)
    task = prepare(trope.open(other), resolve(load_recipe("sharing"), SMALL, 100), 0)
    assert task.plan.single
    assert any("every pair of 'train' has one of 8" in told for told in task.remarks)
    train("sharing", other, tmp_path / "run", sets=SMALL, quiet=True)
    found = evaluate_run(tmp_path / "run", metrics="micro-f1")
    assert found.told == ("labels: the one with the highest score is predicted",)
    best = load_model(tmp_path / "run").description["validation"]
    val = evaluate_run(tmp_path / "run", metrics="micro-f1", split="val")
    assert val.image["micro-f1"].value == pytest.approx(best["val_f1_image"])
    assert val.text["micro-f1"].value == pytest.approx(best["val_f1_text"])
    low = evaluate_run(tmp_path / "run", metrics="micro-f1", threshold=0.0)
    assert low.image["micro-f1"].value == pytest.approx(2 / 9)  # all eight of them


def test_splits_without_labels_are_told_when_a_run_is_measured(data: Path, tmp_path: Path) -> None:
    """The threshold is chosen where there are labels; where there are none, nothing is made up."""
    train("sharing", data, tmp_path / "run", sets=SMALL, quiet=True)

    def measured(*splits: str, **settings: Any) -> Evaluation:
        def none(number: int, row: dict[str, Any]) -> None:
            if row["split"] in splits:
                row.pop("labels")

        folder = tmp_path / "-".join(splits)
        there = folder if folder.exists() else changed(data, folder, none)
        return evaluate_run(tmp_path / "run", data=there, **settings)

    found = measured("val")
    assert found.image["micro-f1"].value > 0.6
    assert any("the best on train, as val has no labels" in told for told in found.told)
    found = measured("val", "train")
    assert "micro-f1" not in found.image
    assert "ndcg" in found.image_to_text
    assert any("no micro-f1 and macro-f1: neither val nor train" in told for told in found.remarks)
    with pytest.raises(UsageError, match=r"--metrics macro-f1: neither val .*threshold=0.4"):
        measured("val", "train", metrics="macro-f1")
    assert measured("val", "train", metrics="micro-f1", threshold=0.3).image["micro-f1"].value > 0.3
    found = measured("test")
    assert "ndcg" not in found.image_to_text
    lacking = "no picture of split 'test' has labels, though others of the data have"
    assert f"left out, metrics by labels: {lacking}" in found.remarks
    with pytest.raises(UsageError, match=f"--metrics micro-f1: {lacking}"):
        measured("test", metrics="micro-f1")
    assert not any("left out, metrics" in one for one in measured("test", metrics="map").remarks)


def test_one_label_each_of_pairs_that_have_any(data: Path, tmp_path: Path) -> None:
    def some(number: int, row: dict[str, Any]) -> None:
        row["labels"] = row["labels"][:1] if number % 5 else []

    other = changed(data, tmp_path / "data", some)
    task = prepare(trope.open(other), resolve(load_recipe("sharing"), SMALL, 100), 0)
    assert task.plan.single
    told = "\n".join(task.remarks)
    assert "every pair of 'train' that has labels has one of 8" in told
    assert "every pair of 'train' has" not in told


def test_data_without_labels_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no row of split 'train' has labels"):
        train("sharing", planted.write(tmp_path / "data"), tmp_path / "run", sets=SMALL, quiet=True)


def validated(data: Path, to: Path, labels: Callable[[int, list[str]], list[str]]) -> Path:
    """The same data with other labels of the rows of `val`, by their number."""
    numbers = iter(range(1000))

    def other(number: int, row: dict[str, Any]) -> None:
        if row["split"] == "val":
            row["labels"] = labels(next(numbers), row["labels"])

    return changed(data, to, other)


@pytest.mark.parametrize(
    ("labels", "told"),
    [
        (lambda number, own: [], "no validation pair has labels that training knows"),
        (lambda number, own: own if number == 5 else [], "that have labels all have the same"),
        (lambda number, own: ["topic 1"], "validation pairs that have labels all have the same"),
    ],
    ids=["none", "one", "equal"],
)
def test_labels_that_cannot_tell_epochs_apart_do_not_select(
    data: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    labels: Callable[[int, list[str]], list[str]],
    told: str,
) -> None:
    other = validated(data, tmp_path / "data", labels)
    run = train("sharing", other, tmp_path / "run", sets=[*SMALL, "training.epochs=5"])
    said = capsys.readouterr().err
    assert f"{told}: 5-way recall selects the model" in said
    assert "NDCG" not in said
    lines = run.progress.history
    recalls = [(line["val_image_to_text"] + line["val_text_to_image"]) / 2 for line in lines]
    assert len(set(recalls)) > 1
    assert run.progress.best == max(recalls)
    assert run.progress.best_epoch == recalls.index(max(recalls))
    assert not any("ndcg" in name for line in lines for name in line)


def test_a_rate_does_not_fall_by_a_loss_that_never_changes(data: Path, tmp_path: Path) -> None:
    other = validated(data, tmp_path / "data", lambda number, own: [])
    sets = [*SMALL, "training.epochs=6", "training.patience=1", "training.decay=0.5"]
    lines = train("sharing", other, tmp_path / "run", sets=sets, quiet=True).progress.history
    assert {line["val_loss"] for line in lines} == {0.0}
    recalls = [line["val_image_to_text"] + line["val_text_to_image"] for line in lines]
    best = 0.0
    for recall, line, after in zip(recalls, lines, lines[1:], strict=False):
        assert after["rate"] == line["rate"] * (1 if recall > best else 0.5)
        best = max(best, recall)
    assert len({line["rate"] for line in lines}) < len(lines)  # it was better more than once


@pytest.mark.parametrize(
    ("kept", "sets", "named"),
    [
        (3, [], "too few for 5-way recall: no epoch can be told from another; give rows of 'val'"),
        (99, ["training.select=loss"], "set training.select=recall"),
    ],
)
def test_where_nothing_can_select_it_is_refused(
    data: Path, tmp_path: Path, kept: int, sets: list[str], named: str
) -> None:
    other = validated(data, tmp_path / "data", lambda number, own: [])
    lines = (other / "pairs.jsonl").read_text().splitlines()
    val = [line for line in lines if json.loads(line)["split"] == "val"][:kept]
    rest = [line for line in lines if json.loads(line)["split"] != "val"]
    (other / "pairs.jsonl").write_text("\n".join([*rest, *val]))
    with pytest.raises(DataError, match=named):
        train("sharing", other, tmp_path / "run", sets=[*SMALL, *sets], quiet=True)
    assert not (tmp_path / "run").exists()


def test_few_pairs_with_equal_labels_are_selected_by_the_loss(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = validated(data, tmp_path / "data", lambda number, own: ["topic 1"])
    lines = (other / "pairs.jsonl").read_text().splitlines()
    val = [line for line in lines if json.loads(line)["split"] == "val"][:3]
    rest = [line for line in lines if json.loads(line)["split"] != "val"]
    (other / "pairs.jsonl").write_text("\n".join([*rest, *val]))
    run = train("sharing", other, tmp_path / "run", sets=[*SMALL, "training.epochs=2"])
    told = "too few validation pairs for 5-way recall: the lowest loss selects the model"
    assert f"all have the same, {told}" in capsys.readouterr().err
    assert run.progress.best == -min(line["val_loss"] for line in run.progress.history)


def test_what_selects_is_shown(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = train("sharing", data, tmp_path / "run", sets=[*SMALL, "training.epochs=1"])
    line = run.progress.history[0]
    ndcg, recall = (
        (line[f"val_{name}image_to_text"] + line[f"val_{name}text_to_image"]) / 2
        for name in ("ndcg_", "")
    )
    assert f"recall {recall:.3f}  NDCG {ndcg:.3f}  " in capsys.readouterr().err
    shown = found(line, "labels")
    assert shown.startswith(f"validation NDCG {line['val_ndcg_image_to_text']:.3f} image to text, ")
    assert f"; 5-way recall {line['val_image_to_text']:.3f} image to text, " in shown
    assert "NDCG" not in found(line, "recall")
    assert found({"val_loss": 0.5}, "recall") == "validation loss 0.5000"


def test_one_label_is_nothing_to_learn(data: Path, tmp_path: Path) -> None:
    def one(number: int, row: dict[str, Any]) -> None:
        row["labels"] = ["x"]

    other = changed(data, tmp_path / "data", one)
    with pytest.raises(DataError, match="'train' has but one label, 'x'"):
        train("sharing", other, tmp_path / "run", sets=SMALL, quiet=True)


def test_a_model_with_boxes_is_not_asked_without(data: Path, tmp_path: Path) -> None:
    other = changed(data, tmp_path / "data", lambda number, row: None)
    edges = np.random.default_rng(0).random((160, planted.REGIONS, 2, 2)).astype(np.float32)
    boxes = np.sort(edges, axis=2).reshape(160, planted.REGIONS, 4)
    np.save(other / "features" / "image_boxes.npy", boxes)
    train("sharing", other, tmp_path / "run", sets=[*SMALL, "training.epochs=1"], quiet=True)
    evaluate_run(tmp_path / "run", data=other, metrics="ndcg")
    with pytest.raises(DataError, match=r"no features/image_boxes.npy, and the model was trained"):
        evaluate_run(tmp_path / "run", data=data, metrics="ndcg")
    with pytest.raises(DataError, match=r"no features/image_boxes.npy, and the model was trained"):
        trope.build_index(tmp_path / "run", data, tmp_path / "index")


@pytest.mark.parametrize(
    ("recipe", "sets", "named"),
    [
        ("sharing", ["head.kind=linear"], "loss 'labels': needs the logits"),
        ("dscmr", ["head.kind=transformer"], "head.kind=dscmr gives"),
        ("sharing", ["loss={name='infonce'}"], "loss 'infonce' does not look at them"),
        ("infonce", ["training.select=labels"], "training.select=labels"),
    ],
)
def test_what_does_not_go_together_is_refused(
    data: Path, tmp_path: Path, recipe: str, sets: list[str], named: str
) -> None:
    with pytest.raises(UsageError, match=named):
        train(recipe, data, tmp_path / "run", sets=[*SETS, *sets], quiet=True)


@pytest.mark.parametrize(
    ("recipe", "change"),
    [
        ("infonce", "head.transformer.layers=3"),
        ("sharing", "head.hidden=3"),
        ("dscmr", "head.transformer.vector=hidden"),
        ("dscmr", "image.grid=2"),
    ],
)
def test_what_changes_nothing_is_refused(recipe: str, change: str) -> None:
    with pytest.raises(UsageError, match="changes nothing"):
        refuse_idle(resolve(load_recipe(recipe), [change], 10**6), [change])


@pytest.mark.parametrize("recipe", RECIPES)
def test_nothing_that_a_recipe_sets_is_idle(recipe: str) -> None:
    for pairs in (100, 10**6):
        settings = resolve(load_recipe(recipe), [], pairs)
        assert refuse_idle(settings, []) == []


@pytest.mark.parametrize("change", ["text.encoder=words", "head.transformer.vector=hidden"])
def test_other_parts_of_texts_and_other_points(data: Path, tmp_path: Path, change: str) -> None:
    sets = [one for one in SMALL if not one.startswith("text.hidden")] + [change]
    run = train("sharing", data, tmp_path / "run", sets=[*sets, "training.epochs=8"], quiet=True)
    assert run.progress.history[-1]["val_f1_text"] > 0.5
    assert load_model(tmp_path / "run").plan.width == (16 if "vector" in change else 11)


def test_fewer_bits(data: Path, tmp_path: Path) -> None:
    sets = [*SMALL, "training.epochs=1", "training.precision=bf16-mixed"]
    run = train("sharing-consistency", data, tmp_path / "run", sets=sets, quiet=True)
    assert 0 < run.progress.history[0]["loss"] < 2


def test_frozen_tokens_of_sentences(data: Path, tmp_path: Path) -> None:
    sets = [one for one in SMALL if not one.startswith("text.")]
    sets += ["text.encoder=sentence", "training.epochs=1"]
    run = train("sharing", data, tmp_path / "run", sets=sets, quiet=True)
    plan = load_model(run.folder).plan
    assert (plan.image_targets, plan.text_targets) == (8, 8)


def test_boxes_of_regions_that_come_with_the_data(data: Path, tmp_path: Path) -> None:
    other = changed(data, tmp_path / "data", lambda number, row: None)
    settings = resolve(load_recipe("sharing"), SMALL, 100)
    assert not prepare(trope.open(other), settings, 0).plan.boxes
    edges = np.random.default_rng(0).random((160, planted.REGIONS, 2, 2)).astype(np.float32)
    boxes = np.sort(edges, axis=2).reshape(160, planted.REGIONS, 4)
    np.save(other / "features" / "image_boxes.npy", boxes)
    task = prepare(trope.open(other), settings, 0)
    assert task.plan.boxes
    assert task.model.image.head.boxes is not None
    train("sharing", other, tmp_path / "run", sets=[*SMALL, "training.epochs=1"], quiet=True)
    np.save(other / "features" / "image_boxes.npy", boxes[:, :, ::-1].copy())
    with pytest.raises(DataError, match="edges must be shares"):
        prepare(trope.open(other), settings, 0)
    np.save(other / "features" / "image_boxes.npy", boxes[:, :2])
    with pytest.raises(DataError, match="four edges of each"):
        prepare(trope.open(other), settings, 0)


def test_layers_begin_as_those_of_a_bert(data: Path) -> None:
    sets = [one for one in SMALL if not one.startswith("head.")]
    sets += ["head.size=384", "head.transformer.heads=12", "head.transformer.hidden=1536"]
    sets += ["head.transformer.layers=1", "head.transformer.start=minilm"]
    task = prepare(trope.open(data), resolve(load_recipe("sharing"), sets, 100), 0)
    plain = task.plan.model(0)
    before = plain.image.head.transformer.blocks[0].into.weight.clone()
    start_layers(plain, task.plan.head)
    after = plain.image.head.transformer.blocks[0].into.weight
    assert not torch.equal(before, after)
    assert torch.equal(task.model.image.head.transformer.blocks[0].into.weight, after)


def wikipedia(folder: Path, rows: int = 120) -> Path:
    """The official layout in small, as features alone."""
    random = np.random.default_rng(0)
    names, split = ["art", "music", "war"], {"tr": rows, "te": rows // 2}
    matrices, lists = {}, {"tr": "trainset", "te": "testset"}
    centers = random.normal(size=(3, 8))
    folder.mkdir()
    for part, count in split.items():
        topics = random.integers(0, 3, count)
        matrices[f"I_{part}"] = centers[topics] + 0.3 * random.normal(size=(count, 8))
        matrices[f"T_{part}"] = np.eye(3)[topics] + 0.3 * random.random((count, 3))
        lines = [f"{part}{i}-1\t{part}{i}\t{topic + 1}" for i, topic in enumerate(topics)]
        (folder / f"{lists[part]}_txt_img_cat.list").write_text("\n".join(lines))
    savemat(folder / "raw_features.mat", matrices)
    (folder / "categories.list").write_text("\n".join(names))
    return folder


@pytest.mark.parametrize("recipe", ["sharing", "dscmr"])
def test_features_without_pictures_or_words(tmp_path: Path, recipe: str) -> None:
    convert("wikipedia", wikipedia(tmp_path / "wiki"), tmp_path / "data")
    sets = ["image.backbone=precomputed", "text.encoder=precomputed", "head.size=16"]
    sets += ["training.batch=20", "training.epochs=20", "training.learning_rate=0.01"]
    sets += ["head.hidden=16"] if recipe == "dscmr" else ["head.transformer.hidden=16"]
    run = train(recipe, tmp_path / "data", tmp_path / "run", sets=sets, quiet=True)
    found = evaluate_run(run.folder)
    for side in (found.image_to_text, found.text_to_image):
        assert side["semantic-map"].value > 0.8
        assert not any(name.startswith("asp") for name in side)
    assert found.image["micro-f1"].value > 0.8
    assert "preservation" not in found.image
    assert (found.images, found.texts) == (60, 60)


def test_a_row_without_a_stored_text_is_left_out(tmp_path: Path) -> None:
    convert("wikipedia", wikipedia(tmp_path / "wiki"), tmp_path / "data")
    lines = (tmp_path / "data" / "pairs.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    for row in rows[:5]:
        row["text_feature"] = None
    (tmp_path / "data" / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)))
    pairs = trope.data.splits.split(trope.open(tmp_path / "data"), trope.data.splits.SplitPlan())[0]
    sets = ["image.backbone=precomputed", "text.encoder=precomputed"]
    task = prepare(pairs, resolve(load_recipe("sharing"), sets, 100), 0)
    assert len(task.train) + len(task.val) == 115
    assert any("nothing of pictures is masked" in told for told in task.remarks)


def test_layouts_of_tags_are_trained_on(tmp_path: Path) -> None:
    """MIRFLICKR-25K as it comes: pictures, tags for texts, topics for labels."""
    from PIL import Image

    source = tmp_path / "mir"
    folders = [source / "mirflickr" / "meta" / "tags", source / "mirflickr25k_annotations_v080"]
    for folder in folders:
        folder.mkdir(parents=True)
    random = np.random.default_rng(0)
    for i in range(1, 31):
        noise = random.integers(0, 255, (16, 16, 3), np.uint8)
        Image.fromarray(noise).save(source / "mirflickr" / f"im{i}.jpg")
        (folders[0] / f"tags{i}.txt").write_text(f"tag{i % 3}\nother{i}")
    for k, topic in enumerate(("animals", "baby", "clouds")):
        numbers = "\n".join(str(i) for i in range(1, 31) if i % 3 == k)
        (folders[1] / f"{topic}.txt").write_text(numbers)
    convert("mirflickr25k", source, tmp_path / "data")
    sets = ["text.encoder=words", "text.words=8", "text.pretrained=false", "text.min_count=1"]
    sets += ["head.size=16", "head.transformer.hidden=16", "head.transformer.codes=4"]
    sets += ["training.batch=8", "training.epochs=1", "loss.masked=0.1"]
    run = train("sharing", tmp_path / "data", tmp_path / "run", sets=sets, quiet=True)
    plan: Plan = load_model(run.folder).plan
    assert plan.labels == ("animals", "baby", "clouds")
    assert plan.boxes
    assert replace(plan, labels=()).words == plan.words

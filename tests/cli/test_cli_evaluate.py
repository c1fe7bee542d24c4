"""`trope evaluate` and `trope metrics` through the real command line, on small data."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import numpy as np
import orjson
import pyarrow.parquet as pq
import pytest
import torch
from safetensors.torch import save_file

import trope
from trope.checkpoints import read_tensors, write_tensors
from trope.cli import main
from trope.data.pairs import Pairs
from trope.encoders import Plan, encode
from trope.evaluation.gallery import gallery as gallery_of
from trope.evaluation.runs import open_run
from trope.metrics import METRICS
from trope.training import train

sys.path.insert(0, str(Path(__file__).parents[1] / "training"))
import planted

SETS = [*planted.PRECOMPUTED, "training.epochs=2"]
SIDES = ("image", "text")
LABELS = ["red", "blue", "green", "gold"]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Planted pairs with two texts each, labels and groups of two."""
    folder = planted.write(tmp_path_factory.mktemp("evaluated") / "data", rows=160, texts=2)
    path = folder / "pairs.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for i, row in enumerate(rows):
        row |= {"labels": [LABELS[i % 4], LABELS[i % 3]], "group": f"g{i // 2}"}
    path.write_text("\n".join(map(json.dumps, rows)))
    return folder


@pytest.fixture(scope="module")
def runs(data: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("runs")
    os.environ["TROPE_CACHE"] = str(folder / "cache")
    for seed in (0, 1):
        out = folder / f"run{seed}"
        train("angular", trope.open(data), out, sets=SETS, seed=seed, quiet=True)
    return [folder / "run0", folder / "run1"]


def call(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return int(stop.value.code or 0), out, err


def document(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, object]:
    code, out, err = call(capsys, "evaluate", *arguments, "--json")
    assert code == 0, err
    return dict(orjson.loads(out))


def refused(capsys: pytest.CaptureFixture[str], code: int, *arguments: object) -> str:
    got, out, err = call(capsys, "evaluate", *arguments)
    assert (got, out) == (code, ""), err
    assert err.count("\n") == 1, err
    return err


def test_the_document_of_the_contract(
    runs: list[Path], data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = document(capsys, runs[0], "--data", data)
    assert (found["run"], found["data"], found["split"]) == (str(runs[0]), str(data), "test")
    assert (found["images"], found["texts"], found["components"]) == (16, 32, 8)
    names = {"recall@1", "recall@1/5-way", "recall@3/5-way", "mean-rank/5-way", "median-rank"}
    names |= {"asp/cider", "asp/mean", "pmrp", "map@r", "ndcg", "semantic-map", "r-precision"}
    for side in ("image_to_text", "text_to_image"):
        results = found[side]
        assert isinstance(results, dict)
        assert names <= results.keys()
        for name, result in results.items():
            assert set(result) == {"value", "low", "high"}
            assert result["low"] <= result["value"] <= result["high"], name
            if not name.startswith(("mean-rank", "median-rank")):
                assert 0 <= result["low"] <= result["high"] <= 1, name
    assert found["image"].keys() == found["text"].keys() == {"preservation"}  # type: ignore[attr-defined]
    assert "100-way" in str(found["remarks"])


def test_the_data_is_by_default_what_the_run_was_trained_on(
    runs: list[Path], data: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    given = document(capsys, runs[0], "--data", data, "--metrics", "recall@1")
    by_default = document(capsys, runs[0], "--metrics", "recall@1")
    assert given["image_to_text"] == by_default["image_to_text"]
    assert Path(str(by_default["data"])).samefile(data)


def test_tables_fit_a_narrow_terminal(
    runs: list[Path], data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = call(capsys, "evaluate", runs[0], "--data", data, "--against", runs[1])
    assert code == 0
    lines = out.splitlines()
    assert f"{runs[0]} on test of {data}" in lines[0]
    assert lines[1] == "16 images, 32 texts, 8 components"
    assert max(len(line) for line in lines if str(runs[0]) not in line) <= 80
    (row,) = [line for line in lines if line.startswith("recall@1/5-way ") and "–" in line]
    assert row.split()[-1] == "0.200"  # by chance
    assert "detectable" in out
    (row,) = [line for line in lines if line.startswith("preservation ") and "–" in line]
    by_chance = [float(row.split()[i]) for i in (3, 6)]
    wanted = document(capsys, runs[0], "--data", data)["chance"]
    assert by_chance == [pytest.approx(wanted[side]["preservation"], abs=6e-4) for side in SIDES]  # type: ignore[index]
    assert "8 components alone: hardly enough" in out


def test_only_the_metrics_asked_for(
    runs: list[Path], data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = "recall@2/3-way,asp/cider-daa,recall@2"
    found = document(capsys, runs[0], "--data", data, "--metrics", names)
    assert found["image_to_text"].keys() == set(names.split(","))  # type: ignore[attr-defined]
    ways = document(capsys, runs[0], "--data", data, "--ways", "3,4", "--metrics", "recall/c-way")
    assert "recall@3/4-way" in ways["image_to_text"]  # type: ignore[operator]
    drawn = document(capsys, runs[0], "--data", data, "--draws", 5, "--metrics", "recall@1/5-way")
    assert drawn["options"] == ["tasks: 5 random draws for each right item"]


def test_comparisons_and_sets_of_seeds(
    runs: list[Path], data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--data", data, "--metrics", "recall@1/5-way,mean-rank"]
    found = document(capsys, runs[0], *options, "--against", runs[1], "--against", runs[0])
    first, second = found["against"]  # type: ignore[misc]
    assert (first["run"], second["run"]) == (str(runs[1]), str(runs[0]))
    one = first["image_to_text"]["recall@1/5-way"]
    assert set(one) == {"difference", "low", "high", "detectable", "verdict", "clusters"}
    assert second["image_to_text"]["recall@1/5-way"]["verdict"] == "equal"
    several = [*runs, *options, "--against", runs[1], "--against", runs[0]]
    mean = document(capsys, *several)
    (both,) = mean["against"]  # type: ignore[misc]
    assert both["run"] == [str(runs[1]), str(runs[0])]
    each = mean["each"]["image_to_text"]["mean-rank"]  # type: ignore[index]
    assert each[0] == found["image_to_text"]["mean-rank"]["value"] != each[1]  # type: ignore[index]
    assert "each" not in found
    assert both["image_to_text"]["recall@1/5-way"]["difference"] == pytest.approx(0, abs=1e-9)
    said = refused(capsys, 2, *runs, *options, "--against", runs[1])
    assert "2 runs are compared with as many others" in said


def test_queries_in_a_file(
    runs: list[Path], data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "queries.parquet"
    arguments = [runs[0], "--data", data, "--queries", path, "--metrics", "recall@1"]
    document(capsys, *arguments)
    table = pq.read_table(path)
    assert table.num_rows == 48
    assert {"run", "direction", "query", "text", "cluster", "rank", "recall@1"} <= set(
        table.column_names
    )
    path.write_text("mine")
    assert "is no file of queries" in refused(capsys, 2, *arguments)
    assert path.read_text() == "mine"


@pytest.mark.parametrize("method", ["qb-norm", "inverted-softmax", "nnn"])
def test_hubs_with_a_bank_of_training_queries(
    method: str, runs: list[Path], data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = document(capsys, runs[0], "--data", data, "--hubs", method, "--metrics", "recall@1")
    (told,) = found["options"]  # type: ignore[misc]
    assert told.startswith(f"hubs: image to text {method} (")
    nearest = ["--set", "hubs.nearest=2"] if method == "nnn" else []
    options = ["--data", data, "--hubs", method, "--metrics", "recall@1", *nearest]
    fixed = document(capsys, runs[0], *options, "--set", "hubs.strength=3")
    said = f"{method} (a 3, k 2)" if method == "nnn" else f"{method} (β 3)"
    assert fixed["options"] == [f"hubs: image to text {said}, text to image {said}"]


def test_the_bank_is_that_of_training_queries(runs: list[Path], data: Path) -> None:
    source, _ = open_run(runs[0], data)
    bank, train = source.bank(), source.embedded("train")
    assert bank is not None
    for side in SIDES:
        ours, theirs = (part.of(side).mean.numpy() for part in (bank, train))  # type: ignore[arg-type]
        np.testing.assert_allclose(
            ours[np.lexsort(ours.T)], theirs[np.lexsort(theirs.T)], atol=1e-5
        )


def test_only_the_rows_that_are_asked_about_are_fed(
    runs: list[Path],
    data: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fed: dict[str, list[int]] = {"pictures": [], "texts": []}
    for name, sizes in fed.items():
        real = getattr(Plan, name)

        def counted(plan: Plan, pairs: Pairs, real=real, sizes=sizes) -> object:  # type: ignore[no-untyped-def]
            sizes.append(len(pairs))
            return real(plan, pairs)

        monkeypatch.setattr(Plan, name, counted)
    options = ["--data", data, "--metrics", "recall@1"]
    document(capsys, runs[0], *options)
    assert fed == {"pictures": [16], "texts": [16]}
    document(capsys, runs[0], *options, "--hubs", "nnn", "--set", "hubs.strength=1")
    assert sorted(fed["pictures"]) == sorted(fed["texts"]) == [16, 16, 16, 128]
    fixed = ["--hubs", "qb-norm", "--set", "hubs.strength=1"]
    document(capsys, runs[0], *options, *fixed)
    assert sorted(fed["pictures"]) == sorted(fed["texts"]) == [16, 16, 16, 16, 128, 128]


def test_vectors_of_a_split_are_those_of_the_whole(runs: list[Path], data: Path) -> None:
    source, _ = open_run(runs[0], data)
    found = source.embedded("val")
    model, gallery = source.checkpoint.model, found.gallery
    whole = gallery_of(source.pairs, source.pictures.rows, "val")
    assert gallery.same_as(whole)
    image = encode(model.image, source.pictures.inputs, whole.images)
    text = encode(model.text, source.texts.inputs, whole.texts)
    torch.testing.assert_close(found.image.mean, image.mean)
    torch.testing.assert_close(found.text.mean, text.mean)


def test_rows_that_are_not_asked_are_told(
    runs: list[Path], data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = tmp_path / "changed"
    changed.mkdir()
    (changed / "features").symlink_to(data / "features")
    rows = [json.loads(line) for line in (data / "pairs.jsonl").read_text().splitlines()]
    tested = [row for row in rows if row["split"] == "test"]
    tested[0]["image_feature"], tested[3]["texts"] = None, []
    (changed / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)))
    options = ["--data", changed, "--metrics", "recall@1"]
    told = str(document(capsys, runs[0], *options)["remarks"])
    assert f"1 row of split 'test' left out, with no picture: row '{tested[0]['id']}'" in told
    assert f"1 row of split 'test' left out, with no text: row '{tested[3]['id']}'" in told
    code, _, err = call(capsys, "evaluate", runs[0], *options)
    assert (code, "left out, with no text" in err) == (0, True)


def test_a_run_that_was_stopped_is_told(
    runs: list[Path], data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--data", data, "--metrics", "recall@1"]
    assert "unfinished" not in str(document(capsys, runs[0], *options)["remarks"])
    shutil.copytree(runs[0], tmp_path / "stopped")
    path = tmp_path / "stopped" / "state.safetensors"
    tensors, description = read_tensors(path)
    description["progress"] |= {"finished": False, "epoch": 1, "best_epoch": 0}
    write_tensors(path, tensors, description)
    told = str(document(capsys, tmp_path / "stopped", *options)["remarks"])
    assert (
        "unfinished: training was stopped after 1 epoch of 2; the model is that of epoch 1" in told
    )


def test_an_error_says_that_the_data_has_changed(
    runs: list[Path], data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All rows of the test split are gone."""
    shutil.copytree(data, tmp_path / "data")
    path = tmp_path / "data" / "pairs.jsonl"
    kept = pq.read_table(runs[0] / "splits.parquet").to_pylist()
    train = {row["id"] for row in kept if row["split"] == "train"}
    lines = path.read_text().splitlines()
    path.write_text("\n".join(line for line in lines if json.loads(line)["id"] in train))
    said = refused(capsys, 1, runs[0], "--data", tmp_path / "data")
    assert "split 'test' has no row" in said
    assert "not the data as it was" in said


def test_an_error_of_judgments_does_not_blame_what_has_changed(
    runs: list[Path], data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(data, tmp_path / "data")
    path = tmp_path / "data" / "pairs.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("\n".join(json.dumps(row | {"caption_ids": ["one", "two"]}) for row in rows))
    said = refused(capsys, 1, runs[0], "--data", tmp_path / "data", "--truth", "cxc")
    assert "the id is no number of COCO" in said
    assert "not the data as it was" not in said


def test_a_model_of_no_numbers_is_blamed_itself(
    runs: list[Path], data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(runs[0], tmp_path / "broken")
    path = tmp_path / "broken" / "model.safetensors"
    tensors, description = read_tensors(path)
    name = next(name for name in tensors if name.startswith("text.") and tensors[name].ndim == 2)
    tensors[name][0, 0] = torch.nan
    write_tensors(path, tensors, description)
    said = refused(capsys, 1, tmp_path / "broken", "--data", data)
    assert f"broken: weight '{name}' of the model holds a value that is no finite number" in said


def test_a_model_of_another_run_is_not_taken_for_this_ones(
    runs: list[Path], data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By its seed; and by its validation, where no description of the run tells it."""
    shutil.copytree(runs[0], tmp_path / "mixed")
    shutil.copy(runs[1] / "model.safetensors", tmp_path / "mixed")
    options = ["--data", data, "--metrics", "recall@1"]
    said = refused(capsys, 1, tmp_path / "mixed", *options)
    assert "mixed/model.safetensors: is the model of another run than this folder's" in said
    assert "made with seed 1, the run with 0" in said
    assert said == refused(capsys, 1, tmp_path / "mixed" / "model.safetensors", *options)
    assert "another run" in refused(capsys, 1, runs[0], "--against", tmp_path / "mixed", *options)
    (tmp_path / "mixed" / "run.json").unlink()
    assert "is not what the run's state has" in refused(capsys, 1, tmp_path / "mixed", *options)
    (tmp_path / "mixed" / "state.safetensors").unlink()
    document(capsys, tmp_path / "mixed", *options)  # a model alone is taken as it is


def test_a_model_of_the_epoch_under_way_is_the_runs_own(
    runs: list[Path], data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is written before the state: a run that is going on may be evaluated."""
    shutil.copytree(runs[0], tmp_path / "going")
    path = tmp_path / "going" / "state.safetensors"
    tensors, description = read_tensors(path)
    about = read_tensors(tmp_path / "going" / "model.safetensors")[1]["validation"]
    done = about["epoch"] - 1
    history = description["progress"]["history"][:done]
    description["progress"] |= {"finished": False, "epoch": done, "history": history}
    write_tensors(path, tensors, description)
    document(capsys, tmp_path / "going", "--data", data, "--metrics", "recall@1")


def test_rows_that_share_an_id_are_refused_as_in_training(
    runs: list[Path], data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(data, tmp_path / "data")
    path = tmp_path / "data" / "pairs.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("\n".join(json.dumps(row | {"id": "same"}) for row in rows))
    random = np.random.default_rng(0)
    np.savez(tmp_path / "e.npz", image=random.normal(size=(9, 4)), text=random.normal(size=(9, 4)))
    for asked in ([runs[0]], ["--embeddings", tmp_path / "e.npz"]):
        said = refused(capsys, 1, *asked, "--data", tmp_path / "data")
        assert "line 2 has the id 'same' of line 1; 159 rows have the id of another" in said
        assert "not the data as it was" not in said


def test_what_is_told_of_each_run_has_its_name(
    runs: list[Path], data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--data", data, "--hubs", "nnn", "--metrics", "recall@1"]
    both = document(capsys, runs[0], *options, "--against", runs[1])["options"]
    alone = [document(capsys, run, *options)["options"] for run in runs]
    if alone[0] == alone[1]:
        assert both == alone[0]
    else:
        named = zip(runs, alone, strict=True)
        assert both == [f"{run}: {line}" for run, (line,) in named]  # type: ignore[misc]


def test_folds(runs: list[Path], data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = document(capsys, runs[0], "--data", data, "--folds", 5, "--metrics", "recall@1,map")
    assert found["options"] == ["3 folds of 5 images, 1 image in none"]
    whole = document(capsys, runs[0], "--data", data, "--metrics", "map")
    ours, all_in_one = (one["image_to_text"]["map"]["value"] for one in (found, whole))  # type: ignore[index]
    assert ours > all_in_one  # a smaller gallery is easier


def test_with_folds_preservation_is_of_the_whole_split(
    runs: list[Path], data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = [runs[0], "--data", data, "--metrics", "preservation"]
    whole, folds = document(capsys, *options), document(capsys, *options, "--folds", 5)
    assert whole["image"] == folds["image"]
    assert whole["options"] == ["preservation of the 1 nearest image, 1 nearest text: doc2vec"]
    assert folds["options"][1] == f"{whole['options'][0]}, over the whole split"  # type: ignore[index]


def test_neighborhoods_of_all_pictures_are_left_out(
    runs: list[Path], data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = [runs[0], "--data", data, "--metrics", "preservation"]
    found = document(capsys, *options, "--set", "neighbors=20")
    assert (found["image"], [*found["text"]]) == ({}, ["preservation@20"])  # type: ignore[misc]
    assert "preservation@20 (images)" in str(found["remarks"])
    said = refused(capsys, 2, *options, "--set", "neighbors=1000000")
    assert "images, there are only 15 others; the largest is preservation@14" in said


def test_vectors_of_another_model(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    random = np.random.default_rng(0)
    image, text = (random.normal(size=(n, 4)).astype(np.float32) for n in (16, 32))
    tensors = {"image": torch.from_numpy(image), "text": torch.from_numpy(text)}
    save_file(tensors, tmp_path / "clip.safetensors")
    found = document(capsys, "--embeddings", tmp_path / "clip.safetensors", "--data", data)
    assert (found["images"], found["texts"]) == (16, 32)
    assert "asp/mean" in found["image_to_text"]  # type: ignore[operator]
    np.save(tmp_path / "i.npy", image)
    np.save(tmp_path / "t.npy", text)
    arguments = ["--embeddings", tmp_path / "i.npy", "--embeddings", tmp_path / "t.npy"]
    same = document(capsys, *arguments, "--data", data)
    assert same["image_to_text"] == found["image_to_text"]
    assert "which text belongs to which picture" in refused(capsys, 1, *arguments)
    spaced = [*arguments, "--data", data, "--space", "doc2vec", "--metrics", "preservation@3"]
    assert "preservation@3" in document(capsys, *spaced)["text"]  # type: ignore[operator]


def test_a_file_against_itself_is_equal_as_a_run_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    random = np.random.default_rng(0)
    np.savez(
        tmp_path / "e.npz", image=random.normal(size=(60, 4)), text=random.normal(size=(60, 4))
    )
    options = ["--embeddings", tmp_path / "e.npz", "--metrics", "recall@1,map,median-rank,rsum"]
    (found,) = document(capsys, *options, "--against", tmp_path / "e.npz")["against"]  # type: ignore[misc]
    for side in ("image_to_text", "text_to_image", "both"):
        assert {one["verdict"] for one in found[side].values()} == {"equal"}
        assert {(one["low"], one["high"]) for one in found[side].values()} == {(0, 0)}


def test_vectors_without_data_have_no_splits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    random = np.random.default_rng(0)
    np.savez(tmp_path / "e.npz", image=random.normal(size=(9, 4)), text=random.normal(size=(9, 4)))
    options = ["--embeddings", tmp_path / "e.npz", "--metrics", "recall@1"]
    assert document(capsys, *options)["split"] is None
    said = refused(capsys, 2, *options, "--split", "val")
    assert "--split val: changes nothing without --data" in said
    assert "no such split" in refused(capsys, 2, *options, "--split", "foo")


def test_vectors_against_a_run(
    runs: list[Path], data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """They are asked the queries of the run, which has splits of its own."""
    source, _ = open_run(runs[1], data)
    made = source.embedded("test")
    names = {f"{side}_ids": json.dumps(made.gallery.names_of(side)) for side in ("image", "text")}
    tensors = {"image": made.image.mean, "text": made.text.mean}
    save_file(tensors, tmp_path / "same.safetensors", names)
    arguments = ["--embeddings", tmp_path / "same.safetensors", "--metrics", "map,median-rank,rsum"]
    found = document(capsys, *arguments, "--against", runs[1])
    (against,) = found["against"]  # type: ignore[misc]
    assert against["margin"] == 0.01
    assert against["image_to_text"]["map"]["difference"] == pytest.approx(0, abs=1e-9)
    assert against["image_to_text"]["map"]["verdict"] == "undecided"  # two that agree on 8 groups
    assert "rsum" in against["both"]
    assert Path(str(found["data"])).samefile(data)


def test_a_run_against_vectors_and_vectors_against_vectors(
    runs: list[Path], data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, _ = open_run(runs[1], data)
    made = source.embedded("test")
    names = {f"{side}_ids": json.dumps(made.gallery.names_of(side)) for side in SIDES}
    tensors = {"image": made.image.mean, "text": made.text.mean}
    same, other = tmp_path / "same.safetensors", tmp_path / "other.npz"
    save_file(tensors, same, names)
    random = np.random.default_rng(0)
    ids = {f"{side}_ids": made.gallery.names_of(side) for side in SIDES}  # type: ignore[arg-type]
    np.savez(other, image=random.normal(size=(16, 4)), text=random.normal(size=(32, 4)), **ids)  # type: ignore[arg-type]
    options = ["--metrics", "recall@1,map"]
    (one,) = document(capsys, runs[1], *options, "--against", same)["against"]  # type: ignore[misc]
    assert (one["run"], one["image_to_text"]["map"]["difference"]) == (
        str(same),
        pytest.approx(0, abs=1e-9),
    )
    rest = ["--data", data, *options]
    (two,) = document(capsys, "--embeddings", same, "--against", other, *rest)["against"]  # type: ignore[misc]
    alone = [
        document(capsys, "--embeddings", path, *rest)["text_to_image"]["map"]["value"]  # type: ignore[index]
        for path in (same, other)
    ]
    assert two["text_to_image"]["map"]["difference"] == pytest.approx(alone[0] - alone[1])
    both = document(capsys, runs[1], "--against", other)  # also where only one has a space
    assert "preservation" in both["image"]  # type: ignore[operator]


def test_the_document_says_how_it_came_about(
    runs: list[Path], data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--data", data, "--metrics", "recall@1/5-way", "--set", "margin=0.02", "--draws", 2]
    options += ["--set", "seed=3"]
    assert "margin: changes nothing without --against" in refused(capsys, 2, runs[0], *options)
    found = document(capsys, runs[0], *options, "--against", runs[1])
    assert set(found["provenance"]) >= {"trope", "commit", "date"}  # type: ignore[call-overload]
    config = found["config"]
    assert isinstance(config, dict)
    assert (config["seed"], config["margin"], config["metrics"]) == (3, 0.02, ["recall@1/5-way"])
    assert config["hubs"]["method"] == "none"


def test_the_document_says_what_was_left_open(
    runs: list[Path], data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--data", data, "--metrics", "recall/c-way,preservation", "--hubs", "nnn"]
    found = document(capsys, runs[0], *options, "--against", runs[1])
    assert "ways" not in found["config"]  # type: ignore[operator]
    resolved = found["resolved"]
    assert isinstance(resolved, dict)
    assert resolved["ways"] == {"image_to_text": [5, 20], "text_to_image": [5]}
    assert resolved["neighbors"] == {"image": 1, "text": 1}
    for side, words in (("image_to_text", "image to text"), ("text_to_image", "text to image")):
        chosen = resolved["hubs"][side]
        said = f"{words} nnn (a {chosen['strength']:g}, k {chosen['nearest']})"
        assert said in str(found["options"])
    assert found["against"][0]["resolved"].keys() == resolved.keys()  # type: ignore[index]
    both = document(capsys, *runs, "--data", data, "--metrics", "recall@1")["resolved"]
    assert [one["hubs"] for one in both] == [{}, {}]  # type: ignore[attr-defined]


def test_data_that_has_changed_is_told(
    runs: list[Path], data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = tmp_path / "changed"
    changed.mkdir()
    (changed / "features").symlink_to(data / "features")
    rows = [json.loads(line) for line in (data / "pairs.jsonl").read_text().splitlines()]
    rows[0]["texts"][0] = "something else"
    (changed / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)))
    found = document(capsys, runs[0], "--data", changed, "--metrics", "recall@1")
    assert "not the data as it was when" in str(found["remarks"])
    assert "not the data" not in str(document(capsys, runs[0], "--data", data)["remarks"])


def test_what_is_wrong_is_one_line(
    runs: list[Path], data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    on = [runs[0], "--data", data]
    assert "name a run, or vectors" in refused(capsys, 2)
    assert "not both" in refused(capsys, 2, runs[0], "--embeddings", "x.npz")
    assert "no such file" in refused(capsys, 2, tmp_path / "nowhere", "--data", data)
    said = refused(capsys, 2, *on, "--split", "dev-2")
    assert "--split dev-2: no such split; there is test, train, val" in said
    assert "did you mean 'recall'" in refused(capsys, 2, *on, "--metrics", "recal")
    said = refused(capsys, 2, *on, "--ways", "100")
    assert "text to image, a query has only 15 wrong items; the largest task is 16-way" in said
    said = refused(capsys, 2, *on, "--metrics", "recall@1/20-way")
    assert "recall@1/20-way: the gallery is too small: text to image" in said
    assert "the largest task is 16-way" in said
    for sizes in ("five", "", ","):
        assert "write sizes as 5,20,100" in refused(capsys, 2, *on, "--ways", sizes)
    for names in ("", ",", " , "):
        said = refused(capsys, 2, *on, "--metrics", names)
        assert f"--metrics '{names}': names none; leave it out for all" in said
    assert "the largest is recall@15" in refused(capsys, 2, *on, "--metrics", "recall@40")
    assert "write it as recall@<K>" in refused(capsys, 2, *on, "--metrics", "recall@x")
    assert "always 1" in refused(capsys, 2, *on, "--metrics", "recall@6/5-way")
    nearest = ["--hubs", "nnn", "--set", "hubs.nearest=500"]
    assert "a side of the bank has only 128" in refused(capsys, 2, *on, *nearest)
    assert "without --hubs" in refused(capsys, 2, *on, "--set", "hubs.strength=2")
    assert "named twice" in refused(capsys, 2, runs[0], runs[0], "--data", data)
    again = ["--against", runs[1], "--against", runs[1]]
    assert "named twice" in refused(capsys, 2, *on, *again)
    assert "name them with --embeddings" in refused(capsys, 2, "clip.npz", "--data", data)
    assert "into one .npz file" in refused(capsys, 2, *on, "--against", "image.npy")
    assert "needs COCO data" in refused(capsys, 2, *on, "--truth", "eccv")
    assert "expected eccv, cxc or cxc=FOLDER" in refused(capsys, 2, *on, "--truth", "foo")
    assert "expected one of none" in refused(capsys, 2, *on, "--hubs", "hubness")
    assert "did you mean 'qb-norm'?" in refused(capsys, 2, *on, "--hubs", "qbnorm")
    strong = ["--hubs", "nnn", "--set", "hubs.strength=1e300"]
    said = refused(capsys, 2, *on, *strong)
    assert "hubs.strength: a number from 1e-06 to 1,000,000, found 1e+300" in said
    said = refused(capsys, 2, *on, "--queries", "/proc/nowhere/q.parquet")
    assert "/proc/nowhere/q.parquet: cannot be written" in said
    assert "only 16 pictures" in refused(capsys, 2, *on, "--folds", "1000")
    assert "no option 'neighbor'" in refused(capsys, 2, *on, "--set", "neighbor=3")


def test_the_metrics_are_listed_with_their_papers(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "metrics", "--json")
    listed = {row["name"]: row for row in orjson.loads(out)}
    assert code == 0
    assert listed.keys() == METRICS.keys()
    assert all(row["paper"] and row["about"] for row in listed.values())
    code, out, _ = call(capsys, "metrics")
    assert (code, "Li et al. 2022" in out) == (0, True)

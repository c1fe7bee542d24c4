"""What a run refuses before its first step, and what it says of where it stands."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import planted
import pytest
import torch

import trope
from trope.checkpoints import read_tensors
from trope.cli import main
from trope.cli.train import launcher
from trope.data.pairs import Pairs
from trope.errors import DataError, UsageError
from trope.training import load_recipe, loop, resolve, train
from trope.training.state import Progress
from trope.training.task import prepare

SHORT = [*planted.PRECOMPUTED, "training.epochs=2"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return planted.write(tmp_path_factory.mktemp("planted") / "data", rows=64)


@pytest.fixture
def pairs(folder: Path) -> Pairs:
    return trope.open(folder)


def test_texts_without_a_word_are_counted(folder: Path, tmp_path: Path) -> None:
    texts = [["..."] if row in (1, 2) else ["— ", f"été 夏{row % 7}"] for row in range(64)]
    pairs = rewritten(folder, tmp_path / "data", texts=texts)
    told = prepare(pairs, resolve(load_recipe("triplet"), SHORT, 64), 0)
    train = [row for row in pairs if row.split == "train"]
    blank = sum(text in ("...", "— ") for row in train for text in row.texts)
    whole = sum(len(row.texts) for row in train)
    assert any(
        f"texts without a word: {blank} of {whole} in 'train'" in one for one in told.remarks
    )


def rewritten(source: Path, target: Path, **columns: list[object]) -> Pairs:
    """The same rows with some columns changed; as many rows as the columns have."""
    rows = [json.loads(line) for line in (source / "pairs.jsonl").read_text().splitlines()]
    planted.write(target, rows=64)
    changed = [row | dict(zip(columns, values)) for row, *values in zip(rows, *columns.values())]  # noqa: B905
    (target / "pairs.jsonl").write_text("\n".join(map(json.dumps, changed)))
    return trope.open(target)


def test_a_cache_that_can_never_be_made_is_told(
    pairs: Pairs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TROPE_CACHE", "/proc/trope")
    said = "^/proc/trope/.*: cannot be written .*; TROPE_CACHE names another cache folder$"
    with pytest.raises(UsageError, match=said):
        train("angular", pairs, tmp_path / "run", sets=SHORT, quiet=True)


def test_a_folder_that_can_never_be_made_is_told_before_any_work(
    pairs: Pairs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_module("trope.training.train"), "prepare", None)
    with pytest.raises(UsageError, match=r"^/proc/x/run: cannot be written \("):
        train("angular", pairs, "/proc/x/run", sets=SHORT, quiet=True)


@pytest.mark.parametrize("seed", [-1, 2**32, 10**30])
def test_seeds_have_one_range(pairs: Pairs, tmp_path: Path, seed: int) -> None:
    with pytest.raises(UsageError, match=f"seed {seed}: must be .* from 0 to 4294967295"):
        train("angular", pairs, tmp_path / "run", sets=SHORT, seed=seed, quiet=True)


def test_the_largest_seed_is_taken(pairs: Pairs, tmp_path: Path) -> None:
    train("angular", pairs, tmp_path / "run", sets=SHORT, seed=2**32 - 1, quiet=True)


def test_two_rows_with_one_id_are_refused(folder: Path, tmp_path: Path) -> None:
    ids: list[object] = ["a", "b", *range(61), "b"]
    pairs = rewritten(folder, tmp_path / "data", id=ids)
    said = r"line 64 has the id 'b' of line 2; 1 row has the id of another before them"
    with pytest.raises(DataError, match=said):
        train("angular", pairs, tmp_path / "run", sets=SHORT, quiet=True)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("count", [1, 2])
def test_validation_needs_a_wrong_pair(folder: Path, tmp_path: Path, count: int) -> None:
    """One pair, or several with one text: whatever the model, the loss is the same."""
    splits: list[object] = [*(["train"] * (64 - count)), *(["val"] * count)]
    texts: list[object] = [*([f"text {i}"] for i in range(64 - count)), *([["same"]] * count)]
    pairs = rewritten(folder, tmp_path / "data", split=splits, texts=texts)
    pairs_there = "1 pair" if count == 1 else f"{count} pairs"
    said = f"split 'val' has {pairs_there} to validate on, and none has a wrong one"
    with pytest.raises(DataError, match=said):
        train("angular", pairs, tmp_path / "run", sets=SHORT, quiet=True)


def commanded(*words: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["train", "angular", *words, *(w for change in SHORT for w in ("--set", change))])
    return int(ended.value.code or 0)


def test_without_test_rows_another_split_is_suggested(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rewritten(folder, tmp_path / "data", split=["train"] * 54 + ["val"] * 10)
    for data, end in ((tmp_path / "data", " --split val (no row is of test)"), (folder, "")):
        out = tmp_path / f"run-of-{data.parent.name}"
        assert commanded("--data", str(data), "--out", str(out)) == 0
        last = capsys.readouterr().out.splitlines()[-1]
        assert last == f"next: trope evaluate {out} --data {data}{end}"


@pytest.mark.parametrize("rank", [0, 1])
def test_another_process_speaks_only_if_the_first_did_not(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    rank: int,
) -> None:
    """It waits: `torchrun` ends it meanwhile if the first has ended."""
    waited: list[float] = []
    monkeypatch.setenv("RANK", str(rank))
    monkeypatch.setattr("trope.cli.train.time", SimpleNamespace(sleep=waited.append))
    assert commanded("--data", str(tmp_path / "nothing"), "--out", str(tmp_path / "run")) == 2
    assert len(waited) == rank
    assert "nothing" in capsys.readouterr().err


def test_how_to_go_on_names_the_launcher() -> None:
    assert launcher({}) == ["trope"]
    one = {"TORCHELASTIC_RUN_ID": "x", "LOCAL_WORLD_SIZE": "2", "GROUP_WORLD_SIZE": "1"}
    assert " ".join(launcher(one)) == "torchrun --nproc-per-node 2 -m trope"
    several = " ".join(launcher(one | {"GROUP_WORLD_SIZE": "3"}))
    assert several.startswith("torchrun --nnodes 3 --rdzv-backend c10d --rdzv-endpoint HOST:PORT")


def stopped_after(
    monkeypatch: pytest.MonkeyPatch, pairs: Pairs, out: Path, epoch: int, step: int
) -> None:
    save = loop.save_state

    def killed(*values: object) -> None:
        save(*values)  # type: ignore[arg-type]
        progress = values[-1]
        assert isinstance(progress, Progress)
        if (progress.epoch, progress.step) == (epoch, step):
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(loop, "SAVE_SECONDS", 0.0)
        patch.setattr(loop, "save_state", killed)
        with pytest.raises(KeyboardInterrupt):
            train("angular", pairs, out, sets=SHORT, quiet=True)


def test_a_run_says_where_it_goes_on(
    pairs: Pairs,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = tmp_path / "run"
    stopped_after(monkeypatch, pairs, out, 1, 2)
    for said in ("goes on with epoch 2, step 3", "finished after epoch 2; nothing is left to do"):
        train("angular", pairs, out, sets=SHORT, resume=True)
        assert f"{out}: {said}" in capsys.readouterr().err.replace("\n", "")


def test_a_state_of_another_version_is_refused(pairs: Pairs, tmp_path: Path) -> None:
    out = tmp_path / "run"
    train("angular", pairs, out, sets=SHORT, quiet=True)
    tensors, document = read_tensors(out / "state.safetensors")
    document["format"] = "trope-state-2"
    trope.checkpoints.write_tensors(out / "state.safetensors", tensors, document)
    with pytest.raises(DataError, match="is trope-state-2, this version reads trope-state-3"):
        train("angular", pairs, out, sets=SHORT, resume=True, quiet=True)


def lose(model: Path, how: str) -> None:
    if how == "gone":
        model.unlink()
    elif how == "damaged":
        cut = model.read_bytes()[:-100]
        model.unlink()  # what was read before may be mapped
        model.write_bytes(cut)
    else:
        tensors, about = read_tensors(model)
        about["validation"]["loss"] += 1
        trope.checkpoints.write_tensors(model, tensors, about)


@pytest.mark.parametrize("how", ["gone", "damaged", "another model"])
@pytest.mark.parametrize("best", [1, 2])
def test_a_model_that_is_lost_is_written_again_or_told(
    pairs: Pairs,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    best: int,
    how: str,
) -> None:
    """The state has the weights after the last epoch; those of the first are lost."""
    values = iter([0.0, 1.0] if best == 2 else [1.0, 0.0])
    keep = loop.Loop._keep
    monkeypatch.setattr(loop.Loop, "_keep", lambda self, _, line: keep(self, next(values), line))
    out = tmp_path / "run"
    train("angular", pairs, out, sets=SHORT, quiet=True)
    before = read_tensors(out / "model.safetensors")
    lose(out / "model.safetensors", how)
    if best == 1:
        said = rf"model\.safetensors: is {how}; it was that of epoch 1"
        with pytest.raises(UsageError, match=said):
            train("angular", pairs, out, sets=SHORT, resume=True)
        assert "nothing is left to do" not in capsys.readouterr().err
        return
    train("angular", pairs, out, sets=SHORT, resume=True, quiet=True)
    after = read_tensors(out / "model.safetensors")
    assert all(torch.equal(before[0][name], after[0][name]) for name in before[0])
    assert before[1]["validation"] == after[1]["validation"]
    assert after[1]["validation"]["epoch"] == 2

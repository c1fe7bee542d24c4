"""What other programs get: the same vectors, the same numbers, the same model."""

from __future__ import annotations

import io
import json
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import orjson
import pyarrow.parquet as pq
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

import trope
from trope.checkpoints import Checkpoint, load_model, save_model
from trope.embedder import Embedder
from trope.encoders import ImageSettings, Plan
from trope.encoders.fresh import Fresh
from trope.encoders.gru import Gru
from trope.encoders.heads import head
from trope.encoders.model import Tower
from trope.encoders.settings import HeadSettings, TextSettings
from trope.errors import TropeError, UsageError
from trope.export import export_onnx, export_vectors, fetch, publish, repository, write_repository
from trope.export.dense import dense
from trope.export.mteb import MtebModel
from trope.export.prepare import Exported
from trope.search import Index


@pytest.mark.parametrize("recipe", ["infonce", "pvse"])
def test_vectors_as_numpy_evaluate_like_the_run(home: Path, tmp_path: Path, recipe: str) -> None:
    trope.build_index(home / recipe, home / "data", tmp_path / "index")
    assert export_vectors(tmp_path / "index", tmp_path / "v.npz") == 160
    from trope.evaluation.job import answers_of_files, evaluated, settings_from

    asked = {"metrics": "recall@1,median-rank"}
    ours = trope.evaluate(home / recipe, home / "data", split="test", **asked)
    answers = answers_of_files(
        tmp_path / "v.npz", home / "data", "test", settings_from(**asked), home / recipe
    )
    again = evaluated({"": answers})
    for side in ("image_to_text", "text_to_image"):
        one, other = getattr(ours, side), getattr(again, side)
        assert {name: r.value for name, r in one.items()} == {n: r.value for n, r in other.items()}


def test_vectors_as_parquet_have_all_columns(index: Index, tmp_path: Path) -> None:
    export_vectors(index.folder, tmp_path / "v.parquet")
    table = pq.read_table(tmp_path / "v.parquet")
    assert len(table) == 160
    line = table.slice(7, 1).to_pylist()[0]
    held = index.engine.get([line["trope.key"]])
    np.testing.assert_array_equal(np.array(line["vector"], np.float32), held.vectors[0])
    assert line["year"] == held.rows.column("year")[0].as_py()
    with pytest.raises(UsageError, match=r"ends in \.parquet or \.npz"):
        export_vectors(index.folder, tmp_path / "v.csv")


def test_a_column_of_the_data_that_is_called_vector_stays(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [json.loads(line) for line in (home / "data/pairs.jsonl").read_text().splitlines()]
    shutil.copytree(home / "data", tmp_path / "data")
    with (tmp_path / "data" / "pairs.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(line | {"vector": line["year"]}) + "\n" for line in lines)
    index = trope.build_index(home / "infonce", tmp_path / "data", tmp_path / "index")
    export_vectors(tmp_path / "index", tmp_path / "v.parquet")
    table = pq.read_table(tmp_path / "v.parquet")
    assert len(set(table.column_names)) == len(table.column_names)
    assert table.column("vector").equals(table.column("year"))
    line = table.slice(7, 1).to_pylist()[0]
    held = index.engine.get([line["trope.key"]])
    np.testing.assert_array_equal(np.array(line["trope.vector"], np.float32), held.vectors[0])
    assert "vectors are in the column 'trope.vector'" in capsys.readouterr().err


@given(st.integers(0, 2**31), st.booleans(), st.sampled_from([1, 3]))
def test_the_unpacked_gru_gives_what_the_packed_one_gives(seed: int, both: bool, k: int) -> None:
    random = np.random.default_rng(seed)
    settings = TextSettings(words=5, hidden=6, bidirectional=both)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        gru = Gru(20, settings)
        made_head = head(gru.whole, gru.part, HeadSettings(size=4, senses=k))
        tower = Tower(gru, made_head).double().eval()
    lengths = torch.from_numpy(random.integers(0, 8, 6))
    longest = max(int(lengths.max()), 1)
    ids = torch.from_numpy(random.integers(1, 20, (6, longest)))
    ids = ids * (torch.arange(longest) < lengths[:, None])
    made = dense(tower, "text", k).double()
    for found, wanted in zip(made(ids, lengths), tower(ids, lengths), strict=False):
        assert wanted is not None
        torch.testing.assert_close(found, wanted, atol=1e-9, rtol=0)


@pytest.mark.parametrize("recipe", ["infonce", "pvse"])
def test_onnx_gives_the_same_numbers(home: Path, tmp_path: Path, recipe: str) -> None:
    import onnxruntime

    files = export_onnx(home / recipe, tmp_path / "onnx")
    names = ["README.md", "image.onnx", "inputs.json", "prepare.py", "text.onnx", "vocabulary.json"]
    assert [f.name for f in files] == names
    session = onnxruntime.InferenceSession(str(tmp_path / "onnx" / "text.onnx"))
    words = json.loads((tmp_path / "onnx" / "vocabulary.json").read_text())["words"]
    model = Embedder(home / recipe)
    texts = ["apple plum", "snow", "never heard of", "red red green blue north"]
    ids, lengths = next(
        iter(Fresh(model.checkpoint.plan).texts(texts).batches([np.arange(4)], None))
    )
    found = session.run(None, {"ids": ids.numpy(), "lengths": lengths.numpy()})
    wanted = model.texts(texts)
    np.testing.assert_allclose(found[0], wanted.mean.numpy(), atol=1e-4)
    if wanted.points is not None:
        np.testing.assert_allclose(found[1], wanted.points.numpy(), atol=1e-4)
    assert set(words) >= {"apple", "plum", "snow"}


def test_onnx_of_networks_that_were_trained_along(tmp_path: Path) -> None:
    import onnxruntime

    text = TextSettings(encoder="sentence-tuned")
    plan = Plan(ImageSettings(encoder="tuned", grid=4), text, HeadSettings(size=6, senses=2))
    model = plan.model(0).eval()
    save_model(tmp_path / "model.safetensors", model, plan, {})
    files = export_onnx(tmp_path / "model.safetensors", tmp_path / "onnx")
    names = ["README.md", "image.onnx", "inputs.json", "prepare.py", "text.onnx", "tokenizer"]
    assert [f.name for f in files] == names
    embedder = Embedder(Checkpoint(model, plan, {}))
    said = ["justice is blind", "snow"]
    ids, lengths = next(Fresh(plan).texts(said).batches([np.arange(2)], None))
    pixels = np.random.default_rng(0).integers(0, 256, (3, 224, 224, 3), np.uint8)
    shown = [Image.fromarray(one) for one in pixels]
    for side, fed, wanted in (
        ("text", {"ids": ids.numpy(), "lengths": lengths.numpy()}, embedder.texts(said)),
        ("image", {"pixels": pixels}, embedder.images(shown)),
    ):
        session = onnxruntime.InferenceSession(str(tmp_path / "onnx" / f"{side}.onnx"))
        mean, points = session.run(None, fed)
        np.testing.assert_allclose(mean, wanted.mean.numpy(), atol=1e-4)
        np.testing.assert_allclose(points, wanted.points, atol=1e-4)
    shown[0].save(tmp_path / "0.png")
    alone = Exported(tmp_path / "onnx")
    np.testing.assert_allclose(alone.texts(said), embedder.texts(said).mean, atol=1e-4)
    wanted = embedder.images([tmp_path / "0.png"])
    np.testing.assert_allclose(alone.images([tmp_path / "0.png"]), wanted.mean, atol=1e-4)


def test_towers_without_a_form_in_onnx_are_refused(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = replace(load_model(home / "infonce").plan, scorer={"name": "match"})
    save_model(tmp_path / "model.safetensors", plan.model(0), plan, {})
    with pytest.raises(UsageError, match="a head 'Normal' cannot be exported"):
        export_onnx(tmp_path / "model.safetensors", tmp_path / "onnx")

    def fails(*_: object, **__: object) -> None:
        raise RuntimeError("Unsupported: operator\nand a long story")

    monkeypatch.setattr(torch.onnx, "export", fails)
    with pytest.raises(
        UsageError, match=r"text tower has no form in ONNX \(Unsupported: oper"
    ) as e:
        export_onnx(home / "infonce", tmp_path / "onnx")
    assert "\n" not in str(e.value)
    assert not (tmp_path / "onnx").exists()


def test_onnx_that_differs_is_not_written(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from trope.export import dense as module

    monkeypatch.setattr(module, "_end", lambda states, last: states[:, 0])  # the first word's
    with pytest.raises(TropeError, match=r"text.onnx: gives other numbers"):
        export_onnx(home / "infonce", tmp_path / "onnx")
    assert not (tmp_path / "onnx").exists()


def test_texts_and_pictures_are_encoded_in_any_order(pictured: Path) -> None:
    model = Embedder(pictured / "run")
    path = pictured / "data" / "2.png"
    buffer = io.BytesIO()
    Image.open(path).save(buffer, "PNG")
    found = model.encode(["apple", path, "snow", Image.open(path), buffer.getvalue()])
    assert found.shape == (5, 12)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(found[1], found[3], atol=1e-5)
    np.testing.assert_allclose(found[1], found[4], atol=1e-5)
    np.testing.assert_allclose(found[0], model.encode("apple"), atol=1e-6)
    np.testing.assert_allclose(found[[0, 2]], model.texts(["apple", "snow"]).mean, atol=1e-6)
    assert isinstance(model.encode(["apple"], convert_to_tensor=True), torch.Tensor)
    assert model.similarity(found, found)[1, 3] == pytest.approx(1, abs=1e-5)
    assert model.encode([]).shape == (0, 12)


def test_batches_as_mteb_gives_them(pictured: Path) -> None:
    model, path = MtebModel(pictured / "run"), pictured / "data" / "2.png"
    batches = [{"text": ["apple", "snow"]}, {"text": ["harp"]}]
    said = model.encode(batches, task_metadata=None, hf_split="test", hf_subset="default")
    np.testing.assert_allclose(said, model.embedder.encode(["apple", "snow", "harp"]), atol=1e-6)
    shown = model.encode([{"image": [Image.open(path)]}])
    both = model.encode([{"text": ["apple"], "image": [Image.open(path)]}])
    summed = said[0] + shown[0]
    np.testing.assert_allclose(both[0], summed / np.linalg.norm(summed), atol=1e-5)
    assert not model.encode([{"text": ["", "qwerty"]}])[0].any()  # like nothing, and no error
    assert model.similarity(said, said).shape == (3, 3)
    np.testing.assert_allclose(model.similarity_pairwise(said, said), 1, atol=1e-5)


def test_a_repository_can_be_used_like_the_run(home: Path, tmp_path: Path) -> None:
    write_repository(home / "infonce", tmp_path / "repository")
    names = {path.name for path in (tmp_path / "repository").iterdir()}
    assert names == {
        "README.md",
        "config.json",
        "config.toml",
        "model.safetensors",
        "splits.parquet",
    }
    about = orjson.loads((tmp_path / "repository" / "config.json").read_bytes())
    assert about["library_name"] == "trope"
    assert about["plan"]["head"]["size"] == 12
    assert "`infonce`" in (tmp_path / "repository" / "README.md").read_text()
    run = fetch(str(tmp_path / "repository"), tmp_path / "run")
    one, other = load_model(home / "infonce"), load_model(run)
    for name, weight in one.model.state_dict().items():
        assert torch.equal(weight, other.model.state_dict()[name])
    index = trope.build_index(run, home / "data", tmp_path / "index")
    assert sum(hit.learned for hit in index.search("apple", k=80)) == 60


@pytest.mark.parametrize("beside", [True, False])
def test_a_repository_of_a_file_has_the_model_of_that_file(
    home: Path, tmp_path: Path, beside: bool
) -> None:
    """Whether or not another model lies beside it."""
    run = tmp_path / "run"
    run.mkdir()
    shutil.copy(home / "infonce" / "model.safetensors", run / "best.safetensors")
    if beside:
        shutil.copy(home / "pvse" / "model.safetensors", run)
    write_repository(run / "best.safetensors", tmp_path / "repository")
    made = (tmp_path / "repository" / "model.safetensors").read_bytes()
    assert made == (home / "infonce" / "model.safetensors").read_bytes()
    assert load_model(fetch(str(tmp_path / "repository"), tmp_path / "again")).plan.width == 12


def test_the_network_is_asked_only_when_told(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, str]] = []
    patterns: list[str] = []
    source = write_repository(home / "infonce", tmp_path / "repository")

    def call(method: str) -> object:
        def answer(**given: Any) -> str:
            asked.append((method, given["repo_id"]))
            patterns[:] = given.get("allow_patterns", [])
            return str(source)

        return answer

    methods = ("snapshot_download", "create_repo", "upload_folder")
    hub = SimpleNamespace(**{method: call(method) for method in methods})
    monkeypatch.setattr(repository, "import_module", lambda _: hub)
    with pytest.raises(UsageError, match="only with --download"):
        fetch("somebody/model", tmp_path / "run")
    assert asked == []
    fetch("somebody/model", tmp_path / "run", download=True)
    publish(source, "me/model")
    assert asked == [
        ("snapshot_download", "somebody/model"),
        ("create_repo", "me/model"),
        ("upload_folder", "me/model"),
    ]
    assert set(patterns) == {path.name for path in source.iterdir()}  # and nothing that comes in
    with pytest.raises(UsageError, match=r"has no README.md"):
        publish(tmp_path / "run", "me/model")

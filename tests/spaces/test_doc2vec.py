"""The Doc2Vec space: the same bits in every process, no pickle, any script."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

import trope
from trope import runtime
from trope.data.pairs import Pairs
from trope.errors import DataError, UsageError
from trope.features import texts as cache
from trope.spaces import paragraphs
from trope.spaces.doc2vec import Doc2Vec, fitting
from trope.spaces.paragraphs import ParagraphModel, Training
from trope.spaces.vectors import Space, Vectors, texts_fingerprint

TOPICS = (
    "the judge spoke law in court",
    "the ship crossed sea and wind",
    "bread flour oven baker salt",
)
SMALL = Doc2Vec(Training(size=12, window=4, min_count=2, epochs=15))


def texts_of(count: int, seed: int = 0) -> list[str]:
    random = np.random.default_rng(seed)
    words = [topic.split() for topic in TOPICS]
    return [" ".join(random.choice(words[i % 3], 8)) for i in range(count)]


def data_set(folder: Path, texts: list[list[str]], train: int | None = None) -> Pairs:
    cut = len(texts) if train is None else train
    rows = [
        {"id": str(i), "texts": list(some), "split": "train" if i < cut else "test"}
        for i, some in enumerate(texts)
    ]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return trope.open(folder)


@pytest.fixture
def pairs(tmp_path: Path) -> Pairs:
    texts = texts_of(90)
    return data_set(
        tmp_path / "data", [[a, b] for a, b in zip(texts[::2], texts[1::2], strict=True)], 40
    )


def test_a_vector_for_every_text(pairs: Pairs) -> None:
    found = SMALL.vectors(pairs)
    assert isinstance(SMALL, Space)
    assert found.values.shape == (90, 12)
    assert found.values.dtype == np.float32
    assert found.owners.tolist() == np.repeat(np.arange(45), 2).tolist()
    assert found.data == texts_fingerprint(pairs.flat_texts()[0])
    assert found.remarks == ()


def test_texts_of_a_topic_are_near() -> None:
    model = ParagraphModel.train(replace(SMALL.training, epochs=100), texts_of(600))
    values = model.infer(texts_of(90, seed=1))
    unit = values / np.linalg.norm(values, axis=1, keepdims=True)
    same = np.arange(90)[:, None] % 3 == np.arange(90) % 3
    cosines = unit @ unit.T
    assert cosines[same].mean() > cosines[~same].mean() + 0.2


SCRIPT = """
import sys, pathlib, trope
from trope.spaces.doc2vec import Doc2Vec
from trope.spaces.paragraphs import Training
space = Doc2Vec(Training(size=12, window=4, min_count=2, epochs=15))
sys.stdout.buffer.write(space.vectors(trope.open(sys.argv[1])).values.tobytes())
"""


def test_the_same_bits_in_every_process(pairs: Pairs, tmp_path: Path) -> None:
    """Trained and inferred twice from nothing, with different hashes of Python's strings."""
    found = []
    for seed in ("0", "123"):
        cache = {"PYTHONHASHSEED": seed, "TROPE_CACHE": str(tmp_path / f"cache{seed}")}
        code = [sys.executable, "-c", SCRIPT, str(pairs.root)]
        done = subprocess.run(code, env=os.environ | cache, capture_output=True, check=True)
        found.append(done.stdout)
    assert len(found[0]) == 90 * 12 * 4
    assert found[0] == found[1] == SMALL.vectors(pairs).values.tobytes()


def test_a_vector_depends_on_its_text_alone(pairs: Pairs, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not on the order, on what else is asked for, or on the number of threads."""
    model = SMALL.model(pairs)
    texts = texts_of(20, seed=5)
    together = model.infer(texts)
    assert np.array_equal(model.infer(texts[::-1])[::-1], together)
    monkeypatch.setattr(paragraphs, "cores", lambda: 3)
    assert np.array_equal(model.infer(texts), together)
    assert np.array_equal(model.infer(texts[7:8]), together[7:8])


def test_inference_is_gensims_own(pairs: Pairs) -> None:
    """From the same start and the same random numbers, what `infer_vector` gives."""
    model = SMALL.model(pairs)
    text = texts_of(1)[0]
    peer = model._model
    peer.random = paragraphs._random(0, text)
    start = (peer.random.random_sample(12) - 0.5).astype(np.float32) / 12
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gensim.models.doc2vec.pseudorandom_weak_vector", lambda *_, **__: start)
        expected = peer.infer_vector(text.split())
    np.testing.assert_allclose(model.infer([text])[0], expected, atol=1e-6)


def test_saved_without_pickle(pairs: Pairs, tmp_path: Path) -> None:
    model = SMALL.model(pairs)
    model.save(tmp_path / "model")
    again = ParagraphModel.load(tmp_path / "model")
    assert again.words == model.words
    assert again.training == model.training
    assert np.array_equal(again.word_vectors, model.word_vectors)
    assert model.word_vectors.shape == (len(model.words), 12)
    assert set(model.words) <= {word for topic in TOPICS for word in topic.split()}
    assert np.array_equal(again.infer(texts_of(5)), model.infer(texts_of(5)))
    (tmp_path / "model").write_bytes(b"\x80\x04not a model")
    with pytest.raises(DataError, match="cannot be read as a Doc2Vec model"):
        ParagraphModel.load(tmp_path / "model")


def test_only_training_texts_are_learned_from(tmp_path: Path) -> None:
    texts = [[text] for text in texts_of(60)]
    one = data_set(tmp_path / "a", [*texts, ["zebra zebra zebra"]], 60)
    two = data_set(tmp_path / "b", [*texts, ["lion lion lion lion"]], 60)
    assert "zebra" not in SMALL.model(one).words
    first, second = SMALL.vectors(one), SMALL.vectors(two)
    assert first.space == second.space
    assert np.array_equal(first.values[:60], second.values[:60])
    assert not first.values[60].any()
    assert first.remarks == ("1 text has no known word, and so no neighbors",)


def test_computed_once_and_resumed(pairs: Pairs, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed after two shards, a second run infers only what is missing, and trains no more."""
    monkeypatch.setattr(cache, "SHARD_TEXTS", 16)
    monkeypatch.setattr(cache, "BATCH", 8)
    asked: list[str] = []
    infer = ParagraphModel.infer

    def counted(model: ParagraphModel, texts: list[str]) -> np.ndarray:
        if len(asked) == 40:
            raise KeyboardInterrupt
        asked.extend(texts)
        return infer(model, texts)

    with monkeypatch.context() as patch:
        patch.setattr(ParagraphModel, "infer", counted)
        with pytest.raises(KeyboardInterrupt):
            SMALL.vectors(pairs)
    monkeypatch.setattr(ParagraphModel, "train", None)
    asked.clear()
    with monkeypatch.context() as patch:
        patch.setattr(
            ParagraphModel, "infer", lambda m, texts: asked.extend(texts) or infer(m, texts)
        )
        values = SMALL.vectors(pairs).values
    assert 0 < len(asked) <= 90 - 32
    monkeypatch.setattr(ParagraphModel, "infer", lambda *_: pytest.fail("inferred again"))
    assert np.array_equal(SMALL.vectors(pairs).values, values)


def test_a_damaged_shard_is_computed_again(pairs: Pairs, tmp_path: Path) -> None:
    first = SMALL.vectors(pairs)
    shard = next((tmp_path / ".trope-cache" / "spaces").rglob("*.npy"))
    data = bytearray(shard.read_bytes())
    data[-3] ^= 1
    shard.write_bytes(data)
    again = SMALL.vectors(pairs)
    assert np.array_equal(again.values, first.values)
    assert "damaged" in again.remarks[0]


def test_other_settings_are_another_space(pairs: Pairs) -> None:
    base = SMALL.vectors(pairs)
    other = replace(SMALL, training=replace(SMALL.training, seed=1)).vectors(pairs)
    assert base.space != other.space
    assert not np.array_equal(base.values, other.values)


def test_several_workers_are_told(pairs: Pairs) -> None:
    found = replace(SMALL, workers=2).vectors(pairs)
    assert found.remarks == ("trained by 2 workers: not the same model every time",)
    assert found.space != SMALL.vectors(pairs).space


def test_min_count_lowers_itself() -> None:
    frequent = ["law", "order"] * 50
    assert fitting(Training(), frequent, "archive") == (Training(), [])
    texts = ["a"] * 30 + ["b"] * 10 + ["c"] * 8 + ["d"] * 2  # 60 % seen 20 times; 80 % seen 10
    training, said = fitting(Training(), texts, "archive")
    assert training.min_count == 10
    assert said == [
        "min_count lowered from 20 to 10: words seen 20 times make up only 60% of the text"
    ]
    assert fitting(Training(min_count=5), ["x", "y", "x"], "archive")[0].min_count == 1


def test_texts_of_all_kinds(tmp_path: Path, script: str) -> None:
    odd = [script, "", "   ", "one", "!!!", "long " * 200_000]
    pairs = data_set(tmp_path / "data", [[text] for text in [*texts_of(30), *odd, *odd]])
    found = replace(SMALL, training=replace(SMALL.training, epochs=2)).vectors(pairs)
    assert found.values.shape == (42, 12)
    assert np.isfinite(found.values).all()
    assert not found.values[[31, 32, 34]].any()
    assert found.values[33].any()


def test_nothing_to_learn_from(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no words in the texts of split 'train'"):
        SMALL.vectors(data_set(tmp_path / "a", [["a word"]], 0))
    with pytest.raises(DataError, match="no words in the texts of split 'train'"):
        SMALL.vectors(data_set(tmp_path / "b", [["..."], []]))


def test_vectors_of_another_data_set_are_refused(pairs: Pairs, tmp_path: Path) -> None:
    found = SMALL.vectors(pairs)
    found.save(str(tmp_path / "v.safetensors"))
    again = Vectors.load(str(tmp_path / "v.safetensors"), found.data)
    assert np.array_equal(again.values, found.values)
    assert np.array_equal(again.owners, found.owners)
    assert again.space == found.space
    other = data_set(tmp_path / "other", [["another text"]])
    with pytest.raises(DataError, match="another data set"):
        Vectors.load(tmp_path / "v.safetensors", texts_fingerprint(other.flat_texts()[0]))
    for arrays in ({"values": found.values}, {"values": found.values, "owners": found.owners[1:]}):
        save_file(arrays, tmp_path / "odd", {"data": found.data, "space": "s"})
        with pytest.raises(DataError, match="odd: cannot be read as vectors of a space"):
            Vectors.load(tmp_path / "odd", found.data)
    save_file(
        {"values": found.values, "owners": found.owners}, tmp_path / "odd", {"data": found.data}
    )
    with pytest.raises(DataError, match="odd: cannot be read as vectors of a space"):
        Vectors.load(tmp_path / "odd", found.data)
    (tmp_path / "v.safetensors").write_bytes(b"broken")
    with pytest.raises(DataError, match="cannot be read"):
        Vectors.load(tmp_path / "v.safetensors", found.data)


def test_settings_are_checked() -> None:
    with pytest.raises(ValueError, match="window"):
        Training(window=0)
    with pytest.raises(ValueError, match="learning_rate"):
        Training(learning_rate=0.0)
    with pytest.raises(ValueError, match="workers"):
        Doc2Vec(workers=0)
    assert Training() == Training(200, 20, 20, 20)


def test_one_word_is_no_language(tmp_path: Path) -> None:
    told = rf"{tmp_path.name}: the texts to learn from have one word \('untitled'\) alone"
    with pytest.raises(DataError, match=told):
        SMALL.vectors(data_set(tmp_path, [["Untitled"]] * 10, 10))


def test_one_word_that_is_nearly_everything(tmp_path: Path) -> None:
    rare = [["harbor at dawn"], ["wedding at dawn"], ["harbor at night"]]
    often = replace(SMALL, training=replace(SMALL.training, min_count=20))
    found = often.vectors(data_set(tmp_path, [["Photo"]] * 30 + rare, 33))
    assert found.values[:30].any(axis=1).all()
    assert "min_count lowered" in found.remarks[0]


def test_a_damaged_model_is_trained_again(pairs: Pairs) -> None:
    before = SMALL.vectors(pairs).values
    model = next(runtime.cache_folder().rglob("model.safetensors"))
    model.write_bytes(model.read_bytes()[:10])
    after = SMALL.vectors(pairs)
    assert np.array_equal(before, after.values)
    assert any(
        "cannot be read as a Doc2Vec model" in remark and "; trained again" in remark
        for remark in after.remarks
    )


def test_a_model_of_other_texts_is_not_used(pairs: Pairs, tmp_path: Path) -> None:
    before = SMALL.vectors(pairs)
    path = next(runtime.cache_folder().rglob("model.safetensors"))
    other = data_set(tmp_path / "other", [[text] for text in texts_of(90, seed=7)])
    SMALL.model(other)
    (foreign,) = set(runtime.cache_folder().rglob("model.safetensors")) - {path}
    path.write_bytes(foreign.read_bytes())
    after = SMALL.vectors(pairs)
    assert np.array_equal(before.values, after.values)
    assert any("a model of another data set; not used; trained again" in r for r in after.remarks)
    mark = path.parent.name.removeprefix("doc2vec-")
    assert ParagraphModel.load(str(path), mark).training == SMALL.training
    with pytest.raises(DataError, match="holds a model of another data set; not used"):
        ParagraphModel.load(foreign, mark)
    assert ParagraphModel.load(foreign).words == SMALL.model(other).words  # asked for by name


@pytest.mark.usefixtures("untyped")
def test_one_text_is_no_list_of_texts(pairs: Pairs) -> None:
    model = SMALL.model(pairs)
    for call in (model.infer, lambda text: ParagraphModel.train(SMALL.training, text)):
        with pytest.raises(UsageError, match=r"texts: a list is wanted, found 'a ship' \(str\)"):
            call("a ship")

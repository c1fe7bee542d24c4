"""Vectors in files: by themselves, for the rows of a data set, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from evaluation_samples import pairs_of
from safetensors.torch import save_file

from trope.data.pairs import Pairs
from trope.errors import DataError, UsageError
from trope.evaluation import evaluate_embeddings
from trope.evaluation.arrays import read_arrays
from trope.evaluation.embeddings import FileSource

ROWS = [
    {"id": "a", "image": "1.jpg", "texts": ["one", "uno"], "split": "test"},
    {"id": "b", "image": "2.jpg", "texts": ["two"], "split": "test"},
    {"id": "t", "image": "5.jpg", "texts": ["trained on"], "split": "train"},
    {"id": "c", "image": "1.jpg", "texts": ["again"], "split": "test"},
    {"id": "d", "image": "3.jpg", "texts": ["three"], "split": "test"},
]


@pytest.fixture
def pairs(tmp_path: Path) -> Pairs:
    return pairs_of(tmp_path / "data", ROWS)


def arrays(images: int, texts: int, size: int = 4, seed: int = 0) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    return {
        "image": random.normal(size=(images, size)).astype(np.float32),
        "text": random.normal(size=(texts, size)).astype(np.float32),
    }


def saved(path: Path, found: dict[str, np.ndarray], **ids: list[str]) -> Path:
    names = {name: json.dumps(values) for name, values in ids.items()}
    save_file({name: torch.from_numpy(v) for name, v in found.items()}, path, names or None)
    return path


def test_every_kind_of_file_holds_the_same(tmp_path: Path) -> None:
    made = arrays(6, 6)
    one = saved(tmp_path / "v.safetensors", made)
    np.savez(tmp_path / "v.npz", **made)  # type: ignore[arg-type]
    for name, values in made.items():
        np.save(tmp_path / f"{name}.npy", values)
    files = [[one], [tmp_path / "v.npz"], [tmp_path / "image.npy", tmp_path / "text.npy"]]
    documents = [evaluate_embeddings(paths, metrics="recall@1,map").document() for paths in files]
    assert documents[0] == documents[1] == documents[2]
    assert documents[0]["images"] == 6


def test_scores_are_cosines(tmp_path: Path) -> None:
    made = arrays(6, 6)
    longer = {name: values * np.arange(1, 7)[:, None] for name, values in made.items()}
    found = [
        evaluate_embeddings(saved(tmp_path / f"{i}.safetensors", some), metrics="map,mean-rank")
        for i, some in enumerate((made, {k: v.astype(np.float32) for k, v in longer.items()}))
    ]
    assert found[0].document() == found[1].document()


def test_senses_are_compared_by_the_best_of_them(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    image, text = random.normal(size=(2, 5, 3, 4)).astype(np.float32)
    path = saved(tmp_path / "v.safetensors", {"image": image, "text": text})
    embedded = FileSource(read_arrays([path])).embedded("test")
    unit = [v / np.linalg.norm(v, axis=-1, keepdims=True) for v in (image, text)]
    wanted = [[max(a @ b for a in one for b in other) for other in unit[1]] for one in unit[0]]
    scores = embedded.similarities.rows("image", np.arange(5))
    np.testing.assert_allclose(scores, wanted, atol=1e-6)


def test_texts_belong_to_whom_the_file_says(tmp_path: Path) -> None:
    made = arrays(3, 5) | {"owners": np.array([2, 0, 0, 1, 2])}
    found = FileSource(read_arrays([saved(tmp_path / "v.safetensors", made)])).embedded("test")
    assert np.diff(found.gallery.starts).tolist() == [2, 1, 2]
    right = torch.nn.functional.normalize(torch.from_numpy(made["text"]), dim=1)
    assert torch.equal(found.text.mean, right[[1, 2, 3, 0, 4]])
    assert found.gallery.right.toarray().sum() == 5


def test_vectors_of_the_rows_of_a_data_set_in_order(tmp_path: Path, pairs: Pairs) -> None:
    made = arrays(4, 5)
    source = FileSource(read_arrays([saved(tmp_path / "v.safetensors", made)]), pairs)
    found = source.embedded("test")
    assert found.gallery.names_of("image") == ["a", "b", "d"]
    assert found.gallery.captions() == ["one", "uno", "again", "two", "three"]
    unit = {name: torch.nn.functional.normalize(torch.from_numpy(v)) for name, v in made.items()}
    assert torch.equal(found.image.mean, unit["image"][[0, 1, 3]])  # row c shows that of a
    assert torch.equal(found.text.mean, unit["text"][[0, 1, 3, 2, 4]])


def test_vectors_by_name_in_any_order(tmp_path: Path, pairs: Pairs) -> None:
    made = arrays(4, 5)
    straight = saved(tmp_path / "s.safetensors", made)
    images, texts = [3, 0, 2, 1], [4, 0, 3, 2, 1]  # the two texts of a stay in order
    mixed = {"image": made["image"][images], "text": made["text"][texts]}
    named = saved(
        tmp_path / "n.safetensors",
        {name: np.ascontiguousarray(values) for name, values in mixed.items()},
        image_ids=[["a", "b", "c", "d"][i] for i in images],
        text_ids=[["a", "a", "b", "c", "d"][i] for i in texts],
    )
    sources = [
        FileSource(read_arrays([path]), pairs).embedded("test") for path in (straight, named)
    ]
    assert torch.equal(sources[0].image.mean, sources[1].image.mean)
    assert torch.equal(sources[0].text.mean, sources[1].text.mean)


def test_hubs_by_training_vectors_in_the_file(tmp_path: Path) -> None:
    made = arrays(6, 6)
    with pytest.raises(UsageError, match="needs vectors of training queries"):
        evaluate_embeddings(saved(tmp_path / "v.safetensors", made), hubs="nnn")
    bank = {f"train_{name}": values for name, values in arrays(9, 8, seed=1).items()}
    found = evaluate_embeddings(saved(tmp_path / "w.safetensors", made | bank), hubs="nnn")
    assert found.told == (
        "hubs: image to text nnn (a 0.75, k 16), text to image nnn (a 0.75, k 16)",
    )


def refused(tmp_path: Path, made: dict[str, np.ndarray], **ids: list[str]) -> str:
    with pytest.raises(DataError) as error:
        evaluate_embeddings(saved(tmp_path / "v.safetensors", made, **ids))
    assert "\n" not in str(error.value)
    return str(error.value)


def test_what_does_not_fit_together_is_refused(tmp_path: Path, pairs: Pairs) -> None:
    made = arrays(3, 3)
    assert "no array 'text'; there is image" in refused(tmp_path, {"image": made["image"]})
    assert "'text' has 5 dimensions" in refused(tmp_path, made | {"text": arrays(3, 3, 5)["text"]})
    assert "shape (12,)" in refused(tmp_path, made | {"text": made["text"].ravel()})
    assert "int64" in refused(tmp_path, made | {"text": made["text"].astype(np.int64)})
    assert "3 pictures and 4 texts" in refused(tmp_path, arrays(3, 4))
    wrong = {"owners": np.array([0, 1, 3])}
    assert "v.safetensors: owners[2] is 3; pictures are 0 to 2" in refused(tmp_path, made | wrong)
    lone = arrays(1, 3) | {"owners": np.zeros(3, np.int64)}
    assert "v.safetensors: one picture alone; retrieval needs" in refused(tmp_path, lone)
    narrow = made | {"text": arrays(3, 3, 1)["text"]}
    assert "'text' has 1 dimension, 'image' has 4" in refused(tmp_path, narrow)
    assert "row of 'image' for each text" in refused(tmp_path, made | {"owners": np.zeros(3)})
    ids = {"image_ids": ["a"], "text_ids": ["a"] * 3}
    assert "1 image_ids for 3 vectors 'image'" in refused(tmp_path, made, **ids)
    assert "there is no text_ids" in refused(tmp_path, made, image_ids=["a", "b", "c"])
    ids = {"image_ids": ["a", "b", "a"], "text_ids": ["a"] * 3}
    assert "image_ids: 'a' stands there 2 times" in refused(tmp_path, made, **ids)
    assert "did you mean 'owners'?" in refused(tmp_path, made | {"owner": np.arange(3)})
    bank = {"train_image": made["image"].copy()}
    assert "there is no train_text" in refused(tmp_path, made | bank)
    empty = made | {"text": np.zeros((0, 4), np.float32)}
    assert "'text' has shape (0, 4), which holds no vector" in refused(tmp_path, empty)


@pytest.mark.parametrize("name", ["image", "text"])
def test_a_vector_without_direction_is_refused_by_its_place(tmp_path: Path, name: str) -> None:
    owners = np.array([2, 0, 1, 1])
    for value, why in ((np.nan, "no finite number"), (np.inf, "no finite"), (0.0, "all zeros")):
        made = arrays(3, 4) | {"owners": owners}
        made[name][2] = value
        said = refused(tmp_path, made)
        assert f"v.safetensors: vector {name}[2] " in said
        assert why in said
        senses = {side: np.repeat(made[side][:, None], 2, axis=1) for side in ("image", "text")}
        senses[name][2, 0] = 1
        assert f"vector {name}[2][1] " in refused(tmp_path, senses | {"owners": owners})
    for side in ("image", "text"):
        np.save(tmp_path / f"{side}.npy", made[side][:3])
    with pytest.raises(DataError, match=rf"{name}\.npy: vector {name}\[2\]"):
        evaluate_embeddings([tmp_path / "image.npy", tmp_path / "text.npy"])


@pytest.mark.parametrize("size", [1e300, 1e-300, 1e30, 1e-30])
def test_vectors_of_any_length_have_a_direction(tmp_path: Path, size: float) -> None:
    made = {name: values.astype(np.float64) for name, values in arrays(6, 6).items()}
    plain = evaluate_embeddings(saved(tmp_path / "p.safetensors", made), metrics="map,mean-rank")
    np.savez(tmp_path / "v.npz", image=made["image"] * size, text=made["text"])
    found = evaluate_embeddings(tmp_path / "v.npz", metrics="map,mean-rank")
    assert found.document() == plain.document()


@pytest.mark.parametrize("side", ["image", "text"])
def test_senses_of_one_side_alone(tmp_path: Path, side: str) -> None:
    random = np.random.default_rng(0)
    made = arrays(5, 5)
    made[side] = random.normal(size=(5, 3, 4)).astype(np.float32)
    path = saved(tmp_path / "v.safetensors", made)
    embedded = FileSource(read_arrays([path])).embedded("test")
    unit = {k: v / np.linalg.norm(v, axis=-1, keepdims=True) for k, v in made.items()}
    senses = {k: v if v.ndim == 3 else v[:, None] for k, v in unit.items()}
    wanted = [
        [max(a @ b for a in one for b in other) for other in senses["text"]]
        for one in senses["image"]
    ]
    scores = embedded.similarities.rows("image", np.arange(5))
    np.testing.assert_allclose(scores, wanted, atol=1e-6)


def test_a_bank_of_one_sense_for_items_of_several(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    made = arrays(6, 6) | {"image": random.normal(size=(6, 3, 4)).astype(np.float32)}
    bank = {f"train_{name}": values for name, values in arrays(9, 8, seed=1).items()}
    one = evaluate_embeddings(saved(tmp_path / "v.safetensors", made | bank), hubs="nnn")
    bank = {name: values[:, None] for name, values in bank.items()}
    same = evaluate_embeddings(saved(tmp_path / "w.safetensors", made | bank), hubs="nnn")
    assert one.document() == same.document()


def test_vectors_that_do_not_match_the_data_are_refused(tmp_path: Path, pairs: Pairs) -> None:
    path = saved(tmp_path / "v.safetensors", arrays(3, 5))
    with pytest.raises(DataError, match="3 vectors 'image' for 4 rows of split 'test'"):
        evaluate_embeddings(path, pairs)
    named = {"image_ids": ["a", "b", "c"], "text_ids": ["a", "a", "b", "c", "d"]}
    path = saved(tmp_path / "n.safetensors", arrays(3, 5), **named)
    with pytest.raises(DataError, match="no vector of the image of row 'd'"):
        evaluate_embeddings(path, pairs)
    named = {"image_ids": ["a", "b", "c", "d"], "text_ids": ["a", "b", "b", "c", "d"]}
    path = saved(tmp_path / "m.safetensors", arrays(4, 5), **named)
    with pytest.raises(DataError, match="text_ids: 'b' stands there 2 times, but the row has 1 te"):
        evaluate_embeddings(path, pairs)
    named = {"image_ids": ["a", "b", "c", "d"], "text_ids": ["a", "b", "c", "d"]}
    path = saved(tmp_path / "o.safetensors", arrays(4, 4), **named)
    with pytest.raises(DataError, match="no vector of text 2 of row 'a'"):
        evaluate_embeddings(path, pairs)
    named = {"image_ids": ["a", "b", "c", "x"], "text_ids": ["a", "a", "b", "c", "d"]}
    path = saved(tmp_path / "p.safetensors", arrays(4, 5), **named)
    with pytest.raises(DataError, match=r"image_ids: 'x' is no row of .*data"):
        evaluate_embeddings(path, pairs)


@pytest.mark.parametrize("name", ["x.safetensors", "x.npz", "x.npy"])
def test_files_that_cannot_be_read_are_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    both = [path, path] if path.suffix == ".npy" else [path]
    with pytest.raises(UsageError, match="no such file"):
        read_arrays(both)
    path.write_bytes(b"nothing of the kind, at some length")
    with pytest.raises(DataError, match="cannot be read as vectors"):
        read_arrays(both)
    with pytest.raises(UsageError, match="one file, or two"):
        read_arrays([path] * 3)


def test_archives_that_were_cut_or_damaged_are_refused(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "v.npz", **arrays(50, 50))  # type: ignore[arg-type]
    whole = (tmp_path / "v.npz").read_bytes()
    damaged = bytearray(whole)
    damaged[200:240] = bytes(40)
    encrypted = bytearray(whole)
    for name in (b"PK\x03\x04", b"PK\x01\x02"):
        start = -1
        while (start := encrypted.find(name, start + 1)) >= 0:
            encrypted[start + (6 if name[2] == 3 else 8)] |= 1
    for i, content in enumerate((whole[: len(whole) // 2], whole[:-30], damaged, encrypted)):
        path = tmp_path / f"{i}.npz"
        path.write_bytes(content)
        with pytest.raises(DataError, match=r"\.npz: cannot be read as vectors"):
            read_arrays([path])


def test_files_of_other_kinds_are_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"two \.npy files, pictures first"):
        read_arrays([tmp_path / "v.npy"])
    with pytest.raises(UsageError, match=r"v\.pt: not a kind of file that is read here"):
        read_arrays([tmp_path / "v.pt"])


@pytest.mark.parametrize("ids", ["abc", [["a"], ["b"], ["c"]], [None, "b", "c"], {"a": 1}])
def test_names_of_rows_are_lists_of_strings_or_numbers(tmp_path: Path, ids: object) -> None:
    named = {"image_ids": ids, "text_ids": ["a", "b", "c"]}
    assert "image_ids must be a list of strings" in refused(tmp_path, arrays(3, 3), **named)  # type: ignore[arg-type]
    if isinstance(ids, list) and ids[0] is not None:
        np.savez(tmp_path / "v.npz", image_ids=ids, text_ids=["a", "b", "c"], **arrays(3, 3))  # type: ignore[arg-type]
        with pytest.raises(DataError, match="image_ids must be a list of strings"):
            read_arrays([tmp_path / "v.npz"])


def test_rows_without_a_picture_are_not_asked_where_others_have_one(tmp_path: Path) -> None:
    rows = [*ROWS, {"id": "n", "texts": ["no picture"], "split": "test"}]
    mixed = pairs_of(tmp_path / "mixed", rows)
    path = saved(tmp_path / "v.safetensors", arrays(4, 5))
    found = FileSource(read_arrays([path]), mixed).embedded("test").gallery
    assert found.names_of("image") == ["a", "b", "d"]
    assert "no picture" not in found.captions()
    bare = [{name: row[name] for name in ("id", "texts", "split")} for row in rows]
    path = saved(tmp_path / "w.safetensors", arrays(5, 6))
    source = FileSource(read_arrays([path]), pairs_of(tmp_path / "bare", bare))
    assert source.embedded("test").gallery.names_of("image") == ["a", "b", "c", "d", "n"]


def test_the_same_picture_under_two_names_is_one(tmp_path: Path, pairs: Pairs) -> None:
    path = saved(tmp_path / "v.safetensors", arrays(4, 5))
    assert evaluate_embeddings(path, pairs, metrics="map").images == 3
    for name, content in (("1", b"one"), ("2", b"two"), ("3", b"one"), ("5", b"five")):
        (tmp_path / "data" / f"{name}.jpg").write_bytes(content)
    assert evaluate_embeddings(path, pairs, metrics="map").images == 2


def test_owners_are_not_for_data_that_has_its_own(tmp_path: Path, pairs: Pairs) -> None:
    path = saved(tmp_path / "v.safetensors", arrays(4, 5) | {"owners": np.arange(5) % 4})
    with pytest.raises(UsageError, match="'owners' goes without --data"):
        evaluate_embeddings(path, pairs)


def test_nothing_is_unpickled(tmp_path: Path) -> None:
    np.savez(tmp_path / "v.npz", image=np.array([{"a": 1}], object), text=np.zeros((1, 2)))
    with pytest.raises(DataError, match="cannot be read as vectors"):
        read_arrays([tmp_path / "v.npz"])

"""The two sets that come as features: Wikipedia and the layout of SCAN."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.io import savemat

from trope.data.convert import arrays, convert
from trope.data.convert.layout import Features
from trope.data.convert.precomputed import _first_rows
from trope.errors import DataError, UsageError


@pytest.fixture
def wiki(tmp_path: Path, note) -> Path:
    source = tmp_path / "wiki"
    note(source / "categories.list", "art", "biology")
    note(source / "trainset_txt_img_cat.list", "aa-1\tp1\t2", "aa-2\tp2\t1", "bb-1.3\tp3\t2")
    note(source / "testset_txt_img_cat.list", "cc-1\tp4\t1")
    values = np.random.default_rng(0).random((8, 5))
    matrices = {
        "I_tr": values[:3],
        "I_te": values[3:4],
        "T_tr": values[4:7, :2],
        "T_te": values[7:, :2],
    }
    savemat(source / "raw_features.mat", matrices | {"unrelated": np.zeros(3)})
    return source


def test_wikipedia_as_features(wiki: Path, tmp_path: Path, rows) -> None:
    convert("wikipedia", wiki, tmp_path / "out")
    found = rows(tmp_path / "out")
    assert {i: p.labels for i, p in found.items()} == {
        "aa-1": ("biology",),
        "aa-2": ("art",),
        "bb-1.3": ("biology",),
        "cc-1": ("art",),
    }
    assert [p.split for p in found.values()] == ["train", "train", "train", "test"]
    assert [p.extra["image_feature"] for p in found.values()] == [0, 1, 2, 3]
    assert found["bb-1.3"].extra["article"] == "bb"
    values = np.random.default_rng(0).random((8, 5))
    image = np.load(tmp_path / "out/features/image.npy", allow_pickle=False)
    text = np.load(tmp_path / "out/features/text.npy", allow_pickle=False)
    np.testing.assert_array_equal(image, values[:4])
    np.testing.assert_array_equal(text, values[4:, :2])


def test_wikipedia_with_texts_and_pictures(
    wiki: Path, tmp_path: Path, note, jpeg, rows, lost
) -> None:
    xml = "<?xml version='1.0'?>\n<article><text>\n{}\n</text></article>"
    for name in ("aa-1", "aa-2", "cc-1"):
        note(wiki / f"texts/{name}.xml", xml.format("Café &amp;\n a & half < whole"))
    jpeg(wiki / "images", "biology/p1.jpg", "art/p2.jpg")
    convert("wikipedia", wiki, tmp_path / "out")
    found = rows(tmp_path / "out")
    assert found["aa-1"].texts == ("Café & a & half < whole",)
    assert found["aa-1"].image == "images/biology/p1.jpg"
    assert (found["bb-1.3"].texts, found["bb-1.3"].image) == ((), None)
    assert set(lost(tmp_path / "out")) == {"bb-1.3", "cc-1"}
    assert len(found) == 4


def test_wikipedia_files_that_do_not_fit(wiki: Path, tmp_path: Path, note) -> None:
    note(wiki / "testset_txt_img_cat.list", "cc-1\tp4\t1", "cc-2\tp5\t1")
    with pytest.raises(DataError, match=r"raw_features.mat: 1 image features for 2 test pairs"):
        convert("wikipedia", wiki, tmp_path / "out")
    note(wiki / "testset_txt_img_cat.list", "cc-1\tp4\t9")
    with pytest.raises(DataError, match=r"testset_txt_img_cat.list:1: expected text, image and"):
        convert("wikipedia", wiki, tmp_path / "out")
    note(wiki / "testset_txt_img_cat.list", "cc-1\tp4\t1")
    (wiki / "raw_features.mat").write_bytes(b"rubbish" * 100)
    with pytest.raises(DataError, match=r"raw_features.mat: not a Matlab file"):
        convert("wikipedia", wiki, tmp_path / "out")
    savemat(wiki / "raw_features.mat", {"I_tr": np.zeros((3, 2))})
    with pytest.raises(DataError, match="lacks the matrices I_te, T_tr, T_te"):
        convert("wikipedia", wiki, tmp_path / "out")


REGIONS = np.random.default_rng(1).random((6, 3, 4)).astype(np.float32)


@pytest.fixture
def scan(tmp_path: Path, note) -> Path:
    source = tmp_path / "scan"
    source.mkdir()
    for name, images, each in (
        ("train", REGIONS[:3], 2),
        ("dev", REGIONS[3:4], 2),
        ("test", REGIONS[4:], 1),
    ):
        np.save(source / f"{name}_ims.npy", images)
        note(source / f"{name}_caps.txt", *(f"{name} {i} ✓" for i in range(each * len(images))))
    return source


def test_precomputed(scan: Path, tmp_path: Path, rows) -> None:
    convert("precomputed", scan, tmp_path / "out")
    found = rows(tmp_path / "out")
    assert list(found) == ["train-0", "train-1", "train-2", "dev-0", "test-0", "test-1"]
    assert [p.split for p in found.values()] == ["train"] * 3 + ["val"] + ["test"] * 2
    assert found["train-1"].texts == ("train 2 ✓", "train 3 ✓")
    assert found["test-1"].texts == ("test 1 ✓",)
    rows_of = [p.extra["image_feature"] for p in found.values()]
    np.testing.assert_array_equal(np.load(tmp_path / "out/features/image.npy")[rows_of], REGIONS)


def test_precomputed_repeated_rows_and_names(scan: Path, tmp_path: Path, note, rows) -> None:
    np.save(scan / "train_ims.npy", np.repeat(REGIONS[:3], 2, axis=0))
    note(scan / "train_ids.txt", "17", "17", "8", "8", "9", "9")
    note(scan / "dev_ids.txt", "30")
    convert("precomputed", scan, tmp_path / "out")
    found = rows(tmp_path / "out")
    assert [p.extra["image_id"] for p in found.values()] == ["17", "8", "9", "30", None, None]
    assert found["train-2"].texts == ("train 4 ✓", "train 5 ✓")
    np.testing.assert_array_equal(np.load(tmp_path / "out/features/image.npy"), REGIONS)


def test_precomputed_takes_the_whole_test_part(scan: Path, tmp_path: Path, note, rows) -> None:
    np.save(scan / "testall_ims.npy", REGIONS[:1])
    note(scan / "testall_caps.txt", "whole")
    convert("precomputed", scan, tmp_path / "auto")
    assert [i for i, p in rows(tmp_path / "auto").items() if p.split == "test"] == ["testall-0"]
    convert("precomputed", scan, tmp_path / "chosen", test="test")
    assert [i for i, p in rows(tmp_path / "chosen").items() if p.split == "test"] == [
        "test-0",
        "test-1",
    ]


def test_precomputed_files_that_do_not_fit(scan: Path, tmp_path: Path, note) -> None:
    note(scan / "train_caps.txt", *"abcd")
    with pytest.raises(DataError, match=r"train_ims.npy: 4 captions for 3 images; every"):
        convert("precomputed", scan, tmp_path / "out")
    note(scan / "train_caps.txt", *"abc")
    note(scan / "train_ids.txt", "1", "2")
    with pytest.raises(DataError, match=r"train_ids.txt: 2 lines for 3 images"):
        convert("precomputed", scan, tmp_path / "out")
    (scan / "train_ids.txt").unlink()
    np.save(scan / "train_ims.npy", REGIONS[:3, :2])
    with pytest.raises(DataError, match=r"differ in shape or type: train_ims.npy \(2, 4\) float32"):
        convert("precomputed", scan, tmp_path / "out")
    (scan / "train_caps.txt").unlink()
    with pytest.raises(UsageError, match=r"captions not found; looked for train_caps.txt"):
        convert("precomputed", scan, tmp_path / "out")
    with pytest.raises(UsageError, match=r"looked for testall_ims.npy"):
        convert("precomputed", scan, tmp_path / "out", test="testall")


class Evil:
    def __reduce__(self):
        return (pytest.fail, ("was run",))


@pytest.mark.parametrize(
    "write",
    [
        lambda path: np.save(path, np.array([[Evil()]], dtype=object), allow_pickle=True),
        lambda path: path.write_bytes(pickle.dumps(Evil())),
        lambda path: path.write_bytes(b""),
        lambda path: np.save(path, np.array([["a"]])),
        lambda path: np.save(path, np.float32(3)),
    ],
)
def test_arrays_that_are_not_numbers(scan: Path, tmp_path: Path, write) -> None:
    write(scan / "train_ims.npy")
    with pytest.raises(DataError, match=r"train_ims.npy: "):
        convert("precomputed", scan, tmp_path / "out")


@settings(max_examples=60)
@given(
    runs=st.lists(st.tuples(st.integers(0, 2), st.integers(1, 4)), min_size=1, max_size=12),
    size=st.integers(1, 5),
)
def test_runs_of_equal_rows_by_loop(runs: list[tuple[int, int]], size: int) -> None:
    values = np.array([value for value, length in runs for _ in range(length)], dtype=float)
    array = np.stack([values, np.ones_like(values)], axis=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrays, "BLOCK_BYTES", size * 16)
        found = _first_rows(array)
    expected = [i for i in range(len(values)) if i == 0 or values[i] != values[i - 1]]
    assert found.tolist() == expected


@settings(max_examples=40, deadline=None)
@given(rows=st.integers(0, 20), size=st.integers(1, 7))
def test_written_in_blocks_equals_saved_at_once(tmp_path_factory, rows: int, size: int) -> None:
    folder = tmp_path_factory.getbasetemp()
    (folder / "ours.npy").unlink(missing_ok=True)
    array = np.arange(rows * 6, dtype=np.float32).reshape(rows, 2, 3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrays, "BLOCK_BYTES", size * 24)
        features = Features(array.shape, array.dtype, (), lambda: arrays.blocks(array))
        arrays.write(folder / "ours.npy", features)
    np.save(folder / "theirs.npy", array)
    assert (folder / "ours.npy").read_bytes() == (folder / "theirs.npy").read_bytes()


def test_a_short_array_is_never_left_behind(tmp_path: Path) -> None:
    features = Features((5, 1), np.dtype(float), (), lambda: iter([np.zeros((3, 1))]))
    with pytest.raises(DataError, match="3 rows came where 5 were announced"):
        arrays.write(tmp_path / "a.npy", features)
    assert list(tmp_path.iterdir()) == []

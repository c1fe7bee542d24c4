"""Folders that the `datasets` package itself saved, and folders that only look like it."""

from __future__ import annotations

import io
import json
import os
import pickle
import subprocess
import sys
import unicodedata
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from PIL import Image

import trope
from trope.errors import DataError

os.environ.setdefault("HF_HUB_OFFLINE", "1")
datasets = pytest.importorskip("datasets")


@pytest.fixture(autouse=True)
def _quiet() -> None:
    datasets.disable_progress_bars()


def picture(i: int) -> bytes:
    data = io.BytesIO()
    Image.new("RGB", (8, 8), (i, 0, 0)).save(data, "PNG")
    return data.getvalue()


def shade(data: bytes) -> int:
    """Which picture it is."""
    return Image.open(io.BytesIO(data)).getpixel((0, 0))[0]  # type: ignore[index]


@pytest.fixture
def whole() -> Any:
    """Twelve rows, the last one without a picture."""
    count = 12
    classes = ["cat", "dog", "गाय"]
    return datasets.Dataset.from_dict(
        {
            "image": [{"bytes": picture(i), "path": None} for i in range(count - 1)] + [None],
            "text": [f"text {i} न्याय" for i in range(count)],
            "label": [i % 3 for i in range(count - 1)] + [None],
            "tags": [[i % 3, 0] for i in range(count)],
            "notes": [["a", None], [], None] * 4,
            "n": list(range(count)),
        },
        features=datasets.Features(
            {
                "image": datasets.Image(),
                "text": datasets.Value("string"),
                "label": datasets.ClassLabel(names=classes),
                "tags": datasets.Sequence(datasets.ClassLabel(names=classes)),
                "notes": datasets.Sequence(datasets.Value("string")),
                "n": datasets.Value("int64"),
            }
        ),
    )


def check(pairs: trope.Pairs, numbers: list[int]) -> None:
    """The rows are those with these numbers, pictures included."""
    classes = ["cat", "dog", "गाय"]
    assert [pair.extra["n"] for pair in pairs] == numbers
    for row, (pair, i) in enumerate(zip(pairs, numbers, strict=True)):
        assert pair.texts == (f"text {i} न्याय",)
        assert pair.labels == ((classes[i % 3],) if i < 11 else ())
        assert pair.extra["tags"] == [classes[i % 3], "cat"]
        assert pair.extra["notes"] == [["a", None], [], None][i % 3]
        assert (pair.image is not None) == (i < 11)
        if i < 11:
            assert shade(pairs.images.read(row)) == i
    if 11 in numbers:
        with pytest.raises(DataError, match="holds no image bytes"):
            pairs.images.read(numbers.index(11))


def test_one_file(tmp_path: Path, whole: Any) -> None:
    whole.save_to_disk(tmp_path / "d")
    pairs = trope.open(tmp_path / "d")
    check(pairs, list(range(12)))
    assert pairs.ids == [f"row-{i}" for i in range(1, 13)]
    check(pairs.take(np.array([5, 11, 0, 5])), [5, 11, 0, 5])


def test_several_files(tmp_path: Path, whole: Any) -> None:
    whole.save_to_disk(tmp_path / "d", num_shards=5)
    assert len(list((tmp_path / "d").glob("*.arrow"))) == 5
    check(trope.open(tmp_path / "d"), list(range(12)))


def test_selections(tmp_path: Path, whole: Any) -> None:
    whole.select([7, 2, 11, 2]).save_to_disk(tmp_path / "a")
    check(trope.open(tmp_path / "a"), [7, 2, 11, 2])
    whole.filter(lambda row: row["n"] % 2 == 1).save_to_disk(tmp_path / "b")
    check(trope.open(tmp_path / "b"), [1, 3, 5, 7, 9, 11])
    whole.shuffle(seed=3).save_to_disk(tmp_path / "c", num_shards=2)
    check(trope.open(tmp_path / "c"), list(whole.shuffle(seed=3)["n"]))


def add_indices(folder: Path, rows: list[int]) -> None:
    """What versions before 2.0 wrote for a selection."""
    table = pa.table({"indices": pa.array(rows, pa.uint64())})
    with pa.ipc.new_stream(str(folder / "indices.arrow"), table.schema) as stream:
        stream.write_table(table)
    state = json.loads((folder / "state.json").read_text())
    state["_indices_data_files"] = [{"filename": "indices.arrow"}]
    (folder / "state.json").write_text(json.dumps(state))


def test_selections_of_old_versions(tmp_path: Path, whole: Any) -> None:
    parts = datasets.DatasetDict(train=whole.select(range(6)), test=whole.select(range(6, 12)))
    parts.save_to_disk(tmp_path / "d")
    add_indices(tmp_path / "d" / "train", [4, 0, 0])
    add_indices(tmp_path / "d" / "test", [5, 1])
    pairs = trope.open(tmp_path / "d")
    check(pairs, [4, 0, 0, 11, 7])
    assert [pair.split for pair in pairs] == ["train"] * 3 + ["test"] * 2
    add_indices(tmp_path / "d" / "test", [6])
    with pytest.raises(DataError, match=r"indices\.arrow: names rows that do not exist"):
        trope.open(tmp_path / "d")


def test_splits(tmp_path: Path, whole: Any) -> None:
    datasets.DatasetDict(
        train=whole.select(range(5)),
        validation=whole.select([9, 6]),
        test=whole.select([]),
        other=whole.select([11]),
    ).save_to_disk(tmp_path / "d")
    pairs = trope.open(tmp_path / "d")
    check(pairs, [0, 1, 2, 3, 4, 9, 6, 11])
    assert [pair.split for pair in pairs] == ["train"] * 5 + ["val"] * 2 + ["other"]
    assert len(set(pairs.column("image").drop_null().to_pylist())) == 7


def read_one(store: Any, row: int) -> int:
    return shade(store.read(row))


def test_in_worker_processes(tmp_path: Path, whole: Any) -> None:
    whole.save_to_disk(tmp_path / "d", num_shards=2)
    pairs = trope.open(tmp_path / "d").take(np.array([10, 3]))
    pairs.images.read(0)  # mapped here already: the map does not travel
    assert len(pickle.dumps(pairs.images)) < 2_000
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert [pool.submit(read_one, pairs.images, row).result() for row in (0, 1)] == [10, 3]


def test_stamp(tmp_path: Path, whole: Any) -> None:
    whole.save_to_disk(tmp_path / "d", num_shards=2)
    first, second = trope.open(tmp_path / "d"), trope.open(tmp_path / "d")
    assert first.images.stamp(1) == second.images.stamp(1) != first.images.stamp(2)
    os.utime(next((tmp_path / "d").glob("*.arrow")), (1, 1))
    assert trope.open(tmp_path / "d").images.stamp(1) != first.images.stamp(1)


def save(folder: Path, **columns: Any) -> Path:
    features = columns.pop("features", None)
    datasets.Dataset.from_dict(columns, features=features).save_to_disk(folder)
    return folder


def test_other_names_and_kinds(tmp_path: Path, write_jpeg: Callable[..., Path]) -> None:
    cells = [{"bytes": picture(3), "path": None}]
    features = datasets.Features({"img": datasets.Image(), "caption": datasets.Value("string")})
    pair = trope.open(save(tmp_path / "a", img=cells, caption=["c"], features=features))[0]
    assert (pair.image, dict(pair.extra)) == ("row-0", {"caption": "c"})
    write_jpeg("b/x.jpg")
    paths = trope.open(save(tmp_path / "b", image=["x.jpg"], text=[["p", "q"]]))
    assert paths[0].texts == ("p", "q")
    assert paths.images.read(0)[:2] == b"\xff\xd8"
    assert trope.open(save(tmp_path / "c", text=["only"]))[0].image is None


def test_text_survives(tmp_path: Path, script: str) -> None:
    pair = trope.open(save(tmp_path / "d", text=[script], extra=[script], labels=[[script]]))[0]
    assert (pair.texts, pair.extra["extra"]) == ((script,), script)
    assert pair.labels == (unicodedata.normalize("NFC", script),)


def test_refused_columns(tmp_path: Path) -> None:
    cells = [{"bytes": picture(3), "path": None}]
    two = datasets.Features({"one": datasets.Image(), "two": datasets.Image()})
    with pytest.raises(DataError, match=r"several image columns \(one, two\); keep one"):
        trope.open(save(tmp_path / "a", one=cells, two=cells, features=two))
    both = datasets.Features({"img": datasets.Image(), "image": datasets.Value("string")})
    with pytest.raises(DataError, match="pictures in 'img' and also a column 'image'"):
        trope.open(save(tmp_path / "b", img=cells, image=["x"], features=both))
    with pytest.raises(DataError, match=r"needs a column.*found: a"):
        trope.open(save(tmp_path / "c", a=[1]))


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ('{"_data_files": [{"filename": "../../secret.arrow"}]}', "is no name of a file"),
        ('{"_data_files": [{"filename": "/etc/passwd"}]}', "is no name of a file"),
        ('{"_data_files": [{"filename": ".."}]}', "is no name of a file"),
        ('{"_data_files": [{"filename": 5}]}', "is no name of a file"),
        ('{"_data_files": [{}]}', "None is no name of a file"),
        ('{"_data_files": ["x"]}', "'_data_files' is no list of files"),
        ('{"_data_files": {"a": 1}}', "'_data_files' is no list of files"),
        ('{"_data_files": [{"filename": "dataset_info.json"}]}', "not an Arrow stream file"),
        ('{"_data_files": [{"filename": "none.arrow"}]}', "not an Arrow stream file"),
        ('{"_data_files": []}', "needs a column"),
        ("[]", "expected an object"),
        ("{", "not valid JSON"),
        (None, "is missing"),
    ],
)
def test_states_that_lie(tmp_path: Path, state: str | None, words: str) -> None:
    folder = tmp_path / "d"
    datasets.DatasetDict(train=datasets.Dataset.from_dict({"text": ["a"]})).save_to_disk(folder)
    if state is None:
        (folder / "train" / "state.json").unlink()
    else:
        (folder / "train" / "state.json").write_text(state)
    with pytest.raises(DataError) as caught:
        trope.open(folder)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("splits", ['["../x"]', "[5]", "[]", '"train"', "null"])
def test_splits_that_lie(tmp_path: Path, splits: str) -> None:
    (tmp_path / "dataset_dict.json").write_text(f'{{"splits": {splits}}}')
    with pytest.raises(DataError, match=r"dataset_dict\.json: .*(no name|names no splits)"):
        trope.open(tmp_path)


def test_damaged_arrow_files(tmp_path: Path, whole: Any) -> None:
    whole.save_to_disk(tmp_path / "d")
    path = next((tmp_path / "d").glob("*.arrow"))
    content = path.read_bytes()
    for length in (0, 5, 100, len(content) // 2):
        path.write_bytes(content[:length])
        with pytest.raises(DataError, match=r"\.arrow: not an Arrow stream file"):
            trope.open(tmp_path / "d")


def write_stream(folder: Path, table: pa.Table, features: dict[str, Any]) -> None:
    """A folder as `datasets` would save it, with whatever the table holds."""
    folder.mkdir()
    with pa.ipc.new_stream(str(folder / "x.arrow"), table.schema) as stream:
        stream.write_table(table)
    (folder / "state.json").write_text('{"_data_files": [{"filename": "x.arrow"}]}')
    (folder / "dataset_info.json").write_text(json.dumps({"features": features}))


def with_offsets(kind: pa.DataType, offsets: list[int], *, texts: bytes = b"12345678") -> pa.Array:
    """Two cells whose offsets are those given, right or wrong."""
    width = pa.int64() if "large" in str(kind) else pa.int32()
    places = pa.array(offsets, width).buffers()[1]
    if not pa.types.is_nested(kind):
        return pa.Array.from_buffers(kind, 2, [None, places, pa.py_buffer(texts)])
    steps = pa.array(range(len(texts) + 1), pa.int32()).buffers()[1]
    child = pa.Array.from_buffers(kind.value_type, len(texts), [None, steps, pa.py_buffer(texts)])
    return pa.Array.from_buffers(kind, 2, [None, places], children=[child])


OPENS_AND_READS = """
import sys, trope
from trope.errors import DataError
try:
    pairs = trope.open(sys.argv[1])
    [pairs.images.read(row) for row in range(len(pairs))]
    list(pairs)
except DataError as error:
    sys.exit(f"refused: {error}")
"""


def outcome(folder: Path) -> str:
    """What a process of its own, which may be killed, says of a folder."""
    command = [sys.executable, "-c", OPENS_AND_READS, str(folder)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    return ended.stderr if ended.returncode == 1 else f"exit code {ended.returncode}"


IMAGES = {"image": {"_type": "Image"}}


@pytest.mark.parametrize("wrong", [2**30, -5])
def test_wrong_offsets_of_pictures_do_not_kill(tmp_path: Path, wrong: int) -> None:
    cells = with_offsets(pa.binary(), [0, wrong, 8])
    cells.validate()  # nothing to see from outside
    struct = pa.StructArray.from_arrays([cells, pa.array([None, "x"])], ["bytes", "path"])
    write_stream(tmp_path / "d", pa.table({"image": struct, "text": ["a", "b"]}), IMAGES)
    said = outcome(tmp_path / "d")
    assert said.startswith("refused: ")
    assert "x.arrow: column 'image' is damaged" in said
    assert said.count("\n") == 1


@pytest.mark.parametrize("offsets", [[0, 2**30, 8], [0, 8, 3], [0, -5, 8]])
@pytest.mark.parametrize("texts", [b"12345678", b"\xff" * 8])
@pytest.mark.parametrize(
    "kind",
    [pa.string(), pa.large_string(), pa.list_(pa.string()), pa.large_list(pa.string())],
    ids=str,
)
def test_wrong_offsets_of_texts(
    tmp_path: Path, kind: pa.DataType, offsets: list[int], texts: bytes
) -> None:
    table = pa.table({"text": with_offsets(kind, offsets, texts=texts)})
    write_stream(tmp_path / "d", table, {})
    with pytest.raises(DataError, match=r"x\.arrow: column 'text' is damaged \([^\n]+\)$"):
        trope.open(tmp_path / "d", collect=True)


def test_texts_that_are_not_utf8_are_still_a_matter_of_their_rows(tmp_path: Path) -> None:
    table = pa.table({"text": with_offsets(pa.string(), [0, 4, 8], texts=b"good\xff\xff\xff\xff")})
    write_stream(tmp_path / "d", table, {})
    pairs = trope.open(tmp_path / "d", collect=True)
    assert [pair.texts for pair in pairs] == [("good",)]
    assert [row.line for row in pairs.rejected] == [2]


def test_a_picture_whose_path_is_no_text(tmp_path: Path) -> None:
    paths = with_offsets(pa.string(), [0, 4, 8], texts=b"\xff" * 8)
    struct = pa.StructArray.from_arrays([pa.array([b"1", b"2"]), paths], ["bytes", "path"])
    write_stream(tmp_path / "d", pa.table({"image": struct, "text": ["a", "b"]}), IMAGES)
    assert trope.open(tmp_path / "d").images.read(1) == b"2"


def test_pictures_of_different_kinds_in_one_data_set(tmp_path: Path) -> None:
    struct = pa.StructArray.from_arrays([pa.array([b"1"])], ["bytes"])
    table = pa.table({"image": struct, "text": ["a"]})
    write_stream(tmp_path / "train", table, IMAGES)
    write_stream(tmp_path / "test", table.set_column(0, "image", pa.array([b"1"])), IMAGES)
    (tmp_path / "dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    with pytest.raises(DataError, match="'image' differs between the files"):
        trope.open(tmp_path).images.read(0)


@pytest.mark.parametrize(
    "state", ['{"step": 5}', '[{"optimizer": "_data_files"}]', "{", '{"_data_files": []}']
)
def test_a_foreign_state_is_no_data_set(
    tmp_path: Path, write_jpeg: Callable[..., Path], state: str
) -> None:
    write_jpeg("x.jpg")
    (tmp_path / "x.txt").write_text("a text")
    (tmp_path / "state.json").write_text(state)
    assert trope.open(tmp_path)[0].texts == ("a text",)
    (tmp_path / "dataset_info.json").write_text("{}")
    if '"_data_files":' in state:
        with pytest.raises(DataError, match="needs a column"):
            trope.open(tmp_path)

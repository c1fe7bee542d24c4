from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from trope.data import decoders
from trope.data.images import decode
from trope.data.loading import ImageBatch, ImageBatches, flipped
from trope.data.stores import FolderImages, TarImages
from trope.errors import DataError, TropeError

COUNT, SIZE = 37, 24


def picture(seed: int) -> bytes:
    pixels = np.random.default_rng(seed).integers(0, 256, (30, 40, 3), dtype=np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG")
    return buffer.getvalue()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> FolderImages:
    folder = tmp_path_factory.mktemp("pictures")
    return in_folder(folder, [picture(i) for i in range(COUNT)])


def in_folder(folder: Path, contents: list[bytes]) -> FolderImages:
    names = [f"{i}.png" for i in range(len(contents))]
    for name, content in zip(names, contents, strict=True):
        (folder / name).write_bytes(content)
    return FolderImages(folder, pa.chunked_array([names]))


def pixels_of(batches: Iterable[ImageBatch]) -> np.ndarray:
    return np.concatenate([batch.pixels for batch in batches])


def by_hand(store: FolderImages, rows: np.ndarray) -> np.ndarray:
    return np.stack([decode(store.read(int(row)), size=SIZE) for row in rows])


def workers_of(pid: int) -> list[int]:
    """The decoding processes a process has started."""
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            command = Path(f"/proc/{child}/cmdline").read_bytes()
            if b"trope.data.decoders" in command:
                found.append(int(child))
    return found


def alive(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] not in "ZX"


@pytest.mark.parametrize("workers", [0, 1, 2])
def test_batches_in_order_equal_plain_decoding(store: FolderImages, workers: int) -> None:
    rows = np.random.default_rng(workers).permutation(np.r_[np.arange(COUNT), [3, 3]])
    batches = ImageBatches(store, rows, size=SIZE, batch=4, workers=workers)
    assert len(batches) == 10
    parts = list(batches)
    assert [len(part.rows) for part in parts] == [4] * 9 + [3]
    np.testing.assert_array_equal(np.concatenate([part.rows for part in parts]), rows)
    np.testing.assert_array_equal(pixels_of(parts), by_hand(store, rows))
    assert [part.failed for part in parts] == [[]] * 10


@pytest.mark.parametrize("workers", [0, 2, None])
def test_few_and_no_rows(store: FolderImages, workers: int | None) -> None:
    one = list(ImageBatches(store, np.array([5]), size=SIZE, workers=workers))
    assert [batch.rows.tolist() for batch in one] == [[5]]
    assert list(ImageBatches(store, np.zeros(0, np.int64), workers=workers)) == []


def test_a_batch_is_not_overwritten_by_later_ones(store: FolderImages) -> None:
    kept = list(ImageBatches(store, np.arange(COUNT), size=SIZE, batch=2, workers=2))
    np.testing.assert_array_equal(kept[0].pixels, by_hand(store, np.arange(2)))


def test_tar_shards_in_workers(tmp_path: Path) -> None:
    contents = [picture(i) for i in range(4)]
    (tmp_path / "a.tar").write_bytes(b"".join(contents))
    sizes = np.array(list(map(len, contents)))
    offsets = np.r_[0, np.cumsum(sizes)[:-1]]
    shards = TarImages((tmp_path / "a.tar",), np.zeros(4, np.int64), offsets, sizes)
    batches = ImageBatches(shards, np.arange(4), size=SIZE, batch=2, workers=1)
    expected = np.stack([decode(content, size=SIZE) for content in contents])
    np.testing.assert_array_equal(pixels_of(batches), expected)


@given(st.integers(0, 2**31), st.integers(0, 1000), st.lists(st.integers(0, 10**6), min_size=1))
def test_flips_depend_on_seed_epoch_and_row_alone(seed: int, epoch: int, rows: list[int]) -> None:
    alone = [bool(flipped(np.array([row]), seed, epoch)[0]) for row in rows]
    assert flipped(np.array(rows), seed, epoch).tolist() == alone


def test_half_of_the_rows_are_flipped_and_epochs_differ() -> None:
    rows = np.arange(20_000)
    epochs = np.stack([flipped(rows, 1, epoch) for epoch in range(4)])
    assert np.all(np.abs(epochs.mean(axis=1) - 0.5) < 0.02)
    agreement = np.corrcoef(epochs)[np.triu_indices(4, 1)]
    assert np.all(np.abs(agreement) < 0.03)
    neighbors = np.corrcoef(epochs[0, :-1], epochs[0, 1:])[0, 1]
    assert abs(neighbors) < 0.03


@pytest.mark.parametrize("workers", [0, 1])
def test_flipped_pictures_are_mirrored(store: FolderImages, workers: int) -> None:
    rows = np.arange(COUNT)
    batches = ImageBatches(
        store, rows, size=SIZE, batch=8, workers=workers, flip=True, seed=3, epoch=2
    )
    flips, plain = flipped(rows, 3, 2), by_hand(store, rows)
    assert 0 < flips.sum() < COUNT
    expected = np.where(flips[:, None, None, None], plain[:, :, ::-1], plain)
    np.testing.assert_array_equal(pixels_of(batches), expected)


@pytest.fixture
def broken(tmp_path: Path) -> FolderImages:
    contents = [picture(0), b"", picture(1)[:200], b"rubbish", picture(2), picture(3)]
    made = in_folder(tmp_path, contents)
    (tmp_path / "5.png").unlink()
    return made


@pytest.mark.parametrize("workers", [0, 2])
def test_broken_pictures_are_reported(broken: FolderImages, workers: int) -> None:
    batches = list(ImageBatches(broken, np.arange(6), size=SIZE, batch=2, workers=workers))
    assert [batch.rows.tolist() for batch in batches] == [[0], [], [4]]
    assert batches[1].pixels.shape == (0, SIZE, SIZE, 3)
    np.testing.assert_array_equal(batches[2].pixels, by_hand(broken, np.array([4])))
    reasons = dict(failure for batch in batches for failure in batch.failed)
    assert list(reasons) == [1, 2, 3, 5]
    assert reasons[1] == "row 2: the file is empty"
    assert reasons[2].startswith("row 3: cannot be decoded")
    assert "5.png" in reasons[5]


@pytest.mark.parametrize("workers", [0, 1])
def test_broken_pictures_are_refused(broken: FolderImages, workers: int) -> None:
    batches = ImageBatches(
        broken, np.arange(6), size=SIZE, batch=2, workers=workers, broken="refuse"
    )
    with pytest.raises(DataError, match="row 2: the file is empty"):
        list(batches)
    assert workers_of(os.getpid()) == []


@pytest.mark.parametrize(
    "wrong", [{"size": 0}, {"batch": 0}, {"workers": -1}, {"broken": "ignore"}]
)
def test_wrong_settings(store: FolderImages, wrong: dict[str, object]) -> None:
    with pytest.raises((ValueError, TypeError), match=next(iter(wrong))):
        ImageBatches(store, np.arange(3), **wrong)  # type: ignore[arg-type]


def test_killed_workers_lose_no_picture(store: FolderImages) -> None:
    rows = np.tile(np.arange(COUNT), 3)
    parts: list[ImageBatch] = []
    killed = set()
    for batch in ImageBatches(store, rows, size=SIZE, batch=4, workers=2):
        parts.append(batch)
        if len(parts) in (1, 2, 9, 20):
            victims = workers_of(os.getpid())[: 1 + len(parts) % 2]
            killed |= set(victims)
            for pid in victims:
                os.kill(pid, signal.SIGKILL)
    assert len(killed) >= 4
    np.testing.assert_array_equal(np.concatenate([part.rows for part in parts]), rows)
    np.testing.assert_array_equal(pixels_of(parts), by_hand(store, rows))
    assert workers_of(os.getpid()) == []


POISON = """
import os, signal
from dataclasses import dataclass
from trope.data.stores import FolderImages

@dataclass(frozen=True)
class Poison:
    good: FolderImages
    signal: int

    def read(self, row):
        if row == 9:
            os.kill(os.getpid(), self.signal)
        return self.good.read(row)

    def stamp(self, row):
        return self.good.stamp(row)

    def take(self, rows):
        return self
"""


def test_a_picture_that_kills_every_worker_is_a_clear_error(
    store: FolderImages, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "poison.py").write_text(POISON)
    monkeypatch.syspath_prepend(tmp_path)
    from poison import Poison

    monkeypatch.setattr(decoders, "DEATHS", 1)
    batches = ImageBatches(
        Poison(store, signal.SIGSEGV), np.arange(COUNT), size=SIZE, batch=4, workers=1
    )
    with pytest.raises(TropeError, match=r"rows 9 to 12: 2 worker processes died.*SIGSEGV"):
        list(batches)
    assert workers_of(os.getpid()) == []


def test_leaving_early_ends_the_workers_and_frees_the_handles(store: FolderImages) -> None:
    handles = len(list(Path("/proc/self/fd").iterdir()))
    batches = iter(ImageBatches(store, np.arange(COUNT), size=SIZE, batch=2, workers=2))
    next(batches)
    pids = workers_of(os.getpid())
    assert len(pids) == 2
    batches.close()
    assert not any(map(alive, pids))
    assert len(list(Path("/proc/self/fd").iterdir())) == handles


# No `if __name__ == "__main__"`: the script's own lines must run once, whatever the workers do.
SCRIPT = """
import os, sys, time
from pathlib import Path
import numpy, pyarrow
from trope.data.loading import ImageBatches
from trope.data.stores import FolderImages
folder = Path(sys.argv[1])
print("started", flush=True)
store = FolderImages(folder, pyarrow.chunked_array([sorted(p.name for p in folder.iterdir())]))
rows = numpy.arange(len(store.paths))
for batch in ImageBatches(store, rows, size=24, batch=2, workers=2):
    print("batch", flush=True)
    time.sleep(float(sys.argv[2]))
"""


def test_a_script_without_a_guard_runs_once(store: FolderImages) -> None:
    command = [sys.executable, "-c", SCRIPT, str(store.root), "0"]
    output = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    assert output.split() == ["started"] + ["batch"] * 19


def test_workers_leave_when_the_parent_is_killed(store: FolderImages) -> None:
    command = [sys.executable, "-c", SCRIPT, str(store.root), "60"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        assert [parent.stdout.readline() for _ in range(2)] == ["started\n", "batch\n"]
        pids = workers_of(parent.pid)
        assert len(pids) == 2
        parent.kill()
    deadline = time.monotonic() + 20
    while any(map(alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(alive, pids))


def test_batches_let_go_of_are_delivered_in_place(store: FolderImages) -> None:
    rows = np.tile(np.arange(COUNT), 4)
    places = set()
    for batch in ImageBatches(store, rows, SIZE, batch=2, workers=2):
        places.add(batch.pixels.ctypes.data)
    assert len(places) <= 2 * decoders.AHEAD + decoders.LENT


def test_a_view_of_a_batch_keeps_its_pixels(store: FolderImages) -> None:
    rows = np.tile(np.arange(COUNT), 4)
    kept = None
    for number, batch in enumerate(ImageBatches(store, rows, SIZE, batch=2, workers=2)):
        if number == 1:
            kept = batch.pixels[1, ::-1]
    assert kept is not None
    assert np.array_equal(kept[::-1], by_hand(store, rows[3:4])[0])

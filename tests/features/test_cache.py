from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fakes import Fake, data_set, write_pictures

from trope.data import images
from trope.data.digests import digest, image_digests
from trope.data.images import decode
from trope.data.loading import ImageBatches
from trope.data.pairs import Pairs
from trope.data.stores import ImageStore, NoImages
from trope.errors import DataError, UsageError
from trope.features import FeatureTable, cache, failures, features, kinds
from trope.features.cache import folder_of


@pytest.fixture
def pairs(tmp_path: Path) -> Pairs:
    return data_set(tmp_path / "data", [*write_pictures(tmp_path / "data", 40)])


@pytest.fixture(autouse=True)
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "SHARD_IMAGES", 8)
    monkeypatch.setattr(cache, "BATCH", 4)


def by_hand(pairs: Pairs, kind: str = "pooled") -> np.ndarray:
    fake = Fake()
    pixels = np.stack([decode(pairs.images.read(row), size=fake.size) for row in range(len(pairs))])
    return fake.encode(pixels, kind)


class Untouchable(NoImages):
    """Pictures that may be looked at from outside, but not opened."""

    def __init__(self, pairs: Pairs) -> None:
        object.__setattr__(self, "pairs", pairs)

    def read(self, row: int) -> bytes:
        raise AssertionError(f"row {row} was read")

    def stamp(self, row: int) -> str:
        return self.pairs.images.stamp(row)  # type: ignore[attr-defined]


def sealed(pairs: Pairs) -> Pairs:
    return replace(pairs, images=Untouchable(pairs))


@pytest.mark.parametrize("kind", ["pooled", "grid", "tokens"])
def test_features_of_every_row(pairs: Pairs, kind: str) -> None:
    table = features(pairs, Fake(), kind, workers=0)
    expected = by_hand(pairs, kind)
    np.testing.assert_array_equal(table.read(table.rows), expected)
    np.testing.assert_array_equal(table.all(), expected)
    assert (len(table), table.shape, table.dtype) == (40, expected.shape[1:], expected.dtype)
    assert table.failed == ()
    assert table.remarks == ()


class Cells(Fake):
    """A fake with a real grid, of numbers that differ from cell to cell."""

    def encode(self, pixels: np.ndarray, kind: str) -> np.ndarray:
        each = super().encode(pixels, "pooled")[:, None] / 2**12
        return (each * np.cos(np.arange(49))[None, :, None]).astype(np.float16)


def test_fewer_cells_are_means_of_those_below(pairs: Pairs) -> None:
    fake = Cells()
    table = features(pairs, fake, "grid", side=3, workers=0)
    assert len(fake.encoded) == 40
    squares = features(pairs, fake, "grid", workers=0).all().reshape(40, 7, 7, 3)
    bounds = [(0, 3), (2, 5), (4, 7)]  # of seven, three overlap by one
    wanted = [
        squares[:, a:b, c:d].astype(np.float64).mean(axis=(1, 2))
        for a, b in bounds
        for c, d in bounds
    ]
    assert table.dtype == np.float16
    np.testing.assert_allclose(table.all(), np.stack(wanted, axis=1), rtol=2e-3, atol=2e-4)
    again = features(sealed(pairs), fake, "grid", side=3, workers=0)
    np.testing.assert_array_equal(again.all(), table.all())
    assert len(fake.encoded) == 40  # neither grid was computed twice


def test_fewer_cells_tell_failures_too(flawed: Pairs) -> None:
    whole = features(flawed, Cells(), "grid", workers=0)
    fewer = features(flawed, Cells(), "grid", side=2, workers=0)
    assert fewer.failed == whole.failed
    assert fewer.rows.tolist() == whole.rows.tolist()
    assert fewer.shape == (4, 3)


@pytest.mark.parametrize(("kind", "side"), [("pooled", 3), ("tokens", 3), ("grid", 0), ("grid", 8)])
def test_cells_that_there_are_not(pairs: Pairs, kind: Any, side: int) -> None:
    with pytest.raises(UsageError, match=f"side {side}: of a grid alone, and from 1 to 7"):
        features(pairs, Fake(), kind, side=side, workers=0)


def test_by_worker_processes(pairs: Pairs) -> None:
    table = features(pairs, Fake(), workers=1)
    np.testing.assert_array_equal(table.all(), by_hand(pairs))


def test_a_second_run_opens_no_picture_and_runs_no_network(pairs: Pairs) -> None:
    first = features(pairs, Fake(), workers=0)
    fake = Fake()
    again = features(sealed(pairs), fake, workers=0)
    np.testing.assert_array_equal(again.all(), first.all())
    np.testing.assert_array_equal(again.rows, first.rows)
    assert fake.encoded == []


def test_other_data_with_the_same_pictures_shares(pairs: Pairs, tmp_path: Path) -> None:
    features(pairs, Fake(), workers=0)
    names = write_pictures(tmp_path / "other", 10, first=35)
    other, fake = data_set(tmp_path / "other", [*names]), Fake()
    table = features(other, fake, workers=0)
    assert len(fake.encoded) == 5
    np.testing.assert_array_equal(table.all(), by_hand(other))


def test_shards_are_bounded(pairs: Pairs) -> None:
    features(pairs, Fake(), workers=0)
    shards = sorted(folder_of(Fake(), "pooled").glob("*.npy"))
    assert [len(np.load(shard)) for shard in shards] == [8] * 5


def test_shards_are_bounded_by_their_bytes(pairs: Pairs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "SHARD_IMAGES", 1_000)
    monkeypatch.setattr(cache, "SHARD_BYTES", 100)
    features(pairs, Fake(), workers=0)
    shards = sorted(folder_of(Fake(), "pooled").glob("*.npy"))
    assert [len(np.load(shard)) for shard in shards] == [12] * 3 + [4]


def test_equal_pictures_are_computed_once(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    names = write_pictures(folder, 3)
    (folder / "copy.png").write_bytes((folder / names[1]).read_bytes())
    pairs, fake = data_set(folder, [names[0], names[1], "copy.png", names[2], names[0]]), Fake()
    table = features(pairs, fake, workers=0)
    assert len(fake.encoded) == len(table) == 3
    assert table.rows.tolist() == [0, 1, 1, 2, 0]
    np.testing.assert_array_equal(table.read(table.rows), by_hand(pairs))


def test_what_depends_on_weights_pixels_and_kind_is_kept_apart(
    pairs: Pairs, monkeypatch: pytest.MonkeyPatch
) -> None:
    features(pairs, Fake(), workers=0)
    other_weights, other_size, other_kind = Fake(weights="two"), Fake(size=4), Fake()
    features(pairs, other_weights, workers=0)
    features(pairs, other_size, workers=0)
    features(pairs, other_kind, "grid", workers=0)
    monkeypatch.setattr(images, "VERSION", images.VERSION + 1)
    other_pixels = Fake()
    features(pairs, other_pixels, workers=0)
    monkeypatch.setattr(kinds, "VERSION", kinds.VERSION + 1)
    other_code = Fake()
    features(pairs, other_code, workers=0)
    for fake in (other_weights, other_size, other_kind, other_pixels, other_code):
        assert len(fake.encoded) == 40


@pytest.fixture
def flawed(tmp_path: Path) -> Pairs:
    folder = tmp_path / "data"
    names = write_pictures(folder, 6)
    (folder / "rubbish.png").write_bytes(b"rubbish")
    (folder / "rubbish too.png").write_bytes(b"rubbish")
    bad = ["rubbish.png", "gone.png", "rubbish too.png"]
    return data_set(folder, [names[0], bad[0], None, names[1], bad[1], bad[2], *names[2:]])


def test_failures_are_told_row_by_row(flawed: Pairs) -> None:
    table = features(flawed, Fake(), workers=0)
    assert table.rows.tolist() == [0, -1, -1, 1, -1, -1, 2, 3, 4, 5]
    reasons = dict(table.failed)
    assert list(reasons) == [1, 4, 5]
    assert "cannot be decoded" in reasons[1]
    assert "gone.png" in reasons[4]
    assert reasons[5] == reasons[1]
    good = flawed.take(np.flatnonzero(table.rows >= 0))
    np.testing.assert_array_equal(table.read(table.rows[table.rows >= 0]), by_hand(good))


def test_failures_are_told_again_and_cost_no_network(flawed: Pairs) -> None:
    first = features(flawed, Fake(), workers=0)
    fake = Fake()
    assert features(flawed, fake, workers=0).failed == first.failed
    assert fake.encoded == []


def test_broken_pictures_are_not_opened_again(
    flawed: Pairs, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = features(flawed, Fake(), workers=0)

    def refused(folder: Path) -> None:
        raise AssertionError(f"{folder} was locked")

    monkeypatch.setattr(cache, "locked", refused)
    again = features(sealed(flawed), Fake(), workers=0)
    assert again.failed == first.failed
    np.testing.assert_array_equal(again.rows, first.rows)


def test_broken_pictures_are_known_to_other_backbones_and_data(
    flawed: Pairs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    features(flawed, Fake(), workers=0)
    names = write_pictures(tmp_path / "other", 2)
    (tmp_path / "other" / "bad.png").write_bytes(b"rubbish")
    other, opened = data_set(tmp_path / "other", [*names, "bad.png"]), []
    plain = cache.ImageBatches

    def watched(store: ImageStore, rows: np.ndarray, **options: Any) -> ImageBatches:
        opened.extend(rows.tolist())
        return plain(store, rows, **options)

    monkeypatch.setattr(cache, "ImageBatches", watched)
    table = features(other, Fake(weights="two"), workers=0)
    assert opened == [0, 1]
    assert [(row, reason[:22]) for row, reason in table.failed] == [(2, "row 3: cannot be decod")]
    monkeypatch.setattr(images, "VERSION", images.VERSION + 1)
    features(other, Fake(weights="two"), workers=0)
    assert opened == [0, 1, 0, 1, 2]


def test_a_broken_picture_that_changes_meanwhile_is_not_noted(
    flawed: Pairs, tmp_path: Path
) -> None:
    path = tmp_path / "data" / "rubbish.png"
    features(flawed, Fake(before=lambda: path.write_bytes(b"other rubbish")), workers=0)
    assert failures.recall(np.array([digest(b"rubbish"), digest(b"other rubbish")], "S16")) == {}


def test_a_cache_that_cannot_be_written_names_the_setting(
    pairs: Pairs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    image_digests(pairs)
    (tmp_path / ".trope-cache" / "features").write_bytes(b"in the way")
    with pytest.raises(UsageError, match=r"cannot be written .*TROPE_CACHE"):
        features(pairs, Fake(), workers=0)


def test_nothing_usable_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.png").write_bytes(b"rubbish")
    first = r"row '0' \(line 1\), a.png: cannot be decoded"
    with pytest.raises(DataError, match=rf"no row has a picture that can be used \({first}"):
        features(data_set(tmp_path / "data", ["a.png"]), Fake(), workers=0)
    with pytest.raises(DataError, match=r"no row has a picture that can be used$"):
        features(data_set(tmp_path / "texts", [None]), Fake(), workers=0)


def test_unknown_kind(pairs: Pairs) -> None:
    with pytest.raises((UsageError, TypeError), match="pool"):
        features(pairs, Fake(), "pool", workers=0)  # type: ignore[arg-type]


def damage(path: Path, how: str) -> None:
    data = bytearray(path.read_bytes())
    if how == "remove":
        path.unlink()
        return
    if how == "flip":
        data[-5] ^= 1
    path.write_bytes(
        data[: len(data) // 2] if how == "truncate" else data if how == "flip" else b""
    )


@pytest.mark.parametrize("how", ["flip", "truncate", "empty", "remove"])
def test_a_damaged_shard_is_told_and_computed_again(
    pairs: Pairs, how: str, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = features(pairs, Fake(), workers=0).all()
    shard = folder_of(Fake(), "pooled") / "000002.npy"
    damage(shard, how)
    fake = Fake()
    table = features(pairs, fake, workers=0)
    np.testing.assert_array_equal(table.all(), expected)
    assert sorted(fake.encoded) == list(range(8, 16))
    assert table.remarks == (f"{shard}: damaged; its features are computed again",)
    assert capsys.readouterr() == ("", f"{table.remarks[0]}\n")
    again = Fake()
    assert features(sealed(pairs), again, workers=0).remarks == ()
    assert again.encoded == []


@pytest.mark.parametrize("how", ["truncate", "empty", "digest", "checksum"])
def test_a_damaged_description_is_told_and_computed_again(pairs: Pairs, how: str) -> None:
    expected = features(pairs, Fake(), workers=0).all()
    path = folder_of(Fake(), "pooled") / "000003.json"
    if how in ("digest", "checksum"):
        text = path.read_text()
        start = text.index('"sha256": "' if how == "checksum" else '"digests": "') + 12
        path.write_text(text[:start] + ("0" if text[start] != "0" else "1") + text[start + 1 :])
    else:
        damage(path, how)
    fake = Fake()
    table = features(pairs, fake, workers=0)
    np.testing.assert_array_equal(table.all(), expected)
    assert sorted(fake.encoded) == list(range(16, 24))
    assert len(table.remarks) == 1
    assert "000003" in table.remarks[0]


def test_half_written_files_are_ignored_and_taken_away(pairs: Pairs) -> None:
    folder = folder_of(Fake(), "pooled")
    folder.mkdir(parents=True)
    (folder / ".000001.npy.0123.partial").write_bytes(b"half")
    np.save(folder / "000007.npy", np.zeros((8, 3), np.float32))
    table = features(pairs, Fake(), workers=0)
    np.testing.assert_array_equal(table.all(), by_hand(pairs))
    assert table.remarks == ()
    assert len(list(folder.glob("[!.]*"))) == 10


def test_a_picture_that_changes_meanwhile_gets_no_features(pairs: Pairs, tmp_path: Path) -> None:
    path = tmp_path / "data" / "5.png"

    def change() -> None:
        path.write_bytes((tmp_path / "data" / "39.png").read_bytes() + b"changed")

    table = features(pairs, Fake(before=change), workers=0)
    assert table.failed == ((5, "the picture changed while its features were computed"),)
    assert table.rows[5] == -1
    keep = np.flatnonzero(np.arange(40) != 5)
    np.testing.assert_array_equal(table.all(), by_hand(pairs.take(keep)))


SCRIPT = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import trope
from fakes import Fake
from trope.features import cache, features
cache.SHARD_IMAGES, cache.BATCH = 8, 4
fake = Fake(log=Path(sys.argv[3]), pause=float(sys.argv[4]))
features(trope.open(sys.argv[2]), fake, workers=0)
"""


def started(pairs: Pairs, log: Path, pause: float) -> subprocess.Popen[bytes]:
    here = Path(__file__).parent
    command = [sys.executable, "-c", SCRIPT, here, pairs.root, log, str(pause)]
    return subprocess.Popen([str(part) for part in command])


def test_a_killed_run_loses_at_most_one_shard(pairs: Pairs, tmp_path: Path) -> None:
    log, folder = tmp_path / "log", folder_of(Fake(), "pooled")
    process = started(pairs, log, 0.15)
    deadline = time.monotonic() + 60
    while len(list(folder.glob("*.json"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    kept = 8 * len(list(folder.glob("*.json")))
    before = log.stat().st_size
    assert 16 <= kept <= before < 40
    fake = Fake()
    table = features(pairs, fake, workers=0)
    assert len(fake.encoded) == 40 - kept
    assert before - kept <= 8  # computed a second time
    np.testing.assert_array_equal(table.all(), by_hand(pairs))


def test_two_processes_share_the_work(pairs: Pairs, tmp_path: Path) -> None:
    logs = [tmp_path / "one", tmp_path / "two"]
    running = [started(pairs, log, 0.02) for log in logs]
    assert [process.wait(60) for process in running] == [0, 0]
    assert sum(log.stat().st_size for log in logs if log.exists()) == 40
    fake = Fake()
    table: FeatureTable = features(sealed(pairs), fake, workers=0)
    np.testing.assert_array_equal(table.all(), by_hand(pairs))
    assert fake.encoded == []

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import trope
from trope.data import digests
from trope.data.digests import Memory, digest, distinct, image_digests
from trope.data.pairs import Pairs
from trope.data.stores import ImageStore
from trope.errors import DataError, UsageError


def data_set(folder: Path, contents: Sequence[bytes | None]) -> Pairs:
    """A row per content, in files of their own; None is a row without a picture."""
    folder.mkdir(exist_ok=True)
    rows: list[dict[str, str]] = []
    for i, content in enumerate(contents):
        rows.append({"id": str(i), "text": f"text {i}"})
        if content is not None:
            (folder / f"{i}.jpg").write_bytes(content)
            rows[-1]["image"] = f"{i}.jpg"
    (folder / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return trope.open(folder)


@dataclass
class Counting:
    """A store that tells which rows were read."""

    store: ImageStore
    read_rows: list[int] = field(default_factory=list)
    until: int = 10**9

    def read(self, row: int) -> bytes:
        if len(self.read_rows) >= self.until:
            raise KeyboardInterrupt
        self.read_rows.append(row)
        return self.store.read(row)

    def stamp(self, row: int) -> str:
        return self.store.stamp(row)

    def take(self, rows: np.ndarray) -> ImageStore:
        return Counting(self.store.take(rows), self.read_rows)


def counted(pairs: Pairs) -> tuple[Pairs, Counting]:
    store = Counting(pairs.images)
    return replace(pairs, images=store), store


def expected(data: bytes) -> bytes:
    """As numpy shows it: without final zeros."""
    return hashlib.blake2b(data, digest_size=16).digest().rstrip(b"\0")


def test_digests_name_the_content(tmp_path: Path) -> None:
    contents = [b"one", b"two", b"one", "ünïcode 漢".encode()]
    found = image_digests(data_set(tmp_path / "data", contents))
    assert found.values.tolist() == [expected(content) for content in contents]
    assert found.failed == ()
    assert found.values[0] == found.values[2] != found.values[1]


def test_a_second_call_reads_no_picture(tmp_path: Path) -> None:
    pairs, store = counted(data_set(tmp_path / "data", [bytes([i]) * 10 for i in range(200)]))
    first = image_digests(pairs)
    assert sorted(store.read_rows) == list(range(200))
    store.read_rows.clear()
    again = image_digests(trope.open(tmp_path / "data"))
    assert image_digests(pairs).values.tolist() == first.values.tolist() == again.values.tolist()
    assert store.read_rows == []


def test_the_stamp_alone_decides(tmp_path: Path) -> None:
    pairs = data_set(tmp_path / "data", [b"aaaa", b"bbbb"])
    first = image_digests(pairs).values
    path = tmp_path / "data" / "0.jpg"
    status = path.stat()
    path.write_bytes(b"cccc")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert image_digests(pairs).values.tolist() == first.tolist()
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    assert image_digests(pairs).values.tolist() == [expected(b"cccc"), first[1]]


def test_a_selection_is_remembered_with_the_whole(tmp_path: Path) -> None:
    pairs, store = counted(data_set(tmp_path / "data", [b"a", b"b", b"c", b"d"]))
    part = image_digests(pairs.take(np.array([2, 0])))
    assert part.values.tolist() == [expected(b"c"), expected(b"a")]
    store.read_rows.clear()
    whole = image_digests(pairs)
    assert len(store.read_rows) == 2
    assert whole.values.tolist() == [expected(c) for c in (b"a", b"b", b"c", b"d")]


def test_rows_of_one_file_read_it_once(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    data_set(folder, [b"same"])
    rows = [json.dumps({"id": str(i), "image": "0.jpg", "text": "t"}) for i in range(50)]
    (folder / "pairs.jsonl").write_text("\n".join(rows), encoding="utf-8")
    pairs, store = counted(trope.open(folder))
    assert set(image_digests(pairs).values.tolist()) == {expected(b"same")}
    assert len(store.read_rows) == 1


def test_what_cannot_be_read_is_reported(tmp_path: Path) -> None:
    pairs = data_set(tmp_path / "data", [b"good", b"gone", b"", None, b"folder", b"good too"])
    (tmp_path / "data" / "1.jpg").unlink()
    (tmp_path / "data" / "4.jpg").unlink()
    (tmp_path / "data" / "4.jpg").mkdir()
    found = image_digests(pairs)
    assert [value != b"" for value in found.values] == [True, False, False, False, False, True]
    reasons = dict(found.failed)
    assert list(reasons) == [1, 2, 4]
    assert "1.jpg" in reasons[1]
    assert "empty" in reasons[2]
    assert "4.jpg" in reasons[4]


def test_every_row_of_an_unreadable_file_is_reported(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    data_set(folder, [b""])
    rows = [json.dumps({"id": str(i), "image": "0.jpg", "text": "t"}) for i in range(3)]
    (folder / "pairs.jsonl").write_text("\n".join(rows), encoding="utf-8")
    assert [row for row, _ in image_digests(trope.open(folder)).failed] == [0, 1, 2]


def test_failures_are_tried_again(tmp_path: Path) -> None:
    pairs = data_set(tmp_path / "data", [b"a", b"b"])
    (tmp_path / "data" / "1.jpg").unlink()
    assert len(image_digests(pairs).failed) == 1
    (tmp_path / "data" / "1.jpg").write_bytes(b"back")
    found = image_digests(pairs)
    assert found.failed == ()
    assert found.values[1] == expected(b"back")


def test_a_vanished_shard_is_reported(tmp_path: Path) -> None:
    source = data_set(tmp_path / "source", [b"x" * 600, b"y" * 700])
    (tmp_path / "tars").mkdir()
    with tarfile.open(tmp_path / "tars" / "0.tar", "w") as tar:
        for i in range(2):
            (tmp_path / f"{i}.txt").write_text(f"text {i}", encoding="utf-8")
            tar.add(tmp_path / "source" / f"{i}.jpg", f"{i}.jpg")
            tar.add(tmp_path / f"{i}.txt", f"{i}.txt")
    pairs = trope.open(tmp_path / "tars")
    assert image_digests(pairs).values.tolist() == image_digests(source).values.tolist()
    (tmp_path / "tars" / "0.tar").unlink()
    found = image_digests(pairs)
    assert [row for row, _ in found.failed] == [0, 1]
    assert all("0.tar" in reason for _, reason in found.failed)


@pytest.mark.parametrize("damage", ["truncate", "flip", "rubbish", "empty"])
def test_a_damaged_memory_is_made_again(tmp_path: Path, damage: str) -> None:
    pairs = data_set(tmp_path / "data", [bytes([i]) for i in range(100)])
    first = image_digests(pairs).values
    (path,) = Memory.of(pairs.root).folder.glob("[!.]*")
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 1
    damaged = {
        "truncate": data[: len(data) // 2],
        "flip": data,
        "rubbish": b"rubbish",
        "empty": b"",
    }
    path.write_bytes(damaged[damage])
    assert Memory.of(pairs.root).segments() == []
    assert image_digests(pairs).values.tolist() == first.tolist()
    assert [len(known) for known, _ in Memory.of(pairs.root).segments()] == [100]


def test_an_interrupted_call_keeps_its_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(digests, "BLOCK", 10)
    monkeypatch.setattr(digests, "TASK", 2)
    pairs, store = counted(data_set(tmp_path / "data", [bytes([i]) for i in range(50)]))
    store.until = 25
    with pytest.raises(KeyboardInterrupt):
        image_digests(pairs)
    store.read_rows.clear()
    store.until = 10**9
    found = image_digests(pairs)
    assert sorted(store.read_rows) == list(range(20, 50))
    assert found.values.tolist() == [expected(bytes([i])) for i in range(50)]


SCRIPT = """
import sys, numpy, trope
from trope.data import digests
digests.BLOCK, digests.SEGMENTS = 5, 3
pairs = trope.open(sys.argv[1])
start = int(sys.argv[2])
digests.image_digests(pairs.take(numpy.arange(start, start + 60)))
"""


def test_two_processes_add_to_one_memory(tmp_path: Path) -> None:
    pairs = data_set(tmp_path / "data", [bytes([i]) for i in range(100)])
    command = [sys.executable, "-c", SCRIPT, str(tmp_path / "data")]
    running = [subprocess.Popen([*command, start]) for start in ("0", "40")]
    assert [process.wait(60) for process in running] == [0, 0]
    watched, store = counted(pairs)
    assert image_digests(watched).values.tolist() == [expected(bytes([i])) for i in range(100)]
    assert store.read_rows == []
    assert {path.suffix for path in Memory.of(pairs.root).folder.glob("[!.]*")} == {".parquet"}


@given(st.lists(st.integers(0, 5)))
def test_distinct_by_hand(numbers: list[int]) -> None:
    first, number = distinct(np.array([bytes([65 + n]) for n in numbers], "S16"))
    seen: list[int] = []
    for value in numbers:
        if value not in seen:
            seen.append(value)
    assert first.tolist() == [numbers.index(value) for value in seen]
    assert number.tolist() == [seen.index(value) for value in numbers]


@settings(max_examples=20)
@given(st.sets(st.binary(min_size=16, max_size=16).filter(any), max_size=30), st.data())
def test_memory_finds_what_was_added(
    tmp_path_factory, stamps: set[bytes], data: st.DataObject
) -> None:
    memory = Memory(tmp_path_factory.mktemp("memory") / "digests")
    keys = np.array(sorted(stamps), "S16")
    values = np.array([digest(key) for key in keys], "S16")
    half = data.draw(st.integers(0, len(keys)))
    memory.add(keys[half:], values[half:])
    assert memory.find(keys).tolist() == [b""] * half + values[half:].tolist()
    memory.add(keys[:half], values[:half])
    assert memory.find(keys).tolist() == values.tolist()


def numbered(count: int, first: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Stamps and digests that tell their numbers."""
    numbers = range(first, first + count)
    stamps = np.array([digest(f"stamp {i}".encode()) for i in numbers], "S16")
    return stamps, np.array([digest(f"content {i}".encode()) for i in numbers], "S16")


def test_news_are_appended_and_merged_when_there_are_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(digests, "SEGMENTS", 4)
    memory, counts = Memory(tmp_path / "memory"), []
    for block in range(11):
        before = {path: path.stat().st_ino for path in memory.folder.glob("[!.]*")}
        memory.add(*numbered(10, 10 * block))
        counts.append(len(list(memory.folder.glob("[!.]*"))))
        if counts[-1] > 1:
            assert {path: path.stat().st_ino for path in before} == before  # none written again
    assert counts == [1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3]
    stamps, values = numbered(110)
    assert memory.find(stamps).tolist() == values.tolist()


def test_a_damaged_segment_costs_only_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(digests, "SEGMENTS", 3)
    memory = Memory(tmp_path / "memory")
    for block in range(3):
        memory.add(*numbered(10, 10 * block))
    sorted(memory.folder.glob("[!.]*"))[1].write_bytes(b"rubbish")
    stamps, values = numbered(40)
    expected = [*values[:10].tolist(), *[b""] * 10, *values[20:30].tolist(), *[b""] * 10]
    assert memory.find(stamps).tolist() == expected
    memory.add(stamps[30:], values[30:])
    assert memory.find(stamps).tolist() == [*expected[:30], *values[30:].tolist()]
    assert len(list(memory.folder.glob("[!.]*"))) == 1


@pytest.mark.parametrize("block", [3, 100])
def test_the_newest_digest_of_a_stamp_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr(digests, "BLOCK", block)  # with few stamps and with many
    memory, (stamps, values) = Memory(tmp_path / "memory"), numbered(5)
    memory.add(stamps, values)
    memory.add(stamps, values[::-1])
    assert memory.find(stamps).tolist() == values[::-1].tolist()
    assert memory.find(numbered(5, 3)[0]).tolist() == [*values[::-1][3:].tolist(), b"", b"", b""]


def test_a_merge_while_reading_hides_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(digests, "SEGMENTS", 2)
    memory, (stamps, values) = Memory(tmp_path / "memory"), numbered(30)
    for block in range(2):
        memory.add(stamps[10 * block : 10 * block + 10], values[10 * block : 10 * block + 10])
    plain, merged = digests._segment, []

    def slow(path: Path) -> digests.Segment | None:
        if not merged:
            merged.append(path)
            memory.add(stamps[20:], values[20:])
        return plain(path)

    monkeypatch.setattr(digests, "_segment", slow)
    assert memory.find(stamps).tolist() == values.tolist()


def test_a_cache_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("TROPE_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(
        UsageError, match=r"file/cache/.*cannot be written \(.*\); TROPE_CACHE "
    ) as e:
        image_digests(data_set(tmp_path / "data", [b"a"]))
    assert "\n" not in str(e.value)


def test_text_only_rows_cost_nothing(tmp_path: Path) -> None:
    found = image_digests(data_set(tmp_path / "data", [None, None]))
    assert found.values.tolist() == [b"", b""]
    assert found.failed == ()


def test_error_of_the_store_is_kept_in_words(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    data_set(folder, [b"a"])
    row = {"id": "0", "image": "../outside.jpg", "text": "t"}
    (folder / "pairs.jsonl").write_text(json.dumps(row), encoding="utf-8")
    pairs = trope.open(folder)
    with pytest.raises(DataError, match=r"has '\.\.'"):
        pairs.images.read(0)
    assert "has '..'" in image_digests(pairs).failed[0][1]

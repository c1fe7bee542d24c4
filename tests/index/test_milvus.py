"""What only a server can get wrong: writes that ended half-way, and its limits."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from index_samples import details, environment, items, made

from trope.errors import DataError, TropeError, UsageError
from trope.index import IndexSettings, open_engine
from trope.index.filters import parse
from trope.index.folder import FILE, read_state, verified
from trope.index.job import _source
from trope.index.milvus import connected, server
from trope.locks import NAME as LOCK

pytestmark = pytest.mark.xdist_group("milvus")

WRITER = """
import sys
from pathlib import Path
from index_samples import details, items
from trope.index import open_engine
index = open_engine(Path(sys.argv[1]))
print("ready", flush=True)
index.add(*items(3_000, seed=1, start=35), details=details(3_000, seed=1))
"""


class Killed(BaseException):
    """As if the process ended here."""


Seen = dict[str, list[list[int]]]  # items with their parts


def whole(ids: list[str], seed: int = 0) -> Seen:
    """What is put in by the samples of these ids."""
    parts = details(len(ids), seed=seed).rows()
    return {name: rows.tolist() for name, rows in zip(ids, parts, strict=True)}


def without(some: Seen, ids: list[str]) -> Seen:
    return {name: rows for name, rows in some.items() if name not in ids}


def ends(*_: object, **__: object) -> None:
    raise Killed


def seen(folder: Path) -> Seen:
    for file in read_state(folder).files():
        verified(folder, file, again=True)
    index = open_engine(folder)
    found = index.nearest(items(1)[1], 4_000, "image").ids[0]
    names = [name for name in found if name]
    assert len(names) == len(set(names)) == index.count("image")
    parts = index.get(names).details
    index.close()
    assert parts is not None
    return {name: rows.tolist() for name, rows in zip(names, parts.rows(), strict=True)}


def test_a_write_that_ends_before_the_switch_leaves_the_old_state(
    milvus: IndexSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index, old = made(tmp_path, milvus, details="locals"), items(40)
    index.add(*old, details=details(40))
    new = items(10, seed=1, start=35)  # five are replaced
    with monkeypatch.context() as patch:
        patch.setattr("trope.index.milvus.writing.write_state", ends)
        with pytest.raises(Killed):
            index.add(*new, details=details(10, seed=1))
    assert seen(tmp_path) == whole(old[0])
    other = open_engine(tmp_path)
    other.remove(old[0][:1])  # puts right what was left
    left = without(whole(old[0]), old[0][:1])
    assert seen(tmp_path) == left
    named = {file.name for file in read_state(tmp_path).files()}
    there = {path.name for path in tmp_path.iterdir() if path.is_file()}
    assert there == {FILE, LOCK, *named}
    held = other.get([old[0][36]]).vectors
    assert (held == old[1][36:37]).all()
    other.add(*new, details=details(10, seed=1))
    assert seen(tmp_path) == left | whole(new[0], 1)
    assert (other.get([new[0][1]]).vectors == new[1][1:2]).all()
    other.close()
    index.close()


def test_noting_a_data_set_shows_nothing_of_a_write_that_ended_half_way(
    milvus: IndexSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else what it had marked to go would be gone, and what it had brought be there."""
    index, old = made(tmp_path, milvus, details="locals"), items(20)
    index.add(*old, details=details(20))
    with monkeypatch.context() as patch:
        patch.setattr("trope.index.milvus.writing.write_state", ends)
        with pytest.raises(Killed):
            index.add(*items(10, seed=1, start=15), details=details(10, seed=1))
    assert _source(tmp_path, "another") == 0
    assert seen(tmp_path) == whole(old[0])
    index.remove(old[0][:1])
    assert seen(tmp_path) == without(whole(old[0]), old[0][:1])
    index.close()


def test_a_write_that_ends_after_the_switch_leaves_the_new_state(
    milvus: IndexSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index, old = made(tmp_path, milvus, details="locals"), items(20)
    index.add(*old, details=details(20))
    plain = index.client.delete

    def ends_later(collection: str, **given: object) -> None:
        if "born" not in str(given["filter"]):  # not the cleaning before a write
            raise Killed
        plain(collection, **given)

    monkeypatch.setattr(index.client, "delete", ends_later)
    with pytest.raises(Killed):
        index.remove(old[0][:5])
    assert seen(tmp_path) == without(whole(old[0]), old[0][:5])
    index.close()


def test_a_killed_process_leaves_the_old_state_or_the_new_one(
    milvus: IndexSettings, tmp_path: Path
) -> None:
    index, old = made(tmp_path, milvus, details="locals"), items(40)
    index.add(*old, details=details(40))
    new = whole(old[0]) | whole([f"image:r{i}" for i in range(35, 3_035)], 1)
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    with subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        time.sleep(0.4)
        writer.send_signal(signal.SIGKILL)
    after = seen(tmp_path)
    assert after in (whole(old[0]), new)
    index.remove(old[0][:1])
    assert seen(tmp_path) == without(after, old[0][:1])
    index.close()


def test_who_has_opened_a_state_keeps_it_while_others_write(
    milvus: IndexSettings, tmp_path: Path
) -> None:
    index, old = made(tmp_path, milvus), items(10)
    index.add(*old)
    reader = open_engine(tmp_path)
    index.add(*items(5, seed=2, start=100))
    assert reader.count("image") == 10
    assert index.count("image") == 15
    reader.reload()  # type: ignore[attr-defined]
    assert reader.count("image") == 15
    index.remove(old[0][:4])  # what a search has found can still be looked up
    assert index.count("image") == 11
    assert reader.count("image") == 15
    assert (reader.get(old[0][:4]).vectors == old[1][:4]).all()
    index.add(*items(1, seed=3, start=200))
    assert index.count("image") == 12
    held = index.client.query(read_state(tmp_path).remote["collection"], filter="died < 1000")
    assert held == []  # with the next write it goes for good
    reader.close()
    index.close()


def test_what_scorers_need_goes_with_the_write_after_the_next(
    milvus: IndexSettings, tmp_path: Path
) -> None:
    """Files that are gone from a shared disk cannot be read on other machines, mapped or not."""
    index, old = made(tmp_path, milvus, details="locals"), items(20)
    index.add(*old, details=details(20))
    reader, before = open_engine(tmp_path), read_state(tmp_path).parts["both"].files.values()
    index.remove(old[0][:10])  # enough for files to be written anew
    assert read_state(tmp_path).parts["both"].files["segment0"] not in before
    assert all((tmp_path / file.name).exists() for file in before)
    parts = reader.get(old[0]).details
    assert parts is not None
    assert [rows.tolist() for rows in parts.rows()] == list(whole(old[0]).values())
    index.remove(old[0][10:11])
    assert not any((tmp_path / file.name).exists() for file in before)
    reader.close()
    index.close()


@pytest.mark.parametrize("kind", ["names", "spots", "segment"])
def test_one_wrong_byte_of_what_scorers_need_is_told(
    milvus: IndexSettings, tmp_path: Path, kind: str
) -> None:
    made(tmp_path, milvus, details="locals").add(*items(20), details=details(20))
    path = next(tmp_path.glob(f"both-*.{kind}"))
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(DataError, match=rf"{path.name}: damaged \(its checksum"):
        open_engine(tmp_path)
    path.unlink()
    with pytest.raises(DataError, match=rf"{path.name}: missing"):
        open_engine(tmp_path)


def test_what_milvus_would_compare_differently_is_refused(
    milvus: IndexSettings, tmp_path: Path
) -> None:
    index, (ids, vectors, rows) = made(tmp_path, milvus), items(1)
    price = pa.array([Decimal("0.1234567890123456789")], pa.decimal128(30, 19))
    index.add(ids, vectors, rows.append_column("price", price))
    with pytest.raises(UsageError, match=r"'price' holds decimal128\(30, 19\); Milvus compares"):
        index.find(parse("price > 2"))
    assert index.find(parse("price is not null")) == ids
    other = items(1, start=1)
    with pytest.raises(DataError, match="column 'price': held decimal128"):
        index.add(*other[:2], other[2].append_column("price", pa.array([0.5])))
    far = pa.array([10**12], pa.timestamp("s"))
    with pytest.raises(DataError, match="column 'at': Milvus cannot keep it"):
        index.add(*other[:2], other[2].append_column("at", far))
    assert index.count("image") == 1
    index.close()


def test_what_is_refused_marks_nothing_that_it_was_to_replace(
    milvus: IndexSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index, (ids, vectors, rows) = made(tmp_path, milvus), items(2)
    index.add(ids, vectors, rows)
    monkeypatch.setattr(index.client, "upsert", ends)
    text = pa.array(["y", "x" * 70_000])
    long = rows.set_column(rows.column_names.index("text"), "text", text)
    with pytest.raises(DataError, match="item 'image:r1': its columns take"):
        index.add(ids, vectors, long)
    assert index.get(ids).rows.column("text").to_pylist() == rows.column("text").to_pylist()
    index.close()


def test_limits_of_the_server_are_told(milvus: IndexSettings, tmp_path: Path) -> None:
    index, (ids, vectors, rows) = made(tmp_path, replace(milvus, batch=1_500)), items(2)
    text = pa.array(["x" * 70_000, "y"])
    long = rows.set_column(rows.column_names.index("text"), "text", text)
    with pytest.raises(DataError, match=r"item 'image:r0': its columns take 70,\d+ bytes"):
        index.add(ids, vectors, long)
    many = items(1_200, start=10)
    column = many[2].column_names.index("text")
    index.add(*many[:2], many[2].set_column(column, "text", pa.array(["x" * 60_000] * 1_200)))
    assert index.count("image") == 1_200  # 72 MB in one batch, more than a message may have
    assert len(index.get(many[0]).ids) == 1_200
    assert index.remove(many[0]) == 1_200
    index.add(ids, vectors, rows)
    with pytest.raises(UsageError, match="at most 16,384 vectors can be asked for"):
        index.nearest(vectors, 20_000, "image")
    index.client.drop_collection(read_state(tmp_path).remote["collection"])
    with pytest.raises(TropeError, match=r"milvus at http://127.0.0.1"):
        index.nearest(vectors, 1, "image")
    index.close()


def test_nobody_there_is_told_in_one_line() -> None:
    with pytest.raises(TropeError, match=r"milvus at http://127\.0\.0\.1:9: .") as told:
        connected("http://127.0.0.1:9")
    assert "\n" not in str(told.value)


def test_the_server_cannot_be_reached_from_outside(milvus_uri: str) -> None:
    """Nothing listens beyond loopback on its behalf."""
    port = f"{int(milvus_uri.rpartition(':')[2]):04X}"
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            address, state = line.split()[1], line.split()[3]
            if state == "0A" and address.endswith((f":{port}", f":{19530:04X}")):
                assert address.startswith("0100007F:"), line


def test_reasons_are_found_within_a_page_of_grpc() -> None:
    page = (
        '<_InactiveRpcError of RPC that terminated with:\n\tstatus = X\n\tdetails = "too large"\n>'
    )
    assert server._reason(ValueError(page)) == "too large"
    assert server._reason(ValueError("plain\nmore")) == "plain"

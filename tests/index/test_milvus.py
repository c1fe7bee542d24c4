"""What only a server can get wrong: writes that ended half-way, and its limits."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from index_samples import environment, items, made

from trope.errors import DataError, TropeError, UsageError
from trope.index import IndexSettings, open_engine
from trope.index.folder import read_state
from trope.index.milvus import connected, server

pytestmark = pytest.mark.xdist_group("milvus")

WRITER = """
import sys
from pathlib import Path
from index_samples import items
from trope.index import open_engine
index = open_engine(Path(sys.argv[1]))
print("ready", flush=True)
index.add(*items(3_000, seed=1, start=35))
"""


class Killed(BaseException):
    """As if the process ended here."""


def seen(folder: Path) -> set[str]:
    index = open_engine(folder)
    found = index.nearest(items(1)[1], 4_000, "image").ids[0]
    names = [name for name in found if name]
    assert len(names) == len(set(names)) == index.count("image")
    index.close()
    return set(names)


def test_a_write_that_ends_before_the_switch_leaves_the_old_state(
    milvus: IndexSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index, old = made(tmp_path, milvus), items(40)
    index.add(*old)
    new = items(10, seed=1, start=35)  # five are replaced

    def ends(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr("trope.index.milvus.writing.write_state", ends)
        with pytest.raises(Killed):
            index.add(*new)
    assert seen(tmp_path) == set(old[0])
    other = open_engine(tmp_path)
    other.remove(old[0][:1])  # puts right what was left
    assert seen(tmp_path) == set(old[0][1:])
    held = other.get([old[0][36]]).vectors
    assert (held == old[1][36:37]).all()
    other.add(*new)
    assert seen(tmp_path) == {*old[0][1:], *new[0]}
    assert (other.get([new[0][1]]).vectors == new[1][1:2]).all()
    other.close()
    index.close()


def test_a_write_that_ends_after_the_switch_leaves_the_new_state(
    milvus: IndexSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index, old = made(tmp_path, milvus), items(20)
    index.add(*old)
    plain = index.client.delete

    def ends(collection: str, **given: object) -> None:
        if "born" not in str(given["filter"]):  # not the cleaning before a write
            raise Killed
        plain(collection, **given)

    monkeypatch.setattr(index.client, "delete", ends)
    with pytest.raises(Killed):
        index.remove(old[0][:5])
    assert seen(tmp_path) == set(old[0][5:])
    index.close()


def test_a_killed_process_leaves_the_old_state_or_the_new_one(
    milvus: IndexSettings, tmp_path: Path
) -> None:
    index, old = made(tmp_path, milvus), items(40)
    index.add(*old)
    new = {*old[0], *(f"image:r{i}" for i in range(35, 3_035))}
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    with subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        time.sleep(0.4)
        writer.send_signal(signal.SIGKILL)
    after = seen(tmp_path)
    assert after in (set(old[0]), new)
    index.remove(old[0][:1])
    assert seen(tmp_path) == after - {old[0][0]}
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

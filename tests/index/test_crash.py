"""Killed at any point, written by two at once, read while written, damaged on disk."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from index_samples import LOCAL, details, environment, items, made

from trope.errors import DataError, UsageError
from trope.files import locked
from trope.index import open_engine
from trope.index.folder import FILE, read_state

HERE = Path(__file__).parent

WRITER = """
import sys
from pathlib import Path
from index_samples import items
from trope.index import open_engine
index = open_engine(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
for step in range(int(sys.argv[3])):
    index.add(*items(10, seed=step, start=int(sys.argv[2]) + 10 * step))
"""


def program(code: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=environment(), stdin=pipe, stdout=pipe, text=True)


def begin(process: subprocess.Popen[str]) -> None:
    """Wait until a writer is ready, then let it go."""
    assert process.stdout is not None
    assert process.stdin is not None
    assert process.stdout.readline() == "ready\n"
    process.stdin.write("go\n")
    process.stdin.flush()


def test_a_kill_at_any_file_operation_leaves_the_old_index_or_the_new_one(tmp_path: Path) -> None:
    """Flat or with a graph, each item with its parts; a small removal is the same for both."""
    command = [sys.executable, HERE / "crashing.py", tmp_path]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=True)
    tried = json.loads(done.stdout)
    assert len(tried) == 4
    for case, found in tried.items():
        assert set(found) == {"old", "new"}, (case, found)
        assert len(found) > 8, case  # operations
        assert found == sorted(found, key=["old", "new"].index), case  # once new, always new


def test_a_kill_at_any_time_leaves_whole_additions(tmp_path: Path) -> None:
    """Killed by the clock, wherever the process is: in FAISS, in a write, in between."""
    folder = tmp_path / "index"
    made(folder, LOCAL["graph"])
    for attempt in range(4):
        start = 1_000 * attempt
        with program(WRITER, folder, start, 90) as writer:
            begin(writer)
            time.sleep(0.11 + 0.13 * attempt)
            writer.send_signal(signal.SIGKILL)
        index = open_engine(folder)
        found = index.nearest(items(1)[1], 5_000, "image").ids[0]
        numbers = {int(name[7:]) for name in found if name}
        mine = sorted(number for number in numbers if number >= start)
        assert mine == list(range(start, start + len(mine)))
        assert len(mine) % 10 == 0
        assert len(numbers) == index.count("image")


def test_two_writers_wait_for_each_other_and_lose_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    made(folder, LOCAL["flat"])
    with program(WRITER, folder, 0, 8) as one, program(WRITER, folder, 1_000, 8) as other:
        begin(one)
        begin(other)
        assert (one.wait(60), other.wait(60)) == (0, 0)
    index = open_engine(folder)
    assert index.count("image") == 160
    assert read_state(folder).number == 16


def test_who_reads_during_a_write_sees_the_state_before_or_after(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    made(folder, LOCAL["graph"]).add(*items(10, seed=50, start=5_000))
    before = open_engine(folder)
    seen = set()
    with program(WRITER, folder, 0, 12) as writer:
        begin(writer)
        while writer.poll() is None:
            index = open_engine(folder)
            found = index.nearest(items(2)[1], 300, "image").ids
            counts = {sum(name is not None for name in names) for names in found}
            assert counts == {index.count("image")}
            seen |= counts
    assert seen <= {10 + 10 * step for step in range(13)}
    assert before.count("image") == 10  # its files are gone, but not from under it
    assert len([name for name in before.nearest(items(1)[1], 300, "image").ids[0] if name]) == 10
    assert open_engine(folder).count("image") == 130


def test_a_writer_waits_while_another_holds_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    made(folder, LOCAL["flat"])
    with program(WRITER, folder, 0, 1) as writer:
        with locked(folder):
            begin(writer)
            with pytest.raises(subprocess.TimeoutExpired):
                writer.wait(0.5)
            assert open_engine(folder).count("image") == 0  # reading needs no lock
        assert writer.wait(60) == 0
    assert open_engine(folder).count("image") == 10


@pytest.mark.parametrize("kind", ["rows", "senses", "vectors", "graph", "dead", "spots", "segment"])
def test_one_wrong_byte_is_told_with_the_name_of_its_file(tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "index"
    index = made(folder, LOCAL["flat" if kind == "vectors" else "graph"], details="locals")
    ids, vectors, rows = items(40)
    index.add(ids, vectors, rows, details=details(40))
    index.remove(ids[:1])
    path = next(folder.glob(f"image-*.{kind}"))
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(DataError, match=rf"{path.name}: damaged \(its checksum"):
        open_engine(folder)
    path.write_bytes(content[:-1])
    with pytest.raises(DataError, match=rf"{path.name}: damaged \(has .* bytes, not"):
        open_engine(folder)
    path.unlink()
    with pytest.raises(DataError, match=rf"{path.name}: missing"):
        open_engine(folder)


def test_a_wrong_byte_of_the_state_itself_is_told(tmp_path: Path) -> None:
    made(tmp_path, LOCAL["flat"]).add(*items(4))
    path = tmp_path / FILE
    whole = path.read_text()
    path.write_text(whole.replace('"number": 1', '"number": 2'))
    with pytest.raises(DataError, match=r"index.json: damaged \(its checksum"):
        open_engine(tmp_path)
    path.write_text(whole[: len(whole) // 2])
    with pytest.raises(DataError, match=r"index.json: damaged, or not made by trope"):
        open_engine(tmp_path)
    path.write_text(whole.replace("trope-index-1", "trope-index-9"))
    with pytest.raises(DataError, match="not an index of this version"):
        open_engine(tmp_path)
    path.unlink()
    with pytest.raises(UsageError, match="no index"):
        open_engine(tmp_path)


def test_files_of_others_in_the_folder_stay(tmp_path: Path) -> None:
    index = made(tmp_path, LOCAL["flat"])
    for name in ("notes.txt", "image-holiday.jpg", "text-1.rows"):
        (tmp_path / name).write_text("mine")
    index.add(*items(4))
    index.remove(items(4)[0])
    assert {"notes.txt", "image-holiday.jpg", "text-1.rows"} <= {p.name for p in tmp_path.iterdir()}


def test_removal_leaves_the_large_files_alone_until_much_is_removed(tmp_path: Path) -> None:
    index, (ids, vectors, rows) = made(tmp_path, LOCAL["graph"]), items(50)
    index.add(ids, vectors, rows)
    graph = next(tmp_path.glob("*.graph")).name
    index.remove(ids[:10])
    assert (tmp_path / graph).exists()
    assert read_state(tmp_path).parts["image"].dead == 10
    index.remove(ids[10:11])
    assert not (tmp_path / graph).exists()
    state = read_state(tmp_path).parts["image"]
    assert (state.items, state.dead) == (39, 0)


def test_a_graph_grows_where_it_would_be_flat_and_the_other_way(tmp_path: Path) -> None:
    index, (ids, vectors, rows) = made(tmp_path, LOCAL["graph"]), items(30)
    index.add(ids[:4], vectors[:4], rows[:4])
    assert [p.suffix for p in tmp_path.glob("image-*.[vg]*")] == [".vectors"]
    index.add(ids[4:], vectors[4:], rows[4:])
    assert [p.suffix for p in tmp_path.glob("image-*.[vg]*")] == [".graph"]
    index.remove(ids[3:])
    assert [p.suffix for p in tmp_path.glob("image-*.[vg]*")] == [".vectors"]
    found = index.nearest(vectors[:1], 1, "image")
    assert found.ids[0, 0] == ids[0]
    np.testing.assert_allclose(found.scores[0, 0], 1, atol=1e-6)

"""Files are whole or not there, whatever happens while they are written."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import stat
import subprocess
import sys
import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest

from disks import room
from trope import files
from trope.errors import TropeError, UsageError
from trope.files import (
    locked,
    place,
    refuse_existing,
    refuse_unwritable,
    replacing,
    replacing_folder,
    write_array,
    write_json,
)

SOURCE = Path(files.__file__).parents[1]


def start(program: str, *arguments: Path) -> subprocess.Popen[str]:
    """A second process that runs `program` and says when it is ready."""
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def kill_when_ready(program: str, *arguments: Path) -> None:
    process = start(program, *arguments)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()


def partials(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.name.endswith(".partial")]


def fail_inside(context: AbstractContextManager[Any], error: BaseException) -> None:
    """Write something, then stop."""
    with context as place:
        if isinstance(place, Path):
            (place / "begun").write_bytes(b"new")
        else:
            place.write(b"new")
        raise error


class TestReplacing:
    def test_new_and_old_content(self, tmp_path: Path) -> None:
        target = tmp_path / "new" / "a.txt"
        for content in ("one", "zwei ✓"):
            with replacing(target, "w") as handle:
                handle.write(content)
                assert not target.exists() or target.read_text("utf-8") == "one"
            assert target.read_text("utf-8") == content
        assert list(target.parent.iterdir()) == [target]

    def test_error_keeps_the_old_content(self, tmp_path: Path) -> None:
        target = tmp_path / "a"
        target.write_bytes(b"old")
        with pytest.raises(RuntimeError, match="stop"):
            fail_inside(replacing(target), RuntimeError("stop"))
        assert target.read_bytes() == b"old"
        assert partials(tmp_path) == []

    def test_kill_keeps_the_old_content(self, tmp_path: Path) -> None:
        target = tmp_path / "a"
        target.write_bytes(b"old")
        kill_when_ready(
            "import sys, time; from pathlib import Path; from trope.files import replacing\n"
            "with replacing(Path(sys.argv[1])) as handle:\n"
            "    handle.write(b'new' * 100_000); handle.flush()\n"
            "    print('ready', flush=True); time.sleep(60)",
            target,
        )
        assert target.read_bytes() == b"old"
        with replacing(target) as handle:
            handle.write(b"next")
        assert target.read_bytes() == b"next"

    @pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EIO])
    def test_full_disk_is_one_line_and_leaves_nothing(self, tmp_path: Path, code: int) -> None:
        target = tmp_path / "a"
        with pytest.raises(TropeError, match=f"{target}: cannot be written") as caught:
            fail_inside(replacing(target), OSError(code, os.strerror(code)))
        assert caught.value.exit_code == 1
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("lost", [1, 100, 5_000, 60_000])
    def test_no_array_is_short(self, tmp_path: Path, lost: int) -> None:
        """Not by its last bytes either, which numpy's own writing loses without a word."""
        values = np.arange(20_000, dtype=np.float32)
        with replacing(tmp_path / "whole") as file:
            write_array(file, values)
        assert np.array_equal(np.load(tmp_path / "whole"), values)
        size = (tmp_path / "whole").stat().st_size
        with (
            pytest.raises(TropeError, match=r"short: cannot be written \(File too large\)"),
            room(size - lost),
            replacing(tmp_path / "short") as file,
        ):
            write_array(file, values)
        assert [path.name for path in tmp_path.iterdir()] == ["whole"]

    def test_other_errors_of_the_block_pass_through(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError, match="elsewhere"), replacing(tmp_path / "a"):
            (tmp_path / "elsewhere").read_bytes()
        assert list(tmp_path.iterdir()) == []

    def test_refused_by_the_system_is_one_line(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(*_: object, **__: object) -> None:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

        monkeypatch.setattr(Path, "open", refuse)
        with pytest.raises(UsageError, match=r"cannot be written \(Permission denied") as caught:
            fail_inside(replacing(tmp_path / "a"), AssertionError("the block must not run"))
        assert caught.value.exit_code == 2

    @pytest.mark.parametrize("name", ["folder", "file/inside", "x" * 300])
    def test_impossible_names_are_one_line(self, tmp_path: Path, name: str) -> None:
        (tmp_path / "folder").mkdir()
        (tmp_path / "file").write_text("")
        with pytest.raises(UsageError, match="cannot be written"), replacing(tmp_path / name):
            pass
        assert partials(tmp_path) == []

    def test_longest_possible_name(self, tmp_path: Path) -> None:
        with replacing(tmp_path / ("字" * 85)) as handle:
            handle.write(b"x")
        assert (tmp_path / ("字" * 85)).read_bytes() == b"x"

    def test_permissions(self, tmp_path: Path) -> None:
        before = os.umask(0o027)
        try:
            with replacing(tmp_path / "new"):
                pass
            (tmp_path / "secret").touch(mode=0o600)
            with replacing(tmp_path / "secret"):
                pass
        finally:
            os.umask(before)
        assert (tmp_path / "new").stat().st_mode & 0o777 == 0o640
        assert (tmp_path / "secret").stat().st_mode & 0o777 == 0o600

    def test_a_link_stays_a_link(self, tmp_path: Path) -> None:
        (tmp_path / "real").write_text("old")
        (tmp_path / "link").symlink_to("real")
        with replacing(tmp_path / "link") as handle:
            handle.write(b"new")
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "real").read_text() == "new"

    def test_two_writers_at_once(self, tmp_path: Path) -> None:
        target = tmp_path / "a"
        with replacing(target) as first, replacing(target) as second:
            first.write(b"first")
            second.write(b"second")
        assert target.read_bytes() == b"first"  # the block that ends last
        assert partials(tmp_path) == []


class TestReplacingFolder:
    def test_appears_at_the_end(self, tmp_path: Path) -> None:
        out = tmp_path / "a" / "out"
        with replacing_folder(out) as partial:
            (partial / "x").write_text("1")
            assert not out.exists()
        assert (out / "x").read_text() == "1"
        assert list(out.parent.iterdir()) == [out]

    def test_over_an_empty_folder(self, tmp_path: Path) -> None:
        (tmp_path / "out").mkdir()
        with replacing_folder(tmp_path / "out") as partial:
            (partial / "x").touch()
        assert [path.name for path in (tmp_path / "out").iterdir()] == ["x"]

    def test_relative_path(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        with replacing_folder(Path("out")) as partial:
            (partial / "x").touch()
        assert (tmp_path / "out" / "x").exists()

    def test_kill_leaves_no_folder_and_the_next_attempt_finds_the_work(
        self, tmp_path: Path
    ) -> None:
        out = tmp_path / "out"
        kill_when_ready(
            "import sys, time; from pathlib import Path; from trope.files import replacing_folder\n"
            "with replacing_folder(Path(sys.argv[1])) as partial:\n"
            "    (partial / 'done').write_text('1')\n"
            "    print('ready', flush=True); time.sleep(60)",
            out,
        )
        assert not out.exists()
        with replacing_folder(out) as partial:
            assert (partial / "done").read_text() == "1"
        assert (out / "done").exists()

    def test_fresh_starts_empty(self, tmp_path: Path) -> None:
        out = tmp_path / "out"
        (tmp_path / ".out.partial" / "inner").mkdir(parents=True)
        (tmp_path / ".out.partial" / "inner" / "old").touch()
        (tmp_path / ".out.partial" / "link").symlink_to(tmp_path)
        with pytest.raises(RuntimeError, match="stop"):
            fail_inside(replacing_folder(out), RuntimeError("stop"))
        assert len(partials(tmp_path)) == 1
        with replacing_folder(out, fresh=True) as partial:
            assert list(partial.iterdir()) == []
            (partial / "new").touch()
        assert [path.name for path in out.iterdir()] == ["new"]
        assert tmp_path.exists()

    def test_fresh_failure_leaves_nothing(self, tmp_path: Path) -> None:
        full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        with pytest.raises(TropeError, match="No space left"):
            fail_inside(replacing_folder(tmp_path / "out", fresh=True), full)
        assert list(tmp_path.iterdir()) == []

    def test_two_processes_race(self, tmp_path: Path) -> None:
        program = (
            "import sys, time; from pathlib import Path; from trope.files import replacing_folder\n"
            "from trope.errors import UsageError\n"
            "try:\n"
            "    with replacing_folder(Path(sys.argv[1])) as partial:\n"
            "        assert not list(partial.iterdir()); time.sleep(0.3)\n"
            "        (partial / 'x').touch(); print('made it', flush=True)\n"
            "except UsageError as error: print(error, flush=True)"
        )
        processes = [start(program, tmp_path / "out") for _ in range(3)]
        said = sorted(process.communicate()[0].strip() for process in processes)
        assert said[-1] == "made it"
        assert all("exists and is not empty" in line for line in said[:-1])
        assert list(tmp_path.iterdir()) == [tmp_path / "out"]

    def test_waiting_for_one_that_leaves_an_empty_folder(self, tmp_path: Path) -> None:
        out = tmp_path / "out"
        process = start(
            "import sys, time; from pathlib import Path; from trope.files import replacing_folder\n"
            "with replacing_folder(Path(sys.argv[1])):\n"
            "    print('ready', flush=True); time.sleep(0.3)",
            out,
        )
        assert process.stdout is not None
        process.stdout.readline()
        with replacing_folder(out) as partial:
            (partial / "x").touch()
        process.communicate()
        assert (out / "x").exists()
        assert partials(tmp_path) == []


class TestRefuseExisting:
    def test_what_is_refused(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "file").touch()
        (tmp_path / "full").mkdir()
        (tmp_path / "full" / "x").touch()
        (tmp_path / "link").symlink_to("nowhere")
        (tmp_path / "here").mkdir()
        for name, words in (("file", "is a file"), ("full", "not empty"), ("link", "is a link")):
            with pytest.raises(UsageError, match=words):
                refuse_existing(tmp_path / name)
        monkeypatch.chdir(tmp_path / "here")
        for path in (Path(), Path(".."), tmp_path / "here"):
            with pytest.raises(UsageError, match=r"the folder you are in|not empty"):
                refuse_existing(path)

    def test_what_is_not(self, tmp_path: Path) -> None:
        (tmp_path / "empty").mkdir()
        for name in ("new", "empty"):
            refuse_existing(tmp_path / name)
        assert [path.name for path in tmp_path.iterdir()] == ["empty"]  # looked at, not touched


class TestLocked:
    def test_waits_for_the_other_process(self, tmp_path: Path) -> None:
        process = start(
            "import sys, time; from pathlib import Path; from trope.files import locked\n"
            "with locked(Path(sys.argv[1])):\n"
            "    print('ready', flush=True); time.sleep(0.5)",
            tmp_path / "lock",
        )
        assert process.stdout is not None
        process.stdout.readline()
        before = time.monotonic()
        with locked(tmp_path / "lock"):
            assert time.monotonic() - before > 0.2
        process.communicate()

    def test_freed_by_death(self, tmp_path: Path) -> None:
        kill_when_ready(
            "import sys, time; from pathlib import Path; from trope.files import locked\n"
            "with locked(Path(sys.argv[1])):\n"
            "    print('ready', flush=True); time.sleep(60)",
            tmp_path / "lock",
        )
        before = time.monotonic()
        with locked(tmp_path / "lock"):
            assert time.monotonic() - before < 10  # the dead one would have slept for a minute

    def test_the_lock_is_one_that_disks_of_other_machines_pass_on(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """On a regular file, open for writing: NFS keeps one on a folder to its own machine."""
        held: list[tuple[bool, int]] = []
        take = fcntl.flock

        def look(handle: int, how: int) -> None:
            flags = fcntl.fcntl(handle, fcntl.F_GETFL) & os.O_ACCMODE
            held.append((stat.S_ISREG(os.fstat(handle).st_mode), flags))
            take(handle, how)

        monkeypatch.setattr(fcntl, "flock", look)
        with locked(tmp_path / "lock"), replacing_folder(tmp_path / "out") as partial:
            (partial / "x").touch()
        assert held == [(True, os.O_RDWR)] * 2

    def test_the_file_stays_inside_or_goes_from_beside(self, tmp_path: Path) -> None:
        for name, beside in (("index", False), (".index.building", False), ("out", True)):
            with locked(tmp_path / name, beside=beside):
                assert (tmp_path / name).is_dir()
                if name != "index":
                    assert not list((tmp_path / name).iterdir())
                    (tmp_path / name).rmdir()
        assert [path.name for path in tmp_path.rglob("*")] == ["index", ".lock"]

    @pytest.mark.parametrize("name", ["lock", ".lock.partial"])
    def test_many_processes_hold_it_one_after_the_other(self, tmp_path: Path, name: str) -> None:
        """Also where a folder of work in progress is taken away each time, and the lock with it."""
        program = (
            "import shutil, sys; from pathlib import Path; from trope.files import locked\n"
            "folder, count = map(Path, sys.argv[1:])\n"
            "for _ in range(100):\n"
            "    with locked(folder):\n"
            "        (folder / 'mine').touch(exist_ok=False)\n"
            "        count.write_text(str(int(count.read_text()) + 1))\n"
            "        (folder / 'mine').unlink()\n"
            "        if folder.name.startswith('.'): shutil.rmtree(folder)"
        )
        (tmp_path / "count").write_text("0")
        processes = [start(program, tmp_path / name, tmp_path / "count") for _ in range(4)]
        assert [process.communicate()[1] for process in processes] == [""] * 4
        assert (tmp_path / "count").read_text() == "400"
        left = {path.name for path in tmp_path.iterdir()}
        assert left == ({"count"} if name.startswith(".") else {"count", "lock"})

    def test_who_may_write_into_the_folder_may_hold_it(self, tmp_path: Path) -> None:
        (tmp_path / "shared").mkdir()
        (tmp_path / "shared").chmod(0o775)
        with locked(tmp_path / "shared"):
            assert (tmp_path / "shared" / ".lock").stat().st_mode & 0o777 == 0o664

    def test_a_disk_without_locks_is_one_line(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(*_: object) -> None:
            raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

        monkeypatch.setattr(fcntl, "flock", refuse)
        with pytest.raises(UsageError, match=r"x: cannot be written \(No locks available"):
            fail_inside(replacing_folder(tmp_path / "x"), AssertionError("must not run"))


class TestPlace:
    def test_link_copy_and_existing(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        source = tmp_path / "source"
        source.write_bytes(b"content")
        place(source, tmp_path / "deep" / "linked")
        assert (tmp_path / "deep" / "linked").samefile(source)

        def refuse(*_: object) -> None:
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))

        monkeypatch.setattr(os, "link", refuse)
        place(source, tmp_path / "deep" / "copied")
        assert (tmp_path / "deep" / "copied").read_bytes() == b"content"
        (tmp_path / "kept").write_bytes(b"mine")
        place(source, tmp_path / "kept")
        assert (tmp_path / "kept").read_bytes() == b"mine"
        assert partials(tmp_path / "deep") == []


def test_write_json(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_json(path, {"न्याय": [1, None, np.float64(0.5), np.arange(2)]})
    assert orjson.loads(path.read_bytes()) == {"न्याय": [1, None, 0.5, [0, 1]]}
    with pytest.raises(TypeError):
        write_json(path, {"bad": object()})
    assert orjson.loads(path.read_bytes())["न्याय"][0] == 1
    assert partials(tmp_path) == []


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="a folder in which nothing can be made")
def test_what_cannot_be_written_is_told_by_the_name_it_was_given(tmp_path: Path) -> None:
    for path in (Path("/proc/x"), Path("/proc/x/y")):
        with pytest.raises(UsageError, match=f"^{path}: cannot be written"):
            refuse_unwritable(path)
        with pytest.raises(UsageError, match=f"^{path}: cannot be written"):
            fail_inside(replacing_folder(path), ValueError())
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"file/below: cannot be written \(Not a directory\)"):
        refuse_unwritable(tmp_path / "file" / "below")
    refuse_unwritable(tmp_path / "new" / "below")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]

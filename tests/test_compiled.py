from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import trope
from trope import compiled


@pytest.mark.parametrize("rows", [0, 1, 5, 64, 65, 1_000])
@pytest.mark.parametrize("columns", [1, 10_000])
@pytest.mark.parametrize("cores", [1, 2, 7])
def test_every_row_is_worked_on_once(
    rows: int, columns: int, cores: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled, "cores", lambda: cores)
    visits = np.zeros(rows, int)

    def work(first: int, last: int) -> None:
        visits[first:last] += 1

    compiled.spread(rows, columns, work)
    assert (visits == 1).all()


def test_few_long_rows_are_shared_among_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "cores", lambda: 2)
    parts: list[tuple[int, int]] = []
    compiled.spread(4, 10_000, lambda first, last: parts.append((first, last)))
    assert sorted(parts) == [(0, 1), (1, 2), (2, 3), (3, 4)]
    parts.clear()
    compiled.spread(4, 10, lambda first, last: parts.append((first, last)))
    assert parts == [(0, 4)]


def test_an_error_in_a_thread_is_not_lost() -> None:
    def work(first: int, last: int) -> None:
        raise ValueError("of a part")

    with pytest.raises(ValueError, match="of a part"):
        compiled.spread(500, 500, work)


def test_nor_is_one_of_another_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "cores", lambda: 2)
    begun = threading.Event()

    def work(first: int, last: int) -> None:
        if threading.current_thread() is not threading.main_thread():
            begun.set()
            raise ValueError("elsewhere")
        assert begun.wait(10)

    with pytest.raises(ValueError, match="elsewhere"):
        compiled.spread(500, 500, work)


def test_nowhere_to_keep_compiled_code(tmp_path: Path) -> None:
    """Neither the package's folder nor the user's can be written: compiled in memory, at work."""
    program = """
from trope.compiled import compiled

@compiled
def double(x):
    return 2 * x

print(double(4), type(double._cache).__name__)
"""
    package = tmp_path / "there"
    package.mkdir()
    (package / "program.py").write_text(program)
    blocked = tmp_path / "file"
    blocked.touch()  # a folder cannot be made below a file, not even by the administrator
    (package / "__pycache__").touch()
    code = str(Path(trope.__file__).parents[1])
    told = subprocess.run(
        [sys.executable, "program.py"],
        cwd=package,
        env=os.environ | {"HOME": str(blocked), "XDG_CACHE_HOME": str(blocked), "PYTHONPATH": code},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.split() == ["8", "NullCache"]

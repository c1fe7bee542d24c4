"""Seeds, folders and progress."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trope import runtime
from trope.runtime import cache_folder, cores, generator, progress, provenance, seed_everything

SOURCE = Path(runtime.__file__).parents[1]


def draws(seed: int, *purpose: str) -> list[int]:
    return generator(seed, *purpose).integers(2**62, size=4).tolist()


class TestGenerator:
    def test_same_for_the_same(self) -> None:
        assert draws(3, "splits") == draws(3, "splits")
        assert draws(3) == draws(True + 2)

    def test_pinned(self) -> None:
        """Results of earlier versions stay reproducible."""
        assert generator(0, "splits").integers(1_000, size=4).tolist() == [717, 737, 392, 460]

    @given(
        st.tuples(st.integers(), st.lists(st.text(), max_size=3)),
        st.tuples(st.integers(), st.lists(st.text(), max_size=3)),
    )
    def test_different_for_different(
        self, first: tuple[int, list[str]], second: tuple[int, list[str]]
    ) -> None:
        same = draws(first[0], *first[1]) == draws(second[0], *second[1])
        assert same == (first == second)

    @pytest.mark.parametrize(
        ("first", "second"),
        [((0,), (0, "")), ((0, "ab", "c"), (0, "a", "bc")), ((0, "a"), (0, "a", ""))],
    )
    def test_purposes_do_not_run_together(
        self, first: tuple[int, str], second: tuple[int, str]
    ) -> None:
        assert draws(*first) != draws(*second)

    def test_any_whole_seed(self) -> None:
        assert len({tuple(draws(seed)) for seed in (-1, 0, 1, 2**32, 2**64, -(2**70))}) == 6


def test_seed_everything() -> None:
    def drawn() -> tuple[float, float]:
        seed_everything(-5)
        return random.random(), float(np.random.random())

    assert drawn() == drawn()


def test_cache_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("TROPE_CACHE", "~/mine")
    assert cache_folder() == tmp_path / "mine"
    monkeypatch.delenv("TROPE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    assert cache_folder() == Path("/x/trope")
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    assert cache_folder() == tmp_path / ".cache" / "trope"


def test_cores_and_provenance() -> None:
    assert 1 <= cores() <= (os.cpu_count() or 1)
    assert set(provenance()) == {"trope", "commit", "python", "machine", "date"}
    assert all(provenance().values())


class TestProgress:
    @pytest.mark.parametrize("what", ["words", "[bold] [/nothing] {x}"])
    def test_passes_items_on(self, what: str) -> None:
        assert list(progress([1, 2, 3], what)) == [1, 2, 3]
        assert list(progress(iter("ab"), what, total=2)) == ["a", "b"]

    def test_can_be_left_early_and_passes_errors(self) -> None:
        for item in progress(range(10), "early"):
            if item == 2:
                break

        def broken() -> object:
            yield 1
            raise ValueError("inside")

        with pytest.raises(ValueError, match="inside"):
            list(progress(broken(), "broken"))  # type: ignore[arg-type, var-annotated]

    def test_a_log_gets_a_line_now_and_then_and_ever_more_rarely(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        clock = iter(range(10_000))
        own = SimpleNamespace(monotonic=lambda: float(next(clock) // 2))
        monkeypatch.setattr(runtime, "time", own)  # for this module alone: servers wait meanwhile
        assert sum(progress(range(400), "[bold] work")) == sum(range(400))
        out, err = capsys.readouterr()
        assert out == ""
        lines = err.splitlines()
        done = [int(line.split()[2]) for line in lines]
        assert 3 <= len(done) <= 6
        assert all(line.startswith("[bold] work: ") and " of 400" in line for line in lines)
        assert np.diff(done, 2).min() > 0

    def test_short_work_is_silent(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert list(progress(range(3), "quick")) == [0, 1, 2]
        assert capsys.readouterr() == ("", "")


def test_remark(capsys: pytest.CaptureFixture[str]) -> None:
    runtime.remark("[red]a very long remark[/] " + "x" * 200)
    assert capsys.readouterr() == ("", "[red]a very long remark[/] " + "x" * 200 + "\n")


def test_import_is_light() -> None:
    """`import trope` loads no tensor library; whoever needs it imports it."""
    program = (
        "import sys, trope; print(*sorted({'torch', 'PIL', 'scipy', 'rich'} & set(sys.modules)))"
    )
    found = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.strip() == ""

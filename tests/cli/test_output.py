"""Tables on standard output."""

from __future__ import annotations

import io
import sys

import pytest
from rich.text import Text

from trope.cli.output import table

ROW = ["combined-stats", "a sentence of more words than eighty columns of a screen can hold, " * 3]


def test_in_a_pipe_a_row_is_one_line_without_padding(capsys: pytest.CaptureFixture[str]) -> None:
    """Programs and logs read rows by lines; words and numbers must not be broken for a width."""
    table("", ["recipe", "what"], [ROW, ["pvse", "short"]])
    head, long, short = capsys.readouterr().out.splitlines()
    assert head.split() == ["recipe", "what"]
    assert long == f"combined-stats  {ROW[1]}".rstrip()
    assert short == "pvse            short"


def test_a_terminal_folds_what_it_cannot_show(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a screen every cell stays within its column."""

    class Screen(io.StringIO):
        def isatty(self) -> bool:
            return True

    screen = Screen()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("TERM", "xterm")
    table("", ["recipe", "what"], [ROW])
    lines = screen.getvalue().splitlines()
    assert len(lines) > 3
    assert all(len(Text.from_ansi(line).plain) <= 60 for line in lines)

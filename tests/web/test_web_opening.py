"""The page at the end of `trope up` and `trope demo`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from trope.cli import main, page, serve
from trope.errors import UsageError
from trope.web import serving
from trope.web.settings import ServeSettings


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, ...]]:
    """What would be served, without serving it."""
    calls: list[tuple[object, ...]] = []
    monkeypatch.setattr(serve, "run", lambda *given, browse: calls.append((*given, browse)))
    return calls


@pytest.mark.parametrize(
    ("wanted", "terminal", "there", "opens"),
    [
        (None, True, True, True),
        (None, False, True, False),
        (None, True, False, False),
        (True, False, True, True),
        (False, True, True, False),
    ],
)
def test_it_opens_for_somebody_who_is_there(
    wanted: bool | None,
    terminal: bool,
    there: bool,
    opens: bool,
    served: list[tuple[object, ...]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for stream in (sys.stdin, sys.stdout):
        monkeypatch.setattr(stream, "isatty", lambda: terminal)
    monkeypatch.setattr(serving, "installed", lambda: there)
    page.open_page(Path("place"), wanted)
    assert served == ([((Path("place"),), ServeSettings(port=0), terminal)] if opens else [])
    assert ("trope serve place" in capsys.readouterr().out) != opens


@pytest.mark.parametrize("command", [["demo", "--out", "x"], ["up", "data"]])
def test_a_page_that_cannot_be_opened_is_refused_first(
    command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(serving, "installed", lambda: False)
    with pytest.raises(SystemExit) as ended:
        main([*command, "--serve"])
    assert ended.value.code == UsageError.exit_code
    assert "pip install 'trope[web]'" in capsys.readouterr().err
    assert not Path("x").exists()


def test_a_remark_says_who_can_reach_it(capsys: pytest.CaptureFixture[str]) -> None:
    serve._tell(ServeSettings(host="0.0.0.0"))
    serve._tell(ServeSettings(host="0.0.0.0", token="a-long-token"))
    serve._tell(ServeSettings())
    found = capsys.readouterr()
    assert "can search; --token asks for a token" in found.err
    assert "knows the token can search" in found.err
    assert found.err.count("--allow-host NAME adds a name") == 2
    assert "Only this machine can reach it" in found.out

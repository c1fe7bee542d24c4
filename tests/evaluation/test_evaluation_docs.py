"""The examples of the page on evaluation run."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

import trope
from trope.training import train

sys.path.insert(0, str(Path(__file__).parents[1] / "training"))
import planted

PAGE = Path(__file__).parents[2] / "docs" / "evaluation.md"
SETS = [*planted.PRECOMPUTED, "training.epochs=1"]


def test_python_examples_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TROPE_CACHE", str(tmp_path / "cache"))
    planted.write(tmp_path / "archive", rows=64)
    for seed, run in enumerate(("run", "other")):
        pairs = trope.open(tmp_path / "archive")
        train("infonce", pairs, tmp_path / run, sets=SETS, seed=seed, quiet=True)
    examples = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.S)
    assert len(examples) == 4
    names: dict[str, object] = {}
    for example in examples:
        exec(compile(example, PAGE.name, "exec"), names)
    said = capsys.readouterr().out
    assert "Result(value=" in said
    assert "verdict='better'" in said

"""The page on training: its example runs, its table names what is there."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from trope.training import Trained

PAGE = Path(__file__).resolve().parents[2] / "docs" / "training.md"


def test_the_example_runs_and_leaves_the_files_of_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jpeg: Callable[..., bytes]
) -> None:
    (tmp_path / "archive").mkdir()
    rows = [{"id": f"r{i}", "image": f"{i}.jpg", "text": f"text {i}"} for i in range(60)]
    for i in range(60):
        (tmp_path / "archive" / f"{i}.jpg").write_bytes(jpeg((4 * i, 255 - 4 * i, 0)))
    (tmp_path / "archive" / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)))
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", text, flags=re.S)
    names: dict[str, object] = {}
    exec(compile(example, PAGE.name, "exec"), names)
    run = names["run"]
    assert isinstance(run, Trained)
    assert run.settings.text.encoder == "sentence"
    assert run.progress.epoch == 3
    rows_of_table = re.findall(r"^\| (`[a-z].*?) \|", text, flags=re.M)
    files = {name for row in rows_of_table for name in re.findall(r"`([\w.]+\.\w+)`", row)}
    assert files | {".lock"} == {path.name for path in (tmp_path / "run").iterdir()}

"""Every example of docs/search.md runs."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest
from PIL import Image

import trope
from trope.cli import main

PAGE = (Path(__file__).parents[2] / "docs" / "search.md").read_text(encoding="utf-8")
for word, known in {"justice": "apple", "protest": "snow", "courtroom": "harp"}.items():
    PAGE = PAGE.replace(word, known)  # the small model has learned few words


@pytest.fixture
def archive(pictured: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder as the page imagines it."""
    shutil.copytree(pictured / "run", tmp_path / "run")
    shutil.copytree(pictured / "data", tmp_path / "archive")
    Image.new("RGB", (8, 8), (3, 90, 200)).save(tmp_path / "archive" / "7.jpg")
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "pairs.jsonl").write_text(json.dumps({"id": "n1", "text": "plum"}))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_python_examples_run(archive: Path) -> None:
    names: dict[str, object] = {}
    for example in re.findall(r"```python\n(.*?)```", PAGE, flags=re.S):
        exec(compile(example, "search.md", "exec"), names)
    assert names["vectors"].shape == (2, 12)  # type: ignore[attr-defined]
    assert len(names["hits"]) == 5  # type: ignore[arg-type]


def test_commands_run(archive: Path) -> None:
    lines = [
        line[2:]
        for block in re.findall(r"```console\n(.*?)```", PAGE, flags=re.S)
        for line in block.splitlines()
        if line.startswith("$ trope ")
    ]
    assert len(lines) >= 12
    for line in lines:
        with pytest.raises(SystemExit) as ended:
            main(shlex.split(line)[1:])
        assert ended.value.code == 0, line
    assert (archive / "onnx" / "text.onnx").exists()
    again = trope.build_index(archive / "again", archive / "archive", archive / "third")
    assert len(again) == 80

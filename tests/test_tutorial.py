"""The tutorial's program runs, and its recipe can be trained."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from trope.search import Index
from trope.training import load_recipe, resolve
from trope.training.task import build_loss, build_weight

TEXT = (Path(__file__).parents[1] / "docs" / "tutorial.md").read_text(encoding="utf-8")


def example(language: str) -> str:
    (found,) = re.findall(rf"```{language}\n(.*?)```", TEXT, flags=re.S)
    return str(found)


def test_the_program_trains_and_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jpeg: Callable[..., bytes]
) -> None:
    (tmp_path / "archive").mkdir()
    rows = [
        {"id": f"r{i}", "image": f"{i}.jpg", "text": f"justice of kind {i % 7} number {i}"}
        for i in range(60)
    ]
    for i in range(60):
        (tmp_path / "archive" / f"{i}.jpg").write_bytes(jpeg((4 * i, 255 - 4 * i, 0)))
    (tmp_path / "archive" / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)))
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec(compile(example("python"), "tutorial.md", "exec"), names)
    index = names["index"]
    assert isinstance(index, Index)
    assert len(index) == 120


def test_the_recipe_is_one(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(example("toml"), encoding="utf-8")
    settings = resolve(load_recipe(str(tmp_path / "mine.toml")), [], 100)
    assert type(build_loss(settings)).__name__ == "InfoNCE"
    assert type(build_weight(settings)).__name__ == "Ess"
    assert settings.head.senses == 3

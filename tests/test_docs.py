"""The docs keep up with the code."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest
import typer.main

from trope.cli import app
from trope.data.check import KINDS
from trope.data.convert import FORMATS

ROOT = Path(__file__).parents[1]
SUBJECTS = {"near": "nearly the same", "leak": "in two splits", "remark": "left out"}
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])


def test_every_command_is_in_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for name in typer.main.get_command(app).commands:  # type: ignore[attr-defined]
        assert f"`trope {name}" in readme


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_documented(name: str) -> None:
    assert f"trope convert {name} " in (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_local_link_leads_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
        assert (page.parent / target).exists(), f"{page.name}: {target}"


@pytest.mark.parametrize("page", ["README.md", "docs/data.md"])
def test_python_examples_run(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jpeg: Callable[..., bytes]
) -> None:
    (tmp_path / "archive").mkdir()
    rows = [
        {"id": f"r{i}", "image": f"{i}.jpg", "text": f"text {i}", "year": 2000} for i in range(40)
    ]
    for i in range(40):
        (tmp_path / "archive" / f"{i}.jpg").write_bytes(jpeg((i, 0, 0)))
    (tmp_path / "archive" / "pairs.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)))
    monkeypatch.chdir(tmp_path)
    examples = re.findall(
        r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), flags=re.S
    )
    assert examples
    names: dict[str, object] = {}
    for example in examples:
        exec(compile(example, page, "exec"), names)
    assert names["pairs"]


def test_every_problem_the_docs_name_is_one() -> None:
    """The page groups kinds in words; it must name at least each severity's exit code."""
    page = (ROOT / "docs" / "data.md").read_text(encoding="utf-8")
    table = page.split("| errors | warnings |")[1].split("\n\n")[0]
    for code in KINDS:
        subject = code.partition("-")[0]
        assert SUBJECTS.get(subject, subject) in table.lower(), code

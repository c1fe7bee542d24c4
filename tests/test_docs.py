"""The docs keep up with the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer.main

from trope.cli import app
from trope.data.check import KINDS
from trope.data.convert import FORMATS

ROOT = Path(__file__).parents[1]
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


def test_python_examples_compile() -> None:
    for page in PAGES:
        for example in re.findall(
            r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.S
        ):
            compile(example, page.name, "exec")


def test_severities_in_the_docs_are_those_of_the_code() -> None:
    assert {kind.severity for kind in KINDS.values()} == {"error", "warning"}

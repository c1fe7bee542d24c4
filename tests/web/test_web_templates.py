"""What the two pages that ask have in common is written once."""

from __future__ import annotations

from pathlib import Path

import pytest

from trope.web import pages

TEMPLATES = Path(pages.__file__).parents[1] / "templates"
SHARED = 3  # lines in a row that both may have, such as the end of a block


def lines(name: str) -> list[str]:
    text = (TEMPLATES / name).read_text(encoding="utf-8")
    return [line.strip() for line in text.splitlines() if line.strip()]


def runs(name: str) -> set[tuple[str, ...]]:
    """Lines that stand together, one more than may be shared."""
    there = lines(name)
    return {tuple(there[i : i + SHARED + 1]) for i in range(len(there) - SHARED)}


def test_the_pages_that_ask_share_no_lines() -> None:
    assert not runs("search.html") & runs("compare.html")


@pytest.mark.parametrize("line", ['role="search"', "What to find", "remark | sentence"])
def test_what_both_ask_and_tell_is_written_once(line: str) -> None:
    files = [path.name for path in TEMPLATES.glob("*.html")]
    assert sum(one.count(line) for name in files for one in lines(name)) == 1

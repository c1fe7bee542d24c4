"""The examples of the pages on spaces, relevance and explaining run as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from explain_samples import write

from trope.spaces.captions import MEASURES

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("page", ["spaces.md", "relevance.md", "explain.md"])
def test_examples_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "archive", 40, {i: {"split": None} for i in range(40)})
    monkeypatch.chdir(tmp_path)
    examples = re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.S)
    assert examples
    names: dict[str, object] = {}
    for example in examples:
        exec(compile(example, page, "exec"), names)


def test_figures_of_the_relevance_page() -> None:
    text = (DOCS / "relevance.md").read_text(encoding="utf-8")
    names: dict[str, object] = {}
    for example in re.findall(r"```python\n(.*?)```", text, re.S):
        exec(compile(example, "relevance.md", "exec"), names)
    rows = names["relevance"].rows(np.array([0]))  # type: ignore[attr-defined]
    assert rows[0].round(2).tolist() == pytest.approx([0.53, 0.53, 0.08, 0])


def test_every_measure_has_a_line() -> None:
    text = (DOCS / "relevance.md").read_text(encoding="utf-8")
    for name in MEASURES:
        assert f"\n| `{name}` |" in text

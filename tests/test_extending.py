"""The methods that the docs write as examples work as they say."""

from __future__ import annotations

import re
from pathlib import Path
from unittest.mock import patch

import pytest

from trope.losses import LOSSES
from trope.weights import WEIGHTS

PAGE = Path(__file__).parents[1] / "docs" / "extending.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.S)


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_an_example_runs_and_checks_itself(number: int) -> None:
    assert "assert" in EXAMPLES[number]
    with patch.dict(LOSSES), patch.dict(WEIGHTS):  # what it puts in is gone afterwards
        exec(compile(EXAMPLES[number], f"{PAGE.name}, example {number + 1}", "exec"), {})


def test_there_is_an_example_of_each() -> None:
    classes = [re.findall(r"class (\w+)", each) for each in EXAMPLES]
    assert classes == [["SoftMargin"], ["Agreement"], ["Margin"]]

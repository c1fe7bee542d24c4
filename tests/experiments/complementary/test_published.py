"""The pages of the docs are what the commands write from the figures beside them."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from trope.experiments.complementary.page import page
from trope.experiments.complementary_overview import Overview
from trope.experiments.complementary_overview.page import page as overview
from trope.experiments.complementary_overview.study import run

DOCS = Path(__file__).parents[3] / "docs" / "results" / "complementary"
SETS = sorted(path.parent for path in DOCS.glob("*/results.json"))
CHOICE = DOCS.with_name("complementary-own")  # where our own weights were chosen


@pytest.mark.parametrize("folder", [*SETS, CHOICE], ids=lambda folder: folder.name)
def test_the_page_of_a_data_set(folder: Path) -> None:
    document = orjson.loads((folder / "results.json").read_bytes())
    assert page(document) == (folder / "complementary.md").read_text(encoding="utf-8")
    assert document["settings"]["split"] == ("val" if folder == CHOICE else "test")
    assert (folder / "complementary.svg").is_file()


def test_the_overview_is_made_of_these() -> None:
    document = orjson.loads((DOCS / "results.json").read_bytes())
    assert overview(document) == (DOCS / "complementary-overview.md").read_text(encoding="utf-8")
    settings = Overview(literal=tuple(document["settings"]["literal"]))
    assert orjson.loads(orjson.dumps(run(DOCS, settings).results["columns"])) == document["columns"]

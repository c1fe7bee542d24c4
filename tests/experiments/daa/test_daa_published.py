"""The pages of the docs are what the commands write from the figures beside them."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from trope.experiments.daa.page import page
from trope.experiments.daa.ratio_page import page as ratio_page

DOCS = Path(__file__).parents[3] / "docs" / "results"
PAGES = {
    ("daa", "daa"): ["vse", "pcme"],
    ("daa-sgr", "daa"): ["sgr"],
    ("data-ratio", "data-ratio"): ["vse", "pcme"],
    ("data-ratio-sgr", "data-ratio"): ["sgr"],
}


@pytest.mark.parametrize(("folder", "name"), PAGES, ids=[folder for folder, _ in PAGES])
def test_the_page_of_a_table(folder: str, name: str) -> None:
    document = orjson.loads((DOCS / folder / "results.json").read_bytes())
    written = (page if name == "daa" else ratio_page)(document)
    assert written == (DOCS / folder / f"{name}.md").read_text(encoding="utf-8")
    assert list(document["models"]) == PAGES[folder, name]
    assert (DOCS / folder / f"{name}.svg").is_file()

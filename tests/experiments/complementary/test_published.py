"""The pages of the docs are what the commands write from the figures beside them."""

from __future__ import annotations

import itertools
from pathlib import Path

import orjson
import pytest

from trope.experiments.complementary.page import page
from trope.experiments.complementary_overview import Overview
from trope.experiments.complementary_overview.page import page as overview
from trope.experiments.complementary_overview.study import run
from trope.experiments.runs.tables import gap

DOCS = Path(__file__).parents[3] / "docs" / "results" / "complementary"
SETS = sorted(path.parent for path in DOCS.glob("*/results.json"))
CHOICES = [DOCS.with_name(f"complementary-{name}") for name in ("baselines", "means", "own", "why")]


@pytest.mark.parametrize("folder", [*SETS, *CHOICES], ids=lambda folder: folder.name)
def test_the_page_of_a_data_set(folder: Path) -> None:
    document = orjson.loads((folder / "results.json").read_bytes())
    assert page(document) == (folder / "complementary.md").read_text(encoding="utf-8")
    assert document["settings"]["split"] == ("val" if folder in CHOICES else "test")
    assert (folder / "complementary.svg").is_file()


def test_the_overview_is_made_of_these() -> None:
    document = orjson.loads((DOCS / "results.json").read_bytes())
    assert overview(document) == (DOCS / "complementary-overview.md").read_text(encoding="utf-8")
    settings = Overview(literal=tuple(document["settings"]["literal"]))
    assert orjson.loads(orjson.dumps(run(DOCS, settings).results["columns"])) == document["columns"]


ROWS = {  # of the table in methods.md that tells why
    "`{m}`": "{m}",
    "`{m}`, `weight.fresh=true`": "{m}, fresh",
    "`{m}`, `neighbors.space=sentence`": "{m}, sentences",
    "`{m}`, `neighbors.k=20`": "{m}, N 20",
    "`{m}`, all three": "{m}, all three",
    "`{m}`, all three, `weight.scale=25`": "{m}, 25",
}


def test_the_table_of_the_methods_page_is_that_of_the_study() -> None:
    found = orjson.loads((CHOICES[-1] / "results.json").read_bytes())["encoders"]["sentence"]
    gaps = {(one["left"], one["right"]): one["both"] for one in found["comparisons"]}
    expected = []
    for measure in ("diversity", "discrepancy"):
        for said, template in ROWS.items():
            name = template.format(m=measure)
            if name in found["recipes"]:
                weights = found["recipes"][name]["weights"]
                means = [sum(one[key] for one in weights) / len(weights)
                         for key in ("deviation", "ess")]  # fmt: skip
                cells = [f"{mean:.3f}" for mean in means]
                cells += [gap(gaps[name, other]) if (name, other) in gaps else ""
                          for other in ("pvse", f"{name}, shuffled")]  # fmt: skip
                row = " | ".join([said.format(m=measure), *cells]).replace("-", "−")
                expected.append(f"| {row} |".replace("  ", " "))
    page = (DOCS.parents[1] / "methods.md").read_text(encoding="utf-8")
    assert len(expected) == 11
    for row in expected:
        assert row in page


NEGATIVES = {  # of the table in methods.md that tells what the hardest negative costs
    "all, margin 0.1": ("pvse", "rank weights, all negatives"),
    "all": ("", "rank weights, margin 0.2"),
    "all in the first 500 of a thousand steps, then the hardest": ("", "rank weights, warm 500"),
    "all in the first 200": ("hardest negative, warm 200", "rank weights, warm 200"),
    "all in the first 50": ("", "rank weights, warm 50"),
    "the hardest": ("hardest negative", "mithun"),
}


def test_the_table_of_negatives_is_that_of_the_baselines() -> None:
    found = orjson.loads((CHOICES[0] / "results.json").read_bytes())["encoders"]["sentence"]
    page = (DOCS.parents[1] / "methods.md").read_text(encoding="utf-8")
    for said, names in NEGATIVES.items():
        cells = [f"{found['recipes'][name]['both']['value']:.3f}" if name else "" for name in names]
        assert f"| {' | '.join([said, *cells])} |".replace("  ", " ") in page


COLUMNS = {  # of the table in the README
    "stories": "storybooks, sentence",
    "stories, GRU": "storybooks-gru, gru",
    "descriptions": "descriptions, sentence",
    "COCO": "coco, sentence",
    "Emblem Book 0": "emblems-0, sentence",
    "0.5": "emblems-0.5, sentence",
    "1": "emblems-1, sentence",
}


def test_the_table_of_the_readme_is_that_of_the_overview() -> None:
    found = orjson.loads((DOCS / "results.json").read_bytes())["columns"]
    assert sorted(COLUMNS.values()) == sorted(found)
    shared = set.intersection(*({*column["recipes"]} for column in found.values()))
    page = (DOCS.parents[2] / "README.md").read_text(encoding="utf-8")
    table = page[page.index(f"| recipe | {' | '.join(COLUMNS)} |\n") :].splitlines()
    rows = {}
    for line in itertools.takewhile(lambda line: line.startswith("|"), table[2:]):
        name, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        rows[name.strip("`")] = [cell.strip("*") for cell in cells]
    assert rows == {
        name: [f"{found[column]['recipes'][name]['value']:.3f}" for column in COLUMNS.values()]
        for name in shared
    }

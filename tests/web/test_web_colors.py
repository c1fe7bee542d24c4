"""What the points of a map are colored by."""

from __future__ import annotations

import random

import pyarrow as pa

from trope.index.items import LEARNED
from trope.web.colors import colors
from trope.web.facets import Facet, Facets

KNOWN = Facets((Facet("labels", "labels"), Facet("maker", "choice"), Facet("on", "flag")), 6)


def table(lists: list[list[str] | None]) -> pa.Table:
    count = len(lists)
    return pa.table(
        {
            "labels": pa.array(lists, pa.list_(pa.string())),
            "maker": ["a"] * count,
            "on": [True] * count,
            LEARNED: [False] * count,
        }
    )


def test_the_order_of_colors_is_that_of_counts_and_names() -> None:
    lists = [["pear"], ["fig"], ["plum"], ["apple"], ["plum"], ["fig"]]
    for seed in range(5):
        random.Random(seed).shuffle(lists)
        assert colors(table(lists), KNOWN)[0].names == ("fig", "plum", "apple", "pear")


def test_labels_that_never_come_first_are_told() -> None:
    some = colors(table([["fig", "red"], ["fig", "plum"], ["plum"], None, [], ["fig"]]), KNOWN)
    assert some[0].names == ("fig", "plum")
    assert some[0].told == "by the first of each item; never first, and so without a color: red"
    many = colors(table([["fig", "e", "d", "c", "b", "a"], *[["fig"]] * 5]), KNOWN)
    assert many[0].told.endswith("without a color: a, b, c and 2 more")
    assert [color.told for color in some[1:]] == ["", "", ""]
    assert colors(table([["fig"]] * 6), KNOWN)[0].told == "by the first of each item"

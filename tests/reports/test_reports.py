from __future__ import annotations

import io
from pathlib import Path

import pytest
from PIL import Image

from trope.errors import MissingExtra
from trope.reports import plots
from trope.reports.plots import Line, Panel, draw
from trope.reports.tables import Table, interval

LINES = [
    Line("one", [1, 10, 100], [0.1, 0.5, 0.9], [0.0, 0.4, 0.8], [0.2, 0.6, 1.0]),
    Line("chance", [1, 10, 100], [0.3, 0.3, 0.3], quiet=True),
]
PANELS = [Panel("Left", "x", "y", LINES, "log"), Panel("Right", "x", "y", LINES[:1])]


def test_a_plot_is_written_twice_and_the_same_each_time(tmp_path: Path) -> None:
    draw(PANELS, tmp_path / "a" / "plot")
    draw(PANELS, tmp_path / "b" / "plot")
    for name in ("plot.png", "plot.svg"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    picture = Image.open(io.BytesIO((tmp_path / "a" / "plot.png").read_bytes())).convert("RGB")
    colors = {color for _, color in picture.getcolors(2**24) or ()}
    assert (0x00, 0x72, 0xB2) in colors  # the first line's
    assert (0x8A, 0x8A, 0x8A) in colors  # the quiet one's


def test_a_name_has_one_color_in_all_panels() -> None:
    swapped = Panel("", "", "", [Line("two", [1], [1]), LINES[0]])
    assert plots._colors([PANELS[0], swapped]) == {"one": "#0072b2", "two": "#d55e00"}


@pytest.mark.parametrize(("middle", "whole"), [(2.0, True), (1.5, False)])
def test_epochs_have_no_halves(middle: float, whole: bool) -> None:
    panel = Panel("", "epoch", "", [Line("one", [1, middle, 3], [1, 2, 3])])
    (axes,) = plots._figure([panel], 1).axes
    assert all(float(tick).is_integer() for tick in axes.get_xticks()) is whole


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plots, "find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match=r"pip install 'trope\[plots\]'"):
        draw(PANELS, Path("nowhere"))


def test_tables_are_markdown() -> None:
    table = Table("Results", ["measure", "value"], [["a|b", interval(0.5, 0.25, 0.75)]])
    assert table.markdown().splitlines() == [
        "**Results**",
        "",
        "| measure | value |",
        "| --- | ---: |",
        "| a\\|b | 0.500 (0.250–0.750) |",
    ]
    assert interval(float("nan"), 0.0, 1.0) == "–"

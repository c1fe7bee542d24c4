"""Plots of results: lines with bands of uncertainty, readable on a light page and in print."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, TypeAlias

from trope.errors import MissingExtra
from trope.files import replacing

# The colors of Okabe and Ito, told apart by readers who confuse red and green.
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a5195")
QUIET = "#8a8a8a"
STYLE = {
    "font.size": 9.5,
    "axes.edgecolor": "#b0b0b0",
    "axes.labelcolor": "#404040",
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.grid": True,
    "axes.titlesize": 10.5,
    "axes.titlelocation": "left",
    "grid.color": "#ececec",
    "legend.frameon": False,
    "svg.hashsalt": "trope",  # the same file for the same figures
    "text.color": "#303030",
    "xtick.color": "#505050",
    "ytick.color": "#505050",
}


Numbers: TypeAlias = Sequence[int | float]


@dataclass(frozen=True)
class Line:
    """A named line; `low` and `high` bound its band, a quiet one is there for comparison only."""

    name: str
    x: Numbers
    y: Numbers
    low: Numbers = ()
    high: Numbers = ()
    quiet: bool = False


@dataclass(frozen=True)
class Estimate:
    """A named value with its interval."""

    name: str
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Panel:
    """One pair of axes: lines, or estimates below each other; `mark` is a value to compare with."""

    title: str
    x: str
    y: str = ""
    lines: Sequence[Line] = ()
    scale: Literal["linear", "log"] = "linear"
    estimates: Sequence[Estimate] = ()
    mark: float | None = None


def require() -> None:
    """Refuse before any work when nothing can be drawn."""
    if find_spec("matplotlib") is None:
        raise MissingExtra("drawing plots", "plots")


def draw(panels: Sequence[Panel], path: Path, columns: int = 2) -> None:
    """Write the panels as `path` with the endings .png and .svg, under one legend."""
    require()
    with _styled():
        figure = _figure(panels, columns)
        for ending, about in ((".png", {"Software": None}), (".svg", {"Date": None})):
            with replacing(path.with_suffix(ending)) as handle:
                figure.savefig(handle, format=ending[1:], dpi=150, metadata=about)


@contextmanager
def _styled() -> Iterator[None]:
    """The style for the time of one drawing; a user's own plots keep theirs."""
    with import_module("matplotlib").rc_context(STYLE):
        yield


def _figure(panels: Sequence[Panel], columns: int) -> Any:
    columns = min(columns, len(panels))
    rows = [panels[start : start + columns] for start in range(0, len(panels), columns)]
    heights = [max(_height(panel) for panel in row) for row in rows]
    size = (4.6 * columns, sum(heights) + 0.5)
    figure = import_module("matplotlib.figure").Figure(figsize=size, layout="constrained")
    grid = figure.add_gridspec(len(rows), columns, height_ratios=heights)
    colors = _colors(panels)
    for place, panel in enumerate(panels):
        _fill(figure.add_subplot(grid[divmod(place, columns)]), panel, colors)
    shown = {
        line.get_label(): line
        for axes, panel in zip(figure.axes, panels, strict=True)
        for line in axes.get_lines()[: len(panel.lines)]
    }
    if shown:
        figure.legend(shown.values(), shown, loc="outside lower center", ncols=min(6, len(shown)))
    return figure


def _height(panel: Panel) -> float:
    """In inches: names of estimates must not touch each other."""
    return max(3.1, 0.9 + 0.24 * len(panel.estimates))


def _colors(panels: Sequence[Panel]) -> dict[str, str]:
    """A color for each name, the same in all panels."""
    names = {line.name: None for panel in panels for line in panel.lines if not line.quiet}
    return {name: COLORS[i % len(COLORS)] for i, name in enumerate(names)}


def _fill(axes: Any, panel: Panel, colors: dict[str, str]) -> None:
    for line in panel.lines:
        color = colors.get(line.name, QUIET)
        dash = "--" if line.quiet else "-"
        axes.plot(line.x, line.y, dash, color=color, label=line.name, linewidth=1.8)
        if len(line.low):
            axes.fill_between(line.x, line.low, line.high, color=color, alpha=0.15, linewidth=0)
    _list(axes, panel.estimates)
    if panel.mark is not None:
        axes.axvline(panel.mark, linestyle="--", color=QUIET, linewidth=1.2)
    axes.set(title=panel.title, xlabel=panel.x, ylabel=panel.y, xscale=panel.scale)
    if panel.estimates:
        axes.locator_params(axis="x", nbins=4)  # long numbers would touch each other
    elif panel.scale == "linear" and all(float(x).is_integer() for x in _along(panel)):
        axes.locator_params(axis="x", integer=True)  # there is no epoch 1.5
    axes.tick_params(length=0)
    axes.grid(visible=False, which="minor")


def _along(panel: Panel) -> Iterator[float]:
    return (x for line in panel.lines for x in line.x)


def _list(axes: Any, estimates: Sequence[Estimate]) -> None:
    """Estimates from top to bottom: a dot each, and a bar from low to high."""
    places = range(len(estimates))
    for place, found in zip(places, estimates, strict=True):
        axes.plot([found.low, found.high], [place, place], "-", color=COLORS[0], linewidth=1.8)
        axes.plot([found.value], [place], "o", color=COLORS[0], markersize=5)
    if estimates:
        axes.set_yticks(list(places), [found.name for found in estimates])
        axes.set_ylim(len(estimates) - 0.5, -0.5)

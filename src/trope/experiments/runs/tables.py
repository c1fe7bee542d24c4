"""Cells of tables and sentences about runs, from results alone."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from trope.reports.plots import Estimate
from trope.reports.tables import interval

Known = Mapping[str, Any]

NONE = "–"
AT_WORK = ("workers", "finished")  # settings that no figure depends on


def cell(known: Known) -> str:
    """A mean with its interval; of one component alone there is none."""
    if known["low"] is None:
        return f"{known['value']:.3f}"
    return interval(known["value"], known["low"], known["high"])


def gap(known: Known) -> str:
    """A difference in points, with its interval."""
    value = f"{100 * known['difference']:+.1f}"
    if known["low"] is None:
        return value
    return f"{value} ({100 * known['low']:+.1f} to {100 * known['high']:+.1f})"


def points(share: float | None) -> str:
    """A share in points."""
    return NONE if share is None else f"{100 * share:.1f}"


def spread(known: Known) -> str:
    """How much runs differ, in points."""
    return points(known["spread"])


def spans(known: Mapping[str, Known]) -> list[Estimate]:
    """What a plot shows; without an interval, the value alone."""
    return [_span(name, found) for name, found in known.items()]


def _span(name: str, found: Known) -> Estimate:
    value = found["difference"] if "difference" in found else found["value"]
    low, high = found["low"], found["high"]
    return Estimate(name, value, value if low is None else low, value if high is None else high)


def listed(changes: Sequence[str]) -> str:
    """Changes of settings in one line."""
    return ", ".join(f"`{change}`" for change in changes) or "none"


def command(name: str, results: Known, defaults: Known) -> str:
    """What to type to make the same again: all settings that are not the usual ones."""
    line = f"trope experiment {name} --data DATA --out OUT"
    chosen = results["settings"]
    changed = [key for key in defaults if key in chosen and chosen[key] != defaults[key]]
    words = [f"{key}={_toml(chosen[key])}" for key in changed if key not in AT_WORK]
    sets = [f"--set {shlex.quote(word)}" for word in words]
    return " \\\n    ".join([line, *sets])


def _toml(value: object) -> str:
    """A plain value as `--set` takes it."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f'"{name}" = {_toml(item)}' for name, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def made(results: Known) -> str:
    """When, where and by which code; runs that other code had made are told."""
    about = "{date:.10}, {machine}, {commit}".format(**results["provenance"])
    others = [c for c in results["commits"] if c != results["provenance"]["commit"]]
    return f"{about} (runs trained by {', '.join(others)})" if others else about

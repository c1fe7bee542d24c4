"""The driver: one folder for one experiment and its settings, taken up again when it was stopped.

The same command goes on where it was; with other settings the folder is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson

from trope.config import NONE, load, plain
from trope.data.text import listed
from trope.errors import UsageError, suggestion
from trope.experiments.spec import Experiment, Findings
from trope.files import locked, refuse_existing, replacing, write_json
from trope.reports import plots
from trope.runtime import provenance

STARTED = "experiment.json"  # says whose folder it is, and with which settings
PARTS = "parts"  # what a stopped run had finished


def run_in(
    experiments: Mapping[str, Experiment], name: str, data: Path, out: Path, sets: Sequence[str]
) -> Findings:
    """Run the experiment of that name and write what it found."""
    if name not in experiments:
        raise UsageError(f"no experiment '{name}'{suggestion(name, experiments)}")
    experiment = experiments[name]
    settings: Any = load(experiment.settings, None, listed(sets, "sets"))
    chosen = plain(settings)
    plots.require()
    if not data.is_dir():
        raise UsageError(f"{data}: no such folder; {name} needs {experiment.data}")
    usual = plain(experiment.settings())
    bound, unset = (
        {k: v for k, v in s.items() if k not in experiment.loose} for s in (chosen, usual)
    )
    with locked(out, beside=True), _claimed(out, name, bound, unset):
        findings = experiment.run(data, out / PARTS, settings)
        about = {"experiment": name, "title": experiment.title, "paper": experiment.paper}
        made = {"settings": chosen, "provenance": provenance()}
        _write(out, name, about | made | findings.results, findings)
    return findings


@contextmanager
def _claimed(
    out: Path, name: str, settings: Mapping[str, Any], usual: Mapping[str, Any]
) -> Iterator[None]:
    """A folder that is this experiment's; gone again if it came to nothing."""
    _claim(out, name, settings, usual)
    try:
        yield
    finally:
        if [path.name for path in out.iterdir()] == [STARTED]:
            (out / STARTED).unlink()
            out.rmdir()


def _claim(out: Path, name: str, settings: Mapping[str, Any], usual: Mapping[str, Any]) -> None:
    """Never write into a folder of other things, nor over another experiment or other settings.

    Parts alone, copied from another experiment, are taken as one's own: their names say what they
    hold. A setting that was not known when the folder was begun had its usual value.
    """
    marker = out / STARTED
    if not marker.is_file():
        if not (out / PARTS).is_dir() or len(list(out.iterdir())) > 1:
            refuse_existing(out)
        write_json(marker, {"experiment": name, "settings": settings})
    try:
        begun = orjson.loads(marker.read_bytes())
        owner, before = begun["experiment"], {**usual, **begun.get("settings", {})}
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError, AttributeError):
        raise UsageError(f"{marker}: not written by trope; name a new folder") from None
    if owner != name:
        raise UsageError(f"{out}: holds the experiment '{owner}'; name a new folder")
    if told := differing(before, settings):
        raise UsageError(f"{out}: made with {', '.join(told)}; name a new folder")


def differing(before: Mapping[str, Any], now: Mapping[str, Any], above: str = "") -> list[str]:
    """Each setting that is another one now, as `name=before, not now`; of tables, those inside."""
    told = []
    for name in {**before, **now}:
        old, new = before.get(name, NONE), now.get(name, NONE)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            told += differing(old, new, f"{above}{name}.")
        elif old != new:
            told.append(f"{above}{name}={old}, not {new}")
    return told


def _write(out: Path, name: str, results: Mapping[str, Any], findings: Findings) -> None:
    """The plot first and the results last: where there are results, all the rest is there too."""
    plots.draw(findings.panels, out / name)
    texts = {
        "table.md": "\n".join(table.markdown() for table in findings.tables),
        f"{name}.md": findings.page(results),
    }
    for file, text in texts.items():
        with replacing(out / file, "w") as handle:
            handle.write(text)
    write_json(out / "results.json", results)

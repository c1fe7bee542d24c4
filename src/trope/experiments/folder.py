"""The driver: one folder for one experiment, taken up again when a run was stopped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson

from trope.config import load, plain
from trope.errors import UsageError, suggestion
from trope.experiments.spec import Experiment, Findings
from trope.files import locked, refuse_existing, replacing, write_json
from trope.reports import plots
from trope.runtime import provenance

STARTED = "experiment.json"  # says whose folder it is
PARTS = "parts"  # what a stopped run had finished


def run_in(
    experiments: Mapping[str, Experiment], name: str, data: Path, out: Path, sets: Sequence[str]
) -> Findings:
    """Run the experiment of that name and write what it found."""
    if name not in experiments:
        raise UsageError(f"no experiment '{name}'{suggestion(name, experiments)}")
    experiment = experiments[name]
    settings: Any = load(experiment.settings, None, sets)
    plots.require()
    if not data.is_dir():
        raise UsageError(f"{data}: no such folder; {name} needs {experiment.data}")
    with locked(out), _claimed(out, name):
        findings = experiment.run(data, out / PARTS, settings)
        about = {"experiment": name, "title": experiment.title, "paper": experiment.paper}
        made = {"settings": plain(settings), "provenance": provenance()}
        _write(out, name, about | made | findings.results, findings)
    return findings


@contextmanager
def _claimed(out: Path, name: str) -> Iterator[None]:
    """A folder that is this experiment's; gone again if it came to nothing."""
    _claim(out, name)
    try:
        yield
    finally:
        if [path.name for path in out.iterdir()] == [STARTED]:
            (out / STARTED).unlink()
            out.rmdir()


def _claim(out: Path, name: str) -> None:
    """Never write into a folder of other things, nor over another experiment."""
    marker = out / STARTED
    if not marker.is_file():
        refuse_existing(out)
        write_json(marker, {"experiment": name})
    try:
        owner = orjson.loads(marker.read_bytes())["experiment"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        raise UsageError(f"{marker}: not written by trope; name a new folder") from None
    if owner != name:
        raise UsageError(f"{out}: holds the experiment '{owner}'; name a new folder")


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

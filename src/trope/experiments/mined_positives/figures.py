"""Tables and plot about mined positives, from the results alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trope.experiments.mined_positives.scorers import LABELS
from trope.reports.plots import Line, Panel
from trope.reports.tables import Table, interval

Results = Mapping[str, Any]

TASKS = {"sits": "Images to captions (SITS)", "sts": "Captions to captions (STS)"}
NAMES = {
    LABELS: "class labels",
    "cider": "CIDEr",
    "cider-daa": "CIDEr of DAA's code",
    "cider-d": "CIDEr-D",
    "bleu": "BLEU",
    "bleu-coco": "BLEU of COCO",
    "rouge": "ROUGE",
    "rouge-daa": "ROUGE of DAA's code",
    "mean": "mean of CIDEr/BLEU/ROUGE",
    "mean-daa": "mean of DAA's code",
    "sentence": "sentences (MiniLM)",
    "chance": "chance",
}
PLOTTED = (LABELS, "cider", "bleu", "rouge", "sentence", "chance")
SHOWN = (10, 100, 1000)  # mined positives a query, in tables
FEWEST = 30  # judged pairs among the mined below which a share is not drawn
BOUNDS = ("value", "low", "high")
AGREED, FOUND = "people agree, of judged", "people's positives found"


def tables(results: Results, share: float) -> tuple[Table, ...]:
    """The figures a reader wants first, then those over a growing number of mined positives."""
    each = [_by_number(results["tasks"][task], title) for task, title in TASKS.items()]
    return (_correlations(results), *each, _effort(results, share))


def panels(results: Results) -> tuple[Panel, ...]:
    """Images as queries to the left, captions to the right; then agreement over recall."""
    each = [(TASKS[task], results["tasks"][task]) for task in TASKS]
    mined = "mined positives per query"
    return (
        *(Panel(title, mined, AGREED, _lines(task, "agreement"), "log") for title, task in each),
        *(Panel(title, mined, FOUND, _lines(task, "recall"), "log") for title, task in each),
        *(Panel(title, FOUND, AGREED, _lines(task, "agreement", True)) for title, task in each),
    )


def shown(task: Results) -> dict[int, int]:
    """The numbers of mined positives that tables show, and their places on a curve."""
    return {k: task["mined"].index(k) for k in SHOWN if k in task["mined"]}


def _correlations(results: Results) -> Table:
    columns = {
        "STS, all pairs": ("sts", "spearman"),
        "STS, other images": ("sts", "spearman_other"),
        "SITS, all pairs": ("sits", "spearman"),
        "SITS, other images": ("sits", "spearman_other"),
    }
    rows = [
        [NAMES[m], *(_cell(results["tasks"][t]["measures"][m][c]) for t, c in columns.values())]
        for m in results["tasks"]["sits"]["measures"]
        if m != "chance"
    ]
    return Table("Spearman's rank correlation with people's scores", ["measure", *columns], rows)


def _by_number(task: Results, title: str) -> Table:
    """Agreement and recall at some numbers of mined positives."""
    places = shown(task)
    cells = [(curve, i) for curve in ("agreement", "recall") for i in places.values()]
    columns = [f"{what} at {k:,}" for what in ("agreement", "recall") for k in places]
    rows = [
        [NAMES[m], *(_cell(known[curve], i) for curve, i in [("agreement_at_half", 0), *cells])]
        for m, known in task["measures"].items()
    ]
    return Table(title, ["measure", "agreement at recall 0.5", *columns], rows)


def _effort(results: Results, share: float) -> Table:
    """The paper's own count: how many pairs must be mined in all to find most positives."""
    tasks = results["tasks"].items()
    columns = [c for task, _ in tasks for c in (f"{task.upper()}: million pairs", "of labels'")]
    rows = [
        [NAMES[m], *(cell for _, task in tasks for cell in _needed(task["measures"], m))]
        for m in results["tasks"]["sits"]["measures"]
    ]
    title = f"Pairs mined in all, best first, to find {share:.1%} of people's positives"
    return Table(title, ["measure", *columns], rows)


def _needed(measures: Results, measure: str) -> tuple[str, str]:
    value, low, high = (measures[measure]["needed"][bound][0] / 1e6 for bound in BOUNDS)
    if LABELS not in measures:
        return interval(value, low, high, ".2f"), "–"
    ratio = value / measures[LABELS]["needed"]["value"][0] * 1e6
    return interval(value, low, high, ".2f"), f"× {ratio:.2f}"


def _cell(curve: Results, place: int = 0) -> str:
    value, low, high = (float(curve[bound][place]) for bound in BOUNDS)
    return interval(value, low, high)


def _lines(task: Results, curve: str, over_recall: bool = False) -> list[Line]:
    shown = [measure for measure in PLOTTED if measure in task["measures"]]
    return [_line(task, measure, curve, over_recall) for measure in shown]


def _line(task: Results, measure: str, curve: str, over_recall: bool) -> Line:
    """A line from where enough judged pairs are mined; no shares of a handful."""
    known = task["measures"][measure]
    enough = [curve == "recall" or judged >= FEWEST for judged in known["judged"]["value"]]
    kept = [i for i, drawn in enumerate(enough) if drawn]
    y, low, high = ([known[curve][bound][i] for i in kept] for bound in BOUNDS)
    along = known["recall"]["value"] if over_recall else task["mined"]
    x = [along[i] for i in kept]
    return Line(NAMES[measure], x, y, low, high, quiet=measure == "chance")

"""The demo: the whole job on the built-in data set."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from trope import config
from trope.checkpoints import load_model
from trope.data.check import CheckSettings, Report, check
from trope.data.contact import contact_sheet
from trope.data.emblems import EmblemBook, write_emblem_book
from trope.data.pairs import Pairs
from trope.data.readers import open
from trope.data.splits import SplitPlan, SplitReport, split
from trope.data.statistics import Statistics, describe
from trope.data.text import TextPreparation
from trope.data.writer import write_pairs
from trope.errors import DataError, UsageError
from trope.evaluation import Evaluation, evaluate
from trope.files import write_json
from trope.index.job import Indexed
from trope.pipeline.searches import Search, by_rows, by_words, indexed
from trope.runtime import generator, provenance
from trope.search import Index, open_index
from trope.training import Trained, train
from trope.wording import counted

OWN = {"data", ".data.partial", ".data.partial.lock"}  # what a demo that was killed early has left
PAIRS = 7_200  # three pictures a sentence: with one, a model learns next to nothing about topics
MEASURED = ("recall", "recall/c-way")
NEW = "split = 'test'"  # pictures that the model has not seen
FOUND = 5  # hits of a search


@dataclass(frozen=True)
class Demo:
    """Settings of the demo: the built-in data and what is done with it.

    `train` are changes of the recipe, like `--set`: sentences are few, so that what they mean and
    which are neighbors comes from an encoder that has seen more.
    """

    emblems: EmblemBook = field(default_factory=lambda: EmblemBook(pairs=PAIRS))
    check: CheckSettings = field(default_factory=CheckSettings)
    split: SplitPlan = field(default_factory=SplitPlan)
    text: TextPreparation = field(default_factory=TextPreparation)
    recipe: str = "neighborhoods"
    train: tuple[str, ...] = (
        "text.encoder=sentence",
        "neighbors.space=sentence",
    )
    topics: tuple[str, ...] = ("justice", "hunger", "freedom")


@dataclass(frozen=True)
class DemoResult:
    """What the demo made and found."""

    data: Path
    sheet: Path
    pairs: Pairs
    check: Report
    split: SplitReport
    statistics: Statistics
    trained: Trained
    evaluation: Evaluation
    index: Path
    indexed: Indexed | None
    searches: list[Search]


def demo(out: Path, settings: Demo | None = None) -> DemoResult:
    """Built-in data → check → split → train → evaluate → index → searches below `out`.

    A second call goes on.
    """
    settings = settings or Demo()
    data = out / "data"
    _refuse_other(out, settings)
    if not data.exists():
        write_emblem_book(data, settings.emblems)
    config.save(settings, out / "config.toml")
    pairs = open(data)
    report = check(pairs, settings.check)
    if report.count("error"):
        wrong = counted(report.count("error"), "error")
        raise DataError(f"{data}: {wrong}; `trope check {data}` lists them")
    unsplit = pairs.with_column("split", pa.nulls(len(pairs), pa.string()))
    pairs, splits = split(unsplit, settings.split, report.digests)
    write_pairs(data, pairs)
    run = out / "run"
    trained = train(settings.recipe, pairs, run, sets=settings.train, resume=run.exists())
    made = indexed(run, pairs, out / "index")
    result = DemoResult(
        data,
        out / "contact-sheet.png",
        pairs,
        report,
        splits,
        describe(pairs, settings.text),
        trained,
        evaluate(load_model(run), pairs, metrics=MEASURED),
        out / "index",
        made,
        _searches(open_index(out / "index"), pairs, settings.topics),
    )
    _write_sheet(result, settings.emblems.seed)
    write_json(out / "demo.json", _document(result, settings))
    return result


def _refuse_other(out: Path, settings: Demo) -> None:
    """Keep apart from folders that are somebody's own, or made with other settings."""
    path = out / "config.toml"
    if path.exists():
        if config.load(Demo, path) != settings:
            raise UsageError(f"{path}: made with other settings; choose another --out")
    elif out.is_dir() and any(item.name not in OWN for item in out.iterdir()):
        raise UsageError(f"{out}: exists and is no demo folder; choose another --out")


def _searches(index: Index, pairs: Pairs, topics: tuple[str, ...]) -> list[Search]:
    """Words find pictures that the model has not seen; one picture finds texts."""
    labels = pairs.in_split("test").column("labels").to_pylist()
    found = []
    for topic in topics:
        share = sum(topic in several for several in labels) / max(len(labels), 1)
        search = by_words(index, [topic], k=FOUND, where=NEW)
        found.append(replace(search, about=topic, share=share))
    if len(topics) > 1:
        found.append(by_words(index, topics[:1], topics[1:2], k=FOUND, where=NEW))
    return [*found, *by_rows(index, pairs, 0, where=NEW)]


def _write_sheet(result: DemoResult, seed: int) -> None:
    rows = generator(seed, "contact sheet").choice(
        len(result.pairs), min(24, len(result.pairs)), False
    )
    contact_sheet(result.pairs, np.sort(rows).tolist()).save(result.sheet)


def _document(result: DemoResult, settings: Demo) -> dict[str, object]:
    return {
        "config": config.plain(settings),
        "provenance": provenance(),
        "check": result.check.document(),
        "split": {
            "rows": result.split.rows,
            "shares": result.split.shares,
            "made": result.split.made,
        },
        "statistics": result.statistics.document(),
        "evaluation": result.evaluation.document(),
        "indexed": None if result.indexed is None else result.indexed.document(),
        "searches": [search.document() for search in result.searches],
    }

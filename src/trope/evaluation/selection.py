"""Which metrics are computed: those asked for by name, or all that the data allows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from trope.errors import UsageError, suggestion
from trope.evaluation.settings import EvaluationSettings
from trope.metrics import METRICS, Metric, entry_of, ndcg, recall, tasks
from trope.metrics.asp import PARTS, Asp
from trope.metrics.pmrp import APART, PMRP
from trope.metrics.table import JUDGED
from trope.spaces.captions import MEASURES
from trope.wording import counted

MOST_TEXTS = 30_000  # in a gallery whose captions are compared without being asked for it
PREDICTED = ("micro-f1", "macro-f1")
SIMPLE = ("median-rank", "mean-rank", "r-precision", "map@r", "map", "semantic-map")
USUAL = ("recall/c-way", "mean-rank/c-way", "recall", "rsum", *SIMPLE[:-1])
LABELED = ("ndcg", "semantic-map", "pmrp")
CAPTIONED = ("asp", "gain")  # by what captions say

Value = TypeVar("Value")


@dataclass(frozen=True)
class Request:
    """Families of metrics asked for whole, such as `asp`, and single names, such as `recall@1`."""

    families: frozenset[str]
    names: frozenset[str] = frozenset()

    def asks(self, family: str) -> bool:
        """Whether some metric of a family is wanted."""
        return family in self.families or any(map(METRICS[family].reports, self.names))

    def wants(self, name: str) -> bool:
        """Whether a result is to be reported; what people judged always is."""
        judged = name.startswith(JUDGED)
        return judged or name in self.names or any(METRICS[f].reports(name) for f in self.families)

    def reported(self, found: Mapping[str, Value]) -> dict[str, Value]:
        """The wanted ones of all that was computed."""
        return {name: value for name, value in found.items() if self.wants(name)}

    def numbers(self, pattern: str) -> tuple[int, ...]:
        """The numbers in the names that match."""
        found = (re.fullmatch(pattern, name) for name in self.names)
        return tuple(sorted({int(match[1]) for match in found if match}))

    @property
    def measures(self) -> tuple[str, ...]:
        """The caption measures that are needed; the mean is made of its parts."""
        asked = {name.partition("/")[2] for name in filter(_by_captions, self.names)}
        if "asp" in self.families or "mean" in asked:
            asked = (asked - {"mean"}) | set(PARTS)
        return tuple(name for name in MEASURES if name in asked)

    @property
    def neighbors(self) -> tuple[int | None, ...]:
        """The k of each preservation that is wanted, None for the one the settings say."""
        numbers = self.numbers(r"preservation@(\d+)")
        return (*((None,) if "preservation" in self.families else ()), *numbers)


def request(names: Iterable[str]) -> Request:
    """What names on the command line ask for; unknown ones are refused."""
    asked = [name.strip() for name in names]
    for name in asked:
        if name not in METRICS:
            entry_of(name)
        measure = name.partition("/")[2]
        if name == "gain":
            raise UsageError("--metrics gain: name how many, and the measure, as in gain@5/cider")
        if _by_captions(name) and measure not in MEASURES:
            known = suggestion(measure, MEASURES)
            raise UsageError(f"--metrics {name}: no measure '{measure}'{known}")
        task = re.fullmatch(r"recall@(\d+)/(\d+)-way", name)
        if task and int(task[1]) >= int(task[2]):
            among = counted(int(task[2]), "item")
            raise UsageError(f"--metrics {name}: among {among} it is always 1")
    families = frozenset(name for name in asked if name in METRICS)
    return Request(families, frozenset(asked) - families)


def suitable(*, labels: bool, texts: int, space: bool, predictions: bool) -> Request:
    """What is measured when nothing was asked for."""
    names = [*USUAL, *(LABELED if labels else ()), *(PREDICTED if labels and predictions else ())]
    names += ["asp"] if texts <= MOST_TEXTS else []
    return Request(frozenset([*names, *(["preservation"] if space else [])]))


def refuse_impossible(
    wanted: Request,
    *,
    labels: bool,
    space: bool,
    words: bool,
    predictions: bool,
    truth: Iterable[str] = (),
    unlabeled: str = "",
) -> None:
    """Say what the data lacks for what was asked for; `unlabeled`: why there are no labels."""
    named = {name.partition("=")[0] for name in truth}
    for name in sorted(name for name in wanted.names if name.startswith(JUDGED)):
        if (judged := name.partition("/")[0]) not in named:
            raise UsageError(f"--metrics {name}: needs --truth {judged}")
    for family in (*LABELED, *PREDICTED):
        if wanted.asks(family) and not labels:
            unnamed = "needs labels to compare with; name the data with --data"
            lacking = "the data has no labels" if words else unnamed
            raise UsageError(f"--metrics {family}: {unlabeled or lacking}")
    for family in PREDICTED:
        if wanted.asks(family) and not predictions:
            raise UsageError(f"--metrics {family}: needs predicted labels, and there are none")
    if wanted.asks("preservation") and not space:
        raise UsageError("--metrics preservation: no semantic space; name one with --space")
    if any(map(wanted.asks, CAPTIONED)) and not words:
        name = min(filter(_by_captions, wanted.names), default="asp")
        raise UsageError(f"--metrics {name}: needs the texts themselves; name the data with --data")


def _by_captions(name: str) -> bool:
    """Whether a result goes by a measure of captions."""
    return any(METRICS[family].reports(name) for family in CAPTIONED)


def pmrp_of(settings: EvaluationSettings, coco: bool) -> str:
    """What PMRP is called: papers' figures are by COCO's instances, not by other labels of COCO."""
    return "pmrp/labels" if coco and settings.labels == "any" else "pmrp"


def refuse_other_labels(wanted: Request, pmrp: str) -> None:
    """A part of PMRP that was named must be one that there is, under the name it has here."""
    known = [pmrp, *(f"{pmrp}/{apart}" for apart in APART)]
    for name in sorted(filter(METRICS["pmrp"].reports, wanted.names)):
        here = name.replace("pmrp/labels", "pmrp").replace("pmrp", pmrp)
        if here not in known:
            raise UsageError(f"--metrics {name}: there is {', '.join(known)}")
        if here != name:
            said = "" if pmrp == "pmrp" else "; with --set labels=instances it is the published one"
            raise UsageError(f"--metrics {name}: by the labels of this data it is {here}{said}")


def metrics_of(wanted: Request, settings: EvaluationSettings, coco: bool) -> Iterator[Metric]:
    """The metrics, ready to be called; PMRP has another name where COCO's labels are not COCO's."""
    if wanted.asks("recall/c-way") or wanted.asks("mean-rank/c-way"):
        yield from _tasks(wanted, settings)
    if wanted.asks("recall") or wanted.asks("rsum"):
        cuts = {*wanted.numbers(r"recall@(\d+)")}
        cuts |= set(recall.CUTS) if "recall" in wanted.families else set()
        cuts |= set(recall.SUMMED) if wanted.asks("rsum") else set()
        yield recall.Recall(tuple(sorted(cuts)))
    for family in SIMPLE:
        kind = METRICS[family].metric
        if wanted.asks(family) and kind is not None:
            yield kind()
    if wanted.asks("ndcg"):
        whole = ndcg.CUTS if "ndcg" in wanted.families else ()
        yield ndcg.NDCG(tuple(dict.fromkeys([*wanted.numbers(r"ndcg@(\d+)"), *whole])))
    if wanted.asks("pmrp"):
        yield PMRP(name=pmrp_of(settings, coco))
    if any(map(wanted.asks, CAPTIONED)):
        yield Asp(wanted.numbers(r"gain@(\d+)/.*"))


def _tasks(wanted: Request, settings: EvaluationSettings) -> Iterator[Metric]:
    """Sizes that somebody has named must fit the gallery; of the usual ones those that do."""
    named = wanted.numbers(r"(?:recall@\d+|mean-rank)/(\d+)-way")
    whole = wanted.families & {"recall/c-way", "mean-rank/c-way"}
    ways = (*named, *((settings.ways or tasks.WAYS) if whole else ()))
    cuts = {*wanted.numbers(r"recall@(\d+)/\d+-way")}
    cuts |= set(tasks.CUTS) if "recall/c-way" in wanted.families else set()
    strict = bool(settings.ways) or not whole
    sizes, draws, seed = tuple(sorted(set(ways))), settings.draws, settings.seed
    if wanted.asks("recall/c-way"):
        yield tasks.TaskRecall(sizes, draws, seed, strict, tuple(sorted(cuts)))
    if wanted.asks("mean-rank/c-way"):
        yield tasks.TaskRank(sizes, draws, seed, strict)

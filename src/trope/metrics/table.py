"""The table of all metrics: what each is, where it is from, and which way is better."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from trope.errors import UsageError, suggestion
from trope.metrics.asp import Asp
from trope.metrics.block import Metric
from trope.metrics.ndcg import NDCG
from trope.metrics.pmrp import PMRP
from trope.metrics.precision import MAP, MAPAtR, RPrecision
from trope.metrics.rank import MeanRank, MedianRank
from trope.metrics.recall import Recall
from trope.metrics.semantic import SemanticMAP
from trope.metrics.tasks import TaskRank, TaskRecall

Better = Literal["higher", "lower"]

VARIES = {
    **dict.fromkeys(("k", "K", "c"), r"[1-9]\d*"),
    "apart": r"\d+",
    "source": "[a-z]+",
    "measure": "[^/@]+",
}  # of names, in angle brackets
JUDGED = ("eccv/", "cxc/")  # before the names of results under people's judgments


@dataclass(frozen=True)
class Entry:
    """A metric: the names it reports (with what varies in angle brackets), its paper, its sense.

    `over` says how the queries are summed up. `metric` is None where no ranking is looked at:
    metrics of one modality, which take the arguments of their functions, and what comes with
    another metric; what these need is in `beside`.
    """

    title: str
    names: tuple[str, ...]
    paper: str
    better: Better = "higher"
    metric: Callable[..., Metric] | None = None
    over: Literal["mean", "median"] = "mean"
    beside: frozenset[str] = frozenset()

    @property
    def needs(self) -> frozenset[str]:
        """What must be known beside scores and right items."""
        return self.beside if self.metric is None else self.metric().needs

    def reports(self, name: str) -> bool:
        """Whether a result of this name is its."""
        return any(re.fullmatch(_pattern(each), name) for each in self.names)


METRICS: dict[str, Entry] = {
    "recall/c-way": Entry(
        "right item among the k best of c items drawn",
        ("recall@<k>/<c>-way",),
        "Thomas & Kovashka 2020",
        metric=TaskRecall,
    ),
    "mean-rank/c-way": Entry(
        "items before the right one among c items drawn",
        ("mean-rank/<c>-way",),
        "Thomas & Kovashka 2022, supplement",
        "lower",
        TaskRank,
    ),
    "recall": Entry(
        "a right item among the first K of the gallery",
        ("recall@<K>",),
        "Faghri et al. 2018 (VSE++)",
        metric=Recall,
    ),
    "median-rank": Entry(
        "place of the best right item, median",
        ("median-rank",),
        "Faghri et al. 2018 (VSE++)",
        "lower",
        MedianRank,
        "median",
    ),
    "mean-rank": Entry(
        "place of the best right item, mean",
        ("mean-rank",),
        "Faghri et al. 2018 (VSE++)",
        "lower",
        MeanRank,
    ),
    "rsum": Entry(
        "recall@1, 5 and 10 of both directions, added up",
        ("rsum",),
        "Faghri et al. 2018 (VSE++)",
    ),
    "r-precision": Entry(
        "right items among the first R, as a share",
        ("r-precision",),
        "Chun et al. 2022 (ECCV Caption)",
        metric=RPrecision,
    ),
    "map@r": Entry(
        "average precision within the first R",
        ("map@r",),
        "Musgrave et al. 2020; Chun et al. 2022 (ECCV Caption)",
        metric=MAPAtR,
    ),
    "map": Entry(
        "average precision over the whole gallery",
        ("map",),
        "Zhen et al. 2019 (DSCMR)",
        metric=MAP,
    ),
    "ndcg": Entry(
        "discounted gain of shared labels, as a share of the best order's",
        ("ndcg", "ndcg@<K>"),
        "Yang et al. 2021 (semantic sharing)",
        metric=NDCG,
    ),
    "semantic-map": Entry(
        "average precision where what shares a label is right",
        ("semantic-map",),
        "Zhen et al. 2019 (DSCMR)",
        metric=SemanticMAP,
    ),
    "pmrp": Entry(
        "R-precision where what has nearly the same labels is right",
        ("pmrp", "pmrp/<apart>", "pmrp/<source>", "pmrp/<source>/<apart>"),
        "Chun et al. 2021 (PCME)",
        metric=PMRP,
    ),
    "asp": Entry(
        "agreement of the whole order with what captions say",
        ("asp/<measure>",),
        "Li et al. 2022 (DAA)",
        metric=Asp,
    ),
    "gain": Entry(
        "relevance of the first k by captions, as a share of the most; such as gain@5/cider",
        ("gain@<k>/<measure>",),
        "Li et al. 2022 (DAA), their code",
        beside=frozenset({"relevance"}),
    ),
    "preservation": Entry(
        "semantic neighbors that stay neighbors in the learned space",
        ("preservation", "preservation@<k>"),
        "Thomas & Kovashka 2020, Table 3",
        beside=frozenset({"space"}),
    ),
    "micro-f1": Entry(
        "F1 of predicted labels, all together",
        ("micro-f1",),
        "Yang et al. 2021 (semantic sharing)",
        beside=frozenset({"labels", "predictions"}),
    ),
    "macro-f1": Entry(
        "F1 of predicted labels, the mean over labels",
        ("macro-f1",),
        "Yang et al. 2021 (semantic sharing)",
        beside=frozenset({"labels", "predictions"}),
    ),
}


def entry_of(name: str) -> Entry:
    """The entry of a reported name, such as `recall@1/5-way`; of `eccv/map@r`, that of `map@r`."""
    reported = name
    for truth in JUDGED:
        reported = reported.removeprefix(truth)
    for entry in METRICS.values():
        if entry.reports(reported):
            return entry
    for form in (form for entry in METRICS.values() for form in entry.names):
        if re.fullmatch(re.sub(r"<\w+>", "[^/@]*", form), reported):
            kinds = f"write it as {form}, with whole numbers from 1 on"
            raise UsageError(f"no metric '{name}'; {kinds}")
    raise UsageError(f"no metric '{name}'{suggestion(name, METRICS)}")


def _pattern(name: str) -> str:
    """Numbers are whole ones from 1 on, how far labels may be apart is 0 too, others are words."""
    return re.sub(r"<(\w+)>", lambda found: VARIES[found[1]], name)

"""Selection: what the data allows, what was asked for, what is refused."""

from __future__ import annotations

import pytest

from trope.errors import UsageError
from trope.evaluation.hubs import Hubs
from trope.evaluation.idle import refuse_idle
from trope.evaluation.selection import (
    metrics_of,
    pmrp_of,
    refuse_impossible,
    refuse_other_labels,
    request,
    suitable,
)
from trope.evaluation.settings import EvaluationSettings
from trope.metrics import METRICS
from trope.metrics.asp import Asp
from trope.metrics.ndcg import NDCG
from trope.metrics.pmrp import PMRP
from trope.metrics.recall import Recall
from trope.metrics.tasks import TaskRank, TaskRecall

PLAIN = EvaluationSettings()


def made(names: str, settings: EvaluationSettings = PLAIN, coco: bool = False) -> list[object]:
    return list(metrics_of(request(names.split(",")), settings, coco))


def test_all_that_the_data_allows() -> None:
    rich = suitable(labels=True, texts=100, space=True, predictions=False)
    poor = suitable(labels=False, texts=40_000, space=False, predictions=True)
    assert rich.families - poor.families == {
        "ndcg", "semantic-map", "pmrp", "asp", "preservation",
    }  # fmt: skip
    every = set(METRICS) - {"micro-f1", "macro-f1", "gain"}
    assert rich.families == every
    assert rich.measures == ("cider", "bleu", "rouge")
    assert rich.neighbors == (None,)


def test_single_names_and_families() -> None:
    assert made("recall@1,recall@7") == [Recall((1, 7))]
    assert made("recall") == [Recall((1, 5, 10, 50))]
    assert made("rsum") == [Recall((1, 5, 10))]
    assert made("ndcg@20") == [NDCG((20,))]
    assert made("ndcg") == [NDCG((500, None))]
    assert made("recall@2/7-way") == [TaskRecall((7,), strict=True, cuts=(2,))]
    assert made("mean-rank/5-way") == [TaskRank((5,), strict=True)]
    assert made("asp/cider-daa") == [Asp()]
    assert made("gain@5/cider") == [Asp((5,))]


def test_tasks_by_settings() -> None:
    settings = EvaluationSettings(ways=(3,), draws=9, seed=4)
    recall, rank = made("recall/c-way,mean-rank/c-way", settings)
    assert recall == TaskRecall((3,), 9, 4, strict=True)
    assert rank == TaskRank((3,), 9, 4, strict=True)
    assert made("recall/c-way") == [TaskRecall((5, 20, 100))]


def test_only_what_was_asked_for_is_reported() -> None:
    wanted = request(["recall@1", "asp/mean", "ndcg"])
    found = dict.fromkeys(
        ["recall@1", "recall@5", "asp/cider", "asp/mean", "ndcg@500", "eccv/map@r"]
    )
    assert set(wanted.reported(found)) == {"recall@1", "asp/mean", "ndcg@500", "eccv/map@r"}
    assert wanted.measures == ("cider", "bleu", "rouge")
    assert request(["asp/cider-daa"]).measures == ("cider-daa",)
    assert request(["preservation@9", "preservation"]).neighbors == (None, 9)


def test_pmrp_of_labels_that_are_not_cocos_has_another_name() -> None:
    assert made("pmrp") == [PMRP()]
    assert made("pmrp", coco=True) == [PMRP(name="pmrp/labels")]
    assert made("pmrp", EvaluationSettings(labels="instances"), coco=True) == [PMRP()]


def test_the_parts_of_pmrp_have_the_name_of_their_labels() -> None:
    for name, pmrp in (("pmrp/1", "pmrp"), ("pmrp/labels/1", "pmrp/labels"), ("recall@1", "pmrp")):
        refuse_other_labels(request([name]), pmrp)
    refuse_other_labels(request(["pmrp/labels"]), "pmrp/labels")
    for name, pmrp, said in (
        ("pmrp/1", "pmrp/labels", "it is pmrp/labels/1; with --set labels=instances"),
        ("pmrp/labels/1", "pmrp", "it is pmrp/1$"),
        ("pmrp/3", "pmrp", "there is pmrp, pmrp/0, pmrp/1, pmrp/2"),
    ):
        with pytest.raises(UsageError, match=f"--metrics {name}: .*{said}"):
            refuse_other_labels(request([name]), pmrp)
    assert pmrp_of(PLAIN, coco=True) == "pmrp/labels"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"ways": (7,), "metrics": ("recall@1/5-way",)}, "--ways 7: changes nothing beside"),
        ({"draws": 9, "metrics": ("recall@1",)}, "--draws 9: changes nothing without tasks"),
        ({"space": "sentence"}, "--space sentence: changes nothing without preservation"),
        ({"neighbors": 3}, "--set neighbors: changes nothing without preservation"),
        ({"hubs": Hubs(strength=2.0)}, "hubs.strength: changes nothing without --hubs"),
        ({"hubs": Hubs(nearest=2)}, "hubs.nearest: changes nothing without --hubs nnn"),
        ({"hubs": Hubs("qb-norm", nearest=2)}, "hubs.nearest: changes nothing without --hubs nnn"),
        ({"labels": "instances"}, "--set labels=instances: changes nothing without pmrp"),
        ({"labels": "instances", "metrics": ("pmrp",)}, "nothing on data without COCO's numbers"),
        ({"threshold": 0.4}, "--set threshold=0.4: changes nothing without micro-f1 or macro-f1"),
        ({"seed": 3}, "--set seed=3: changes nothing without --draws"),
    ],
)
def test_options_that_change_nothing_are_refused(given: dict[str, object], said: str) -> None:
    settings = EvaluationSettings(**given)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=said):
        refuse_idle(settings, request(settings.metrics or ["recall/c-way"]))


def test_options_that_change_something_are_not() -> None:
    settings = EvaluationSettings(ways=(7,), draws=3, hubs=Hubs("nnn", 2.0, 3))
    refuse_idle(settings, request(["mean-rank/c-way"]))
    refuse_idle(EvaluationSettings(draws=3, seed=7), request(["recall@1/5-way"]))
    refuse_idle(EvaluationSettings(labels="instances"), request(["pmrp"]), coco=True)
    refuse_idle(EvaluationSettings(threshold=0.4), request(["macro-f1"]))


def test_named_sizes_beside_the_usual_ones() -> None:
    """What was named is looked at before; of the usual ones those that fit are taken."""
    (found,) = made("recall@1/7-way,recall/c-way")
    assert found == TaskRecall((5, 7, 20, 100), cuts=(1, 3))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("recall@6/5-way", "among 5 items it is always 1"),
        ("recall@5/5-way", "among 5 items it is always 1"),
        ("recall@1/1-way", "among 1 item it is always 1"),
        ("gain", "as in gain@5/cider"),
        ("gain@5/meteor", "no measure 'meteor'"),
        ("recall@x", "write it as recall@<K>"),
        ("recal", "no metric 'recal'; did you mean 'recall'"),
        ("asp/meteor", "no measure 'meteor'"),
    ],
)
def test_unknown_names_are_refused(name: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        request([name])


def test_what_the_data_lacks_is_said() -> None:
    everything = {"labels": True, "space": True, "words": True, "predictions": True}
    for name, lacking, said in (
        ("ndcg@5", "labels", "ndcg: the data has no labels"),
        ("preservation", "space", "name one with --space"),
        ("asp/cider", "words", "needs the texts themselves"),
        ("gain@5/cider", "words", "gain@5/cider: needs the texts themselves"),
        ("micro-f1", "predictions", "micro-f1: needs predicted labels, and there are none"),
        ("macro-f1", "labels", "macro-f1: the data has no labels"),
    ):
        refuse_impossible(request([name]), **everything)
        with pytest.raises(UsageError, match=said):
            refuse_impossible(request([name]), **{**everything, lacking: False})


def test_labels_without_data_are_asked_for_not_predictions() -> None:
    """A file may hold predicted labels; what they are compared with is the data's."""
    for name in ("micro-f1", "ndcg"):
        for predictions in (True, False):
            has = {"labels": False, "space": False, "words": False, "predictions": predictions}
            with pytest.raises(UsageError, match=f"--metrics {name}: .*name the data with --data"):
                refuse_impossible(request([name]), **has)


def test_results_of_judgments_need_them() -> None:
    known = {"labels": True, "space": True, "words": True, "predictions": False}
    refuse_impossible(request(["cxc/recall@1"]), **known, truth=("cxc=folder",))
    with pytest.raises(UsageError, match="--metrics eccv/map@r: needs --truth eccv"):
        refuse_impossible(request(["eccv/map@r"]), **known, truth=("cxc",))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"ways": (1,)}, "at least 2 items, found 1"),
        ({"draws": -1}, "draws: 0"),
        ({"folds": -2}, "folds"),
        ({"neighbors": 0}, "neighbors: at least 1"),
        ({"margin": -0.1}, "margin: a share"),
        ({"seed": -1}, "seed -1: must be a whole number from 0 to 4294967295"),
        ({"seed": 2**32}, "seed 4294967296: must be"),
        ({"truth": ("cxc", "eccv", "cxc=folder")}, "--truth cxc: stands there 2 times"),
        ({"truth": ("foo",)}, "--truth foo: expected eccv, cxc or cxc=FOLDER, each by a --truth"),
        ({"truth": ("ecv",)}, "--truth ecv: expected .*; did you mean 'eccv'"),
        ({"truth": ("eccv=folder",)}, "--truth eccv=folder: expected eccv, cxc"),
        ({"folds": 5, "truth": ("eccv",)}, "judged the whole gallery; leave out --folds"),
    ],
)
def test_wrong_settings_are_refused(given: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        EvaluationSettings(**given)  # type: ignore[arg-type]

"""What the best epoch is chosen by: what the settings ask for, where it can tell models apart."""

from __future__ import annotations

from trope.errors import DataError
from trope.training.settings import Recipe
from trope.training.task import Task
from trope.training.validation import chosen, comparable, differing, measurable
from trope.wording import counted


def selected_by(task: Task, settings: Recipe, seed: int) -> list[str]:
    """A remark where the model cannot be selected by what the settings ask for.

    Labels that all are the same give every model the NDCG 1: recall selects then, and the loss
    where there is no recall either. Refused where nothing can: what is the same in every epoch
    would make the first one seem the best.
    """
    if not comparable(task.val, seed):
        raise DataError(
            f"split 'val' has {counted(len(task.val), 'pair')} to validate on, and none has a "
            "wrong one beside it: no epoch can be told from another; validation needs two "
            "different pairs"
        )
    select, by, missing = settings.training.select, selector(task, settings, seed), list[str]()
    if select == "labels" and by != "NDCG":
        missing.append(unequal(task, seed))
    if by != "loss":
        return [f"{why}: 5-way recall selects the model" for why in missing]
    if select != "loss":
        missing.append("too few validation pairs for 5-way recall")
    enough = measurable(task.val, seed)
    if blind(task, seed):
        short = "" if enough else ", and there are too few for 5-way recall"
        instead = "set training.select=recall" if enough else "give rows of 'val' labels"
        raise DataError(
            "split 'val': no pair has labels that training knows, and the loss of one without "
            f"labels is 0 whatever the model{short}: no epoch can be told from another; {instead}"
        )
    return [f"{', '.join(missing)}: the lowest loss selects the model"] if missing else []


def selector(task: Task, settings: Recipe, seed: int) -> str:
    """What tells the best epoch: NDCG, recall or loss, in the words of people."""
    select = settings.training.select
    if select == "labels" and not unequal(task, seed):
        return "NDCG"
    return "recall" if select != "loss" and measurable(task.val, seed) else "loss"


def unequal(task: Task, seed: int) -> str:
    """Why NDCG by the labels of validation pairs says nothing; empty where it does."""
    labels = None if task.labels is None else task.labels.of("val", chosen(task.val, seed)).numpy()
    if labels is None or not labels.any():
        return "no validation pair has labels that training knows"
    return "" if differing(labels) else "validation pairs that have labels all have the same"


def blind(task: Task, seed: int) -> bool:
    """Whether the validation loss is 0 whatever the model: it is of labels, and there are none."""
    if task.labels is None or not task.loss.of_labels:
        return False
    return not task.labels.val[chosen(task.val, seed)].nnz

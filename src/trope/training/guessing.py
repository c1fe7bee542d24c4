"""Whether a model is any better than one that guesses, as far as validation can tell."""

from __future__ import annotations

from math import sqrt

from trope.training.state import Progress
from trope.training.validation import WAYS
from trope.wording import counted


def no_better(progress: Progress, asked: int) -> list[str]:
    """A remark where the best epoch's recall might be that of a model that guesses.

    Guessing is right in one of `WAYS` tasks; over the n pairs asked about, twice the standard
    deviation of a share is 2 √(p (1 - p) / n).
    """
    best = progress.history[progress.best_epoch]
    known = [best[way] for way in ("val_image_to_text", "val_text_to_image") if way in best]
    if not known:
        return []
    recall, guessed = sum(known) / len(known), 1 / WAYS
    reach = guessed + 2 * sqrt(guessed * (1 - guessed) / asked)
    if recall > reach:
        return []
    return [
        f"{WAYS}-way recall {recall:.3f} on {counted(asked, 'validation pair')} cannot be told "
        f"from guessing ({guessed:.3f}, or up to {reach:.3f} by luck): as far as can be seen this "
        "model has learned nothing; it may need more training pairs"
    ]

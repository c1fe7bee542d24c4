"""Whether several sides were asked the same: only then is a mean, or a difference, of queries."""

from __future__ import annotations

from collections.abc import Mapping

from trope.errors import UsageError
from trope.evaluation.gallery import Gallery
from trope.wording import counted


def refuse_other_queries(asked: Mapping[str, Gallery]) -> None:
    """Say what the first two that differ were asked, by name."""
    (name, first), *others = asked.items()
    for other, theirs in others:
        if not first.same_as(theirs):
            raise UsageError(
                f"{name} and {other} were asked other queries ({_apart(first, theirs)}); "
                "splits, texts or pictures differ"
            )


def _apart(ours: Gallery, theirs: Gallery) -> str:
    """How what is asked differs, in words."""
    counts = [
        f"{counted(len(one.images), 'image')} and {counted(len(one.texts), 'text')}"
        for one in (ours, theirs)
    ]
    if counts[0] != counts[1]:
        return " against ".join(counts)
    names = zip(ours.names_of("text"), theirs.names_of("text"), strict=True)
    for mine, other in names:
        if mine != other:
            return f"row '{mine}' against row '{other}'"
    said = zip(ours.names_of("text"), ours.captions(), theirs.captions(), strict=False)
    for row, text, other in said:  # of bare vectors no text is known
        if text != other:
            return f"row '{row}' has another text"
    return "the same rows with other pictures"

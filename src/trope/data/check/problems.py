"""What can be wrong with a data set, and the list of where it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from jaxtyping import Bool, Int, Shaped

from trope.data.rejects import Unit

Severity = Literal["error", "warning"]


@dataclass(frozen=True)
class Kind:
    """One thing that can be wrong: an error makes its row unusable, a warning is worth a look."""

    severity: Severity
    meaning: str


KINDS: dict[str, Kind] = {
    "row-unreadable": Kind("error", "the row cannot be read"),
    "id-repeated": Kind("error", "another row before it has the same id"),
    "row-empty": Kind("error", "the row has neither an image nor a text"),
    "text-empty": Kind("error", "no text of the row has content"),
    "feature-missing": Kind("error", "the row's precomputed feature is not there"),
    "split-unknown": Kind("error", "the split is none of train, val, test"),
    "path-outside": Kind("error", "the image's path is absolute, has '..' or names no file"),
    "image-missing": Kind("error", "the image cannot be read"),
    "image-empty": Kind("error", "the image file has zero bytes"),
    "image-too-large": Kind("error", "the image has absurdly many pixels"),
    "image-truncated": Kind("error", "the image ends before it should"),
    "image-corrupt": Kind("error", "the image cannot be decoded"),
    "leak-group": Kind("warning", "the row's group is in another split too"),
    "leak-image": Kind("warning", "the same image is in another split too"),
    "leak-text": Kind("warning", "the same text is in another split too"),
    "leak-near-text": Kind("warning", "nearly the same text is in another split too"),
    "split-absent": Kind("warning", "some rows have a split, but a split is missing"),
    "near-repeats": Kind("warning", "many texts are nearly the same: boilerplate?"),
    "text-blank": Kind("warning", "one of the row's texts has no content; --fix leaves it out"),
    "text-missing": Kind("warning", "the row has no text: it can be searched, not trained on"),
    "image-absent": Kind("warning", "the row has no image: it can be searched, not trained on"),
    "text-damaged": Kind("warning", "the text holds replacement characters: lost letters"),
    "text-long": Kind("warning", "the text is extremely long"),
    "image-copied": Kind("warning", "the same picture is there under another name"),
    "image-misnamed": Kind("warning", "the image's ending does not fit its content"),
    "image-linked": Kind("warning", "the image is a link that leads out of the data set's folder"),
    "image-tiny": Kind("warning", "the image has less than 16 pixels on a side"),
    "number-lost": Kind("warning", "a column has NaN or infinite numbers; --fix writes null"),
    "label-missing": Kind("warning", "the row has no label though others have"),
    "label-unseen": Kind("warning", "the label occurs in no training row"),
    "remark": Kind("warning", "about the data set as a whole"),
}


@dataclass(frozen=True)
class Problem:
    """One finding: where it is and what exactly; line 0 means the data set as a whole.

    `line` is what `Pairs.lines` has: the running number of the row where there are no lines.
    """

    code: str
    line: int
    id: str | None
    detail: str

    @property
    def severity(self) -> Severity:
        """Whether the row is unusable or only worth a look."""
        return KINDS[self.code].severity


@dataclass(frozen=True)
class Report:
    """Everything found in a data set; `splits` counts the usable rows."""

    data: str
    rows: int
    usable: int
    problems: tuple[Problem, ...]
    splits: dict[str, int] = field(default_factory=dict)
    config: dict[str, Any] = field(default_factory=dict)
    unit: Unit = "line"
    digests: Shaped[np.ndarray, " rows"] | None = field(default=None, repr=False, compare=False)

    def count(self, severity: Severity) -> int:
        """How many findings of one severity there are."""
        return sum(problem.severity == severity for problem in self.problems)

    def good(self, lines: Int[np.ndarray, " rows"]) -> Bool[np.ndarray, " rows"]:
        """Which of the rows at `lines` can be used."""
        return ~np.isin(lines, [p.line for p in self.problems if p.severity == "error"])

    def by_code(self) -> dict[str, list[Problem]]:
        """Findings under their codes, in the order of `KINDS`: errors first."""
        grouped: dict[str, list[Problem]] = {code: [] for code in KINDS}
        for problem in self.problems:
            grouped[problem.code].append(problem)
        return {code: found for code, found in grouped.items() if found}

    def document(self, examples: int = 5) -> dict[str, object]:
        """The report for programs."""
        return {
            "data": self.data,
            "rows": self.rows,
            "usable": self.usable,
            "errors": self.count("error"),
            "warnings": self.count("warning"),
            "unit": self.unit,
            "splits": self.splits,
            "config": self.config,
            "problems": [
                {
                    "code": code,
                    "severity": KINDS[code].severity,
                    "meaning": KINDS[code].meaning,
                    "count": len(found),
                    "examples": _examples(found[:examples]),
                }
                for code, found in self.by_code().items()
            ],
        }


def _examples(problems: Iterable[Problem]) -> list[dict[str, object]]:
    return [{"line": p.line, "id": p.id, "detail": p.detail} for p in problems]

"""`check`: everything that is wrong with a data set, before it costs an hour of training."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from jaxtyping import Shaped

from trope.config import plain
from trope.data.check import rows
from trope.data.check.fix import fix, refuse_inside
from trope.data.check.leakage import leaks
from trope.data.check.pictures import copies, pictures
from trope.data.check.problems import KINDS, Problem, Report
from trope.data.duplicates import NearDuplicates
from trope.data.pairs import Pairs

__all__ = ["KINDS", "CheckSettings", "Problem", "Report", "check", "fix", "refuse_inside"]


@dataclass(frozen=True)
class CheckSettings:
    """What is looked at: decoding every picture and comparing all texts can be left out."""

    images: bool = True
    near_texts: bool = True
    near: NearDuplicates = field(default_factory=NearDuplicates)


def check(pairs: Pairs, settings: CheckSettings | None = None) -> Report:
    """Look at every row, picture and text, and report what is wrong with them."""
    settings = settings or CheckSettings()
    problems = list(_unread(pairs))
    found: list[tuple[str, int, str]] = []
    for look in (
        rows.repeated_ids,
        rows.missing_sides,
        rows.bad_texts,
        rows.bad_splits,
        rows.outside_paths,
        rows.bad_labels,
        rows.bad_numbers,
        rows.bad_features,
    ):
        found.extend(look(pairs))
    digests = np.zeros(len(pairs), "S16")
    if settings.images:
        skip = np.zeros(len(pairs), bool)
        skip[[row for code, row, _ in found if code == "path-outside"]] = True
        seen, digests = pictures(pairs, skip)
        found.extend(seen)
        found.extend(copies(pairs, digests))
    found.extend(leaks(pairs, digests, settings.near if settings.near_texts else None))
    problems.extend(_placed(pairs, found))
    return _report(pairs, problems, digests, settings)


def _unread(pairs: Pairs) -> Iterator[Problem]:
    for rejected in pairs.rejected:
        yield Problem("row-unreadable", rejected.line, None, rejected.reason)
    for remark in pairs.remarks:
        yield Problem("remark", 0, None, remark)


def _placed(pairs: Pairs, found: Iterable[tuple[str, int, str]]) -> Iterator[Problem]:
    """Row positions turned into lines and ids, as a user can find them."""
    ids = pairs.column("id")
    for code, row, detail in found:
        if row < 0:
            yield Problem(code, 0, None, detail)
        else:
            yield Problem(code, int(pairs.lines[row]), ids[row].as_py(), detail)


def _report(
    pairs: Pairs,
    problems: list[Problem],
    digests: Shaped[np.ndarray, " rows"],
    settings: CheckSettings,
) -> Report:
    total = len(pairs) + len(pairs.rejected)
    found = Report(str(pairs.source), total, total, tuple(problems), digests=digests)
    good = found.good(pairs.lines)
    splits = pc.value_counts(pairs.column("split").filter(pa.array(good))).to_pylist()
    return replace(
        found,
        usable=int(good.sum()),
        splits={item["values"] or "none": item["counts"] for item in splits},
        config=plain(settings),
        unit=pairs.unit,
    )

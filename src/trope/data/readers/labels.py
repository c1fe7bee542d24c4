"""Labels in one form, whatever file they came from: trimmed, composed (NFC), none blank.

To a model ` cat` and `cat` would be two classes, and so would `é` in one letter and in two.
"""

from __future__ import annotations

import unicodedata

import pyarrow as pa
import pyarrow.compute as pc

from trope.data.readers.opened import Opened
from trope.data.rejects import Unit
from trope.data.schema import LISTS
from trope.wording import counted


def tidied(opened: Opened, unit: Unit) -> tuple[pa.Table, list[str]]:
    """The table with its labels in one form; a remark on how many were not."""
    column = opened.table.column("labels")
    names = pc.unique(pc.list_flatten(column)).to_pylist()
    form = {name: "" if name is None else tidy(name) for name in names}
    odd = {name for name in names if not form[name] or form[name] != name}
    if not odd:
        return opened.table, []
    kept, first, blank, changed = [], -1, 0, 0
    for row, labels in enumerate(column.to_pylist()):
        wrong = [name for name in labels if name in odd]
        if wrong:
            first = row if first < 0 else first
            gone = sum(not form[name] for name in wrong)
            blank, changed = blank + gone, changed + len(wrong) - gone
            labels = list(dict.fromkeys(form[name] for name in labels if form[name]))
        kept.append(labels)
    parts = []
    if changed:
        parts.append(f"{counted(changed, 'was', 'were')} trimmed or composed (NFC)")
    if blank:
        parts.append(f"{counted(blank, 'blank one', 'blank ones')} left out")
    where = f"first in {unit} {opened.lines[first]}"
    place = opened.table.column_names.index("labels")
    table = opened.table.set_column(place, "labels", pa.chunked_array([kept], LISTS))
    return table, [f"labels: {' and '.join(parts)}, {where}"]


def tidy(name: str) -> str:
    """A label in its one form, empty if it is blank."""
    return unicodedata.normalize("NFC", name.strip())

"""The names of columns: which are needed, which look right, and which a user has mapped.

Nothing is guessed: a column under another name is taken only when somebody says what it means.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from trope.data.schema import KNOWN
from trope.errors import DataError, UsageError, suggestion

FEATURES = ("image_feature", "text_feature")
NEEDED = frozenset(["image", "text", "texts", *FEATURES])
ALIKE = {
    "image": ("image", "filename", "file_name", "file", "path", "image_path", "filepath", "url"),
    "text": ("text", "caption", "headline"),
    "texts": ("texts", "captions", "headlines"),
}  # what people call a column, the likeliest first

Columns = Mapping[str, str]  # what a column means -> what it is called in the file


def mapped(columns: Columns | None) -> dict[str, str]:
    """A mapping as a user gives it, once it is known to make sense."""
    columns = dict(columns or {})
    for meaning, name in columns.items():
        if meaning not in (*KNOWN, *FEATURES):
            known = suggestion(meaning, (*KNOWN, *FEATURES))
            raise UsageError(f"columns: {meaning}={name}: '{meaning}' has no meaning{known}")
    if twice := [name for name, count in Counter(columns.values()).items() if count > 1]:
        raise UsageError(f"columns: '{twice[0]}' can mean one thing only")
    return columns


def meant(names: Iterable[str], columns: Columns, origin: str) -> list[str]:
    """The names with those a user has mapped replaced by what they mean."""
    there = list(names)
    for meaning, name in columns.items():
        if meaning != name and {meaning, name} <= {*there}:
            raise UsageError(f"{origin}: '{name}' cannot be '{meaning}': there is one already")
    meaning_of = {name: meaning for meaning, name in columns.items()}
    return [meaning_of.get(name, name) for name in there]


def require(
    names: Iterable[str], origin: str, columns: Columns | None = None, where: str = ""
) -> None:
    """Refuse a table that has neither pictures nor texts, and say what it has instead.

    `where` says where names are looked for, for a user whose file has none there.
    """
    has = Counter(list(names))
    for meaning, name in (columns or {}).items():
        if meaning not in has:
            raise UsageError(f"{origin}: no column '{name}'{suggestion(name, has)}")
    if repeated := [name for name, count in has.items() if count > 1]:
        raise DataError(f"{origin}: column {repeated[0]!r} appears twice")
    if not has.keys() & NEEDED:
        found = ", ".join(sorted(has)) or "no columns"
        hint = _hint(_alike(list(has), ALIKE)) or (_unlike(where) if has else "")
        raise DataError(
            f"{origin}: needs a column 'image', 'text' or 'texts'; found: {found}{hint}"
        )


def overlooked(table: pa.Table) -> list[str]:
    """A remark for each side that no row has, although another column looks like it."""
    extras, remarks = [name for name in table.column_names if name not in KNOWN], []
    filled = {
        "image": table.column("image").null_count < len(table),
        "text": bool(pc.any(pc.greater(pc.list_value_length(table.column("texts")), 0)).as_py()),
    }
    for side, has in filled.items():
        meanings = ("text", "texts") if side == "text" else (side,)
        alike = _alike(extras, meanings)
        if alike and not has and f"{side}_feature" not in extras:
            remarks.append(f"no row has '{side}'{_hint(alike)}")
    return remarks


def _alike(names: Sequence[str], meanings: Iterable[str]) -> dict[str, str]:
    """For each meaning the column that looks most like it, however it is spelled."""
    plain = {name.strip().lower().replace(" ", "_").replace("-", "_"): name for name in names}
    found = {
        meaning: [plain[word] for word in ALIKE[meaning] if word in plain] for meaning in meanings
    }
    return {meaning: names[0] for meaning, names in found.items() if names}


def _hint(alike: Columns) -> str:
    if not alike:
        return ""
    looks = " and ".join(f"'{name}' looks like '{meaning}'" for meaning, name in alike.items())
    options = " ".join(f"--column {shlex.quote(f'{m}={name}')}" for m, name in alike.items())
    return (
        f"; {looks}: `trope check DATA {options} --fix OUT` writes it under that name, and in "
        f"Python trope.open(DATA, columns={dict(alike)})"
    )


def _unlike(where: str) -> str:
    """What to do about columns of which none looks like anything."""
    return (
        f"{where and f'; {where}'}; to say which is which: `trope check DATA --column text=NAME "
        "--column image=NAME --fix OUT`, and in Python trope.open(DATA, columns={'text': NAME})"
    )

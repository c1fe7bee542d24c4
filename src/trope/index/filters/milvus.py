"""A filter in the language of Milvus, over rows that are kept as JSON in the field `row`.

Names and values are written as JSON, so that nothing in them is taken for the language itself.
"""

from __future__ import annotations

import json

from trope.index.filters.tree import Compare, Contains, Every, Filter, In, Missing, Not, Some, Value

OPERATORS = {"=": "=="}


def expression(where: Filter) -> str:
    """The same filter, to be evaluated by the server."""
    if isinstance(where, Not):
        return f"(not {expression(where.part)})"
    if isinstance(where, (Every, Some)):
        word = " and " if isinstance(where, Every) else " or "
        return f"({word.join(expression(part) for part in where.parts)})"
    column = f"row[{_written(where.column)}]"
    if isinstance(where, Missing):
        return f"(not (exists {column}))"
    return f"((exists {column}) and ({_test(where, column)}))"


def _test(where: Compare | In | Contains, column: str) -> str:
    if isinstance(where, Contains):
        return f"json_contains({column}, {_written(where.value)})"
    if isinstance(where, In):
        return f"{column} in [{', '.join(map(_written, where.values))}]"
    return f"{column} {OPERATORS.get(where.operator, where.operator)} {_written(where.value)}"


def _written(value: Value) -> str:
    return json.dumps(value, ensure_ascii=False)

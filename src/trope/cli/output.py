"""How results are shown: tables for people, one JSON document for programs."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

import orjson
from rich.console import Console
from rich.markup import escape
from rich.table import Table

_ENDLESS = 1_000_000


def print_json(document: object) -> None:
    """One JSON document on standard output and nothing else."""
    options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    sys.stdout.buffer.write(orjson.dumps(document, option=options))
    sys.stdout.flush()


def say(text: str, style: str = "") -> None:
    """A line for people on standard output; what looks like markup in it is printed as it is."""
    screen = Console(highlight=False, soft_wrap=True, emoji=False)
    screen.print(escape(_harmless(text)), style=style)


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """A table on standard output; columns of numbers stand flush right.

    A terminal has the width it has; in a file or a pipe a row is one line, as `grep` wants it.
    """
    shown = [[_cell(value) for value in row] for row in rows]
    if title:
        say(title, style="bold")
    made = Table(header_style="bold", box=None, pad_edge=False)
    for i, name in enumerate(columns):
        numbers = bool(shown) and all(_numeric(row[i]) for row in shown)
        made.add_column(name, justify="right" if numbers else "left", overflow="fold")
    for row in shown:
        made.add_row(*map(escape, row))
    screen = Console(highlight=False)
    if screen.is_terminal:
        screen.print(made)
        return
    screen.width = _ENDLESS
    with screen.capture() as captured:
        screen.print(made)
    screen.out("\n".join(map(str.rstrip, captured.get().splitlines())), highlight=False)


def _harmless(text: str) -> str:
    """Control characters spelled out: a row must not move the cursor or color the screen."""
    return "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in text)


def _cell(value: object) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: ""}[value]
    if isinstance(value, float):
        return f"{value:,.3f}"
    return f"{value:,}" if isinstance(value, int) else _harmless(str(value)).replace("\n", "\\n")


def _numeric(text: str) -> bool:
    return not text or text.lstrip("-")[:1].isdigit()

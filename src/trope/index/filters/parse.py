"""From the text of a filter to its tree; only comparisons can be said, nothing is evaluated.

filter    = all { "or" all }               all  = one { "and" one }
one       = "not" one | "(" filter ")" | column test
test      = ( = | != | < | <= | > | >= ) value | "contains" value
          | [ "not" ] "in" "(" value { "," value } ")" | "is" [ "not" ] "null"
column    = letters, digits, _ and -; any other name "in double quotes"
value     = 'text' ('' is a quote) | number | true | false
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import isfinite
from typing import NamedTuple, NoReturn, cast

from trope.errors import UsageError
from trope.index.filters.tree import (
    Compare,
    Contains,
    Every,
    Filter,
    In,
    Missing,
    Not,
    Operator,
    Some,
    Value,
)

DEEPEST = 50  # parentheses and nots inside each other
LONGEST = 10_000  # characters
WORDS = frozenset(["and", "or", "not", "in", "is", "null", "contains", "true", "false"])
SAME = {"==": "=", "<>": "!="}

_TOKEN = re.compile(
    r"\s*(?:(?P<number>-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))"
    r"|(?P<text>'(?:[^']|'')*')|(?P<quoted>\"(?:[^\"]|\"\")*\")"
    r"|(?P<operator><=|>=|!=|<>|==|=|<|>)|(?P<mark>[(),])|(?P<name>[^\W\d][\w-]*))"
)


class Token(NamedTuple):
    """A piece of a filter, and where it stands."""

    kind: str
    text: str
    place: int


def parse(text: str) -> Filter:
    """The tree of a filter; what cannot be read is told with its place."""
    if not text.strip():
        raise UsageError('where: is empty; write a filter such as "year >= 2020", or leave it out')
    if len(text) > LONGEST:
        raise UsageError(f"where: longer than {LONGEST:,} characters")
    if not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
        raise UsageError("where: not valid text (half a character)")
    return _Parser(text, _tokens(text)).whole()


def _tokens(text: str) -> list[Token]:
    found, place, end = [], 0, len(text.rstrip())
    while place < end:
        match = _TOKEN.match(text, place)
        if match is None:
            rest = text[place:].lstrip()
            why = "a quote is not closed" if rest[0] in "'\"" else f"cannot read {rest[:20]!r}"
            raise UsageError(f"where: {why}, at character {end - len(rest.rstrip()) + 1}")
        kind = str(match.lastgroup)
        word = match[kind].lower() if kind == "name" else ""
        start = match.start(kind)
        found.append(Token("word", word, start) if word in WORDS else _plain(match, kind, start))
        place = match.end()
    return found


def _plain(match: re.Match[str], kind: str, start: int) -> Token:
    text = match[kind]
    if kind == "text":
        text = text[1:-1].replace("''", "'")
    if kind == "quoted":
        kind, text = "name", text[1:-1].replace('""', '"')
    return Token(kind, SAME.get(text, text) if kind == "operator" else text, start)


@dataclass
class _Parser:
    """Takes token after token; one level of the grammar a method."""

    text: str
    tokens: list[Token]
    next: int = 0
    depth: int = 0

    def whole(self) -> Filter:
        found = self._some()
        if self.next < len(self.tokens):
            self._refuse("expected 'and', 'or' or the end")
        return found

    def _some(self) -> Filter:
        parts = [self._every()]
        while self._takes("word", "or"):
            parts.append(self._every())
        return parts[0] if len(parts) == 1 else Some(tuple(parts))

    def _every(self) -> Filter:
        parts = [self._one()]
        while self._takes("word", "and"):
            parts.append(self._one())
        return parts[0] if len(parts) == 1 else Every(tuple(parts))

    def _one(self) -> Filter:
        self.depth += 1
        if self.depth > DEEPEST:
            self._refuse(f"nested deeper than {DEEPEST} levels")
        if self._takes("word", "not"):
            found: Filter = Not(self._one())
        elif self._takes("mark", "("):
            found = self._some()
            self._needs("mark", ")")
        else:
            found = self._test()
        self.depth -= 1
        return found

    def _test(self) -> Filter:
        column = self._name()
        token = self._token()
        if token.kind == "operator":
            self.next += 1
            return Compare(column, cast("Operator", token.text), self._value())
        if self._takes("word", "contains"):
            return Contains(column, self._value())
        if self._takes("word", "is"):
            no = self._takes("word", "not")
            self._needs("word", "null")
            return Not(Missing(column)) if no else Missing(column)
        no = self._takes("word", "not")
        if not self._takes("word", "in"):
            self._refuse(f"expected a comparison after '{column}', such as = or in")
        found = In(column, self._values())
        return Every((Not(Missing(column)), Not(found))) if no else found  # as != is

    def _name(self) -> str:
        if self._token().kind != "name":
            self._refuse("expected the name of a column")
        self.next += 1
        return self.tokens[self.next - 1].text

    def _values(self) -> tuple[Value, ...]:
        self._needs("mark", "(")
        found = [self._value()]
        while self._takes("mark", ","):
            found.append(self._value())
        self._needs("mark", ")")
        return tuple(found)

    def _value(self) -> Value:
        token = self._token()
        if token.kind == "name":
            self._refuse(f"expected a value; texts stand in single quotes: '{token.text}'")
        if token.kind not in ("text", "number") and token.text not in ("true", "false"):
            self._refuse("expected a value: 'text', a number, true or false")
        self.next += 1
        if token.kind == "text":
            return token.text
        if token.kind == "word":
            return token.text == "true"
        return self._number(token.text)

    def _number(self, text: str) -> Value:
        """Whole numbers are exact, of any size that others can have."""
        found = float(text)
        if not isfinite(found):
            self.next -= 1
            self._refuse("expected a number below 1e308")
        return int(text) if re.fullmatch(r"-?\d+", text) else found

    def _token(self) -> Token:
        there = self.next < len(self.tokens)
        return self.tokens[self.next] if there else Token("end", "", len(self.text))

    def _takes(self, kind: str, text: str) -> bool:
        token = self._token()
        taken = token.kind == kind and token.text == text
        self.next += taken
        return taken

    def _needs(self, kind: str, text: str) -> None:
        if not self._takes(kind, text):
            self._refuse(f"expected '{text}'")

    def _refuse(self, why: str) -> NoReturn:
        token = self._token()
        found = "the end" if token.kind == "end" else f"'{token.text}'"
        raise UsageError(f"where: {why}, found {found} at character {token.place + 1}")

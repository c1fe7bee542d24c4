"""JSON without loss: the fast parser where it is exact, the standard one where it is not."""

from __future__ import annotations

import base64
import json
import re
from typing import Any

import orjson

MAX_DEPTH = 500  # levels of nesting; what is deeper cannot be written by recursion
INEXACT = re.compile(r"[0-9]{20}|-[0-9]{19}|NaN|Infinity")  # rounded or refused by orjson
NOT_FINITE = re.compile(rb"NaN|Infinity")  # or a text that says so


def loads(text: str) -> Any:
    """The value of a JSON document; whole numbers keep all their digits."""
    return json.loads(text) if INEXACT.search(text) else orjson.loads(text)


def dumps(value: Any) -> bytes:
    """A value as one line of JSON; dates as ISO text, bytes as base64, others as their text.

    Raises `ValueError` for what cannot be written: half a surrogate pair, very deep nesting.
    """
    try:
        text = orjson.dumps(value, default=_plain)
    except TypeError:  # long whole numbers, keys that are no strings, deep nesting
        return _exactly(value)
    return _exactly(value) if b"null" in text else text  # orjson writes NaN and infinity as null


def json_line(value: Any) -> bytes:
    """A value as a line that any program can read: what is not finite becomes null."""
    document = dumps(value)
    if NOT_FINITE.search(document):
        document = dumps(json.loads(document, parse_constant=lambda _: None))
    return document + b"\n"


def _exactly(value: Any) -> bytes:
    level, depth = [value], 0
    while level := [item for outer in level for item in _inner(outer)]:
        depth += 1
        if depth > MAX_DEPTH:
            raise ValueError(f"nested deeper than {MAX_DEPTH} levels")
    document = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_plain)
    return document.encode()


def _inner(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return list(value) if isinstance(value, (list, tuple)) else []


def _plain(value: Any) -> str:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return str(value.isoformat()) if hasattr(value, "isoformat") else str(value)

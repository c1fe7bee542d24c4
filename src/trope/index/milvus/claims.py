"""Who may write to a collection: the folder whose state is the one of the last write to it.

A copy of a folder names the same collection, and knows nothing of what the other one writes. So
each write has a token. Before it changes anything, it notes its token in the folder, and then on
the server beside that of the state it starts from (`OLD>NEW`); the state it ends with has it too. A
folder may write whose state has NEW, or has OLD where the folder itself has noted NEW: that was a
write of its own, killed before its end.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from secrets import token_hex
from typing import Any

import orjson

from trope.errors import DataError, UsageError
from trope.files import write_json
from trope.index.folder import State

PROPERTY = "trope.writer"  # of the collection
WRITER = "writer"  # in what a state knows of the server
NOTE = "writer.json"


def refuse_earlier(folder: Path, state: State) -> None:
    """Rows of an index without tokens are written in another way."""
    if WRITER not in state.remote:
        raise DataError(f"{folder}: made by an earlier version of trope; build the index anew")


def refuse_overtaken(client: Any, folder: Path, state: State) -> None:
    """Before anything is put right or changed. Needs the lock."""
    old, new = _last(client, state)
    mine = state.remote[WRITER]
    if mine != new and not (mine == old and new in _noted(folder)):
        raise UsageError(
            f"{folder}: the collection was changed through another copy of this index; use that "
            "one, or build an index of its own"
        )


def written_last(client: Any, state: State) -> bool:
    """Whether the last write to the collection was this state's, or began from it."""
    return state.remote.get(WRITER) in _last(client, state)


def claimed(client: Any, folder: Path, state: State) -> dict[str, str]:
    """What the next state knows of the server; a killed write's token is kept until it is there."""
    token, (_, new) = token_hex(8), _last(client, state)
    _note(folder, [new, token])
    change = {PROPERTY: f"{state.remote[WRITER]}>{token}"}
    client.alter_collection_properties(state.remote["collection"], properties=change)
    return state.remote | {WRITER: token}


def settled(folder: Path) -> None:
    """The state has the token."""
    (folder / NOTE).unlink(missing_ok=True)


def _last(client: Any, state: State) -> tuple[str, str]:
    """The state that the last write started from, and its own token."""
    told = client.describe_collection(state.remote["collection"]).get("properties", {})
    old, _, new = str(told.get(PROPERTY, "")).partition(">")
    return old, new


def _note(folder: Path, tokens: Sequence[str]) -> None:
    write_json(folder / NOTE, {"writers": list(tokens)})


def _noted(folder: Path) -> list[str]:
    try:
        return list(orjson.loads((folder / NOTE).read_bytes())["writers"])
    except FileNotFoundError:
        return []
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{folder / NOTE}: damaged, or not made by trope ({error})") from None

"""An index by its folder, with the engine that made it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from trope.errors import DataError
from trope.index.engine import Engine
from trope.index.faiss import Faiss
from trope.index.folder import FILE, State, read_state, write_state
from trope.index.local import Exact
from trope.index.settings import IndexSettings
from trope.runtime import provenance


def open_engine(folder: Path) -> Engine:
    """The engine of an index that is there."""
    engine = read_state(folder).settings.engine
    if engine == "milvus":
        from trope.index.milvus import Milvus

        return Milvus(folder)
    return Exact(folder) if engine == "exact" else Faiss(folder)


def refuse_unreachable(settings: IndexSettings) -> None:
    """Better now than after hours of encoding."""
    if settings.engine == "milvus":
        from trope.index.milvus import connected

        connected(settings.uri).close()


def create(folder: Path, state: State) -> Engine:
    """An index without items in a folder that is there.

    What is made on a server is noted before, so that whoever comes after a kill knows of it.
    """
    state = replace(state, made=provenance())
    if state.settings.engine != "milvus":
        write_state(folder, state)
        return open_engine(folder)
    from trope.index.milvus import make, planned

    state = planned(state)
    write_state(folder, state)
    make(state)
    return open_engine(folder)


def forget(folder: Path) -> None:
    """Take away what a server holds for the index of a folder, if there is one."""
    if not (folder / FILE).exists():
        return
    try:
        state = read_state(folder)
    except DataError:
        return
    if state.settings.engine == "milvus":
        from trope.index.milvus import drop

        drop(state)

"""A disk that takes a part of a file: told in one line, with the old index whole."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from index_samples import LOCAL, details, items, made

from disks import room
from trope import files
from trope.errors import TropeError
from trope.index import open_engine

LITTLE = 1_000  # bytes: more than any header, less than any of the files
MORE = 500  # items to add


@contextmanager
def short(patch: pytest.MonkeyPatch, number: int) -> Iterator[None]:
    """The disk is full while the file of this number is written, counted from 1."""
    plain, numbers = files._created, count(1)
    with ExitStack() as rooms, patch.context() as patched:

        def created(*given: Any) -> Any:
            rooms.close()
            if next(numbers) == number:
                rooms.enter_context(room(LITTLE))
            return plain(*given)

        patched.setattr(files, "_created", created)
        yield


@pytest.mark.parametrize("engine", LOCAL)
def test_every_file_of_an_index_may_be_the_one_too_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    ids, vectors, rows = items(40)
    more = items(MORE, seed=1, start=1_000)
    index = made(tmp_path / "index", LOCAL[engine], details="locals")
    index.add(ids, vectors, rows, details=details(40))
    names = {path.name for path in index.folder.iterdir()}
    for number in range(1, 7):  # rows, senses, vectors or graph, segment, spots, index.json
        with (
            pytest.raises(TropeError, match="cannot be written") as caught,
            short(monkeypatch, number),
        ):
            open_engine(index.folder).add(*more, details=details(MORE))
        assert caught.value.exit_code == 1
        assert {path.name for path in index.folder.iterdir()} == names
        found = open_engine(index.folder).nearest(vectors, 1, "image").ids[:, 0]
        assert found.tolist() == ids
    with short(monkeypatch, number + 1):
        open_engine(index.folder).add(*more, details=details(MORE))
    assert open_engine(index.folder).count("image") == MORE + 40

"""Run as a program: changes of indexes by processes that die at their n-th file operation.

For every change of an index and every n from the first on: a fresh copy of the index, a child that
changes it and dies by SIGKILL at its n-th operation inside the folder, then a look at what is
there. One process forks them all, so that nothing is imported anew. Prints what each look has found
as JSON, by index and change.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import faiss
import numpy as np
from index_samples import LOCAL, details, items, made

from trope.errors import TropeError
from trope.index import Engine, open_engine
from trope.index.folder import read_state, verified

OPERATIONS = {"os.rename", "os.remove", "os.mkdir", "os.truncate", "os.link"}
OLD, NEW = items(40), items(12, seed=1, start=35)  # five of them are replaced
PARTS = details(40), details(12, seed=1)
TRIED = (("flat", "add"), ("graph", "add"), ("graph", "remove-few"), ("graph", "remove-many"))


def add(index: Engine) -> None:
    index.add(*NEW, details=PARTS[1])


def remove_few(index: Engine) -> None:
    index.remove(OLD[0][:4])


def remove_many(index: Engine) -> None:
    index.remove(OLD[0][:30])


CHANGES: dict[str, Callable[[Engine], None]] = {
    "add": add,
    "remove-few": remove_few,
    "remove-many": remove_many,
}


def changes(event: str, arguments: tuple[object, ...]) -> bool:
    """Whether an operation changes what is on the disk: a death before another changes nothing."""
    if event != "open":
        return event in OPERATIONS
    return bool(int(arguments[2]) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))  # type: ignore[call-overload]


def deadly(folder: Path, last: int) -> None:
    """From now on, die at the n-th operation that changes a file of the folder."""
    count = 0

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal count
        if changes(event, arguments) and str(arguments[0]).startswith(str(folder)):
            count += 1
            if count == last:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


def killed(folder: Path, change: Callable[[Engine], None], last: int) -> bool:
    """Whether a child that makes the change was killed before it was done."""
    child = os.fork()
    if child == 0:
        try:
            deadly(folder, last)
            change(open_engine(folder))
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def look(folder: Path) -> object:
    """What an index answers; every file of its state is compared with its checksum."""
    try:
        state = read_state(folder)
        for file in state.files():
            verified(folder, file, again=True)
        index = open_engine(folder)
        found = index.nearest(OLD[1][:3], 60, "image")
        names = [sorted(filter(None, names)) for names in found.ids.tolist()]
        parts = index.get(names[0]).details
        assert parts is not None
        return [names, [rows.tolist() for rows in parts.rows()]]
    except TropeError as error:
        return f"{type(error).__name__}: {error}"


def main(home: Path) -> None:
    faiss.omp_set_num_threads(1)
    os.fsync = lambda _: None  # no power is cut here, and it takes most of the time
    found = {
        f"{name} {change}": tried(home / name / change, name, change) for name, change in TRIED
    }
    sys.stdout.write(json.dumps(found))


def tried(home: Path, name: str, change: str) -> list[object]:
    """What is there after each death, until none comes any more."""
    made(home / "before", LOCAL[name], details="locals").add(*OLD, details=PARTS[0])
    shutil.copytree(home / "before", home / "after")
    CHANGES[change](open_engine(home / "after"))
    old, new, found = look(home / "before"), look(home / "after"), []
    for last in range(1, 1_000):
        folder = home / "index"
        shutil.copytree(home / "before", folder)
        died = killed(folder, CHANGES[change], last)
        seen = look(folder)
        found.append("old" if seen == old else "new" if seen == new else seen)
        CHANGES[change](open_engine(folder))  # what was left behind does not stand in the way
        again = look(folder)
        strays = {path.name for path in folder.iterdir()} - _named(folder)
        found[-1] = found[-1] if again == new and not strays else f"afterwards {again}, {strays}"
        shutil.rmtree(folder)
        if not died:
            break
    return found


def _named(folder: Path) -> set[str]:
    return {"index.json", ".lock", *(file.name for file in read_state(folder).files())}


if __name__ == "__main__":
    np.seterr(all="raise")
    main(Path(sys.argv[1]))

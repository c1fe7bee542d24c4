"""An index as it is now: opened anew, within a second, once somebody has written to it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic

from trope.errors import TropeError
from trope.index.folder import FILE, State, read_state
from trope.index.model import MODEL
from trope.web.collection import Collection
from trope.web.datasets import Data
from trope.web.marks import Marks
from trope.web.refusals import GoneError

EVERY = 1.0  # seconds between two looks at the state


class Current:
    """The collection to ask; who asks keeps the one it got, however long that takes.

    An index that is damaged while it is served stays as it was opened; so does one that is removed,
    but it is told to be `gone`, and nothing is written to where it was. One that was made anew by a
    model for pictures of another size is left as it was, too: those that were sent have the size of
    the first.
    """

    def __init__(self, folder: Path, number: int, marks: Marks, given: Sequence[Data] = ()) -> None:
        self._folder, self._number, self._marks, self._given = folder, number, marks, given
        self._now = Collection(folder, number, marks, given=given)
        self._looked, self._looking = monotonic(), threading.Lock()
        self.gone = False

    def there(self) -> bool:
        """Whether the index is still where it was, looked at now."""
        self.gone = not (self._folder / FILE).exists()
        return not self.gone

    def refuse_gone(self) -> None:
        """Nothing is written beside an index that was removed: that would make its folder anew."""
        if not self.there():
            raise GoneError(f"the index '{self.name}' was removed while it is served")

    @property
    def name(self) -> str:
        """What the index is called."""
        return self._folder.absolute().name

    def get(self) -> Collection:
        """The newest that is known; one thread at a time looks for a newer one."""
        if monotonic() - self._looked >= EVERY and self._looking.acquire(blocking=False):
            try:
                with suppress(TropeError, OSError):
                    self._look()
                self._looked = monotonic()
            finally:
                self._looking.release()
        return self._now

    def _look(self) -> None:
        if not self.there():
            return
        before, now = self._now, read_state(self._folder)
        if now.digest == before.version:
            return
        embedder = before.embedder if _model(now) == _model(before.state) else None
        opened = Collection(self._folder, self._number, self._marks, embedder, self._given)
        if opened.pixels == before.pixels:
            opened.sources.open()
            self._now = opened


def _model(state: State) -> object:
    return state.others.get(MODEL)

"""The engine: what reads, and changes that are seen as a whole once `index.json` names them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pyarrow as pa

from trope.index.details import Details
from trope.index.folder import File, PartState, State, write_state, writing
from trope.index.items import Vectors, joined
from trope.index.local import refuse_other_details, refuse_other_shape, refuse_twice
from trope.index.milvus.claims import claimed, refuse_overtaken, settled
from trope.index.milvus.collection import schema_of, written_schema
from trope.index.milvus.entities import FIELDS, FOREVER, among, batches, entities_of
from trope.index.milvus.named import PART, read_named, write_named
from trope.index.milvus.reading import Reading, portions
from trope.index.milvus.server import told
from trope.index.remote_rows import documents, refuse_other_kinds
from trope.runtime import progress_bar


class Milvus(Reading):
    """A collection that can be changed; one process at a time does."""

    def add(
        self,
        ids: Sequence[str],
        vectors: Vectors,
        rows: pa.Table,
        instead_of: Sequence[str] = (),
        details: Details | None = None,
    ) -> None:
        """Put items in; those with the same ids, and those of `instead_of`, go in the same step."""
        with self._writing() as state:
            refuse_other_shape(state, vectors)
            refuse_other_details(state, details)
            refuse_twice(ids)
            fitting = joined([schema_of(state).empty_table(), rows])
            refuse_other_kinds(schema_of(state), fitting.schema)
            number, lines = state.number + 1, documents(fitting)
            remote = self._claimed() | {"schema": written_schema(fitting.schema)}
            self._mark([*ids, *instead_of], number)
            entities = entities_of(ids, vectors, lines, number)
            with told(self.state.settings.uri), progress_bar("to the server", len(ids)) as bar:
                for modality, batch in batches(entities, state.settings.batch):
                    self.client.insert(self._collection, batch, partition_name=modality)
                    bar.advance(bar.task_ids[0], len(batch) / max(state.senses, 1))
            parts = self._beside([*ids, *instead_of], ids, details)
            self._switch(replace(state, number=number, remote=remote, parts=parts))

    def remove(self, ids: Sequence[str]) -> int:
        """Take items out; how many of the ids were there."""
        with self._writing() as state:
            if not self._any(ids):
                return 0
            remote, number = self._claimed(), state.number + 1
            marked = self._mark(ids, number)
            parts = self._beside(ids)
            self._switch(replace(state, number=number, remote=remote, parts=parts))
        return marked

    @contextmanager
    def _writing(self) -> Iterator[State]:
        """The state to change, once what a killed process left is put right."""
        with writing(self.folder) as state:
            self._see(state)
            with told(state.settings.uri):
                refuse_overtaken(self.client, self.folder, state)
                self._recover(state.number)
            yield state

    def _claimed(self) -> dict[str, str]:
        with told(self.state.settings.uri):
            return claimed(self.client, self.folder, self.state)

    def _recover(self, number: int) -> None:
        """As the state of this number wants it: nothing of a later one, nothing long gone."""
        self.client.delete(self._collection, filter=f"born > {number} or died < {number}")
        marked = self._all(f"died > {number} and died < {FOREVER}", list(FIELDS), seen=False)
        self._rewritten(marked, FOREVER)

    def _any(self, ids: Sequence[str]) -> bool:
        """Whether one of these items is there."""
        parts = portions(list(dict.fromkeys(ids)), self.state.settings.batch)
        return any(self._query(among(part), ["name"]) for part in parts)

    def _mark(self, ids: Sequence[str], number: int) -> int:
        """Note when items go; they are seen until then. How many there were."""
        marked: set[str] = set()
        for part in portions(list(dict.fromkeys(ids)), self._most):
            entities = self._query(among(part), list(FIELDS))
            self._rewritten(entities, number)
            marked |= {entity["name"] for entity in entities}
        return len(marked)

    def _rewritten(self, entities: Sequence[Mapping[str, Any]], died: int) -> None:
        plain = ({name: entity[name] for name in (*FIELDS, "key")} for entity in entities)
        changed = [entity | {"died": died} for entity in plain]
        for modality, batch in batches(changed, self.state.settings.batch):
            self.client.upsert(self._collection, batch, partition_name=modality)

    def _beside(
        self, gone: Sequence[str], ids: Sequence[str] = (), details: Details | None = None
    ) -> dict[str, PartState]:
        """Files with what a scorer needs of the items that are left, and of new ones."""
        if self.named is None:
            return {}
        changed = self.named.changed(gone, ids, details, self.state.settings.compact)
        return {PART: write_named(self.folder, changed, self.state.parts.get(PART))}

    def _switch(self, state: State) -> None:
        """The new state is the one to be seen; what the one before had not either goes for good."""
        state = replace(state, past=_left(self.state, state))
        write_state(self.folder, state)
        settled(self.folder)
        self._see(state)
        with told(state.settings.uri):
            self.client.delete(self._collection, filter=f"died < {state.number}")

    def _see(self, state: State) -> None:
        """Needs the lock, which keeps the state's files."""
        self.state, self.named = state, read_named(self.folder, state)


def _left(old: State, new: State) -> dict[str, File]:
    """Files that only the old state has; where disks are shared, they would go from under it."""
    stays = {file.name for part in new.parts.values() for file in part.files.values()}
    files = [file for part in old.parts.values() for file in part.files.values()]
    return {file.name: file for file in files if file.name not in stays}

"""`trope index`: what can be searched, made and changed."""

from __future__ import annotations

import csv
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import trope
from trope import config
from trope.cli.options import Json, Sets
from trope.cli.output import print_json, say
from trope.errors import UsageError
from trope.runtime import remark

if TYPE_CHECKING:
    from trope.index.job import Indexed

TOLD = 5  # rows that could not be used, before the rest is only counted


def command(
    run: Annotated[
        Path | None, typer.Argument(help="The folder of a run; to --add, by default the index's.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="INDEX", help="The folder of the index.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option("--data", help="A folder or table of rows to be found.")
    ] = None,
    add: Annotated[
        Path | None,
        typer.Option("--add", metavar="DATA", help="Put rows in, or replace them by id."),
    ] = None,
    remove: Annotated[
        list[str] | None,
        typer.Option(
            "--remove",
            metavar="IDS",
            help="Take rows out, such as a17,a18; an id with a comma in double quotes. Repeatable.",
        ),
    ] = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Compare every file with its checksum.")
    ] = False,
    engine: Annotated[str | None, typer.Option("--engine", help="faiss, exact or milvus.")] = None,
    uri: Annotated[
        str | None, typer.Option("--uri", help="Of a Milvus server: http://127.0.0.1:19530.")
    ] = None,
    sets: Sets = None,
    json: Json = False,
) -> None:
    """Make an index of a data set by a trained model, or change one."""
    if out is None:
        raise UsageError("index: name the folder of the index with --out")
    _refuse(run, data, add, remove, verify)
    if (add or remove or verify) and (engine or uri or sets):
        raise UsageError("index: engine and settings are chosen when an index is made")
    if verify:
        document = _verified(out)
    elif remove:
        document = _removed(out, remove)
    elif add is not None:
        document = _added(out, add, run)
    else:
        assert run is not None
        assert data is not None
        document = _made(run, data, out, engine, uri, sets)
    if json:
        print_json(document)
    else:
        say(_told(out, document))


def _refuse(
    run: Path | None, data: Path | None, add: Path | None, remove: list[str] | None, verify: bool
) -> None:
    """One thing at a time."""
    asked = [name for name, value in _asked(data, add, remove, verify).items() if value]
    if len(asked) > 1:
        raise UsageError(f"index: {' and '.join(asked)} do not go together")
    if not asked:
        raise UsageError("index: name --data to make an index; --add, --remove, --verify change it")
    if data is not None and run is None:
        raise UsageError("index: name a run: trope index RUN --data DATA --out INDEX")
    if run is not None and (remove or verify):
        raise UsageError(f"index: a run does not go with {asked[0]}")


def _asked(
    data: Path | None, add: Path | None, remove: list[str] | None, verify: bool
) -> dict[str, object]:
    return {"--data": data, "--add": add, "--remove": remove, "--verify": verify}


def _made(
    run: Path, data: Path, out: Path, engine: str | None, uri: str | None, sets: list[str] | None
) -> dict[str, object]:
    from trope.files import refuse_existing
    from trope.index import IndexSettings
    from trope.index.building import clear_building
    from trope.index.folder import FILE
    from trope.index.job import build

    if (out / FILE).exists():
        clear_building(out)
        raise UsageError(f"{out}: holds an index; --add DATA puts rows in, or name a new folder")
    refuse_existing(out)
    given = {"engine": engine, "uri": uri}
    plain = {name: value for name, value in given.items() if value is not None}
    chosen = config.override(config.parse(IndexSettings, plain, "index"), sets or ())
    return _reported(build(run, trope.open(data), out, chosen))


def _added(out: Path, data: Path, run: Path | None) -> dict[str, object]:
    from trope.index.job import add

    return _reported(add(out, trope.open(data), run))


def _removed(out: Path, given: list[str]) -> dict[str, object]:
    from trope.index.job import remove

    wanted = [name for line in given for name in _names(line)]
    if not wanted:
        raise UsageError("--remove: name ids of rows, such as a17,a18")
    return {"removed": remove(out, wanted)}


def _names(line: str) -> list[str]:
    """Ids with commas between them; one that has a comma itself stands in double quotes."""
    found = csv.reader(StringIO(line, newline=""), skipinitialspace=True, strict=True)
    try:
        return [name for names in found for name in names if name.strip()]
    except csv.Error:
        raise UsageError(
            f"--remove: cannot read {line!r}; ids are written a17,a18, and those with commas or "
            'quotes "a,17","the ""a"""'
        ) from None


def _verified(out: Path) -> dict[str, object]:
    from trope.index.folder import opened, verified

    state, _ = opened(out, lambda state: [verified(out, f, again=True) for f in state.files()])
    files = list(state.files())
    return {"files": len(files), "bytes": sum(file.bytes for file in files)}


def _reported(done: Indexed) -> dict[str, object]:
    for text in done.remarks:
        remark(text)
    for row in done.failed[:TOLD]:
        remark(f"not indexed: {row}")
    if len(done.failed) > TOLD:
        remark(f"… and {len(done.failed) - TOLD:,} more rows whose picture cannot be used")
    return done.document()


def _told(out: Path, document: dict[str, object]) -> str:
    if "removed" in document:
        return f"{out}: {document['removed']:,} rows removed"
    if "files" in document:
        return f"{out}: {document['files']} files, {document['bytes']:,} bytes, all as written"
    said = f"{out}: {document['images']:,} images and {document['texts']:,} texts"
    if document["replaced"]:
        said += f", in place of {document['replaced']:,} items"
    if document["empty"]:
        said += f"; without content, and left out: {document['empty']:,}"
    return f'{said}. next: trope search {out} "words"'

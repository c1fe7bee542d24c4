"""The whole job: from a data set to a page about it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from trope import config
from trope.data.pairs import Pairs
from trope.data.text import listed
from trope.errors import UsageError
from trope.explain.findings import Findings
from trope.explain.page import write_page
from trope.explain.settings import ExplainSettings
from trope.explain.study import Study
from trope.explain.training_rows import with_training_rows
from trope.files import refuse_existing, replacing_folder, write_json
from trope.runtime import provenance


def explain(
    pairs: Pairs,
    out: str | os.PathLike[str],
    settings: ExplainSettings | None = None,
    ids: Sequence[str] = (),
    *,
    recall: bool = False,
) -> tuple[Findings, dict[str, Any]]:
    """Write `index.html`, its pictures and `neighbors.json` to a new folder `out`.

    Shows the pairs named by `ids`, or else a few chosen as instructive. Returns what was found, and
    the JSON document that was written.
    """
    settings, out = settings or ExplainSettings(), Path(out)
    refuse_existing(out)
    rows = _rows_of(pairs, ids)
    if settings.agree is not None:
        pairs.column(settings.agree)  # refused before any work where it is missing
    pairs, remarks = with_training_rows(pairs, settings.space, settings.seed)
    study = Study.of(pairs, settings)
    study.require(rows)
    found = study.findings(rows, recall, remarks)
    document = found.document() | {"config": config.plain(settings), "provenance": provenance()}
    with replacing_folder(out, fresh=True) as folder:
        first = {pair.row for pair in found.pairs}
        write_page(folder, "page.html", pairs, found, large=first, small=found.shown_rows())
        write_json(folder / "neighbors.json", document)
    return found, document


def _rows_of(pairs: Pairs, ids: Sequence[str]) -> list[int]:
    """The rows of ids, each once."""
    wanted = list(dict.fromkeys(listed(ids, "ids")))
    rows = pc.index_in(pa.array(wanted, pa.string()), pairs.column("id").combine_chunks())
    for name, row in zip(wanted, rows.to_pylist(), strict=True):
        if row is None:
            like = f"; ids look like '{pairs[0].id}'" if len(pairs) else ""
            raise UsageError(f"{pairs.root}: no pair '{name}'{like}")
    return list(rows.to_pylist())

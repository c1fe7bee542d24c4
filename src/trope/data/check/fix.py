"""The good rows of a data set as a new one, and every rejected row with its reasons."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from PIL import Image

from trope.data.check.problems import Problem, Report
from trope.data.identity import same_text
from trope.data.images import max_pixels, opened
from trope.data.pairs import Pairs
from trope.data.stores import FolderImages
from trope.data.writer import as_row, write_pairs, write_rows
from trope.errors import UsageError
from trope.files import place, replacing, replacing_folder, write_json
from trope.runtime import progress, provenance
from trope.types import Pair

REJECTED = "rejected.jsonl"
SETTINGS = "check.json"


def fix(pairs: Pairs, report: Report, out: Path) -> tuple[int, int]:
    """Write the usable rows and their pictures to `out`; returns the rows kept and rejected."""
    refuse_inside(pairs.source, out)
    reasons: dict[int, list[Problem]] = {}
    for problem in report.problems:
        if problem.severity == "error":
            reasons.setdefault(problem.line, []).append(problem)
    good = pairs.where(report.good(pairs.lines))
    with replacing_folder(out, fresh=True) as partial:
        kept = write_pairs(partial, progress(_placed(good, partial), "writing rows", len(good)))
        for array in sorted(pairs.root.glob("features/*.npy")):
            place(array, partial / "features" / array.name)
        rejected = write_rows(partial / REJECTED, _rejected(pairs, reasons))
        if not rejected:
            (partial / REJECTED).unlink()
        made = provenance() | {"max_pixels": str(max_pixels())}
        whole = {"remarks": pairs.remarks, "provenance": made}
        write_json(partial / SETTINGS, report.document() | whole)
    return kept, rejected


def refuse_inside(data: Path, out: Path) -> None:
    """Never write into the folder that is read: its next reader would take that for data."""
    if data.is_dir() and out.resolve().is_relative_to(data.resolve()):
        raise UsageError(f"{out}: lies inside {data}; name a folder outside of it")


def _placed(pairs: Pairs, folder: Path) -> Iterator[Pair]:
    """The rows, once their pictures lie in the new folder."""
    for row, pair in enumerate(map(_without_blanks, pairs)):
        if pair.image is None:
            yield pair
        elif isinstance(pairs.images, FolderImages):
            place(pairs.images.path(row), folder / pair.image)
            yield pair
        else:
            yield replace(pair, image=_unpacked(pairs, row, folder))


def _without_blanks(pair: Pair) -> Pair:
    kept = tuple(text for text in pair.texts if same_text(text))
    return pair if len(kept) == len(pair.texts) else replace(pair, texts=kept)


def _unpacked(pairs: Pairs, row: int, folder: Path) -> str:
    """A picture out of a shard or table as a file of its own."""
    data = pairs.images.read(row)
    with opened(data, f"row {row + 1}") as image:
        ending = Image.MIME.get(image.format or "", "image/bin").partition("/")[2]
    name = f"images/{pairs.lines[row]:08d}.{ending.replace('jpeg', 'jpg')}"
    with replacing(folder / name) as handle:
        handle.write(data)
    return name


def _rejected(pairs: Pairs, reasons: dict[int, list[Problem]]) -> Iterator[dict[str, Any]]:
    raw = {rejected.line: rejected.raw for rejected in pairs.rejected}
    positions = {int(line): row for row, line in enumerate(pairs.lines) if int(line) in reasons}
    for line, problems in sorted(reasons.items()):
        why = [{"code": p.code, "detail": p.detail} for p in problems]
        row = as_row(pairs[positions[line]]) if line in positions else raw.get(line)
        yield {"line": line, "reasons": why, "row": row}

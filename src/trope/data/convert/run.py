"""The driver: reads a source of a known format and writes a data set, whole or not at all."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from trope.config import plain
from trope.data.convert import arrays
from trope.data.convert.layout import NO_TEXT, Contents, Features, Format, Found, Missing, Row
from trope.data.convert.pictures import PictureError, Pictures
from trope.data.documents import dumps, json_line
from trope.errors import DataError, TropeError, UsageError
from trope.files import refuse_existing, replacing, replacing_folder, write_json
from trope.runtime import progress, provenance

STARTED = "started.json"  # what a partial folder is the beginning of
FIRST_FIELDS = ("id", "image", "text", "texts", "labels", "group", "split")


@dataclass
class Conversion:
    """What came of a conversion: how many rows, of which splits, and what was missing and why."""

    format: str
    source: str
    settings: dict[str, Any]
    rows: int = 0
    images: int = 0
    texts: int = 0
    splits: Counter[str] = field(default_factory=Counter)
    missing: Counter[str] = field(default_factory=Counter)
    first_missing: str = ""

    def document(self) -> dict[str, Any]:
        """The same as plain values, for `conversion.json` and `--json`."""
        return {
            "format": self.format,
            "source": self.source,
            "settings": self.settings,
            "rows": self.rows,
            "images": self.images,
            "texts": self.texts,
            "splits": dict(self.splits),
            "missing": {"items": self.missing.total(), "reasons": dict(self.missing.most_common())},
        }

    def count(self, row: Row) -> None:
        """Take one finished row into account."""
        self.rows += 1
        self.images += "image" in row
        self.texts += len(row.get("texts", ())) + ("text" in row)
        self.splits[row.get("split") or "none"] += 1

    def count_missing(self, item: Missing) -> None:
        """Take one missing item into account."""
        self.missing[item.reason] += 1
        self.first_missing = self.first_missing or f"{item.id}: {item.detail or item.reason}"


def run_conversion(
    name: str, layout: Format, settings: object, source: Path, out: Path
) -> Conversion:
    """Convert `source` into the new folder `out`; a run that was killed is taken up again."""
    try:
        refuse_existing(out)
        if not source.is_dir():
            raise UsageError(f"{source}: no such folder")
        contents = layout.read(source, settings)
        report = Conversion(name, str(source.resolve()), plain(settings))
        job = _job(report, contents.features)
        with replacing_folder(out) as folder:
            _take_up(folder, job)
            _fill(folder, Pictures(source, folder), contents, report)
        return report
    except OSError as error:
        raise TropeError(f"{error.filename or out}: {error.strerror or error}") from None


def _job(report: Conversion, features: Mapping[str, Features]) -> bytes:
    """What makes two runs the same conversion; pictures are compared one by one when placed."""
    made_of = {name: arrays.origin(array) for name, array in features.items()}
    job = {"format": report.format, "source": report.source, "settings": report.settings}
    return dumps(job | {"features": made_of})


def _take_up(folder: Path, job: bytes) -> None:
    """Keep what an earlier run of the very same conversion left behind; clear anything else."""
    marker = folder / STARTED
    same = marker.is_file() and marker.read_bytes() == job
    for path in folder.iterdir():
        if same and path.name in ("images", "features"):
            continue
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    for stray in folder.rglob(".*.partial"):
        stray.unlink()
    with replacing(marker) as handle:
        handle.write(job)


def _fill(folder: Path, pictures: Pictures, contents: Contents, report: Conversion) -> None:
    _write_features(folder, contents.features)
    with ExitStack() as stack:
        rows = stack.enter_context(replacing(folder / "pairs.jsonl"))
        lost = _Late(folder / "missing.jsonl", stack)
        for item in progress(contents.items, f"converting {report.format}"):
            row = _place(item, pictures)
            if isinstance(row, Missing):
                report.count_missing(row)
                lost.write(_line(_missing_row(row)))
            else:
                report.count(row)
                rows.write(_line(row))
    if not report.rows:
        shutil.rmtree(folder)
        raise DataError(_nothing(report))
    pictures.sweep()
    write_json(folder / "conversion.json", report.document() | {"provenance": provenance()})
    (folder / STARTED).unlink()


def _write_features(folder: Path, features: Mapping[str, Features]) -> None:
    for name, array in features.items():
        arrays.write(folder / "features" / f"{name}.npy", array)


def _place(item: Found | Missing, pictures: Pictures) -> Row | Missing:
    """The finished row with its picture in place, or why there is none."""
    if isinstance(item, Missing):
        return item
    row = {name: value for name, value in item.row.items() if value not in (None, "", [])}
    if not row.keys() & {"text", "texts", "text_feature"}:
        return Missing(str(row["id"]), NO_TEXT, row)
    if item.name is not None:
        try:
            row["image"] = pictures.put(item)
        except PictureError as error:
            return Missing(str(row["id"]), error.reason, row, error.detail)
    return _ordered(row)


def _ordered(row: Row) -> Row:
    """The known fields first, so that a person can read the file."""
    return {name: row[name] for name in FIRST_FIELDS if name in row} | row


def _missing_row(item: Missing) -> Row:
    known = {"id": item.id, "reason": item.reason, "looked_for": item.detail, "row": item.row}
    return {name: value for name, value in known.items() if value}


class _Late:
    """A file that comes into being with its first line: none is there when nothing is missing."""

    def __init__(self, path: Path, stack: ExitStack) -> None:
        self.path, self.stack = path, stack
        self.handle: IO[Any] | None = None

    def write(self, line: bytes) -> None:
        """Append a line."""
        if self.handle is None:
            self.handle = self.stack.enter_context(replacing(self.path))
        self.handle.write(line)


def _line(row: Row) -> bytes:
    """A row as a JSON line; half characters, which no file can hold, become replacement marks."""
    try:
        return json_line(row)
    except UnicodeEncodeError:
        return json_line(_whole(row))


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, Mapping):
        return {_whole(str(name)): _whole(item) for name, item in value.items()}
    return [_whole(item) for item in value] if isinstance(value, (list, tuple)) else value


def _nothing(report: Conversion) -> str:
    if not report.missing:
        return f"{report.source}: nothing to convert was found in it"
    reasons = ", ".join(f"{reason}: {count}" for reason, count in report.missing.most_common())
    return (
        f"{report.source}: none of {report.missing.total()} items could be converted ({reasons}); "
        f"the first was {report.first_missing}"
    )

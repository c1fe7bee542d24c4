"""Conceptual Captions: web pictures with cleaned alternative texts, in folders or tar shards."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pyarrow.parquet as pq

from trope.data.convert.layout import NO_IMAGE, Contents, Format, Found, Missing, Row, said
from trope.data.convert.lookup import below, folders, required, text_lines
from trope.data.readers import open as open_pairs
from trope.errors import DataError

Naming = Literal["crc32", "row", "row_crc32"]
TABLES = {
    "train": ("Train_GCC-training.tsv", "Train-GCC-training.tsv", "*raining*.tsv"),
    "val": ("Validation_GCC-1.1.0-Validation.tsv", "*alidation*.tsv"),
}
PLACES = {
    "train": ("training", "train", "images/train"),
    "val": ("validation", "val", "images/val"),
}
SUFFIXES = ("", ".jpg", ".jpeg", ".png", ".webp", ".gif")
BOOKKEEPING = {"key", "caption", "status", "error_message", "exif", "sha256"}


@dataclass(frozen=True)
class ConceptualCaptions:
    """How the downloaded files are named, and what the validation part is used as."""

    naming: Naming = "crc32"
    mapping: str = "images.tsv"
    held_out: Literal["test", "val"] = "test"


def read(source: Path, settings: ConceptualCaptions) -> Contents:
    """The tables where their images or a mapping lie beside them, else tar shards."""
    splits = {"train": "train", "val": settings.held_out}
    tables = {part: path for part, names in TABLES.items() if (path := _table(source, names))}
    mapping = _mapping(source / settings.mapping)
    places = (source / place for names in PLACES.values() for place in names)
    if tables and (mapping or any(place.is_dir() for place in places)):
        if len(tables) == 1:  # one part alone is no split
            splits = {}
        return Contents(_tables(tables, mapping, splits, settings.naming))
    shards = sorted(source.rglob("*.tar"))
    if tables and not shards:
        folders(source, "images", *(place for names in PLACES.values() for place in names))
    if not shards:
        required(source, "captions", *TABLES["train"], *TABLES["val"], "*.tar")
    return Contents(_shards(source, shards, splits))


def _table(source: Path, names: tuple[str, ...]) -> Path | None:
    candidates = (path for name in names for path in sorted(source.glob(name)))
    return next((path for path in candidates if "report" not in path.name), None)


def _mapping(path: Path) -> dict[str, str]:
    """The file of every address, from a table `address<TAB>file`; nothing where there is none."""
    if not path.is_file():
        return {}
    cells = (line.split("\t") for line in text_lines(path))
    return {row[0].strip(): row[1].strip() for row in cells if len(row) > 1}


def _tables(
    tables: dict[str, Path], mapping: dict[str, str], splits: dict[str, str], naming: Naming
) -> Iterator[Found | Missing]:
    for part, path in tables.items():
        for number, line in enumerate(text_lines(path)):
            caption, _, url = line.partition("\t")
            row: Row = {
                "id": f"{part}-{number}",
                "text": caption.strip(),
                "split": splits.get(part),
                "url": url.strip(),
            }
            if mapping:
                name = mapping.get(row["url"], "")
                yield Found(row, name or row["id"], (name,) if name else ())
            else:
                stem = _file_name(naming, number, row["url"])
                names = below(PLACES[part], *(stem + suffix for suffix in SUFFIXES))
                yield Found(row, f"{PLACES[part][0]}/{stem}", names)


def _file_name(naming: Naming, number: int, url: str) -> str:
    """What a downloader called the picture: by its row from 0, its address's checksum, or both."""
    checksum = zlib.crc32(url.encode())
    return {"row": f"{number}", "crc32": f"{checksum}", "row_crc32": f"{number}_{checksum}"}[naming]


def _shards(source: Path, shards: list[Path], splits: dict[str, str]) -> Iterator[Found | Missing]:
    """Every sample of every shard, and every failed download that the table beside it lists."""
    places = [shard.relative_to(source).with_suffix("").as_posix() for shard in shards]
    parts = ["val" if place.lower().startswith("val") else "train" for place in places]
    for shard, place, part in zip(shards, places, parts, strict=True):
        split = splits[part] if len(set(parts)) > 1 else None
        yield from _shard(shard, place, split)
        yield from _failed(shard.with_suffix(".parquet"), place)


def _shard(shard: Path, place: str, split: str | None) -> Iterator[Found | Missing]:
    try:
        pairs = open_pairs(shard, collect=True)
    except DataError as error:
        yield Missing(place, "a shard that cannot be read", detail=str(error))
        return
    for rejected in pairs.rejected:
        yield Missing(
            f"{place}/{rejected.raw}", "a sample that cannot be read", {}, rejected.reason
        )
    for number, pair in enumerate(pairs):
        extra = {name: value for name, value in pair.extra.items() if name not in BOOKKEEPING}
        row = {"id": f"{place}/{pair.id}", **said(pair.texts), "split": split, **extra}
        try:
            data = pairs.images.read(number)
        except DataError as error:
            yield Missing(row["id"], NO_IMAGE, row, str(error))
        else:
            yield Found(row, f"{place}/{pair.image}", data=data)


def _failed(path: Path, place: str) -> Iterator[Missing]:
    """The rows of a shard's table that were not downloaded, with the downloader's own words."""
    if not path.is_file():
        return
    try:
        table = pq.read_table(path)
    except (OSError, pa.ArrowInvalid) as error:
        yield Missing(place, "a list of downloads that cannot be read", detail=f"{path}: {error}")
        return
    if "status" not in table.column_names:
        return
    known = [
        n for n in ("key", "url", "caption", "status", "error_message") if n in table.column_names
    ]
    for row in table.select(known).to_pylist():
        if row["status"] != "success":
            reason = f"{row.pop('status') or 'not downloaded'}".replace("_", " ")
            detail = str(row.pop("error_message", None) or "")
            yield Missing(f"{place}/{row.pop('key', '')}", reason, row, detail)


FORMAT = Format(
    about="3.3 million web pictures with cleaned alternative texts",
    paper="Sharma et al., Conceptual Captions, ACL 2018",
    layout="""\
SOURCE/
  Train_GCC-training.tsv                caption<TAB>address
  Validation_GCC-1.1.0-Validation.tsv
  training/<name>  validation/<name>    downloaded files, named by `naming`:
                                        crc32 of the address, row (from 0), or row_crc32
  images.tsv                            or a table address<TAB>file in place of the naming
or, as img2dataset writes them (shards below a folder `val*` are the validation part),
SOURCE/
  00000.tar      <key>.jpg, <key>.txt, <key>.json
  00000.parquet  optional: also lists what could not be downloaded""",
    becomes="training as train, validation as test (the official test set is not public); "
    "no split where one part is alone",
    read=read,
    settings=ConceptualCaptions,
)

"""A Hugging Face `datasets` folder written by `save_to_disk`: memory-mapped, nothing copied."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
from jaxtyping import Int

from trope.data import naming
from trope.data.arrowfiles import map_arrow
from trope.data.readers.opened import Opened
from trope.data.readers.validity import readable
from trope.data.rejects import Rejects
from trope.data.schema import canonical
from trope.data.stores import ArrowImages, FolderImages, ImageStore
from trope.errors import DataError


def recognizes(root: Path) -> bool:
    """Whether a folder was written by `Dataset.save_to_disk` or `DatasetDict.save_to_disk`.

    Other programs write a `state.json` too; theirs lists no data files.
    """
    if (root / "dataset_dict.json").is_file():
        return True
    state = root / "state.json"
    described = state.is_file() and (root / "dataset_info.json").is_file()
    return described and b'"_data_files"' in state.read_bytes()


def read(root: Path, rejects: Rejects, mapping: naming.Columns) -> Opened:
    """All splits of the folder as one data set; the one `Image` column is the picture."""
    parts = [_Part(name, folder) for name, folder in _folders(root)]
    image = _image_column(parts, root)
    try:
        raw = pa.concat_tables([part.columns(image) for part in parts], promote_options="default")
    except pa.ArrowException as error:
        raise DataError(f"{root}: the splits do not fit together ({error})") from None
    raw = raw.rename_columns(naming.meant(raw.column_names, mapping, str(root)))
    naming.require(raw.column_names, str(root), mapping)
    raw, lines = readable(raw, np.arange(1, len(raw) + 1), rejects)
    table = canonical(raw, lines, str(root))
    store: ImageStore = FolderImages(root, table.column("image"))
    if image:
        files = tuple(path for part in parts for path in part.files)
        store = ArrowImages(files, image, _stored_rows(parts)[lines - 1])
    return Opened(table, lines, store)


class _Part:
    """One split, or the only one: its files, its features, and which stored row each row is."""

    def __init__(self, name: str | None, folder: Path) -> None:
        self.name, self.folder = name, folder
        state = _json(folder / "state.json")
        features = _json(folder / "dataset_info.json").get("features")
        self.features: dict[str, Any] = features if isinstance(features, dict) else {}
        self.files = _listed(folder, state, "_data_files")
        tables = [table.replace_schema_metadata(None) for table in map_arrow(self.files)]
        self.table = pa.concat_tables(tables) if tables else None
        self.stored = self.table.num_rows if self.table is not None else 0
        self.rows = self._rows(_listed(folder, state, "_indices_data_files"))

    def _rows(self, files: list[Path]) -> Int[np.ndarray, " rows"]:
        """Old versions kept a selection as a list of row numbers beside the whole table."""
        if not files:
            return np.arange(self.stored)
        table = pa.concat_tables(map_arrow(files))
        rows = np.asarray(table.column(0)).astype(np.int64)
        if len(rows) and not 0 <= rows.min() <= rows.max() < self.stored:
            raise DataError(f"{files[0]}: names rows that do not exist")
        return rows

    def columns(self, image: str | None) -> pa.Table:
        """The rows; pictures are replaced by their names, class numbers by class names."""
        if self.table is None:
            return pa.table({})
        table, stored = self.table, len(self.rows) == self.stored
        if image is not None and image in table.column_names:
            table = self._with_names(table, image)
        for column, feature in self.features.items():
            if column in table.column_names and (names := _class_names(feature)):
                table = _name_classes(table, column, names)
        if self.name is not None and "split" not in table.column_names:
            names = pa.repeat(pa.scalar(self.name), table.num_rows)
            table = table.append_column("split", names)
        whole = stored and bool((self.rows == np.arange(self.stored)).all())
        return table if whole else table.take(pa.array(self.rows))

    def _with_names(self, table: pa.Table, image: str) -> pa.Table:
        """Stand-in names for embedded pictures: they are read by row, not by name."""
        rows = pa.array(np.arange(len(table))).cast(pa.string())
        names = pc.binary_join_element_wise(self.name or "row", rows, "-")
        valid = table.column(image).is_valid().combine_chunks()
        table = table.drop_columns([image])
        return table.append_column("image", pc.if_else(valid, names, pa.scalar(None, pa.string())))


def _json(path: Path) -> dict[str, Any]:
    try:
        document = orjson.loads(path.read_bytes())
    except FileNotFoundError:
        raise DataError(f"{path}: is missing") from None
    except orjson.JSONDecodeError as error:
        raise DataError(f"{path}: not valid JSON ({error})") from None
    if not isinstance(document, dict):
        raise DataError(f"{path}: expected an object")
    return document


def _folders(root: Path) -> list[tuple[str | None, Path]]:
    """The folders of the splits, or the folder itself."""
    if not (root / "dataset_dict.json").is_file():
        return [(None, root)]
    names = _json(root / "dataset_dict.json").get("splits")
    if not isinstance(names, list) or not names:
        raise DataError(f"{root / 'dataset_dict.json'}: names no splits")
    return [(str(name), _below(root, name, "dataset_dict.json")) for name in names]


def _listed(folder: Path, state: dict[str, Any], key: str) -> list[Path]:
    entries = state.get(key) or []
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise DataError(f"{folder / 'state.json'}: '{key}' is no list of files")
    return [_below(folder, entry.get("filename"), "state.json") for entry in entries]


def _below(folder: Path, name: object, source: str) -> Path:
    """A file or folder named by the data: plain names only, so that nothing outside is opened."""
    if not isinstance(name, str) or name in ("", ".", "..") or Path(name).name != name:
        raise DataError(f"{folder / source}: {name!r} is no name of a file in this folder")
    return folder / name


def _image_column(parts: list[_Part], root: Path) -> str | None:
    names = {
        name for part in parts for name, kind in part.features.items() if _kind(kind) == "Image"
    }
    if len(names) > 1 and "image" not in names:
        raise DataError(f"{root}: several image columns ({', '.join(sorted(names))}); keep one")
    image = "image" if "image" in names else next(iter(names), None)
    if image not in (None, "image") and any("image" in part.features for part in parts):
        raise DataError(f"{root}: holds pictures in '{image}' and also a column 'image'; keep one")
    return image


def _kind(feature: Any) -> str | None:
    return feature.get("_type") if isinstance(feature, dict) else None


def _class_names(feature: Any) -> list[str]:
    """The names of a class column or of a list of classes."""
    if isinstance(feature, list) and len(feature) == 1:
        return _class_names(feature[0])
    if _kind(feature) in ("Sequence", "List", "LargeList"):
        return _class_names(feature.get("feature"))
    return feature["names"] if _kind(feature) == "ClassLabel" and feature.get("names") else []


def _name_classes(table: pa.Table, column: str, names: list[str]) -> pa.Table:
    """Class names for class numbers; a number without a name becomes a gap."""
    target = "labels" if column == "label" and "labels" not in table.column_names else column
    chunks = [_named(chunk, pa.array(names, pa.string())) for chunk in table.column(column).chunks]
    position = table.column_names.index(column)
    return table.set_column(position, target, pa.chunked_array(chunks) if chunks else pa.array([]))


def _named(codes: pa.Array, names: pa.Array) -> pa.Array:
    if pa.types.is_nested(codes.type):
        lengths = np.asarray(pc.fill_null(pc.list_value_length(codes), 0)).astype(np.int64)
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        return pa.ListArray.from_arrays(pa.array(offsets), _named(codes.flatten(), names))
    known = pc.and_(pc.greater_equal(codes, 0), pc.less(codes, len(names)))
    return names.take(pc.if_else(known, codes, pa.scalar(None, codes.type)))


def _stored_rows(parts: list[_Part]) -> Int[np.ndarray, " rows"]:
    """For each row the place of its picture in the files, taken one after the other."""
    starts = np.cumsum([0, *(part.stored for part in parts)])
    return np.concatenate([start + part.rows for start, part in zip(starts, parts, strict=False)])

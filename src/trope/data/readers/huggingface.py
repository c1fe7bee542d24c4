"""A Hugging Face `datasets` folder written by `save_to_disk`: memory-mapped, nothing imported or copied."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa

from trope.data.readers.opened import Opened
from trope.data.rejects import Rejects
from trope.data.schema import canonical, require
from trope.data.stores import ArrowImages, NoImages, map_arrow
from trope.errors import DataError


def recognizes(root: Path) -> bool:
    """Whether a folder was written by `Dataset.save_to_disk` or `DatasetDict.save_to_disk`."""
    return (root / "dataset_dict.json").is_file() or (root / "state.json").is_file()


def read(root: Path, rejects: Rejects) -> Opened:
    """All splits of the folder as one data set; the one `Image` column is the picture."""
    parts = _parts(root)
    files = tuple(path for _, folder in parts for path in _files(folder))
    features = _json(parts[0][1] / "dataset_info.json").get("features") or {}
    image = _image_column(features, root)
    tables = [_part(name, folder, image, features) for name, folder in parts]
    raw = pa.concat_tables(tables, promote_options="default")
    require([*raw.column_names, *(["image"] if image else [])], str(root))
    lines = np.arange(1, len(raw) + 1)
    table = canonical(raw, lines, str(root))
    images = ArrowImages(files, image, lines - 1) if image else NoImages()
    return Opened(table, lines, images)


def _json(path: Path) -> dict[str, Any]:
    try:
        document = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError) as error:
        raise DataError(f"{path}: {error}") from None
    if not isinstance(document, dict):
        raise DataError(f"{path}: expected an object")
    return document


def _parts(root: Path) -> list[tuple[str | None, Path]]:
    """The folders of the splits, or the folder itself."""
    if not (root / "dataset_dict.json").is_file():
        return [(None, root)]
    names = _json(root / "dataset_dict.json").get("splits", [])
    if not names:
        raise DataError(f"{root / 'dataset_dict.json'}: names no splits")
    return [(name, root / Path(name).name) for name in names]


def _files(folder: Path) -> list[Path]:
    listed = _json(folder / "state.json").get("_data_files", [])
    return [folder / Path(entry["filename"]).name for entry in listed]


def _image_column(features: dict[str, Any], root: Path) -> str | None:
    names = [name for name, kind in features.items() if _kind(kind) == "Image"]
    if "image" in names or len(names) < 2:
        return "image" if "image" in names else (names[0] if names else None)
    raise DataError(f"{root}: several image columns ({', '.join(names)}); keep one of them")


def _kind(feature: Any) -> str | None:
    return feature.get("_type") if isinstance(feature, dict) else None


def _part(name: str | None, folder: Path, image: str | None, features: dict[str, Any]) -> pa.Table:
    """One split's columns; pictures are replaced by their names, class numbers by class names."""
    table = pa.concat_tables(map_arrow(_files(folder))).replace_schema_metadata(None)
    if image:
        table = _name_images(table, image, name or "row")
    for column, feature in features.items():
        if _kind(feature) == "ClassLabel" and column in table.column_names:
            table = _name_classes(table, column, feature["names"])
    if name is not None and "split" not in table.column_names:
        table = table.append_column("split", pa.array([name] * len(table)))
    return table


def _name_images(table: pa.Table, column: str, prefix: str) -> pa.Table:
    """Stand-in names for embedded pictures: they are read by row, not by name."""
    valid = table.column(column).is_valid().to_pylist()
    names = [f"{prefix}-{row}" if ok else None for row, ok in enumerate(valid)]
    table = table.drop_columns([column])
    return table.append_column("image", pa.array(names, pa.string()))


def _name_classes(table: pa.Table, column: str, names: list[str]) -> pa.Table:
    position = table.column_names.index(column)
    target = "labels" if column == "label" and "labels" not in table.column_names else column
    codes = table.column(column).to_pylist()
    values = [names[c] if c is not None and 0 <= c < len(names) else None for c in codes]
    return table.set_column(position, target, pa.array(values, pa.string()))

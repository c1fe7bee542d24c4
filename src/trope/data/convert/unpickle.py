"""Pickles of plain data, and nothing else: no class is ever looked up, so nothing can be run.

Some official sets ship pickles, and a pickle is a program. This reader admits lists, tuples,
dictionaries, sets, strings, bytes, numbers, booleans and None; any other global (a class, a
function, a numpy array or scalar) refuses the whole file by name before it is touched.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

from trope.errors import DataError

PLAIN: dict[tuple[str, str], Callable[..., Any]] = {
    (module, name): kind
    for module in ("builtins", "__builtin__")
    for name, kind in {"list": list, "dict": dict, "set": set, "frozenset": frozenset}.items()
}
DICTIONARIES = {("collections", "OrderedDict"), ("collections", "defaultdict")}
BYTES = {("builtins", "bytes"), ("__builtin__", "bytes"), ("_codecs", "encode")}  # protocols 0 to 2


class _Plain(pickle.Unpickler):
    """An unpickler that knows plain containers alone."""

    def find_class(self, module: str, name: str) -> Any:
        """A plain container, or a refusal; subclasses of `dict` come back as plain dictionaries."""
        # new functions each time: a hostile file could hang attributes on shared ones
        if (module, name) in DICTIONARIES:
            return lambda *factory_or_items: dict(*(i for i in factory_or_items if not callable(i)))
        if (module, name) in BYTES:
            return lambda text="", _codec="latin-1": text.encode("latin-1")
        if (module, name) in PLAIN:
            return PLAIN[module, name]
        raise pickle.UnpicklingError(f"holds '{module}.{name}', which is not plain data")

    def persistent_load(self, reference: object) -> Any:
        """References to the outside are refused."""
        raise pickle.UnpicklingError("holds a reference to another file, which is not plain data")


def load(path: Path, limit: int) -> Any:
    """The plain data in a pickle of at most `limit` bytes; anything else is refused in one line."""
    try:
        size = path.stat().st_size
        if size > limit:
            raise DataError(f"{path}: {size:,} bytes, more than the limit of {limit:,}")
        with path.open("rb") as handle:
            # strings of Python 2 are bytes: read as UTF-8, and nothing that is not is dropped
            return _Plain(handle, encoding="utf-8", errors="backslashreplace").load()
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}") from None
    except DataError:
        raise
    except MemoryError:
        raise DataError(f"{path}: asks for more memory than there is") from None
    except Exception as error:  # a broken or hostile stream fails in any way it likes
        raise DataError(f"{path}: refused, {_reason(error)}") from None


def _reason(error: Exception) -> str:
    if isinstance(error, pickle.UnpicklingError) and str(error).startswith("holds"):
        return str(error)
    return f"not a readable pickle of plain data ({type(error).__name__}: {str(error)[:120]})"

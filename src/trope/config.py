"""Settings: frozen dataclasses, read strictly from TOML and from `--set a.b=c`.

An unknown key is an error that suggests the right one and names its source; so is a wrong type.
Defaults live in the dataclasses alone.
"""

from __future__ import annotations

import dataclasses
import tomllib
import types
import typing
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

import tomli_w

from trope.errors import UsageError, suggestion
from trope.files import replacing

Settings = TypeVar("Settings")


def load(kind: type[Settings], path: Path | None = None, sets: Sequence[str] = ()) -> Settings:
    """Settings of a dataclass from a TOML file (or its defaults), with `a.b=c` changes on top."""
    document = read_toml(path) if path else {}
    source = str(path) if path else kind.__name__
    parsed = parse(kind, document, source)
    return override(parsed, sets)


def read_toml(path: Path) -> dict[str, Any]:
    """The content of a TOML file, or one line on why it cannot be read."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: not valid TOML ({error})") from None


def override(settings: Settings, sets: Sequence[str]) -> Settings:
    """The same settings with `a.b=c` changes, each checked like a line of a file."""
    for change in sets:
        path, separator, value = change.partition("=")
        if not separator or not path.strip():
            raise UsageError(f"--set {change}: write it as name=value")
        settings = _replace(settings, path.strip().split("."), _value(value), f"--set {change}")
    return settings


def parse(kind: type[Settings], document: Mapping[str, Any], source: str) -> Settings:
    """A dataclass from plain values; `source` names the file (and table) in errors."""
    if not isinstance(document, Mapping):
        raise UsageError(f"{source}: expected a table of settings, found {_found(document)}")
    hints = typing.get_type_hints(kind)
    known = {field.name for field in dataclasses.fields(kind) if field.init}  # type: ignore[arg-type]
    for name in document:
        if name not in known:
            raise UsageError(f"{source}: no option '{name}'{suggestion(name, known)}")
    values = {name: _convert(hints[name], value, f"{source}: {name}") for name, value in document.items()}
    return _construct(kind, values, source)


def plain(settings: object) -> Any:
    """The resolved settings as plain dictionaries, lists and scalars."""
    if dataclasses.is_dataclass(settings):
        values = {f.name: plain(getattr(settings, f.name)) for f in dataclasses.fields(settings)}
        return {name: value for name, value in values.items() if value is not None}
    if isinstance(settings, Mapping):
        return {str(key): plain(value) for key, value in settings.items()}
    if isinstance(settings, (list, tuple)):
        return [plain(value) for value in settings]
    return str(settings) if isinstance(settings, Path) else settings


def save(settings: object, path: Path) -> None:
    """Store the resolved settings as TOML, to be read back by `load`."""
    with replacing(path) as handle:
        tomli_w.dump(plain(settings), handle)


def _replace(settings: Settings, path: Sequence[str], value: object, source: str) -> Settings:
    name, *rest = path
    known = {field.name for field in dataclasses.fields(settings) if field.init}  # type: ignore[arg-type]
    if name not in known:
        raise UsageError(f"{source}: no option '{name}'{suggestion(name, known)}")
    current = getattr(settings, name)
    if rest:
        if not dataclasses.is_dataclass(current):
            raise UsageError(f"{source}: '{name}' has no options of its own")
        changed: object = _replace(current, rest, value, source)
    else:
        changed = _convert(typing.get_type_hints(type(settings))[name], value, f"{source}: {name}")
    values = {field: getattr(settings, field) for field in known} | {name: changed}
    return _construct(type(settings), values, source)


def _construct(kind: type[Settings], values: Mapping[str, Any], source: str) -> Settings:
    """Call the constructor; what its own checks refuse is reported with the source."""
    try:
        return kind(**values)
    except (TypeError, ValueError) as error:
        raise UsageError(f"{source}: {error}") from None


def _value(text: str) -> object:
    """The right side of `--set`: a TOML value, or a bare word as a string."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text.strip()


def _convert(hint: Any, value: object, where: str) -> Any:
    """`value` as the type `hint`, or an error that says what was expected and what was found."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return _convert_union(arguments, value, where)
    if origin is Literal:
        if value not in arguments:
            choices = ", ".join(str(choice) for choice in arguments)
            raise UsageError(f"{where}: expected one of {choices}, found {_found(value)}")
        return value
    if origin in (tuple, list):
        return _convert_sequence(origin, arguments, value, where)
    if origin is dict:
        if not isinstance(value, Mapping):
            raise UsageError(f"{where}: expected a table, found {_found(value)}")
        return {key: _convert(arguments[1], item, f"{where}.{key}") for key, item in value.items()}
    if dataclasses.is_dataclass(hint):
        if isinstance(value, typing.cast(type, hint)):
            return value
        return parse(typing.cast("type[Any]", hint), typing.cast("Mapping[str, Any]", value), where)
    return _convert_scalar(hint, value, where)


def _convert_union(arguments: Sequence[Any], value: object, where: str) -> Any:
    if value is None or value == "none":
        if type(None) in arguments:
            return None
    choices = [argument for argument in arguments if argument is not type(None)]
    for choice in choices[:-1]:
        try:
            return _convert(choice, value, where)
        except UsageError:
            continue
    return _convert(choices[-1], value, where)


def _convert_sequence(origin: type, arguments: Sequence[Any], value: object, where: str) -> Any:
    if not isinstance(value, (list, tuple)):
        raise UsageError(f"{where}: expected a list, found {_found(value)}")
    if origin is tuple and Ellipsis not in arguments:
        if len(value) != len(arguments):
            raise UsageError(f"{where}: expected {len(arguments)} values, found {len(value)}")
        return tuple(_convert(hint, item, where) for hint, item in zip(arguments, value, strict=True))
    return origin(_convert(arguments[0], item, where) for item in value)


def _convert_scalar(hint: Any, value: object, where: str) -> Any:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if hint is float and number:
        return float(typing.cast(float, value))
    if hint is Path and isinstance(value, str):
        return Path(value)
    if hint is Any or (type(value) is hint):
        return value
    name = getattr(hint, "__name__", str(hint))
    raise UsageError(f"{where}: expected {name}, found {_found(value)}")


def _found(value: object) -> str:
    return f"{value!r} ({type(value).__name__})"

"""Settings: frozen dataclasses, read strictly from TOML and from `--set a.b=c`.

An unknown key is an error that suggests the right one and names its source; so is a wrong type.
Defaults live in the dataclasses alone.
"""

from __future__ import annotations

import dataclasses
import tomllib
import types
import typing
from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar

import tomli_w

from trope.errors import UsageError, did_you_mean, suggestion
from trope.files import replacing

Settings = TypeVar("Settings")
NONE = "none"  # how TOML and the command line say None


def load(kind: type[Settings], path: Path | None = None, sets: Sequence[str] = ()) -> Settings:
    """Settings of a dataclass from a TOML file (or its defaults), with `a.b=c` changes on top."""
    document = read_toml(path) if path else {}
    source = str(path) if path else kind.__name__
    parsed = parse(kind, document, source)
    return override(parsed, sets)


def read_toml(path: Path) -> dict[str, Any]:
    """The content of a TOML file, or one line on why it cannot be read."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"{path}: not valid TOML ({error})") from None


def override(settings: Settings, sets: Sequence[str]) -> Settings:
    """The same settings with `a.b=c` changes, each checked like a line of a file."""
    for change in sets:
        path, separator, text = change.partition("=")
        if not separator or not path.strip():
            raise UsageError(f"--set {change}: write it as name=value")
        names = [name.strip() for name in path.split(".")]
        settings = _replace(settings, names, text, f"--set {change}")
    return settings


def parse(kind: type[Settings], document: Mapping[str, Any], source: str) -> Settings:
    """A dataclass from plain values; `source` names the file (and table) in errors."""
    hints, fields = _hints(typing.cast(Hashable, kind)), _fields(kind)
    for name in document:
        if name not in fields:
            raise UsageError(f"{source}: no option '{name}'{suggestion(name, fields)}")
    for name, field in fields.items():
        required = field.default is field.default_factory is dataclasses.MISSING
        if required and name not in document:
            raise UsageError(f"{source}: option '{name}' is missing")
    values = {
        name: _convert(hints[name], value, f"{source}: {name}") for name, value in document.items()
    }
    return _construct(kind, values, source)


def plain(settings: object) -> Any:
    """The resolved settings as plain dictionaries, lists and scalars, to be read back by `parse`.

    What is None is left out where that is the default, and is "none" elsewhere: TOML has no null.
    """
    if dataclasses.is_dataclass(settings):
        values = {
            name: (getattr(settings, name), field) for name, field in _fields(settings).items()
        }
        return {
            name: plain(value)
            for name, (value, field) in values.items()
            if value is not None or field.default is not None
        }
    if isinstance(settings, Mapping):
        return {str(key): plain(value) for key, value in settings.items()}
    if isinstance(settings, (list, tuple)):
        return [plain(value) for value in settings]
    return str(settings) if isinstance(settings, Path) else NONE if settings is None else settings


def save(settings: object, path: Path) -> None:
    """Store the resolved settings as TOML, to be read back by `load`."""
    with replacing(path) as handle:
        tomli_w.dump(plain(settings), handle)


@cache
def _hints(kind: Any) -> dict[str, Any]:
    """The types of a dataclass's fields; finding them out takes longer than all else."""
    return typing.get_type_hints(kind)


def _fields(settings: Any) -> dict[str, dataclasses.Field[Any]]:
    return {field.name: field for field in dataclasses.fields(settings) if field.init}


def _replace(settings: Settings, path: Sequence[str], text: str, source: str) -> Settings:
    name, *rest = path
    fields = _fields(settings)
    if name not in fields:
        raise UsageError(f"{source}: no option '{name}'{suggestion(name, fields)}")
    current, hint = getattr(settings, name), _hints(typing.cast(Hashable, type(settings)))[name]
    if rest and dataclasses.is_dataclass(current):
        changed: object = _replace(current, rest, text, source)
    else:
        changed = _convert_text(hint, current, rest, text, f"{source}: {name}")
    values = {field: getattr(settings, field) for field in fields} | {name: changed}
    return _construct(type(settings), values, source)


def _convert_text(hint: Any, current: object, rest: list[str], text: str, where: str) -> Any:
    """The right side of `--set`: a TOML value, or the text itself where a text is wanted."""
    if rest and current is not None and not isinstance(current, Mapping):
        raise UsageError(f"{where}: has no options of its own")
    value = _value(text)
    try:
        return _convert(hint, _nested(current, rest, value), where)
    except UsageError:
        if isinstance(value, str):
            raise
        with suppress(UsageError):  # such as `2024` or `true` for a name
            return _convert(hint, _nested(current, rest, text.strip()), where)
        raise


def _nested(current: object, names: Sequence[str], value: object) -> object:
    """A value inside the table that `names` lead to; the rest of that table stays."""
    for name in reversed(names):
        value = {name: value}
    if names and isinstance(current, Mapping):
        return {**current, **typing.cast("Mapping[str, Any]", value)}
    return value


def _construct(kind: type[Settings], values: Mapping[str, Any], source: str) -> Settings:
    """Call the constructor; what its own checks refuse is reported with the source."""
    try:
        return kind(**values)
    except (TypeError, ValueError) as error:
        raise UsageError(f"{source}: {error}") from None


def _value(text: str) -> object:
    """A TOML value, or a bare word as a string."""
    try:
        document = tomllib.loads(f"value = {text}")
    except (tomllib.TOMLDecodeError, RecursionError):
        return text.strip()
    return document["value"] if len(document) == 1 else text.strip()


def _convert(hint: Any, value: object, where: str) -> Any:
    """`value` as the type `hint`, or an error that says what was expected and what was found."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return _convert_union(arguments, value, where)
    if origin is Literal:
        if not any(value == choice and type(value) is type(choice) for choice in arguments):
            choices = [str(choice) for choice in arguments]
            meant = did_you_mean(str(value), choices)
            said = f"expected one of {', '.join(choices)}, found {_found(value)}{meant}"
            raise UsageError(f"{where}: {said}")
        return value
    if origin in (tuple, list, Sequence):
        return _convert_sequence(origin, arguments, value, where)
    if origin in (dict, Mapping):
        if not isinstance(value, Mapping):
            raise UsageError(f"{where}: expected a table, found {_found(value)}")
        return {key: _convert(arguments[1], item, f"{where}.{key}") for key, item in value.items()}
    if dataclasses.is_dataclass(hint):
        if isinstance(value, typing.cast(type, hint)):
            return value
        if not isinstance(value, Mapping):
            raise UsageError(f"{where}: expected a table of settings, found {_found(value)}")
        return parse(typing.cast("type[Any]", hint), value, where)
    return _convert_scalar(hint, value, where)


def _convert_union(arguments: Sequence[Any], value: object, where: str) -> Any:
    if value in (None, NONE) and type(None) in arguments:
        return None
    choices = [argument for argument in arguments if argument is not type(None)]
    if len(choices) == 1:
        return _convert(choices[0], value, where)
    for choice in choices:
        with suppress(UsageError):
            return _convert(choice, value, where)
    names = " or ".join(map(_name, choices))
    raise UsageError(f"{where}: expected {names}, found {_found(value)}")


def _convert_sequence(origin: Any, arguments: Sequence[Any], value: object, where: str) -> Any:
    if not isinstance(value, (list, tuple)):
        raise UsageError(f"{where}: expected a list, found {_found(value)}")
    hints = list(arguments)
    if origin is not tuple or Ellipsis in arguments:
        hints = [arguments[0]] * len(value)
    if len(value) != len(hints):
        raise UsageError(f"{where}: expected {len(hints)} values, found {len(value)}")
    items = zip(hints, value, strict=True)
    made = [_convert(hint, item, f"{where}[{i}]") for i, (hint, item) in enumerate(items)]
    return made if origin is list else tuple(made)


def _convert_scalar(hint: Any, value: object, where: str) -> Any:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if hint is float and number:
        return float(typing.cast(float, value))
    if hint is Path and isinstance(value, (str, Path)):
        return Path(value)
    if hint is Any or (type(value) is hint):
        return value
    raise UsageError(f"{where}: expected {_name(hint)}, found {_found(value)}")


def _name(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) else str(hint).replace("typing.", "")


def _found(value: object) -> str:
    return f"{value!r} ({type(value).__name__})"

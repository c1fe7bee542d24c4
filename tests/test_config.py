"""Settings are read strictly, say where they are wrong, and come back as they were stored."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trope.config import load, override, parse, plain, save
from trope.errors import UsageError


@dataclass(frozen=True)
class Inner:
    margin: float = 0.2
    mode: Literal["hard", "soft"] = "soft"
    top: Literal[1, 5, 10] = 5


@dataclass(frozen=True)
class Outer:
    name: str = "run"
    epochs: int = 3
    rate: float = 0.1
    deep: bool = False
    folder: Path = Path("out")
    note: str | None = None
    limit: int | None = 7
    size: tuple[int, int] = (224, 224)
    words: tuple[str, ...] = ()
    weights: dict[str, float] = field(default_factory=dict)
    inner: Inner = Inner()
    other: Inner | None = None
    either: int | str = 0
    many: list[Inner] = field(default_factory=list)
    made: int = field(default=9, init=False)

    def __post_init__(self) -> None:
        if self.epochs < 0:
            raise ValueError(f"epochs must not be negative, not {self.epochs}")


@dataclass(frozen=True)
class Needy:
    needed: int
    free: int = 1


def read(tmp_path: Path, text: str, *sets: str) -> Outer:
    path = tmp_path / "recipe.toml"
    path.write_text(text, encoding="utf-8")
    return load(Outer, path, sets)


def test_defaults_and_values(tmp_path: Path) -> None:
    assert load(Outer) == Outer()
    found = read(
        tmp_path,
        '\ufeffname = "न्याय"\nrate = 1\nsize = [2, 3]\nwords = ["a"]\nfolder = "x/y"\nnote = "n"\n'
        'limit = "none"\neither = "word"\n[weights]\na = 1\n[inner]\nmargin = 1e-3\n'
        "[[many]]\ntop = 1",
    )
    assert found == Outer(
        name="न्याय",
        rate=1.0,
        size=(2, 3),
        words=("a",),
        folder=Path("x/y"),
        note="n",
        limit=None,
        either="word",
        weights={"a": 1.0},
        inner=Inner(margin=1e-3),
        many=[Inner(top=1)],
    )
    assert isinstance(found.rate, float)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("epoch = 1", "no option 'epoch'; did you mean 'epochs'?"),
        ("made = 1", "no option 'made'"),
        ("[inner]\nmargn = 1", "inner: no option 'margn'; did you mean 'margin'?"),
        ("[inner]\nzzz = 1", "inner: no option 'zzz'; there is margin, mode, top"),
        ("[[many]]\ntop = 1\n[[many]]\ntip = 1", "many[1]: no option 'tip'; did you mean 'top'?"),
        ("epochs = 1.0", "epochs: expected int, found 1.0 (float)"),
        ("epochs = true", "epochs: expected int, found True (bool)"),
        ("deep = 1", "deep: expected bool, found 1 (int)"),
        ("rate = true", "rate: expected float, found True (bool)"),
        ('rate = "0.1"', "rate: expected float, found '0.1' (str)"),
        ("name = 2020-01-01", "name: expected str, found"),
        ("size = [1]", "size: expected 2 values, found 1"),
        ("size = [1, 'x']", "size[1]: expected int, found 'x' (str)"),
        ("words = 'x'", "words: expected a list, found 'x' (str)"),
        ("inner = 5", "inner: expected a table of settings, found 5 (int)"),
        ("weights = 5", "weights: expected a table, found 5 (int)"),
        ("[weights]\na = 'x'", "weights.a: expected float, found 'x' (str)"),
        ("either = 1.5", "either: expected int or str, found 1.5 (float)"),
        ("[inner]\nmode = 'loud'", "inner: mode: expected one of hard, soft, found 'loud' (str)"),
        ("[inner]\ntop = true", "inner: top: expected one of 1, 5, 10, found True (bool)"),
        ("[inner]\ntop = 5.0", "inner: top: expected one of 1, 5, 10, found 5.0 (float)"),
        ("epochs = -1", "epochs must not be negative, not -1"),
        ("epochs = ", "not valid TOML"),
        ("name = 'a'\nname = 'b'", "not valid TOML"),
        ("x = " + "[" * 9_000, "not valid TOML"),
    ],
)
def test_mistakes_name_the_file_and_the_setting(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        read(tmp_path, text)
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'recipe.toml'}: ")
    assert words in message
    assert "\n" not in message
    assert caught.value.exit_code == 2


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.toml: No such file"):
        load(Outer, tmp_path / "none.toml")
    with pytest.raises(UsageError, match="Is a directory"):
        load(Outer, tmp_path)
    (tmp_path / "a.toml").write_bytes(b'name = "\xff"')
    with pytest.raises(UsageError, match=r"a\.toml: not valid TOML"):
        load(Outer, tmp_path / "a.toml")


def test_what_is_missing_is_named() -> None:
    with pytest.raises(UsageError, match=r"^x: option 'needed' is missing$"):
        parse(Needy, {}, "x")
    assert parse(Needy, {"needed": 1}, "x") == Needy(1)


@pytest.mark.parametrize(
    ("change", "name", "value"),
    [
        ("epochs=5", "epochs", 5),
        (" epochs = 5 ", "epochs", 5),
        ("rate=5", "rate", 5.0),
        ("deep=true", "deep", True),
        ("name=word", "name", "word"),
        ('name="a b"', "name", "a b"),
        ("name=a=b.c", "name", "a=b.c"),
        ("name=2024", "name", "2024"),
        ("name=007", "name", "007"),
        ("name=true", "name", "true"),
        ("name=2020-01-01", "name", "2020-01-01"),
        ("name=#fff", "name", "#fff"),
        ("name=न्याय", "name", "न्याय"),
        ("name=", "name", ""),
        ("name=1\nepochs=9", "name", "1\nepochs=9"),
        ("name=none", "name", "none"),
        ("note=none", "note", None),
        ("note=5", "note", "5"),
        ("limit=none", "limit", None),
        ("either=5", "either", 5),
        ("either=x", "either", "x"),
        ("folder=a/b.c", "folder", Path("a/b.c")),
        ("folder=7", "folder", Path("7")),
        ("size=[1, 2]", "size", (1, 2)),
        ('words=["a", "b"]', "words", ("a", "b")),
        ("inner.margin=1", "inner", Inner(margin=1.0)),
        ("inner={margin = 1, mode = 'hard'}", "inner", Inner(margin=1.0, mode="hard")),
        ("other.margin=1", "other", Inner(margin=1.0)),
        ("weights.a=1", "weights", {"b": 2.0, "a": 1.0}),
        ("weights={}", "weights", {}),
    ],
)
def test_set(change: str, name: str, value: Any) -> None:
    changed = override(Outer(weights={"b": 2.0}), [change])
    assert getattr(changed, name) == value
    assert type(getattr(changed, name)) is type(value)
    others = {key: item for key, item in vars(changed).items() if key != name}
    assert others == {k: v for k, v in vars(Outer(weights={"b": 2.0})).items() if k != name}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("epochs", "--set epochs: write it as name=value"),
        ("=5", "write it as name=value"),
        ("epoch=5", "--set epoch=5: no option 'epoch'; did you mean 'epochs'?"),
        ("inner.margn=5", "no option 'margn'; did you mean 'margin'?"),
        ("inner..margin=5", "no option ''"),
        ("epochs.x=5", "epochs: has no options of its own"),
        ("epochs=x", "epochs: expected int, found 'x' (str)"),
        ("epochs=none", "epochs: expected int, found 'none' (str)"),
        ("deep=yes", "deep: expected bool, found 'yes' (str)"),
        ("inner.mode=loud", "mode: expected one of hard, soft"),
        ("epochs=-1", "--set epochs=-1: epochs must not be negative"),
        ("weights.a.b=1", "weights.a: expected float"),
    ],
)
def test_set_mistakes(change: str, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        override(Outer(), [change])
    assert words in str(caught.value)
    assert str(caught.value).startswith("--set ")


def test_sets_apply_in_order(tmp_path: Path) -> None:
    assert read(tmp_path, "epochs = 1", "epochs=2", "epochs=4").epochs == 4


def test_plain_is_plain() -> None:
    document = plain(Outer(limit=None, other=Inner()))
    assert document["limit"] == "none"
    assert "note" not in document
    assert "made" not in document
    assert document["size"] == [224, 224]
    assert document["folder"] == "out"
    assert document["other"] == {"margin": 0.2, "mode": "soft", "top": 5}


# TOML says None with the word "none", so that word is no value of an optional text
words = st.text(st.characters(exclude_categories=["Cs"])).filter(lambda word: word != "none")
numbers = st.floats(allow_nan=False)
inners = st.builds(
    Inner, margin=numbers, mode=st.sampled_from(["hard", "soft"]), top=st.sampled_from([1, 5, 10])
)
outers = st.builds(
    Outer,
    name=words,
    epochs=st.integers(0, 2**63 - 1),
    rate=numbers,
    deep=st.booleans(),
    folder=st.text("abc./ é", min_size=1).map(Path),
    note=st.none() | words,
    limit=st.none() | st.integers(),
    size=st.tuples(st.integers(), st.integers()),
    words=st.lists(words).map(tuple),
    weights=st.dictionaries(words, numbers),
    inner=inners,
    other=st.none() | inners,
    either=st.integers() | words,
    many=st.lists(inners),
)


@given(outers)
def test_saved_settings_come_back(tmp_path: Path, settings: Outer) -> None:
    save(settings, tmp_path / "settings.toml")
    assert load(Outer, tmp_path / "settings.toml") == settings
    assert parse(Outer, plain(settings), "plain") == settings


def test_nan_comes_back(tmp_path: Path) -> None:
    save(Outer(rate=math.nan), tmp_path / "a.toml")
    assert math.isnan(load(Outer, tmp_path / "a.toml").rate)

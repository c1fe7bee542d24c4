from __future__ import annotations

import os
import pickle
import subprocess
from collections import OrderedDict, defaultdict
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trope.data.convert.unpickle import load
from trope.errors import DataError

LIMIT = 2**20

scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
)
hashable = st.text() | st.integers() | st.binary() | st.tuples(st.integers(), st.text())
plain = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner)
        | st.tuples(inner, inner)
        | st.dictionaries(hashable, inner)
        | st.sets(hashable)
    ),
    max_leaves=20,
)


class Payload:
    """Calls `function(*arguments)` when a trusting reader loads it."""

    def __init__(self, function, *arguments) -> None:
        self.call = (function, arguments)

    def __reduce__(self):
        return self.call


@settings(max_examples=60, deadline=None)
@given(document=plain, protocol=st.integers(0, pickle.HIGHEST_PROTOCOL))
def test_plain_data_comes_back(tmp_path_factory, document, protocol: int) -> None:
    path = tmp_path_factory.getbasetemp() / "plain.pickle"
    path.write_bytes(pickle.dumps(document, protocol))
    assert load(path, LIMIT) == document


def test_kinds_of_dictionary_become_plain(tmp_path: Path) -> None:
    path = tmp_path / "a.pickle"
    lists = defaultdict(list, {"a": [1]})
    for document in (OrderedDict(a=[1]), lists, defaultdict(dict, {"a": [1]})):
        path.write_bytes(pickle.dumps(document))
        found = load(path, LIMIT)
        assert found == {"a": [1]}
        assert type(found) is dict


@pytest.mark.parametrize(
    ("payload", "name"),
    [
        (lambda mark: Payload(os.system, f"touch {mark}"), "posix.system"),
        (lambda mark: Payload(eval, f"open({str(mark)!r}, 'w')"), "builtins.eval"),
        (lambda mark: Payload(exec, f"open({str(mark)!r}, 'w')"), "builtins.exec"),
        (lambda mark: Payload(open, str(mark), "w"), "io.open"),
        (lambda mark: Payload(subprocess.Popen, ["touch", str(mark)]), "subprocess.Popen"),
        (lambda mark: Payload(getattr, os, "system"), "builtins.getattr"),
        (lambda mark: np.array([Payload(os.system, f"touch {mark}")], dtype=object), "numpy"),
        (lambda mark: np.arange(3), "numpy"),
        (lambda mark: np.float32(1), "numpy"),
        (lambda mark: Decimal(1), "decimal.Decimal"),
        (lambda mark: defaultdict(Payload, {}), "Payload"),
    ],
)
def test_code_is_refused_by_name_and_not_run(tmp_path: Path, payload, name: str) -> None:
    path, mark = tmp_path / "evil.pickle", tmp_path / "was-here"
    try:
        data = pickle.dumps({"rows": [payload(mark)]})
    except TypeError:  # modules cannot be pickled; the name alone is what counts
        data = b"\x80\x04cbuiltins\ngetattr\n."
    path.write_bytes(data)
    with pytest.raises(
        DataError, match=rf"evil.pickle: refused, holds '.*{name}.*', which is not plain data"
    ):
        load(path, LIMIT)
    assert not mark.exists()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"not a pickle",
        b"\x80\x04\x95\xff\xff\xff\xff\xff\xff\xff\x7f.",
        b"\x80\x04\x8e" + (2**62).to_bytes(8, "little"),  # bytes of four exabytes
        pickle.dumps(list(range(100)))[:-5],
        b"Pabc\n.",  # a reference to the outside
        b"\x80\x02\x82\x01.",  # a class by number
        b"ccollections\nOrderedDict\n(I1\nI2\ntR.",
        b"cbuiltins\nlist\n}(Vappend\nI1\nub.",  # attributes on a class of ours
    ],
)
def test_broken_and_hostile_streams_are_one_line(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.pickle"
    path.write_bytes(data)
    with pytest.raises(DataError, match=r"a\.pickle: ") as caught:
        load(path, LIMIT)
    assert "\n" not in str(caught.value)


def test_size_and_absence(tmp_path: Path) -> None:
    path = tmp_path / "a.pickle"
    path.write_bytes(pickle.dumps("x" * 100))
    with pytest.raises(DataError, match="more than the limit of 50"):
        load(path, 50)
    with pytest.raises(DataError, match="No such file"):
        load(tmp_path / "b.pickle", 50)


def test_strings_of_python_2(tmp_path: Path) -> None:
    path = tmp_path / "a.pickle"
    path.write_bytes(b"\x80\x02U\x06caf\xc3\xa9!.")
    assert load(path, LIMIT) == "café!"
    path.write_bytes(b"\x80\x02U\x04caf\xe9.")
    assert load(path, LIMIT) == r"caf\xe9"

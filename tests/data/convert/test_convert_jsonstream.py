from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trope.data.convert import jsonstream
from trope.data.convert.jsonstream import elements, is_object, members
from trope.errors import DataError

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=80, deadline=None)
@given(
    document=st.dictionaries(st.text(), values, max_size=5),
    indent=st.sampled_from([None, 1]),
    chunk=st.integers(1, 9),
)
def test_members_equal_the_whole_document(tmp_path_factory, document, indent, chunk: int) -> None:
    path = tmp_path_factory.getbasetemp() / "members.json"
    path.write_text(json.dumps(document, indent=indent, ensure_ascii=False), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsonstream, "CHUNK", chunk)
        assert dict(members(path)) == json.loads(json.dumps(document))


@settings(max_examples=80, deadline=None)
@given(rows=st.lists(values, max_size=6), before=values, chunk=st.integers(1, 9))
def test_elements_equal_the_whole_list(tmp_path_factory, rows, before, chunk: int) -> None:
    path = tmp_path_factory.getbasetemp() / "elements.json"
    path.write_text(json.dumps({"before": before, "rows": rows, "after": 1}), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsonstream, "CHUNK", chunk)
        assert list(elements(path, "rows")) == rows
        path.write_text(json.dumps(rows), encoding="utf-8")
        assert list(elements(path)) == rows


def test_numbers_at_the_edge_of_the_window(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "a.json"
    path.write_text("[12345, 678]")
    for chunk in range(1, 13):
        monkeypatch.setattr(jsonstream, "CHUNK", chunk)
        assert list(elements(path)) == [12345, 678]


def test_a_large_file_passes_in_little_memory(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(jsonstream, "CHUNK", 2**14)
    path = tmp_path / "a.json"
    row = json.dumps({"segmentation": [[1.25] * 100], "id": 7})
    path.write_text('{"annotations": [' + ", ".join([row] * 4_000) + "]}")
    assert path.stat().st_size > 2 * 2**20
    tracemalloc.start()
    assert sum(note["id"] == 7 for note in elements(path, "annotations")) == 4_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**19


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"rows": [1, 2', "expected ','"),
        ('{"rows": [{"a": }]}', "not valid JSON at character 11"),
        ('{"rows": 3}', r"expected '\['"),
        ('{"other": []}', "has no list 'rows'"),
        ("", "not valid JSON at character 1"),
        ("[" * 100_000, "not valid JSON"),
    ],
)
def test_what_is_broken_is_one_line(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(DataError, match=problem) as caught:
        list(elements(path, "rows"))
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_value_without_end_is_given_up(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "a.json"
    path.write_text('["' + "x" * 4096)
    monkeypatch.setattr(jsonstream, "CHUNK", 16)
    monkeypatch.setattr(jsonstream, "MAX_VALUE", 64)
    with pytest.raises(DataError, match="not valid JSON"):
        list(elements(path))


def test_other_encodings_and_absence(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes('["café"]'.encode("latin-1"))
    with pytest.raises(DataError, match="not UTF-8 text"):
        list(elements(path))
    path.write_bytes(b'\xef\xbb\xbf {"a": 1}')
    assert is_object(path)
    assert list(members(path)) == [("a", 1)]
    with pytest.raises(DataError, match="No such file"):
        list(elements(tmp_path / "b.json"))

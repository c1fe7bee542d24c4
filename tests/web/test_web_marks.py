"""Marks: written at once, read again, exported without harm."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from trope.errors import DataError, TropeError
from trope.web import marks as module
from trope.web.marks import Mark, Marks
from trope.web.service import Places, Service

API = "/api/v1"


def test_a_mark_is_on_disk_when_it_is_answered(client: TestClient, service: object) -> None:
    put = client.put(f"{API}/marks/image:r9", json={"verdict": "flag", "note": "blurred"})
    assert put.status_code == 200
    assert client.get(f"{API}/items/image:r9").json()["found"]["mark"] == "flag"
    lines = service.marks().path.read_text(encoding="utf-8").splitlines()  # type: ignore[attr-defined]
    assert json.loads(lines[-1]) == put.json()
    client.put(f"{API}/marks/image:r9", json={"verdict": None})
    assert client.get(f"{API}/items/image:r9").json()["found"]["mark"] is None
    assert "image:r9" not in {mark["key"] for mark in client.get(f"{API}/marks").json()}


@pytest.mark.parametrize(
    ("key", "body", "status"),
    [
        ("image:nobody", {"verdict": "keep"}, 404),
        ("image:r1", {"verdict": "burn"}, 422),
        ("image:r1", {"verdict": "keep", "note": "x" * 2_001}, 422),
        ("image:r1", {"verdict": "keep", "more": 1}, 422),
        ("image:r1", {"verdict": "keep", "note": "x" * 70_000}, 413),
        ("image:r1", {}, 422),
    ],
)
def test_other_decisions_are_refused(
    client: TestClient, key: str, body: dict[str, object], status: int
) -> None:
    assert client.put(f"{API}/marks/{key}", json=body).status_code == status


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded"])
def test_a_form_is_no_decision(client: TestClient, kind: str) -> None:
    told = {"content-type": kind}
    found = client.put(f"{API}/marks/image:r1", content=b'{"verdict": "keep"}', headers=told)
    assert found.status_code == 422
    assert client.get(f"{API}/items/image:r1").json()["found"]["mark"] is None


def test_marks_outlive_the_server_and_half_a_line(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "marks.jsonl"
    marks = Marks(path)
    marks.put("image:a", "keep", "ünïcode\nline")
    marks.put("image:b", "flag")
    marks.put("image:a", "flag")
    with path.open("ab") as file:
        file.write(b'{"key": "image:c", "verd')
    again = Marks(path)
    assert {mark.key: mark.verdict for mark in again.all()} == {
        "image:b": "flag",
        "image:a": "flag",
    }
    again.put("image:d", "keep")
    assert Marks(path).get("image:d") == "keep"


def test_a_large_file_keeps_what_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 2_000)
    path = tmp_path / "marks.jsonl"
    marks = Marks(path)
    marks.put("image:first", "keep", "the oldest")
    path.chmod(0o600)
    for number in range(200):
        marks.put(f"image:{number % 3}", "flag", f"note {number}")
    marks.put("image:0", None)
    assert path.stat().st_size < 2_200
    assert path.stat().st_mode & 0o777 == 0o600
    assert Marks(path).all() == marks.all()
    assert [mark.key for mark in marks.all()] == ["image:first", "image:2", "image:1"]
    assert [one.name for one in tmp_path.iterdir()] == ["marks.jsonl"]


def test_many_marks_that_hold_are_not_written_again_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST", 1_000)
    rewritten: list[Path] = []
    real = module._rewrite
    monkeypatch.setattr(module, "_rewrite", lambda path: rewritten.append(path) or real(path))
    marks = Marks(tmp_path / "marks.jsonl")
    for number in range(200):
        marks.put(f"image:{number}", "keep")
    assert len(Marks(marks.path)) == 200
    assert 1 <= len(rewritten) <= 6


def test_another_server_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 300)
    one, other = (Marks(tmp_path / "marks.jsonl") for _ in range(2))
    other.put("image:other", "keep")
    for number in range(20):
        one.put("image:one", "flag", str(number))
    assert Marks(one.path).get("image:other") == "keep"


def test_what_another_server_marks_is_seen(tmp_path: Path) -> None:
    one, other = (Marks(tmp_path / "marks.jsonl") for _ in range(2))
    one.put("image:a", "keep")
    assert other.get("image:a") == "keep"
    other.put("image:b", "flag")
    other.put("image:a", None)
    assert [mark.key for mark in one.all()] == ["image:b"]
    assert one.jsonl() == other.jsonl() == Marks(one.path).jsonl()
    one.path.unlink()
    assert len(one) == 0


def test_one_who_writes_in_between_is_not_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = (Marks(tmp_path / "marks.jsonl") for _ in range(2))
    one.put("image:a", "keep")
    real = module._append

    def late(path: Path, mark: Mark) -> tuple[int, int]:
        monkeypatch.setattr(module, "_append", real)
        other.put("image:other", "flag")
        return real(path, mark)

    monkeypatch.setattr(module, "_append", late)
    one.put("image:b", "keep")
    assert {mark.key for mark in one.all()} == {"image:a", "image:b", "image:other"}


def test_a_file_is_read_again_only_when_another_wrote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = (Marks(tmp_path / "marks.jsonl") for _ in range(2))
    read: list[Path] = []
    real = module._read
    monkeypatch.setattr(module, "_read", lambda path: read.append(path) or real(path))
    for number in range(5):
        one.put(f"image:{number}", "keep")
        assert (len(one), one.get("image:0")) == (number + 1, "keep")
    assert not read
    assert len(other) == 5
    assert len(other.all()) == 5
    assert len(read) == 1


def test_what_cannot_be_read_again_leaves_what_is_known(tmp_path: Path) -> None:
    marks = Marks(tmp_path / "marks.jsonl")
    marks.put("image:a", "keep")
    marks.path.write_text("my notes\n", encoding="utf-8")
    assert marks.get("image:a") == "keep"


@pytest.mark.parametrize("name", ["a-file/marks.jsonl", "a-folder", "/proc/marks.jsonl"])
def test_where_nothing_can_be_written_is_told_at_the_start(
    home: Path, tmp_path: Path, name: str
) -> None:
    (tmp_path / "a-file").touch()
    (tmp_path / "a-folder").mkdir()
    with pytest.raises(TropeError, match=name):
        Service(Places((home / "infonce-index",), marks=tmp_path / name))


def test_a_mark_that_cannot_be_saved_tells_no_path(
    client: TestClient, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service.marks(), "path", service.marks().path.parent)
    found = client.put(f"{API}/marks/image:r9", json={"verdict": "flag"})
    assert found.status_code == 507
    assert "not saved" in found.json()["error"]
    assert "/" not in found.json()["error"]
    assert "507" in client.get(f"{API}/openapi.json").text


def test_another_file_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("my notes\n", encoding="utf-8")
    with pytest.raises(DataError, match="holds no marks"):
        Marks(path)
    assert path.read_text(encoding="utf-8") == "my notes\n"


def test_exports(client: TestClient) -> None:
    client.put(f"{API}/marks/image:r10", json={"verdict": "keep", "note": '=1+1, "x"'})
    lines = client.get(f"{API}/marks/export")
    assert lines.headers["content-type"] == "application/x-ndjson"
    assert [json.loads(line)["key"] for line in lines.text.splitlines()][-1] == "image:r10"
    table = client.get(f"{API}/marks/export", params={"format": "csv"})
    assert "attachment" in table.headers["content-disposition"]
    rows = list(csv.DictReader(io.StringIO(table.text)))
    assert rows[-1]["note"] == '\'=1+1, "x"'  # a spreadsheet must not run it

"""`check` finds what is planted, tells errors from warnings, and `fix` loses nothing."""

from __future__ import annotations

import io
import struct
import tarfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

import trope
from trope.data.check import KINDS, CheckSettings, Report, check, fix
from trope.data.duplicates import NearDuplicates
from trope.data.stores import FolderImages
from trope.errors import UsageError


def picture(kind: str = "JPEG", size: tuple[int, int] = (48, 40), seed: int = 0) -> bytes:
    pixels = np.random.default_rng(seed).integers(0, 255, (*size[::-1], 3), np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, kind)
    return buffer.getvalue()


def bomb(width: int = 60_000, height: int = 60_000) -> bytes:
    """A PNG of a few bytes that claims 3.6 billion pixels."""

    def chunk(name: bytes, data: bytes) -> bytes:
        body = name + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    idat = chunk(b"IDAT", zlib.compress(bytes(1000)))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + idat + chunk(b"IEND", b"")


def dataset(root: Path, rows: list[dict[str, Any]], files: dict[str, bytes]) -> trope.Pairs:
    root.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (root / name).write_bytes(data)
    (root / "pairs.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)))
    return trope.open(root, collect=True)


def codes(report: Report) -> dict[str, list[int]]:
    return {code: [p.line for p in found] for code, found in report.by_code().items()}


def simple(count: int, **more: Any) -> list[dict[str, Any]]:
    return [
        {"id": f"r{i}", "image": "good.jpg", "text": f"{_words(i)}", **more} for i in range(count)
    ]


def _words(seed: int) -> str:
    letters = np.random.default_rng(seed).integers(97, 123, (12, 6))
    return " ".join("".join(map(chr, word)) for word in letters)


def test_a_clean_data_set_has_no_findings(tmp_path: Path) -> None:
    report = check(dataset(tmp_path, simple(3), {"good.jpg": picture()}))
    assert codes(report) == {}
    assert (report.rows, report.usable) == (3, 3)


BROKEN: dict[str, tuple[str, bytes | None]] = {
    "image-missing": ("gone.jpg", None),
    "image-empty": ("empty.jpg", b""),
    "image-truncated": ("cut.jpg", picture()[:-200]),
    "image-corrupt": ("rubbish.jpg", b"\x00\x01 not a picture" * 50),
    "image-too-large": ("bomb.png", bomb()),
    "image-misnamed": ("really-a-png.jpg", picture("PNG")),
    "image-tiny": ("dot.png", picture("PNG", (3, 90))),
}


@pytest.mark.parametrize("code", BROKEN)
def test_each_broken_picture_is_named(tmp_path: Path, code: str) -> None:
    name, data = BROKEN[code]
    files = {"good.jpg": picture(), **({name: data} if data is not None else {})}
    rows = [*simple(2), {"id": "odd", "image": name, "text": "a text of its own"}]
    report = check(dataset(tmp_path, rows, files))
    assert codes(report) == {code: [3]}
    assert report.usable == (2 if KINDS[code].severity == "error" else 3)
    assert name in report.problems[0].detail


def test_a_truncated_png_is_found_too(tmp_path: Path) -> None:
    data = picture("PNG", (80, 80))
    rows = [{"id": "a", "image": "cut.png", "text": "t"}]
    report = check(dataset(tmp_path, rows, {"cut.png": data[: len(data) // 2]}))
    assert set(codes(report)) <= {"image-truncated", "image-corrupt"}
    assert report.usable == 0


@pytest.mark.parametrize("mode", ["CMYK", "P", "RGBA", "LA", "I;16", "1", "L"])
def test_unusual_modes_are_no_problem(tmp_path: Path, mode: str) -> None:
    buffer = io.BytesIO()
    made = (
        Image.new("I;16", (32, 32)) if mode == "I;16" else Image.new("RGB", (32, 32)).convert(mode)
    )
    made.save(buffer, "TIFF")
    rows = [{"id": "a", "image": "x.tif", "text": "t"}]
    assert codes(check(dataset(tmp_path, rows, {"x.tif": buffer.getvalue()}))) == {}


@pytest.mark.parametrize("path", ["../out.jpg", "/etc/passwd", "a/../../b.jpg", "C:\\x.jpg", ".."])
def test_paths_that_leave_the_folder_are_errors_and_never_opened(
    tmp_path: Path, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = dataset(tmp_path / "data", [{"id": "a", "image": path, "text": "t"}], {})
    (tmp_path / "out.jpg").write_bytes(picture())
    monkeypatch.setattr(FolderImages, "read", lambda *_: pytest.fail("the file was opened"))
    assert codes(check(pairs)) == {"path-outside": [1]}


@pytest.mark.parametrize(
    ("path", "why"),
    [("images/../x.jpg", "has '..'"), ("/etc/passwd", "is absolute"), ("./", "names no file")],
)
def test_a_refused_path_is_told_truthfully(tmp_path: Path, path: str, why: str) -> None:
    report = check(dataset(tmp_path, [{"id": "a", "image": path, "text": "t"}], {}))
    assert [(p.code, p.detail) for p in report.problems] == [("path-outside", f"'{path}' {why}")]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("images\\good.jpg", "folders are told apart by /"),
        (" good.jpg", "has a blank at its end"),
        ("https://example.org/good.jpg", "an address is not fetched"),
        ("gone.jpg", "No such file or directory"),
    ],
)
def test_a_missing_picture_comes_with_a_hint(tmp_path: Path, name: str, hint: str) -> None:
    rows = [{"id": "a", "image": name, "text": "t"}]
    (found,) = check(dataset(tmp_path, rows, {"good.jpg": picture()})).problems
    assert found.code == "image-missing"
    assert found.detail.endswith(hint) or f"; {hint}" in found.detail


def test_links_that_lead_out_of_the_folder_are_warnings(tmp_path: Path) -> None:
    (tmp_path / "far.jpg").write_bytes(picture())
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "out.jpg").symlink_to(tmp_path / "far.jpg")
    (tmp_path / "data" / "within.jpg").symlink_to("good.jpg")
    rows = [
        {"id": name, "image": f"{name}.jpg", "text": _words(i)}
        for i, name in enumerate(("out", "within"))
    ]
    report = check(dataset(tmp_path / "data", rows, {"good.jpg": picture(seed=1)}))
    assert codes(report) == {"image-linked": [1]}
    assert report.problems[0].detail == f"out.jpg is {tmp_path / 'far.jpg'}"
    assert report.usable == 2


@pytest.mark.parametrize("text", ["\u200b", "\ufeff\u2060 \u00ad", "\u3000\t", "\x00"])
def test_a_text_that_shows_nothing_is_empty(tmp_path: Path, text: str) -> None:
    rows = [
        {"id": "a", "image": "good.jpg", "text": text},
        {"id": "b", "image": "good.jpg", "texts": [text, f"a{text}b {_words(1)}"]},
    ]
    pairs = dataset(tmp_path / "data", rows, {"good.jpg": picture()})
    report = check(pairs)
    assert codes(report) == {"text-empty": [1], "text-blank": [2]}
    assert fix(pairs, report, tmp_path / "fixed") == (1, 1)
    assert len(trope.open(tmp_path / "fixed")[0].texts) == 1


def parquet(path: Path, **columns: Any) -> trope.Pairs:
    pq.write_table(pa.table(columns), path)
    return trope.open(path, collect=True)


def test_numbers_json_has_no_word_for(tmp_path: Path) -> None:
    pairs = parquet(
        tmp_path / "x.parquet",
        text=[_words(i) for i in range(3)],
        score=[1.5, float("nan"), float("inf")],
        list=pa.array([[1.0], None, [2.0, float("-inf")]]),
        struct=pa.array([{"a": float("nan")}, None, {"a": 1.0}]),
        half=pa.array(np.array([1, 2, 3], np.float16)),
        none=pa.array([None, None, None], pa.float64()),
    )
    report = check(pairs, CheckSettings(near_texts=False))
    lost = [(p.line, p.detail) for p in report.by_code()["number-lost"]]
    assert lost == [(2, "'score' in 2 rows"), (3, "'list' in 1 row"), (1, "'struct' in 1 row")]
    assert report.usable == 3
    fix(pairs, report, tmp_path / "fixed")
    lines = (tmp_path / "fixed" / "pairs.jsonl").read_bytes().splitlines()
    found = [orjson.loads(line) for line in lines]  # which admits valid JSON alone
    assert [row["score"] for row in found] == [1.5, None, None]
    assert (found[2]["list"], found[0]["struct"]) == ([2.0, None], {"a": None})


def test_rows_without_lines_are_called_rows_and_a_file_by_its_name(tmp_path: Path) -> None:
    words = _words(1)
    columns = {"id": ["a", "a", "b"], "text": [words, _words(2), words]}
    pairs = parquet(tmp_path / "x.parquet", **columns, split=["train", "val", "test"])
    report = check(pairs)
    details = {code: found[0].detail for code, found in report.by_code().items()}
    assert details["id-repeated"] == "id 'a' is row 1's"
    assert details["leak-text"].startswith("test: also in row 1 (a, train)")
    assert (report.unit, report.document()["unit"]) == ("row", "row")
    assert report.data == str(tmp_path / "x.parquet")
    lined = dataset(tmp_path / "data", simple(1), {"good.jpg": picture()})
    assert check(lined).data == str(tmp_path / "data")
    assert check(lined).unit == "line"


def test_splits_count_usable_rows(tmp_path: Path) -> None:
    rows = [row | {"split": "train"} for row in simple(4)]
    rows[1]["image"], rows[2]["split"] = "gone.jpg", "holdout"
    report = check(dataset(tmp_path, rows, {"good.jpg": picture()}))
    assert report.splits == {"train": 2}
    assert report.usable == 2


def test_fix_keeps_the_settings_beside_the_result(tmp_path: Path) -> None:
    pairs = dataset(tmp_path / "data", simple(2), {"good.jpg": picture()})
    fix(pairs, check(pairs, CheckSettings(near_texts=False)), tmp_path / "fixed")
    kept = orjson.loads((tmp_path / "fixed" / "check.json").read_bytes())
    assert kept["config"]["near_texts"] is False
    assert kept["config"]["near"]["threshold"] == NearDuplicates().threshold
    assert kept["provenance"]["max_pixels"] == "100000000"
    assert kept["data"] == str(tmp_path / "data")


def test_row_problems(tmp_path: Path) -> None:
    rows = [
        {"id": "a", "image": "good.jpg", "text": _words(1)},
        {"id": "a", "image": "good.jpg", "text": _words(2)},
        {"id": "b"},
        {"id": "c", "image": "good.jpg", "text": " \t"},
        {"id": "d", "image": "good.jpg"},
        {"id": "e", "text": _words(3)},
        {"id": "f", "image": "good.jpg", "text": f"{_words(4)} \ufffd"},
        {"id": "g", "image": "good.jpg", "text": "long " * 30_000},
    ]
    assert codes(check(dataset(tmp_path, rows, {"good.jpg": picture()}))) == {
        "id-repeated": [2],
        "row-empty": [3],
        "text-empty": [4],
        "text-missing": [5],
        "image-absent": [6],
        "text-damaged": [7],
        "text-long": [8],
    }


def test_a_blank_text_among_others_costs_the_text_not_the_row(tmp_path: Path) -> None:
    rows = [{"id": "a", "image": "good.jpg", "texts": [_words(1), " ", _words(2)]}]
    pairs = dataset(tmp_path / "data", rows, {"good.jpg": picture()})
    report = check(pairs)
    assert codes(report) == {"text-blank": [1]}
    assert fix(pairs, report, tmp_path / "fixed") == (1, 0)
    assert trope.open(tmp_path / "fixed")[0].texts == (_words(1), _words(2))


def test_features_that_are_not_there_are_errors(tmp_path: Path) -> None:
    rows = [{"id": "a", "text": "t", "image_feature": i} for i in (0, 2, -1)]
    rows = [row | {"id": str(i)} for i, row in enumerate(rows)]
    pairs = dataset(tmp_path, rows, {})
    assert codes(check(pairs)) == {"feature-missing": [1, 2, 3]}
    (tmp_path / "features").mkdir()
    np.save(tmp_path / "features" / "image.npy", np.zeros((2, 4)))
    assert codes(check(pairs)) == {"feature-missing": [2, 3]}


def test_texts_without_a_picture_are_listed_one_by_one(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name, data in {
        "1.jpg": picture(),
        "1.txt": b"one",
        "notes.txt": b"two",
        "b.txt": b"",
    }.items():
        (tmp_path / "in" / name).write_bytes(data)
    pairs = trope.open(tmp_path / "in", collect=True)
    report = check(pairs)
    assert [p.detail.split(":")[0] for p in report.by_code()["remark"]] == ["b.txt", "notes.txt"]
    assert fix(pairs, report, tmp_path / "out") == (1, 0)
    assert not (tmp_path / "out" / "rejected.jsonl").exists()
    kept = orjson.loads((tmp_path / "out" / "check.json").read_bytes())
    assert kept["remarks"] == list(pairs.remarks)


def test_precomputed_features_stand_for_pictures_and_texts(tmp_path: Path) -> None:
    (tmp_path / "features").mkdir()
    np.save(tmp_path / "features" / "image.npy", np.zeros((2, 4)))
    np.save(tmp_path / "features" / "text.npy", np.zeros((2, 4)))
    rows = [
        {"id": "a", "text": "t", "image_feature": 0},
        {"id": "b", "text_feature": 1, "image_feature": 1},
    ]
    assert codes(check(dataset(tmp_path, rows, {}))) == {}


def test_label_problems(tmp_path: Path) -> None:
    rows = simple(4)
    rows[0] |= {"labels": ["cat"], "split": "train"}
    rows[1] |= {"labels": ["cat", " "], "split": "train"}
    rows[2] |= {"labels": ["dog", "cat"], "split": "test"}
    rows[3] |= {"split": "val"}
    rows = [row | {"image": f"{i}.jpg"} for i, row in enumerate(rows)]
    files = {f"{i}.jpg": picture(seed=i) for i in range(4)}
    report = check(dataset(tmp_path, rows, files))
    assert codes(report) == {"remark": [0], "label-missing": [4], "label-unseen": [3]}
    assert [p.detail for p in report.problems if p.code == "remark"] == [
        "labels: 1 blank one left out, first in line 2"
    ]


def test_split_problems(tmp_path: Path) -> None:
    rows = simple(3)
    rows[0]["split"], rows[1]["split"] = "train", "holdout"
    report = check(dataset(tmp_path, rows, {"good.jpg": picture()}))
    assert codes(report)["split-unknown"] == [2]
    details = [p.detail for p in report.by_code()["split-absent"]]
    assert details[0].startswith("no row is in val")
    assert details[1] == "no row is in test"
    assert details[2] == "1 row has no split, to be given one"


def test_where_no_split_is_right_none_is_called_absent(tmp_path: Path) -> None:
    rows = simple(3)
    rows[0]["split"] = rows[1]["split"] = "trian"
    files = {"good.jpg": picture()}
    assert codes(check(dataset(tmp_path, rows, files))) == {"split-unknown": [1, 2]}


def test_leaks_between_splits(tmp_path: Path) -> None:
    sentence = _words(77)
    rows = [
        {"image": "a.jpg", "text": sentence, "group": "g1", "split": "train"},
        {"image": "b.jpg", "text": _words(1), "group": "g1", "split": "test"},
        {"image": "copy-of-a.jpg", "text": _words(2), "group": "g2", "split": "test"},
        {"image": "c.jpg", "text": f"  {sentence.upper()} ", "group": "g3", "split": "val"},
        {"image": "d.jpg", "text": f"{sentence} x", "group": "g4", "split": "test"},
        {"image": "e.jpg", "text": sentence, "group": "g5", "split": "train"},
    ]
    rows = [{"id": str(i), **row} for i, row in enumerate(rows)]
    files = {f"{name}.jpg": picture(seed=i) for i, name in enumerate("abcde")}
    files["copy-of-a.jpg"] = files["a.jpg"]
    report = check(dataset(tmp_path, rows, files))
    assert codes(report) == {
        "leak-group": [2],
        "leak-image": [3],
        "leak-text": [4],
        "leak-near-text": [5],
        "image-copied": [3],
    }
    found = report.by_code()
    assert found["leak-image"][0].detail == "test: also in line 1 (0, train)"
    assert found["leak-near-text"][0].detail.startswith("test: also in line 1 (0, train): '")
    assert " is 0.9" in found["leak-near-text"][0].detail
    assert report.count("error") == 0


def test_copies_of_a_picture_under_other_names_are_named(tmp_path: Path) -> None:
    rows = [{"id": str(i), "image": f"{i}.jpg", "text": _words(i)} for i in range(4)]
    rows.append({"id": "4", "image": "2.jpg", "text": _words(4)})
    files = {f"{i}.jpg": picture(seed=i % 2) for i in range(4)}
    found = check(dataset(tmp_path, rows, files)).by_code()
    assert [(p.line, p.detail) for p in found["image-copied"]] == [
        (3, "2.jpg is 0.jpg (line 1)"),
        (4, "3.jpg is 1.jpg (line 2)"),
        (5, "2.jpg is 0.jpg (line 1)"),
    ]


def test_near_texts_can_be_left_out_and_tuned(tmp_path: Path) -> None:
    sentence = _words(5)
    rows = [
        {"id": "a", "text": sentence, "split": "train"},
        {"id": "b", "text": f"{sentence} {_words(6)[:12]}", "split": "test"},
        {"id": "c", "text": _words(7), "split": "val"},
    ]
    pairs = dataset(tmp_path, rows, {})
    found = {
        threshold: "leak-near-text"
        in codes(check(pairs, CheckSettings(near=NearDuplicates(threshold))))
        for threshold in (0.5, 0.99)
    }
    assert found == {0.5: True, 0.99: False}
    assert "leak-near-text" not in codes(
        check(pairs, CheckSettings(near_texts=False, near=NearDuplicates(0.5)))
    )


def test_boilerplate_is_remarked_once(tmp_path: Path) -> None:
    notice = "please enable javascript and cookies in your browser to continue reading this article"
    rows = [{"id": str(i), "text": f"{notice} {i}"} for i in range(30)]
    found = check(dataset(tmp_path, rows, {})).by_code()["near-repeats"]
    assert len(found) == 1
    assert found[0].detail.startswith("30 texts like 'please enable")


def test_fix_keeps_the_good_rows_and_says_why_others_went(tmp_path: Path) -> None:
    root = tmp_path / "data"
    dataset(root, simple(2, note={"k": ["ü", 1]}), {"good.jpg": picture(), "bad.jpg": b"x"})
    with (root / "pairs.jsonl").open("ab") as handle:
        handle.write(b'\n{"id": "broken", "text": \n')
        handle.write(orjson.dumps({"id": "odd", "image": "bad.jpg", "text": "日本語のテキスト"}))
    pairs = trope.open(root, collect=True)
    report = check(pairs)
    assert fix(pairs, report, tmp_path / "fixed") == (2, 2)

    fixed = trope.open(tmp_path / "fixed")
    assert fixed.ids == ["r0", "r1"]
    assert fixed[0].extra["note"] == {"k": ["ü", 1]}
    assert codes(check(fixed)) == {}
    lines = (tmp_path / "fixed" / "rejected.jsonl").read_bytes().splitlines()
    broken, odd = map(orjson.loads, lines)
    assert broken == {
        "line": 3,
        "reasons": [{"code": "row-unreadable", "detail": broken["reasons"][0]["detail"]}],
        "row": '{"id": "broken", "text": ',
    }
    assert odd["line"] == 4
    assert odd["reasons"][0]["code"] == "image-corrupt"
    assert odd["row"] == {"id": "odd", "image": "bad.jpg", "text": "日本語のテキスト"}
    assert report.rows == 4 == len(fixed) + len(lines)


def test_fix_unpacks_shards_and_copies_features(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "shard.tar", "w") as archive:
        for name, data in {
            "k1.png": picture("PNG"),
            "k1.txt": b"one",
            "k2.jpg": b"",
            "k2.txt": b"two",
        }.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    (tmp_path / "features").mkdir()
    np.save(tmp_path / "features" / "image.npy", np.eye(2))
    pairs = trope.open(tmp_path / "shard.tar", collect=True)
    assert fix(pairs, check(pairs), tmp_path / "fixed") == (1, 1)
    fixed = trope.open(tmp_path / "fixed")
    assert (tmp_path / "fixed" / str(fixed[0].image)).read_bytes() == picture("PNG")
    assert np.load(tmp_path / "fixed" / "features" / "image.npy").shape == (2, 2)


def test_fix_never_writes_over_anything(tmp_path: Path) -> None:
    pairs = dataset(tmp_path / "data", simple(1), {"good.jpg": picture()})
    (tmp_path / "fixed").mkdir()
    (tmp_path / "fixed" / "precious").write_text("x")
    with pytest.raises(UsageError, match="not empty"):
        fix(pairs, check(pairs), tmp_path / "fixed")
    assert [p.name for p in (tmp_path / "fixed").iterdir()] == ["precious"]


def test_fix_writes_nothing_into_the_data_it_reads(tmp_path: Path) -> None:
    pairs = dataset(tmp_path / "data", simple(1), {"good.jpg": picture()})
    (tmp_path / "link").symlink_to(tmp_path / "data")
    for out in (tmp_path / "data" / "a" / "b", tmp_path / "link" / "a"):
        with pytest.raises(UsageError, match="lies inside"):
            fix(pairs, check(pairs), out)
    assert sorted(p.name for p in (tmp_path / "data").iterdir()) == ["good.jpg", "pairs.jsonl"]


def test_every_kind_of_problem_has_a_test() -> None:
    source = Path(__file__).read_text(encoding="utf-8")
    untested = [code for code in KINDS if f'"{code}"' not in source]
    assert untested == []

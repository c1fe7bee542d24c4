"""The command line: one clear line for bad input, exit codes, clean JSON, no traceback."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from trope.cli import main

SOURCE = Path(__file__).parents[2] / "src"


def picture() -> bytes:
    buffer = io.BytesIO()
    Image.linear_gradient("L").resize((64, 48)).convert("RGB").save(buffer, "JPEG")
    return buffer.getvalue()


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "good.jpg").write_bytes(picture())
    rows = [
        {"id": str(i), "image": "good.jpg", "text": f"मैं घर जा रहा हूँ {i}" * 3} for i in range(20)
    ]
    (folder / "pairs.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)))
    return folder


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    out, err = capsys.readouterr()
    return int(stop.value.code or 0), out, err


def refused(capsys: pytest.CaptureFixture[str], code: int, *arguments: str) -> str:
    """The one line of a refusal."""
    got, out, err = call(capsys, *arguments)
    assert got == code, err
    assert out == ""
    assert err.startswith("trope: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    return err


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "--version")
    assert (code, out.split()[0]) == (0, "trope")


def test_check_prints_one_json_document(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "check", str(data), "--json", "--set", "near_texts=false")
    document = orjson.loads(out)
    assert code == 0
    assert (document["rows"], document["usable"], document["errors"]) == (20, 20, 0)
    assert document["config"]["near_texts"] is False


def test_check_shows_findings_with_lines_and_the_splits(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (data / "pairs.jsonl").open("ab") as handle:
        handle.write(b"\n{broken\n")
    code, out, _ = call(capsys, "check", str(data))
    assert code == 1
    assert "21 rows, 20 usable; 1 error," in out
    assert "line 21: not valid JSON" in out
    assert "train" in out


def test_warnings_fail_only_when_strict(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with (data / "pairs.jsonl").open("ab") as handle:
        handle.write(b'\n{"id": "alone", "text": "no picture here"}\n')
    assert call(capsys, "check", str(data))[0] == 0
    assert call(capsys, "check", str(data), "--strict")[0] == 1


def test_text_that_looks_like_markup_is_shown_as_it_is(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (data / "pairs.jsonl").write_bytes(
        orjson.dumps({"id": "[red]x[/]", "image": "[bold].jpg", "text": "t"})
    )
    assert "[red]x[/]" in call(capsys, "check", str(data))[1]


def test_control_characters_are_spelled_out(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = {"id": "\x1b[31mred:smile:", "image": "gone.jpg", "text": "t"}
    (data / "pairs.jsonl").write_bytes(orjson.dumps(row))
    out = call(capsys, "check", str(data))[1]
    assert "\\x1b[31mred:smile:" in out
    assert "\x1b" not in out


def test_fix_writes_and_counts(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (data / "pairs.jsonl").open("ab") as handle:
        handle.write(b"\n{broken\n")
    code, out, _ = call(capsys, "check", str(data), "--fix", str(tmp_path / "fixed"))
    assert code == 1
    assert "20 rows kept, 1 rejected" in out
    assert call(capsys, "check", str(tmp_path / "fixed"))[0] == 0


def test_columns_under_other_names(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (data / "pairs.jsonl").unlink()
    table = "sep=;\r\nFile;Headline\r\ngood.jpg;naïve words\r\n"
    (data / "pairs.csv").write_bytes(table.encode())
    said = refused(capsys, 1, "check", str(data))
    options = ["--column", "image=File", "--column", "text=Headline"]
    assert " ".join(options) in said
    code, out, _ = call(capsys, "check", str(data), *options, "--fix", str(tmp_path / "o"))
    assert (code, "1 row kept, 0 rejected" in out) == (0, True)
    row = {"id": "row-3", "image": "good.jpg", "text": "naïve words"}
    assert orjson.loads((tmp_path / "o" / "pairs.jsonl").read_bytes()) == row
    kept = orjson.loads((tmp_path / "o" / "check.json").read_bytes())
    assert kept["config"]["columns"] == {"image": "File", "text": "Headline"}
    wrong = refused(capsys, 2, "check", str(data), "--column", "text=headline")
    assert "no column 'headline'; did you mean 'Headline'?" in wrong


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        (["text"], "--column text: write it as text=NAME"),
        (["text="], "--column text=: write it as text=NAME"),
        (["=Headline"], "--column =Headline: write it as text=NAME"),
        (["text=a", "text=b"], "--column text=b: 'text' is 'a' already"),
    ],
)
def test_wrong_column_options_are_refused(
    data: Path, capsys: pytest.CaptureFixture[str], columns: list[str], reason: str
) -> None:
    options = [word for column in columns for word in ("--column", column)]
    assert reason in refused(capsys, 2, "check", str(data), *options)


def test_a_column_is_named_exactly(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = {"image": "good.jpg", "Text ": "spaces and all"}
    (data / "pairs.jsonl").write_bytes(orjson.dumps(row))
    options = ["--column", "text=Text ", "--set", "columns.image=image", "--json"]
    code, out, _ = call(capsys, "check", str(data), *options)
    config = orjson.loads(out)["config"]
    assert (code, config["columns"]) == (0, {"image": "image", "text": "Text "})


def test_a_single_file_is_named_and_its_rows_are_rows(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    columns = {"id": ["a", "b", "c"], "image": ["good.jpg", "gone.jpg", "good.jpg"]}
    path = data / "x.parquet"
    pq.write_table(pa.table({**columns, "text": ["one", "two", "three"]}), path)
    _, out, _ = call(capsys, "check", str(path))
    assert out.startswith(f"{path}: 3 rows, 2 usable; ")
    assert "row 2, b: " in out
    assert "line" not in out
    counts = [line.split() for line in out.splitlines() if line.startswith(("train", "val", "te"))]
    assert sum(int(words[1]) for words in counts) == 2


def test_full_standard_output_is_one_line() -> None:
    for arguments in (["formats"], ["formats", "--json"], ["--version"], ["--help"]):
        with Path("/dev/full").open("wb") as full:
            done = subprocess.run(
                [sys.executable, "-c", "from trope.cli import main; main()", *arguments],
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
                env={**os.environ, "PYTHONPATH": str(SOURCE)},
            )
        said = "trope: cannot write to standard output: No space left on device\n"
        assert (done.returncode, done.stderr) == (1, said)


BAD: dict[str, tuple[bytes, str]] = {
    "empty.jsonl": (b"", "the file is empty"),
    "blank.jsonl": (b"\n \n\n", "empty: there is no row in it"),
    "columns.csv": (b"file,caption\na.jpg,hello\n", "found: caption, file"),
    "rubbish.jsonl": (bytes(range(256)) * 40, "binary"),
    "rubbish.csv": (bytes(range(128, 256)) * 40, "not UTF-8 text"),
    "rubbish.parquet": (b"PAR1" + bytes(500), "not a readable Parquet file"),
    "rubbish.tar": (bytes(range(256)) * 8, "not a tar file"),
    "what.xyz": (b"hello", "unknown kind of file"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files_are_refused_in_one_line(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content, reason = BAD[name]
    (tmp_path / name).write_bytes(content)
    got, _, err = call(capsys, "check", str(tmp_path / name))
    assert got in (1, 2)
    assert reason in err
    assert name in err
    assert err.count("\n") == 1


def test_wrong_use_exits_2(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "no such file or folder" in refused(capsys, 2, "check", str(tmp_path / "nowhere"))
    wrong = refused(capsys, 2, "check", str(data), "--set", "near.treshold=0.5")
    assert "did you mean 'threshold'?" in wrong
    assert "not empty" in refused(capsys, 2, "check", str(data), "--fix", str(data))
    assert "lies inside" in refused(capsys, 2, "check", str(data), "--fix", str(data / "clean"))
    assert "did you mean 'coco'" in refused(
        capsys, 2, "convert", "cocoo", str(data), str(tmp_path / "o")
    )


def test_a_folder_without_pairs_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for i in range(50):
        (tmp_path / f"{i}.log").write_text("x")
    assert "50 files looked at" in refused(capsys, 1, "check", str(tmp_path))


WITHOUT_PRIVILEGE = """
import ctypes, os, sys
header, sets = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
library = ctypes.CDLL(None)
library.capget(header, sets)
for i in (0, 1):  # effective, permitted: root may read any file (bits 1 and 2)
    sets[i] &= ~0b110
library.capset(header, sets)
from trope.cli import main
main(sys.argv[1:])
"""


def unprivileged(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command without root's right to read everything."""
    return subprocess.run(
        [sys.executable, "-c", WITHOUT_PRIVILEGE, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
    )


@pytest.mark.parametrize("closed", ["pairs.jsonl", "."])
def test_no_permission_is_one_line(data: Path, closed: str) -> None:
    (data / closed).chmod(0)
    done = unprivileged("check", str(data))
    (data / closed).chmod(0o755)
    assert done.returncode == 2
    assert done.stderr.startswith("trope: ")
    assert "ermission" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["check"], "Missing argument"),
        (["chekc"], "No such command"),
        (["check", "x", "--strickt"], "No such option"),
        (["check", "x", "--examples", "many"], "Invalid value"),
    ],
)
def test_a_wrong_command_line_is_one_line(
    arguments: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refused(capsys, 2, *arguments)
    assert reason in said
    assert "--help`" in said


def test_interrupting_says_how_to_go_on(
    data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("trope.cli.check.check", interrupt)
    assert "run the same command again" in refused(capsys, 130, "check", str(data))


def test_fix_needs_the_pictures(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["check", str(data), "--fix", str(tmp_path / "o"), "--set", "images=false"]
    assert "cannot go with images=false" in refused(capsys, 2, *arguments)


def test_settings_from_a_file(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "check.toml").write_text("[near]\nthreshold = 0.5\n")
    arguments = ["check", str(data), "--json", "--config", str(tmp_path / "check.toml")]
    document = orjson.loads(call(capsys, *arguments, "--set", "near.shingle=4")[1])
    assert document["config"]["near"]["threshold"] == 0.5
    assert document["config"]["near"]["shingle"] == 4
    (tmp_path / "check.toml").write_text("[near]\ntreshold = 0.5\n")
    assert "check.toml: near: no option 'treshold'" in refused(capsys, 2, *arguments)


def test_a_defect_is_one_line_too(
    data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trope.cli.check.check", lambda *_: 1 / 0)
    assert "defect in trope (ZeroDivisionError" in refused(capsys, 1, "check", str(data))


def test_the_command_runs_in_a_process_of_its_own_without_torch(data: Path) -> None:
    code = (
        "import sys; from trope.cli import main\n"
        "try: main()\nfinally: assert 'torch' not in sys.modules"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "check", str(data), "--json"],
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
    )
    assert done.returncode == 0, done.stderr
    assert orjson.loads(done.stdout)["rows"] == 20

"""`trope index`, `trope search` and `trope up`: what they print, and what they refuse."""

from __future__ import annotations

import json
from pathlib import Path

import orjson
import pytest
from search_samples import QUICK, write

import trope
from trope.cli import main
from trope.pipeline.searches import by_rows


def run(*arguments: object) -> int:
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    return int(ended.value.code or 0)


def test_an_index_is_made_searched_changed_and_verified(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    index = tmp_path / "index"
    made = ["index", home / "infonce", "--data", home / "data", "--out", index]
    assert run(*made, "--json") == 0
    done = orjson.loads(capsys.readouterr().out)
    assert (done["images"], done["texts"], done["failed"]) == (80, 80, [])
    assert run("search", index, "apple", "-k", 3, "--json", "--explain") == 0
    found = orjson.loads(capsys.readouterr().out)
    assert found["query"] == {"texts": ["apple"]}
    assert [hit["rank"] for hit in found["hits"]] == [1, 2, 3]
    wanted = {"rank", "id", "modality", "score", "text", "image", "data", "learned", "row"}
    assert all(wanted <= hit.keys() for hit in found["hits"])
    assert len(found["hits"][0]["neighbors"]) == 3
    assert run("search", index, "apple", "-k", 2, "--find", "text", "--explain") == 0
    told = capsys.readouterr().out
    assert "score" in told
    assert "learned from" in told
    (tmp_path / "new").mkdir()
    row = {"id": "new", "text": "snow"}
    (tmp_path / "new" / "pairs.jsonl").write_text(json.dumps(row))
    assert run("index", "--out", index, "--add", tmp_path / "new") == 0
    assert run("index", "--out", index, "--remove", "new, r0") == 0
    assert "2 rows removed" in capsys.readouterr().out
    assert run("index", "--out", index, "--verify") == 0
    assert "all as written" in capsys.readouterr().out
    assert run("search", index, "apple", "--where", "split = 'nowhere'") == 0
    assert "no item passes the filter" in capsys.readouterr().out
    for empty in ("", " "):
        assert run("search", index, "apple", "--where", empty) == 2
        told = capsys.readouterr()
        assert told.out == ""
        assert 'where: is empty; write a filter such as "year >= 2020", or leave it' in told.err


def test_ids_with_commas_can_be_removed(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "data").mkdir()
    lines = [{"id": name, "text": "snow"} for name in ("x", "y", "x,y", "z", 'say "no"')]
    (tmp_path / "data" / "pairs.jsonl").write_text("\n".join(map(json.dumps, lines)))
    index = tmp_path / "index"
    assert run("index", home / "infonce", "--data", tmp_path / "data", "--out", index) == 0
    assert run("index", "--out", index, "--remove", '"x,y",z', "--remove", 'say "no"') == 0
    assert "3 rows removed" in capsys.readouterr().out
    assert run("index", "--out", index, "--remove", '"x') == 2
    assert "--remove: cannot read" in capsys.readouterr().err
    assert run("search", index, "snow", "--find", "text", "--json") == 0
    assert {hit["id"] for hit in orjson.loads(capsys.readouterr().out)["hits"]} == {"x", "y"}


def test_a_file_that_is_gone_is_named(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    index = tmp_path / "index"
    assert run("index", home / "infonce", "--data", home / "data", "--out", index) == 0
    (index / "model.safetensors").unlink()
    for arguments in (["index", "--out", index, "--verify"], ["search", index, "apple"]):
        capsys.readouterr()
        assert run(*arguments) == 1
        assert "model.safetensors: missing" in capsys.readouterr().err


def test_distributions_are_shown_with_how_likely_they_match(
    scored: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TROPE_CACHE", str(scored / "cache"))
    index = tmp_path / "index"
    assert run("index", scored / "pcme", "--data", scored / "data", "--out", index) == 0
    capsys.readouterr()
    assert run("search", index, "apple", "-k", 2, "--json") == 0
    found = orjson.loads(capsys.readouterr().out)
    assert found["ranked_by"] == "match"
    assert found["spread"] > 0
    assert all(0 <= hit["match_probability"] <= 1 for hit in found["hits"])
    assert run("search", index, "apple", "-k", 2) == 0
    told = capsys.readouterr().out
    assert told.split()[:2] == ["score", "match"]
    assert f"{found['hits'][0]['match_probability']:.3g}" in told
    assert f"spread of the query: {found['spread']:.3g}" in told
    assert run("search", index, "apple", "-k", 2, "--no-rerank") == 0
    assert capsys.readouterr().out.split()[:2] == ["score", "row"]
    assert run("search", index, "apple", "--find", "text") == 0
    assert "scorer 'match' compares texts with images" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code", "why"),
    [
        (["index", "--data", "d", "--out", "o"], 2, "name a run"),
        (["index", "run", "--data", "d"], 2, "--out"),
        (["index", "--out", "o"], 2, "name --data"),
        (["index", "--out", "o", "--add", "a", "--remove", "b"], 2, "do not go together"),
        (["index", "run", "--out", "o", "--verify"], 2, "a run does not go with --verify"),
        (["index", "--out", "o", "--remove", "a", "--engine", "exact"], 2, "when an index is made"),
        (["index", "--out", "o", "--remove", " , "], 2, "name ids of rows"),
        (["search", "nowhere", "words"], 2, "no index"),
        (["up", "nowhere"], 2, "no such file"),
    ],
)
def test_wrong_use_is_one_line(
    arguments: list[str],
    code: int,
    why: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(*arguments) == code
    told = capsys.readouterr().err
    assert why in told
    assert told.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--engine", "fais"], "expected one of exact, faiss, milvus"),
        (["--engine", "milvus"], "needs a uri"),
        (["--uri", "http://127.0.0.1:1"], "takes no uri"),
        (["--set", "flatt=3"], "did you mean 'flat'"),
        (["--engine", "milvus", "--uri", "http://127.0.0.1:1"], "milvus at http://127.0.0.1:1"),
    ],
)
def test_wrong_engines_are_one_line_and_leave_no_index(
    home: Path, tmp_path: Path, arguments: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    index = ["index", home / "infonce", "--data", home / "data", "--out", tmp_path / "index"]
    assert run(*index, *arguments) in (1, 2)
    assert why in capsys.readouterr().err
    assert not (tmp_path / "index").exists()


def test_an_index_is_not_written_over(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = ["index", home / "infonce", "--data", home / "data", "--out", tmp_path / "index"]
    assert run(*made) == 0
    assert run(*made) == 2
    assert "holds an index; --add DATA puts rows in" in capsys.readouterr().err


def test_up_goes_from_a_folder_to_searches(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A folder with a broken row: the rest is used, and the job says so."""
    data = write(tmp_path / "archive")
    with (data / "pairs.jsonl").open("a", encoding="utf-8") as file:
        file.write("\n{broken")
    changes = [*QUICK, "image.backbone=precomputed"]
    listed = ", ".join(f'"{change}"' for change in changes)
    command = ["up", data, "--out", tmp_path / "out", "--set", f"train=[{listed}]"]
    assert run(*command) == 0
    captured = capsys.readouterr()
    assert "80 rows can be used, 1 cannot" in captured.err
    assert "Some searches" in captured.out
    assert "trope search" in captured.out
    assert (tmp_path / "out" / "index" / "index.json").exists()
    document = orjson.loads((tmp_path / "out" / "up.json").read_bytes())
    assert len(document["searches"]) == 2  # features that come with data: no picture is asked
    assert run(*command) == 0
    kept = (data / "pairs.jsonl").read_text(encoding="utf-8")
    line = '{"id": "new", "image": "0.png", "text": "rain fog", "split": "train"}'
    (data / "pairs.jsonl").write_text(f"{kept}\n{line}", encoding="utf-8")
    assert run(*command) == 2  # not as if the new row had been learned from
    said = capsys.readouterr().err
    assert "changed since" in said
    assert "80 usable rows then" in said
    (data / "pairs.jsonl").write_text(kept, encoding="utf-8")
    command[-1] = "recipe=triplet"
    assert run(*command) == 2
    assert "made with other settings" in capsys.readouterr().err


@pytest.mark.parametrize("readable", [3, 1, 0])
def test_searches_are_tried_with_texts_that_can_be_read(
    home: Path, tmp_path: Path, readable: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """A row whose first text says nothing is passed over; where all are so, it is told."""
    data, left = write(tmp_path / "archive"), readable
    lines = [orjson.loads(line) for line in (data / "pairs.jsonl").read_bytes().splitlines()]
    for line in lines:
        if line["split"] == "test":
            line["text"] = line["text"] if left > 0 else "!!!"
            left -= 1
    (data / "pairs.jsonl").write_bytes(b"\n".join(map(orjson.dumps, lines)))
    index = trope.build_index(home / "infonce", data, tmp_path / "index")
    found = by_rows(index, trope.open(data), 2)
    texts = {f"“{line['text']}”" for line in lines if line["split"] == "test"} - {"“!!!”"}
    assert len(found) == min(readable, 2)
    assert {search.title for search in found} <= texts
    told = "no text to try a search with (search: '!!!' has no content that the model can read)"
    assert (told in capsys.readouterr().err) == (readable == 0)

"""Indexes made, added to, replaced and removed from; rows of every kind; killed jobs."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

import trope
from scripts import SCRIPTS
from trope.checkpoints import load_model, save_model
from trope.encoders import ImageSettings
from trope.errors import DataError, UsageError
from trope.index import encoding
from trope.index.job import add, build
from trope.index.model import MODEL
from trope.search import Index, open_index


def rows(folder: Path, *lines: dict[str, object]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pairs.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return folder


def found(index: Index, words: str, find: str = "text") -> list[str]:
    return [hit.id for hit in index.search(words, find=find, k=200)]  # type: ignore[arg-type]


def test_rows_with_only_a_text_or_only_an_image_are_found(pictured: Path, tmp_path: Path) -> None:
    """In every script."""
    data = tmp_path / "data"
    data.mkdir()
    Image.new("RGB", (9, 9), (10, 200, 10)).save(data / "one.png")
    said = [{"id": f"said{i}", "text": script} for i, script in enumerate(SCRIPTS)]
    rows(data, *said, {"id": "shown", "image": "one.png"})
    index = trope.build_index(pictured / "run", data, tmp_path / "index")
    assert (index.engine.count("image"), index.engine.count("text")) == (1, len(SCRIPTS))
    hits = index.search("apple", find="text", k=50)
    assert {(hit.id, hit.text, hit.image) for hit in hits} == {
        (row["id"], row["text"], None) for row in said
    }
    (hit,) = index.search("apple")
    assert (hit.id, hit.text, hit.image) == ("shown", None, "one.png")
    assert hit.data == str(data)


def test_every_text_of_a_row_is_an_item(home: Path, tmp_path: Path) -> None:
    data = rows(
        tmp_path / "d", {"id": "a", "texts": ["red blue", "snow"]}, {"id": "b", "text": "fog"}
    )
    index = trope.build_index(home / "infonce", data, tmp_path / "index")
    hits = index.search("snow", find="text")
    assert {(hit.id, hit.place, hit.text) for hit in hits} == {
        ("a", 0, "red blue"),
        ("a", 1, "snow"),
        ("b", 0, "fog"),
    }
    assert (hits[0].id, hits[0].place) == ("a", 1)


def test_broken_pictures_and_empty_texts_are_told_and_left_out(
    pictured: Path, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    shutil.copytree(pictured / "data", data)
    (data / "3.png").write_bytes(b"broken")
    lines = [json.loads(line) for line in (data / "pairs.jsonl").read_text().splitlines()]
    lines[5]["text"] = "\u200b"
    rows(data, *lines)
    done = build(pictured / "run", trope.open(data), tmp_path / "index")
    assert (done.images, done.texts, done.empty) == (39, 39, 1)
    assert [(bad.row, bad.image) for bad in done.failed] == [("r3", "3.png")]
    assert "cannot be decoded" in done.failed[0].reason
    index = open_index(tmp_path / "index")
    assert "r3" not in found(index, "apple", "image")
    assert "r5" not in found(index, "apple", "text")
    assert "r3" in found(index, "apple", "text")


def test_nothing_to_be_found_is_refused(home: Path, tmp_path: Path) -> None:
    data = rows(tmp_path / "data", {"id": "a", "text": " \u200b"})
    with pytest.raises(DataError, match="no row has a picture or a text that can be used"):
        trope.build_index(home / "infonce", data, tmp_path / "index")
    assert not (tmp_path / "index").exists()


def test_rows_are_added_replaced_and_removed(index: Index, tmp_path: Path) -> None:
    new = rows(
        tmp_path / "new",
        {"id": "r0", "text": "snow snow fog", "editor": "Ana"},
        {"id": "new", "texts": ["harp", "drum"]},
    )
    done = index.add(new)
    assert (done.texts, done.replaced) == (3, 2)  # the old row had a picture too
    assert "r0" not in found(index, "snow", "image")
    (hit,) = (hit for hit in index.search("snow", find="text", k=200) if hit.id == "r0")
    assert (hit.text, hit.row["editor"], hit.data) == ("snow snow fog", "Ana", str(new))
    assert found(index, "harp").count("new") == 2
    before = len(index)
    assert index.remove(["new", "r1"]) == 2
    assert len(index) == before - 4
    assert {"new", "r1"} & {*found(index, "harp"), *found(index, "harp", "image")} == set()
    with pytest.raises(UsageError, match=r"holds no row 'who' \(2 such ids\); nothing was removed"):
        index.remove(["r2", "who", "nobody"])
    assert "r2" in found(index, "harp")


def test_one_id_is_no_list_of_letters(index: Index) -> None:
    before = len(index)
    with pytest.raises(UsageError, match=r"ids: a list is wanted, found 'r1'"):
        index.remove("r1")
    assert len(index) == before


def test_what_was_learned_from_is_known_by_content(index: Index, tmp_path: Path) -> None:
    """A new row that claims to be of the training split was not trained on."""
    index.add(rows(tmp_path / "new", {"id": "z", "text": "plum", "split": "train"}))
    learned = {hit.id: hit.learned for hit in index.search("plum", find="text", k=200)}
    assert learned["r0"]
    assert not learned["z"]
    assert sum(learned.values()) == 60


def test_vectors_of_another_model_are_refused(index: Index, home: Path, tmp_path: Path) -> None:
    data = trope.open(rows(tmp_path / "new", {"id": "z", "text": "plum"}))
    assert add(index.folder, data, home / "infonce").texts == 1
    with pytest.raises(UsageError, match="was made by another model than that of"):
        add(index.folder, data, home / "pvse")
    with pytest.raises(UsageError, match="no such file"):
        add(index.folder, data, home / "nowhere")


def test_a_damaged_model_is_told(index: Index) -> None:
    path = index.folder / MODEL
    content = bytearray(path.read_bytes())
    path.unlink()  # a link to the run's own
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"model.safetensors: damaged \(its checksum"):
        open_index(index.folder).search("plum")


def test_the_index_needs_neither_run_nor_data(home: Path, tmp_path: Path) -> None:
    shutil.copytree(home / "infonce", tmp_path / "run")
    shutil.copytree(home / "data", tmp_path / "data")
    trope.build_index(tmp_path / "run", tmp_path / "data", tmp_path / "index")
    wanted = found(open_index(tmp_path / "index"), "rain")
    shutil.rmtree(tmp_path / "run")
    shutil.rmtree(tmp_path / "data")
    (tmp_path / "index").rename(tmp_path / "moved")
    assert found(open_index(tmp_path / "moved"), "rain") == wanted


def test_columns_that_an_index_uses_itself_are_its_own(home: Path, tmp_path: Path) -> None:
    """Such as those of vectors that were exported and come back as data."""
    data = rows(tmp_path / "data", {"id": "a", "text": "plum", "trope.key": "x", "trope.new": 1})
    index = trope.build_index(home / "infonce", data, tmp_path / "index")
    (hit,) = index.search("plum", find="text")
    assert (hit.id, hit.row) == ("a", {"labels": [], "group": None, "split": None})


def test_ids_that_repeat_are_refused(home: Path, tmp_path: Path) -> None:
    data = rows(tmp_path / "d", {"id": "a", "text": "plum"}, {"id": "a", "text": "pear"})
    with pytest.raises(DataError, match="line 2 has the id 'a' of line 1"):
        trope.build_index(home / "infonce", data, tmp_path / "index")


def test_a_job_that_was_killed_goes_on_where_it_was(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoding, "BLOCK", 16)
    done: list[int] = []
    plain = encoding._encoded

    def counted(*given: object) -> object:
        if len(done) == 7:
            raise KeyboardInterrupt
        done.append(len(given[2]))  # type: ignore[arg-type]
        return plain(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(encoding, "_encoded", counted)
    with pytest.raises(KeyboardInterrupt):
        trope.build_index(home / "infonce", home / "data", tmp_path / "index")
    assert not (tmp_path / "index").exists()
    assert sum(done) == 7 * 16
    done[:] = [0] * 8
    index = trope.build_index(home / "infonce", home / "data", tmp_path / "index")
    assert sum(done) == 3 * 16  # of ten blocks
    assert [path.name for path in tmp_path.iterdir() if "index" in path.name] == ["index"]
    monkeypatch.setattr(encoding, "_encoded", plain)
    again = trope.build_index(home / "infonce", home / "data", tmp_path / "again")
    assert found(index, "rain") == found(again, "rain")


def test_an_index_that_is_there_is_not_written_over(index: Index, home: Path) -> None:
    with pytest.raises(UsageError, match="exists and is not empty"):
        trope.build_index(home / "infonce", home / "data", index.folder)


@pytest.mark.parametrize("name", ["exact", "faiss"])
def test_engines_find_the_same(home: Path, tmp_path: Path, name: str) -> None:
    index = trope.build_index(home / "pvse", home / "data", tmp_path / name, engine=name, flat=10)
    exact = trope.build_index(home / "pvse", home / "data", tmp_path / "all", engine="exact")
    assert found(index, "rain fog", "image") == found(exact, "rain fog", "image")


def test_pictures_decoded_late_may_be_broken_too(tmp_path: Path, pictured: Path) -> None:
    """A backbone that is trained along decodes pictures while it encodes them."""
    data = tmp_path / "data"
    shutil.copytree(pictured / "data", data)
    known = load_model(pictured / "run")
    plan = replace(known.plan, image=ImageSettings(encoder="tuned"))
    about = {"settings": known.description["settings"]}
    save_model(tmp_path / MODEL, plan.model(0), plan, about)
    (data / "3.png").write_bytes(b"broken")
    done = build(tmp_path / MODEL, trope.open(data), tmp_path / "index")
    assert (done.images, [bad.row for bad in done.failed]) == (39, ["r3"])

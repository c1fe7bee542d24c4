"""What the model has learned from near to an item: others, each under its own name."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

import trope
from trope.index.items import row_of
from trope.web.asked import Asked
from trope.web.service import Places, Service


@pytest.fixture(scope="module")
def twins(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index in which pictures and texts come again, some in a second data set."""
    folder = tmp_path_factory.mktemp("twins")
    for name in ("data", "more"):
        shutil.copytree(home / "data", folder / name)
    path = folder / "more" / "pairs.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for row in rows:
        row["id"] = f"twin-{row['id']}"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    index = trope.build_index(home / "infonce", folder / "data", folder / "index")
    index.add(folder / "more")
    for picture in (folder / "more").glob("*.png"):
        Image.new("RGB", (90, 20)).save(picture)  # other measures than the first
    return folder / "index"


@pytest.fixture(scope="module")
def over(twins: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    made = Service(Places((twins,), marks=tmp_path_factory.mktemp("marks") / "marks.jsonl"))
    yield made
    made.close()


@pytest.mark.parametrize("key", ["image:{}", "text:0:{}", "text:1:{}"])
def test_an_item_is_not_its_own_neighbor(over: Service, key: str) -> None:
    for row in ("r5", "twin-r5", "r9", "twin-r9", "r12"):
        near = over.item(key.format(row)).found.neighbors
        assert near is not None
        assert len(near) == 3
        assert row not in {one.id for one in near}


def test_neighbors_have_the_key_and_the_picture_of_their_own(over: Service) -> None:
    hits = over.search(Asked(q=("flute drum",), find="text", explain=True, k=40)).hits
    near = {one.key: one for hit in hits for one in hit.neighbors or ()}
    assert {key.split(":")[1] for key in near} == {"0", "1"}
    for key, one in near.items():
        known = over.item(key).found
        assert (known.id, known.text) == (one.id, one.text)
        assert one.picture == known.picture
        assert one.picture is not None
        assert one.picture.width == (90 if one.id.startswith("twin-") else 40)


def test_documents_name_neighbors(twins: Path) -> None:
    document = trope.open_index(twins).search("rain", find="text", k=5, explain=True).document()
    for hit in document["hits"]:  # type: ignore[attr-defined]
        for one in hit["neighbors"]:
            assert row_of(one["key"]) == one["id"] != hit["id"]
            assert Path(one["data"]).name == ("more" if one["id"].startswith("twin-") else "data")


def test_the_row_of_a_key() -> None:
    keys = {"image:a:b": "a:b", "text:2:a:b": "a:b", "image:text:1:x": "text:1:x"}
    assert {key: row_of(key) for key in keys} == keys

"""What cannot be answered can be changed: the words and filters of the question stay."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient

WORDS = 'name="q" value="rain"'


@pytest.mark.parametrize("path", ["/", "/compare"])
@pytest.mark.parametrize(
    ("asked", "stays"),
    [
        ({"where": "nocolumn = 1"}, ['name="where" value="nocolumn = 1"', WORDS]),
        ({"from.year": "soon"}, ['name="from.year" value="soon"', WORDS]),
        ({"f": "nocolumn:a", "find": "text"}, ['value="text" checked', WORDS]),
        ({"image": "0" * 32}, [WORDS]),
    ],
)
def test_what_was_asked_stays(
    client: TestClient, path: str, asked: dict[str, str], stays: list[str]
) -> None:
    found = client.get(path, params={"q": "rain"} | asked)
    assert found.status_code in (400, 404)
    for part in stays:
        assert part in found.text


def test_the_index_stays_if_there_is_one(client: TestClient) -> None:
    wrong = {"q": "rain", "where": "nocolumn = 1"}
    chosen = 'name="index" value="1" checked'
    assert chosen in client.get("/", params=wrong | {"index": "1"}).text
    missing = client.get("/", params=wrong | {"index": "7"})
    assert (missing.status_code, WORDS in missing.text) == (404, True)


@pytest.mark.parametrize(
    "asked", [{"image": "0" * 32, "minus": "snow"}, {"page": "x"}, {"item": "image:nobody"}]
)
def test_what_makes_no_sense_without_it_goes(client: TestClient, asked: dict[str, str]) -> None:
    for path in ("/", "/compare"):
        found = client.get(path, params=asked)
        assert found.status_code in (400, 404)
        assert "That cannot be" in found.text
        assert 'name="image" value' not in found.text
        assert 'name="item" value' not in found.text


def test_nothing_is_not_ordered(client: TestClient) -> None:
    found = client.get("/", params={"q": "rain", "f": "section:neither"}).text
    assert "0 pictures that pass</p>" in found


@pytest.mark.parametrize("path", ["/", "/compare"])
@pytest.mark.parametrize(
    ("wrong", "status"), [({"q": "?"}, 400), ({"q": "rain", "from.year": "soon"}, 400)]
)
def test_a_picture_that_is_kept_stays(
    client: TestClient, home: Path, path: str, wrong: dict[str, str], status: int
) -> None:
    sent = (home / "data" / "7.png").read_bytes()
    told = client.post("/api/v1/images", content=sent, headers={"content-type": "image/png"})
    digest = told.json()["digest"]
    found = client.get(path, params=wrong | {"image": digest})
    assert (found.status_code, "That cannot be" in found.text) == (status, True)
    assert f'name="image" value="{digest}"' in found.text  # the next search has it, too
    assert f'<img src="/api/v1/images/{digest}"' in found.text


def test_an_item_that_is_there_stays(client: TestClient) -> None:
    found = client.get("/", params={"item": "image:r5", "from.year": "soon"})
    assert found.status_code == 400
    assert 'name="item" value="image:r5"' in found.text
    assert "like this picture" in found.text

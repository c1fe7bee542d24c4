"""Searches, items, facets and comparisons through the API."""

from __future__ import annotations

import re
import time
from pathlib import Path
from urllib.parse import parse_qsl

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient
from web_samples import SCRIPT

import trope
from trope.errors import UsageError
from trope.index.filters import mask
from trope.web.asked import Asked
from trope.web.choices import chosen
from trope.web.dates import dated
from trope.web.facets import Facet, Facets, FacetValue
from trope.web.pages.urls import choice, read, said
from trope.web.parameters import facets
from trope.web.service import Service

API = "/api/v1"


def test_words_find_what_the_index_finds(client: TestClient, home: Path) -> None:
    found = client.get(f"{API}/search", params={"q": "flute drum", "k": 5}).json()
    known = trope.open_index(home / "infonce-index").search("flute drum", k=5)
    assert [hit["id"] for hit in found["hits"]] == [hit.id for hit in known]
    assert [hit["score"] for hit in found["hits"]] == pytest.approx([hit.score for hit in known])
    assert found["find"] == "image"
    assert found["total"] == 48
    assert found["more"]


def test_several_words_are_averaged_and_subtracted(service: Service, home: Path) -> None:
    asked = Asked(q=("rain", "red"), minus=("apple",), k=6)
    known = trope.open_index(home / "infonce-index").search(["rain", "red"], minus="apple", k=6)
    assert [hit.id for hit in service.search(asked).hits] == [hit.id for hit in known]


def test_pages_follow_each_other(client: TestClient) -> None:
    parts = [
        client.get(f"{API}/search", params={"q": "rain", "k": 20, "page": page}).json()
        for page in (1, 2, 3, 4)
    ]
    keys = [hit["key"] for part in parts for hit in part["hits"]]
    ranks = [hit["rank"] for part in parts for hit in part["hits"]]
    assert len(set(keys)) == 48
    assert ranks == list(range(1, 49))
    assert [part["more"] for part in parts] == [True, True, False, False]


def test_nothing_asked_is_browsing(client: TestClient) -> None:
    first, again = (client.get(f"{API}/search", params={"k": 7}).json() for _ in range(2))
    assert [hit["key"] for hit in first["hits"]] == [hit["key"] for hit in again["hits"]]
    assert all(hit["score"] is None for hit in first["hits"])
    rest = client.get(f"{API}/search", params={"k": 7, "page": 2}).json()
    assert not {h["key"] for h in first["hits"]} & {h["key"] for h in rest["hits"]}


@pytest.mark.parametrize(
    ("chosen", "passes"),
    [
        ("labels:topic2", lambda row: "topic2" in row["labels"]),
        ("section:even", lambda row: row["columns"]["section"] == "even"),
        ("color:true", lambda row: row["columns"]["color"]),
        ("year:2010..2019", lambda row: 2010 <= row["columns"]["year"] <= 2019),
        ("year:..2003", lambda row: row["columns"]["year"] <= 2003),
        ("year:2005", lambda row: row["columns"]["year"] == 2005),
        ("taken:2010-01-01..2012-12-31", lambda row: "2010" <= row["columns"]["taken"] < "2013"),
        ("taken:..2003-03-12", lambda row: row["columns"]["taken"] < "2003-03-13"),
        ("taken:2022..", lambda row: row["columns"]["taken"] >= "2022"),
        ("taken:2004-03-12", lambda row: row["columns"]["taken"] == "2004-03-12"),
    ],
)
@pytest.mark.parametrize("words", ["", "rain"])
def test_facets_filter(client: TestClient, chosen: str, passes: object, words: str) -> None:
    found = client.get(f"{API}/search", params={"q": words, "f": chosen, "k": 50}).json()
    everything = client.get(f"{API}/search", params={"k": 50}).json()["hits"]
    assert {hit["key"] for hit in found["hits"]} == {h["key"] for h in everything if passes(h)}  # type: ignore[operator]
    assert found["total"] == len(found["hits"]) > 0


@pytest.mark.parametrize("empty", ["", " "])
def test_a_filter_left_empty_in_the_form_is_none(client: TestClient, empty: str) -> None:
    found = client.get(f"{API}/search", params={"q": "rain", "where": empty, "k": 50}).json()
    plain = client.get(f"{API}/search", params={"q": "rain", "k": 50}).json()
    assert found["total"] == plain["total"] == len(found["hits"])


def test_facets_of_columns_all_count_and_values_of_one_are_alternatives(
    client: TestClient,
) -> None:
    asked = {"f": ["labels:topic1", "labels:topic2", "section:odd"], "k": 50}
    found = client.get(f"{API}/search", params=asked).json()["hits"]
    assert {label for hit in found for label in hit["labels"]} == {"topic2"}
    assert {hit["columns"]["section"] for hit in found} == {"odd"}


def test_facets_of_an_index(client: TestClient) -> None:
    known = {one["column"]: one for one in client.get(f"{API}/facets").json()["columns"]}
    assert known["labels"]["values"][0] == {"value": "topic0", "count": 13}
    assert (known["year"]["low"], known["year"]["high"]) == ("1990", "2047")
    assert known["section"]["kind"] == "choice"
    assert known["color"]["kind"] == "flag"
    assert known["taken"]["kind"] == "date"
    assert (known["taken"]["low"], known["taken"]["high"]) == ("2000-03-12", "2023-03-12T10:30:00")
    assert known["taken"]["missing"] == 1
    assert not {"id", "text", "image", "more", "trope.key"} & known.keys()


def test_a_menu_says_that_there_are_more_values(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "most frequent of" not in client.get("/").text
    values = tuple(FacetValue(f"value {number}", 3) for number in range(60))
    known = Facets((Facet("maker", "choice", values, 1_204),), 9_000)
    monkeypatch.setattr(Service, "facets", lambda *_: known)
    assert "The 60 most frequent of 1,204 values." in client.get("/").text


@pytest.mark.parametrize(
    ("texts", "dates"),
    [
        (["2007-03-12", "2009-12-31"], 2),
        (["2007-03-12T08:30", "2007-03-12 08:30:15.25Z", "2009-01-01T00:00:00+02:00"], 3),
        (["2007-03-12", None, "", "2009-12-31"], 2),
        (["2007-03-12", "about 1900"], None),
        (["2007-13-12", "2007-03-12"], None),
        (["2007-03-12x", "2007-03-12"], None),
        (["1234", "5678"], None),
        (["", None], None),
        ([], None),
    ],
)
def test_text_is_dates_where_all_of_it_is(texts: list[str | None], dates: int | None) -> None:
    found = dated(pa.chunked_array([pa.array(texts, pa.string())]))
    assert (None if found is None else len(found)) == dates


def test_an_open_range_of_dates_leaves_out_what_has_none() -> None:
    schema = pa.schema([("taken", pa.string())])
    where = chosen({"taken": ("..2009",)}, None, schema, ["taken"])
    table = pa.table({"taken": ["", None, "2009-12-31T08:00", "2010-01-01"]}, schema)
    assert where is not None
    assert mask(where, table).tolist() == [False, False, True, False]


def test_ranges_of_dates_are_asked_for_on_the_page(client: TestClient) -> None:
    told = client.get("/").text
    assert 'name="from.taken" value="" placeholder="2000-03-12"' in told
    assert 'name="to.taken" value="" placeholder="2023-03-12"' in told
    asked = {"from.taken": "2010-01-01", "to.taken": "2012-12-31"}
    assert "6 pictures that pass" in client.get("/", params=asked).text


def test_columns_that_most_rows_have_come_first_and_none_is_left_unsaid(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    short, long = (FacetValue("a", 1),), (FacetValue("word " * 20, 1),)
    rare = [Facet(f"rare{number}", "choice", short, 1, missing=160) for number in range(15)]
    full = [Facet(f"full{number}", "choice", short, 1, missing=2) for number in range(7)]
    known = Facets((*rare, *full, Facet("told", "choice", long, 1)), 161)
    monkeypatch.setattr(Service, "facets", lambda *_: known)
    told = client.get("/", params={"f": "rare9:a"}).text
    menus = re.findall(r'<details class="menu.*?</details>', told, re.S)
    assert [re.findall(r"<summary>(\w+)", menu)[0] for menu in menus] == [
        *(f"full{number}" for number in range(7)),
        "rare0",
        "more",
        "less",
    ]
    assert re.findall(r'class="named">(\w+)<', menus[8]) == [f"rare{n}" for n in range(1, 13)]
    assert "<summary>more: rare9" in menus[8]
    assert "3 columns of long texts" in menus[8]


def test_a_column_name_may_have_a_colon() -> None:
    assert facets([r"dc\:type:a:b", "x:1", "x:2", "empty:"]) == {
        "dc:type": ("a:b",),
        "x": ("1", "2"),
    }


@pytest.mark.parametrize(
    ("asked", "status", "says"),
    [
        ({"q": "rain", "where": "yaer > 2"}, 400, "did you mean 'year'"),
        ({"q": "rain", "where": "year >"}, 400, "expected a value"),
        ({"q": "rain", "f": "nowhere:1"}, 400, "no column 'nowhere'"),
        ({"q": "rain", "f": "year:soon"}, 400, "holds numbers"),
        ({"q": "rain", "f": "year:2_000"}, 400, "holds numbers"),
        ({"q": "rain", "f": "taken:soon..2020-01-01"}, 400, "holds dates, such as 2020-12-31"),
        ({"q": "rain", "f": "taken:.."}, 400, "a range without ends"),
        ({"q": "rain", "f": "year:٢٠٠٠"}, 400, "holds numbers"),
        ({"q": "rain", "f": "labels=topic1"}, 400, "column:value, not 'labels=topic1'"),
        ({"q": "rain", "f": ":topic1"}, 400, "column:value, not ':topic1'"),
        ({"q": "rain", "f": "year:nan..2020"}, 400, "holds numbers, not 'nan'"),
        ({"q": "rain", "f": "year:nan"}, 400, "holds numbers, not 'nan'"),
        ({"q": "rain", "f": "year:2000..inf"}, 400, "not 'inf'; leave out an end that is open"),
        ({"q": "rain", "f": "year:-1e999..2000"}, 400, "not '-1e999'; leave out an end"),
        ({"q": "rain", "where": "year < 1e999"}, 400, "a number below 1e308"),
        ({"q": "rain", "where": "section contains 'od'"}, 400, "found by searching for them"),
        ({"q": "rain", "k": 0}, 422, "greater than or equal to 1"),
        ({"q": "rain", "k": 100, "page": 11}, 400, "at most 1,000 hits"),
        ({"q": "x" * 2_001}, 400, "2,000 characters"),
        ({"minus": "rain"}, 400, "nothing to subtract from"),
        ({"image": "0" * 32}, 404, "send it again"),
        ({"image": "../../etc/passwd"}, 422, "image"),
        ({"item": "image:nobody"}, 404, "no item 'image:nobody'"),
        ({"item": "r1"}, 404, "no item 'r1'"),
        ({"item": "image:r1", "q": "rain"}, 400, "not with both"),
        ({"q": "rain", "index": 2}, 422, "index"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(
    client: TestClient, asked: dict[str, object], status: int, says: str
) -> None:
    found = client.get(f"{API}/search", params=asked)  # type: ignore[arg-type]
    assert found.status_code == status
    assert says in found.json()["error"]
    assert "\n" not in found.json()["error"]


def test_more_like_this_leaves_the_row_itself_out(client: TestClient) -> None:
    for like, find in (("picture", "image"), ("meaning", "text")):
        asked = {"item": "text:1:r5", "like": like, "k": 10}
        found = client.get(f"{API}/search", params=asked).json()
        assert found["find"] == find
        assert "r5" not in {hit["id"] for hit in found["hits"]}
        assert [hit["rank"] for hit in found["hits"]] == list(range(1, 11))
        assert {hit["modality"] for hit in found["hits"]} == {find}


def test_an_item_has_its_row_and_what_is_like_it(client: TestClient) -> None:
    item = client.get(f"{API}/items/image:r6").json()
    assert item["found"]["license"] == "CC0"
    assert item["found"]["columns"]["more"] == {"deep": [6]}
    assert [text["key"] for text in item["texts"]] == ["text:0:r6", "text:1:r6"]
    assert len(item["same_picture"]) == len(item["same_meaning"]) == 12
    assert len(item["found"]["neighbors"]) == 3
    told = client.get(f"{API}/items/text:0:told").json()
    assert told["found"]["picture"] is None
    assert told["same_picture"] is None
    assert len(told["same_meaning"]) == 12


def test_texts_come_through_as_they_are(client: TestClient) -> None:
    found = client.get(f"{API}/items/text:0:r4")
    assert found.headers["content-type"] == "application/json"
    assert found.json()["found"]["text"] == SCRIPT


def test_why_a_hit_was_found(client: TestClient) -> None:
    asked = {"q": "rain", "explain": True, "index": 1, "k": 3}
    for hit in client.get(f"{API}/search", params=asked).json()["hits"]:  # type: ignore[arg-type]
        assert set(hit["senses"]) == {"query", "item"}
        assert all(near["key"].startswith("image:") for near in hit["neighbors"])


def test_two_indexes_side_by_side(client: TestClient) -> None:
    both = client.get(f"{API}/compare", params={"q": "rain", "k": 10}).json()
    ranks = [{hit["key"]: hit["rank"] for hit in both[side]["hits"]} for side in ("left", "right")]
    assert {one["key"] for one in both["differences"]} == ranks[0].keys() | ranks[1].keys()
    for one in both["differences"]:
        left, right = (side.get(one["key"]) for side in ranks)
        assert (one["left"], one["right"]) == (left, right)
        if left is None or right is None:
            assert one["change"] == ("only right" if left is None else "only left")
        else:
            assert one["change"] == ("same" if left == right else "up" if right < left else "down")
    shared = len(ranks[0].keys() & ranks[1].keys())
    assert both["overlap"] == pytest.approx(shared / len(both["differences"]))


def test_words_the_model_does_not_know_are_remarked(client: TestClient) -> None:
    for words, told in (("zzzz", ["the model knows no word of 'zzzz'"]), ("zzzz rain", [])):
        remarks = client.get(f"{API}/search", params={"q": words}).json()["remarks"]
        assert [remark.partition(":")[0] for remark in remarks] == told
    assert "The model knows no word of" in client.get("/?q=zzzz").text


def test_queries_are_encoded_once(service: Service) -> None:
    kept = service.collections[0].embedder.kept
    service.search(Asked(q=("green harp",)))
    before = kept.misses
    service.search(Asked(q=("green harp",), page=2))
    assert kept.misses == before


def test_what_is_asked_is_bounded() -> None:
    with pytest.raises(UsageError, match="at most 8 texts"):
        Asked(q=("a",) * 9)
    with pytest.raises(UsageError, match="at most 20 columns"):
        Asked(facets={str(i): ("a",) for i in range(21)})
    with pytest.raises(UsageError, match="at most 100 values"):
        Asked(facets={"a": ("b",) * 101})


@pytest.mark.parametrize(
    ("pair", "column", "value"),
    [
        (r"title:a\:b", "title", r"a\:b"),
        (r"a\\:b", "a\\", "b"),
        (r"dc\:type:a\\:b", "dc:type", r"a\\:b"),
        (r"a\b:c", r"a\b", "c"),
        ("a:b\nc", "a", "b\nc"),
    ],
)
def test_only_columns_are_escaped(pair: str, column: str, value: str) -> None:
    assert facets([pair]) == {column: (value,)}


def test_values_come_back_as_urls_say_them() -> None:
    asked = Asked(facets={"dc:type": (r"a\:b", ":", "\\")})
    assert read(parse_qsl(said(asked)[1:])).facets == asked.facets


def test_pairs_are_read_at_once() -> None:
    started = time.monotonic()
    for many in (100_001, 100_000):
        with pytest.raises(UsageError, match="column:value"):
            facets(["\\" * many])
    assert time.monotonic() - started < 5


@given(
    column=st.text(alphabet="ab:\\ é", min_size=1, max_size=6),
    value=st.text(alphabet="ab:\\. é", min_size=1, max_size=6),
)
def test_what_a_page_writes_of_a_filter_is_read_as_it_was(column: str, value: str) -> None:
    assert facets([choice(column, value)]) == {column: (value,)}

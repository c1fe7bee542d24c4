"""Pages go as far as there is something on them, and no further."""

from __future__ import annotations

from unittest.mock import Mock

import pyarrow as pa
from starlette.testclient import TestClient

from trope.index import Engine
from trope.index.filters.tree import In
from trope.web.asked import Asked
from trope.web.browsing import Browsing
from trope.web.pages import urls
from trope.web.service import Service


def test_the_last_pages_of_both_can_be_asked_for(client: TestClient) -> None:
    for page in (41, 42, 83):
        found = client.get("/", params={"q": "rain", "find": "both", "page": page})
        assert found.status_code == 200
        assert f"page={page - 1}" in found.text
    assert client.get("/", params={"find": "both", "page": 84}).status_code == 400
    found = client.get("/item/image:r5?q=rain&find=both&page=60")
    assert found.status_code == 200


def test_a_link_leads_beyond_page_41() -> None:
    asked = urls.read([("find", "both"), ("page", "41")])
    assert "page=42" in urls.write("/", asked, page=42)


def test_both_are_gone_through(service: Service) -> None:
    seen = []
    for page in range(1, 20):
        answer = service.search(Asked(find="both", k=10, page=page))
        assert answer.total == 145
        seen += [hit.key for hit in answer.hits]
        assert answer.more == (page < 15)
        if not answer.more:
            break
    assert len(set(seen)) == len(seen) == 145
    assert {key.partition(":")[0] for key in seen[:30]} == {"image", "text"}


def test_more_like_this_does_not_count_the_row_itself(service: Service) -> None:
    first = service.search(Asked(item="image:r5", k=47))
    assert (len(first.hits), first.more, first.total) == (47, False, 47)
    some = service.search(Asked(item="image:r5", k=46))
    assert (some.more, len(service.search(Asked(item="image:r5", k=46, page=2)).hits)) == (True, 1)
    texts = service.search(Asked(item="text:0:r5", like="meaning", k=95))
    assert (len(texts.hits), texts.more, texts.total) == (95, False, 95)
    other = service.search(Asked(item="image:r5", where="id != 'r5'", k=47))
    assert (len(other.hits), other.more, other.total) == (47, False, 47)


def test_a_server_is_asked_once_for_what_is_gone_through() -> None:
    engine = Mock(spec=Engine, schema=pa.schema([("id", pa.string())]))
    engine.find.return_value = [f"image:r{row}" for row in range(2_000)]
    browsing = Browsing(engine)
    first = browsing.keys("image", None)
    assert len(set(first)) == len(first) == 1_000
    assert browsing.keys("image", None) == first
    assert engine.find.call_count == 1
    browsing.keys("image", In("id", ("r1",)))
    assert engine.find.call_count == 2
    assert [call.args[1:] for call in engine.find.call_args_list] == [(1_000,)] * 2

"""Of an index on a server no more is fetched than is shown."""

from __future__ import annotations

from collections import Counter
from typing import Any
from unittest.mock import Mock

import numpy as np
import pyarrow as pa
import pytest
from starlette.testclient import TestClient

from trope.index import Engine
from trope.index.items import Items
from trope.web import facets, points
from trope.web.drawing import drawn
from trope.web.facets import Facet, Facets, FacetValue
from trope.web.service import Service

COUNTS = {"image": 300, "text": 700}
SAMPLED = "As found in 1,234 rows drawn by chance"


@pytest.fixture
def server() -> Any:
    """An engine elsewhere, that notes how much is fetched from it."""
    engine = Mock(spec=Engine, fetched=0)
    engine.count.side_effect = COUNTS.__getitem__

    def find(where: Any, most: int | None = None) -> list[str]:
        count = COUNTS[where.value] if most is None else min(most, COUNTS[where.value])
        engine.fetched += count
        start = "image" if where.value == "image" else "text:0"
        return [f"{start}:r{row}" for row in range(count)]

    def get(keys: list[str]) -> Items:
        ids = [key.rpartition(":")[2] for key in keys]
        rows = pa.table({"id": ids, "kind": [f"kind {int(one[1:]) % 2}" for one in ids]})
        return Items(np.ones((len(keys), 1, 4), np.float32), rows)

    engine.find.side_effect, engine.get.side_effect = find, get
    return engine


@pytest.mark.parametrize(
    ("most", "images", "texts"), [(100, 30, 70), (1_000, 300, 700), (5_000, 300, 700), (3, 0, 2)]
)
def test_each_modality_has_its_share(server: Any, most: int, images: int, texts: int) -> None:
    keys = drawn(server, most)
    assert Counter(key.partition(":")[0] for key in keys) == +Counter(image=images, text=texts)
    assert server.fetched == len(keys) == len(set(keys))


def test_an_empty_server_has_nothing(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server.count, "side_effect", lambda _: 0)
    assert drawn(server, 10) == []


def test_filters_are_those_of_a_sample(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not facets.facets(server).sampled
    server.fetched = 0
    monkeypatch.setattr(facets, "SAMPLE", 100)
    found = facets.facets(server)
    assert server.fetched == 100
    assert (found.sampled, found.rows) == (True, 70)  # of 30 rows both sides were drawn
    assert [one.count for one in found.columns[0].values] == [35, 35]


def test_a_map_is_that_of_a_sample(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(points, "MOST", 100)
    keys, vectors = points._sampled(server)
    assert server.fetched == len(keys) == len(vectors) == 100


@pytest.mark.parametrize("path", ["/", "/?q=rain", "/compare?q=rain"])
@pytest.mark.parametrize("sampled", [True, False])
def test_the_page_says_so(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, path: str, sampled: bool
) -> None:
    values = tuple(FacetValue(value, 2) for value in ("odd", "even"))
    known = Facets((Facet("section", "choice", values, 2),), 1_234, sampled)
    monkeypatch.setattr(Service, "facets", lambda *_: known)
    assert (SAMPLED in client.get(path).text) == sampled

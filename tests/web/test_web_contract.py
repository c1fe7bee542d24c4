"""The description of the API is true: schemathesis asks whatever it allows, and what it forbids."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import positive_data_acceptance
from web_samples import served

from trope.web.service import Service
from trope.web.settings import ServeSettings

EXAMPLES = 60  # of each operation and mode
ASKING = (
    "GET /api/v1/search",
    "GET /api/v1/compare",
    "GET /api/v1/items/{key}",
    "GET /api/v1/facets",
    "GET /api/v1/map",
    "GET /api/v1/pictures/{key}",
    "GET /api/v1/images/{digest}",
    "PUT /api/v1/marks/{key}",
    "GET /api/v1/marks/export",
    "GET /api/v1/explain/{name}",
)
PLAIN = (  # nothing that can be sent to them is outside the description
    "POST /api/v1/images",
    "GET /api/v1/indexes",
    "GET /api/v1/marks",
    "GET /api/v1/explain",
    "GET /healthz",
    "GET /metrics",
)
MODES = [
    *((name, mode) for name in ASKING for mode in GenerationMode),
    *((name, GenerationMode.POSITIVE) for name in PLAIN),
]

# What is within the description may be refused all the same: a filter is a language of its own,
# keys and digests name what is there, words and an item exclude each other. Then it must be refused
# in the way described, which the other checks see to.
UNSAID = [positive_data_acceptance]


@pytest.fixture(scope="module")
def description(service: Service) -> Iterator[schemathesis.BaseSchema]:
    """What a real server says about itself."""
    with served(service, ServeSettings(port=0, rate=0.0)) as chosen:
        yield schemathesis.openapi.from_url(f"{chosen.url}api/v1/openapi.json")


def test_every_operation_is_described(description: schemathesis.BaseSchema) -> None:
    found = [one.ok().label for one in description.get_all_operations()]
    assert sorted(found) == sorted([*ASKING, *PLAIN])


@pytest.mark.parametrize(("name", "mode"), MODES)
def test_answers_are_as_described(
    description: schemathesis.BaseSchema, name: str, mode: GenerationMode
) -> None:
    method, path = name.split(" ")
    cases = description[path][method].as_strategy(generation_mode=mode)

    @given(cases)
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=True,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def ask(case: schemathesis.Case) -> None:
        case.call_and_validate(excluded_checks=UNSAID, timeout=20)

    ask()

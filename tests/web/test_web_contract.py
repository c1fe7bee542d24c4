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

# The server's threads are of this process: what they draw changes its random state meanwhile.
pytestmark = pytest.mark.filterwarnings("ignore:Do not use the `random` module inside strategies")

EXAMPLES, FEW = 60, 5  # of each operation and mode
TOKEN = "a-long-enough-token"
KNOWN = {"Authorization": f"Bearer {TOKEN}"}
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
    _asked(description, name, mode, EXAMPLES, {})


@pytest.fixture(scope="module")
def secret(service: Service) -> Iterator[schemathesis.BaseSchema]:
    """The same of a server that asks for a token."""
    with served(service, ServeSettings(port=0, rate=0.0, token=TOKEN)) as chosen:
        yield schemathesis.openapi.from_url(f"{chosen.url}api/v1/openapi.json", headers=KNOWN)


@pytest.mark.parametrize("name", [*ASKING, *PLAIN])
def test_answers_are_as_described_with_a_token(secret: schemathesis.BaseSchema, name: str) -> None:
    _asked(secret, name, GenerationMode.POSITIVE, FEW, KNOWN)


def test_a_token_is_described_where_it_is_needed(
    description: schemathesis.BaseSchema, secret: schemathesis.BaseSchema
) -> None:
    assert "securitySchemes" not in description.raw_schema["components"]
    kinds = secret.raw_schema["components"]["securitySchemes"]
    assert kinds == {"HTTPBearer": {"type": "http", "scheme": "bearer"}}
    for path, methods in secret.raw_schema["paths"].items():
        for told in methods.values():
            assert ("security" in told) == (path != "/healthz")
            assert {"401", "421", "429", "500"} <= set(told["responses"])


def _asked(
    description: schemathesis.BaseSchema,
    name: str,
    mode: GenerationMode,
    examples: int,
    headers: dict[str, str],
) -> None:
    method, path = name.split(" ")
    cases = description[path][method].as_strategy(generation_mode=mode)

    @given(cases)
    @settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def ask(case: schemathesis.Case) -> None:
        case.call_and_validate(excluded_checks=UNSAID, timeout=20, headers=headers)

    ask()

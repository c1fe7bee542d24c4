"""Who may ask, from where, how often; and what a browser is told."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

import pytest
from starlette.testclient import TestClient

from trope.errors import UsageError
from trope.web.app import application
from trope.web.guards.hosts import hostname
from trope.web.guards.rates import cost
from trope.web.guards.tokens import sealed
from trope.web.service import Service
from trope.web.settings import ServeSettings

API = "/api/v1"
TOKEN = "a-long-enough-token"


@pytest.fixture
def guarded(service: Service) -> Iterator[TestClient]:
    """An application that asks for a token."""
    app = application(service, ServeSettings(rate=0.0, token=TOKEN))
    with TestClient(app, "http://127.0.0.1", follow_redirects=False) as made:
        yield made


@pytest.mark.parametrize("path", ["/healthz", f"{API}/search?q=rain", f"{API}/nowhere", "/"])
def test_every_answer_says_what_a_browser_may_do(client: TestClient, path: str) -> None:
    headers = client.get(path).headers
    policy = dict(part.split(" ", 1) for part in headers["content-security-policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert "unsafe" not in headers["content-security-policy"]
    assert "http" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "server" not in headers


def test_static_files_are_kept_and_asked_for_by_their_tag(client: TestClient) -> None:
    first = client.get("/static/base.css")
    assert first.headers["cache-control"] == "no-cache"
    again = client.get("/static/base.css", headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.headers["cache-control"]) == (304, "no-cache")
    assert client.get(f"{API}/indexes").headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "", "127.0.0.2", "a b"],
)
def test_other_hosts_are_not_answered(client: TestClient, host: str) -> None:
    assert client.get(f"{API}/indexes", headers={"host": host}).status_code == 421


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:8600", "LOCALHOST", "[::1]:80"])
def test_own_hosts_are(client: TestClient, host: str) -> None:
    assert client.get(f"{API}/indexes", headers={"host": host}).status_code == 200


def test_hosts_can_be_allowed(service: Service) -> None:
    settings = ServeSettings(rate=0.0, host="0.0.0.0", hosts=("archive.example",))
    with TestClient(application(service, settings), "http://archive.example") as client:
        assert client.get("/healthz").status_code == 200
        assert client.get("/healthz", headers={"host": "0.0.0.0"}).status_code == 421


@pytest.mark.parametrize("name", ["MyBox.local", "mybox.local", "mybox.local."])
def test_names_of_hosts_have_no_case(service: Service, name: str) -> None:
    settings = ServeSettings(rate=0.0, hosts=(name,))
    with TestClient(application(service, settings), "http://127.0.0.1") as client:
        asked = [
            client.get("/healthz", headers={"host": h}) for h in ("mybox.local", "MyBox.LOCAL:9")
        ]
        assert [one.status_code for one in asked] == [200, 200]


@pytest.mark.parametrize(
    ("bound", "host", "answered"),
    [
        ("0.0.0.0", "192.168.1.20", True),
        ("0.0.0.0", "[fe80::1]", True),
        ("::", "192.168.1.20", True),
        ("::", "[2001:db8::1]", True),
        ("0.0.0.0", "0.0.0.0", False),
        ("::", "[::]", False),
        ("0.0.0.0", "192.168.1.20.evil.example", False),
        ("0.0.0.0", "evil.example", False),
        ("192.168.1.20", "192.168.1.20", True),
        ("192.168.1.20", "192.168.1.21", False),
        ("127.0.0.1", "192.168.1.20", False),
    ],
)
def test_addresses_are_answered_where_all_are_served(bound: str, host: str, answered: bool) -> None:
    assert ServeSettings(host=bound).answers(host) == answered


def test_hosts_lose_their_port() -> None:
    assert [hostname(h) for h in ("a:1", "A.", "[::1]", "[::1]:9", "a")] == [
        "a",
        "a",
        "[::1]",
        "[::1]",
        "a",
    ]


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"origin": "http://127.0.0.1:9"},
    ],
)
def test_pages_of_other_sites_change_nothing(
    client: TestClient, headers: dict[str, str], service: Service
) -> None:
    found = client.put(f"{API}/marks/image:r1", json={"verdict": "flag"}, headers=headers)
    assert found.status_code == 403
    assert service.marks().get("image:r1") is None


def test_own_pages_do(client: TestClient, service: Service) -> None:
    own = {"origin": "http://127.0.0.1", "sec-fetch-site": "same-origin"}
    for verdict in ("keep", None):
        found = client.put(f"{API}/marks/image:r1", json={"verdict": verdict}, headers=own)
        assert found.status_code == 200
        assert service.marks().get("image:r1") == verdict


@pytest.mark.parametrize(
    "path", [f"{API}/search?q=rain", f"{API}/pictures/image:r1", "/metrics", "/", "/api/v1/marks"]
)
def test_nothing_without_the_token(guarded: TestClient, path: str) -> None:
    assert guarded.get(path, headers={"accept": "*/*"}).status_code == 401
    wrong = {"authorization": "Bearer wrong", "accept": "*/*"}
    assert guarded.get(path, headers=wrong).status_code == 401
    assert guarded.get(path, headers={"cookie": f"trope={TOKEN}"}).status_code == 401
    known = guarded.get(path, headers={"authorization": f"Bearer {TOKEN}"})
    assert known.status_code != 401


def test_people_log_in_by_a_form(guarded: TestClient) -> None:
    sent = guarded.get("/", headers={"accept": "text/html"})
    assert (sent.status_code, sent.headers["location"]) == (303, "/login")
    form = guarded.get("/login")
    assert form.status_code == 200
    assert TOKEN not in form.text
    wrong = guarded.post("/login", data={"token": "nonsense"})
    assert wrong.status_code == 403
    assert "not the token" in wrong.text
    right = guarded.post("/login", data={"token": TOKEN})
    assert (right.status_code, right.headers["location"]) == (303, "/")
    cookie = right.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert TOKEN not in cookie
    assert guarded.get(f"{API}/indexes").status_code == 200  # the client keeps the cookie


def test_after_the_form_comes_the_page_that_was_asked_for(guarded: TestClient) -> None:
    page = "/item/image:r1?q=rain+%26+snow&f=a%3Ab"
    sent = guarded.get(page, headers={"accept": "text/html"}).headers["location"]
    assert sent.startswith("/login?next=/item/")
    action = unescape(guarded.get(sent).text.split('action="')[1].split('"')[0])
    wrong = guarded.post(action, data={"token": "nonsense"})
    assert unescape(wrong.text.split('action="')[1].split('"')[0]) == action
    right = guarded.post(action, data={"token": TOKEN})
    assert (right.status_code, right.headers["location"]) == (303, page)


@pytest.mark.parametrize(
    "place",
    [
        "//evil.example",
        "/\\evil.example",
        "http://evil.example",
        "/\t/evil.example",
        "\\\\evil.example",
        "javascript:alert(1)",
        "evil",
        "",
        "/ä",
        "/" + "a" * 2_000,
    ],
)
def test_nobody_is_led_elsewhere(guarded: TestClient, place: str) -> None:
    form = guarded.get("/login", params={"next": place})
    assert 'action="/login"' in form.text
    right = guarded.post("/login", params={"next": place}, data={"token": TOKEN})
    assert right.headers["location"] == "/"


def test_a_place_cannot_leave_the_form(guarded: TestClient) -> None:
    form = guarded.get("/login", params={"next": '/"><script>alert(1)</script>{said}'})
    assert form.status_code == 200
    assert "<script" not in form.text


def test_all_of_a_token_counts() -> None:
    assert sealed("x" * 64 + "1") != sealed("x" * 64 + "2")
    assert sealed("x" * 64) == sealed("x" * 64)


def test_the_icon_needs_no_token(guarded: TestClient) -> None:
    found = guarded.get("/favicon.ico", follow_redirects=True)
    assert (found.status_code, found.headers["content-type"]) == (200, "image/svg+xml")


def test_the_pulse_needs_no_token(guarded: TestClient) -> None:
    assert guarded.get("/healthz").json()["status"] == "ok"


@pytest.mark.parametrize("token", ["short", "x" * 1_001, "with space in it", "ümlaut-token"])
def test_tokens_must_be_sound(token: str) -> None:
    with pytest.raises(UsageError, match="token"):
        ServeSettings(token=token)


def test_who_asks_too_often_has_to_wait(service: Service) -> None:
    settings = ServeSettings(rate=0.5, burst=5.0)
    with TestClient(application(service, settings), "http://127.0.0.1") as client:
        found = [client.get(f"{API}/indexes") for _ in range(8)]
        assert [one.status_code for one in found] == [200] * 5 + [429] * 3
        assert 1 <= int(found[-1].headers["retry-after"]) <= 2
        assert client.get("/healthz").status_code == 200  # the pulse is never refused
        assert "trope_requests_refused_total 3" in _metrics(client, service)


def _metrics(client: TestClient, service: Service) -> str:
    import time

    time.sleep(2.2)
    return client.get("/metrics").text


def test_tokens_cannot_be_guessed_quickly(service: Service) -> None:
    settings = ServeSettings(rate=1.0, burst=50.0, token=TOKEN)
    with TestClient(application(service, settings), "http://127.0.0.1") as client:
        found = [client.post("/login", data={"token": "x"}).status_code for _ in range(4)]
        assert found == [403, 403, 429, 429]


@pytest.mark.parametrize("path", ["/", "/api/v1/pictures/image:r1", "/healthzX", "/staticX"])
@pytest.mark.parametrize(
    "wrong",
    [{"authorization": "Bearer wrong"}, {"cookie": "trope=wrong"}],
    ids=["header", "cookie"],
)
def test_a_wrong_token_is_dear_wherever_it_is_tried(
    service: Service, path: str, wrong: dict[str, str]
) -> None:
    settings = ServeSettings(rate=0.001, burst=50.0, token=TOKEN)
    with TestClient(application(service, settings), "http://127.0.0.1") as client:
        found = [client.get(path, headers=wrong).status_code for _ in range(4)]
        assert found == [401, 401, 401, 429]
        assert client.get("/healthz").status_code == 200


def test_who_gives_no_token_has_not_guessed(service: Service) -> None:
    settings = ServeSettings(rate=0.001, burst=50.0, token=TOKEN)
    with TestClient(application(service, settings), "http://127.0.0.1") as client:
        assert [client.get("/").status_code for _ in range(10)] == [401] * 10


def test_only_the_pulse_and_static_files_cost_little() -> None:
    paths = ("/healthz", "/healthzX", "/healthz/", "/static/a.css", "/staticX", "/api/v1/search")
    prices = [cost({"method": "GET", "path": path}) for path in paths]
    assert prices == [0.0, 1.0, 1.0, 0.05, 1.0, 1.0]


def test_a_page_of_sixty_pictures_is_not_too_much(service: Service) -> None:
    known = {"authorization": f"Bearer {TOKEN}"}
    with TestClient(application(service, ServeSettings(token=TOKEN)), "http://127.0.0.1") as client:
        for _ in range(5):  # somebody who turns pages quickly
            paths = ["/", "/static/base.css"]
            paths += [f"{API}/pictures/image:r{row % 3}?size=256" for row in range(60)]
            found = {client.get(path, headers=known).status_code for path in paths}
            assert found == {200}


def test_the_description_loads_nothing_from_elsewhere(client: TestClient) -> None:
    assert client.get("/docs").status_code == 404
    assert client.get("/redoc").status_code == 404
    assert client.get(f"{API}/openapi.json").json()["info"]["title"] == "Trope"


def test_errors_tell_nothing_about_the_machine(
    client: TestClient, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("/home/somebody/secret")

    monkeypatch.setattr(Service, "facets", broken)
    found = client.get(f"{API}/facets")
    assert found.status_code == 500
    assert found.json() == {"error": "defect in trope; the server's log has the details"}


def test_hits_do_not_tell_where_the_data_is(client: TestClient, home: object) -> None:
    for path in (f"{API}/search?q=rain&explain=true", f"{API}/items/image:r1", f"{API}/indexes"):
        assert str(home) not in client.get(path).text


def test_metrics_are_well_formed(client: TestClient) -> None:
    client.get(f"{API}/search", params={"q": "rain"})
    client.get(f"{API}/items/image:r1")
    text = client.get("/metrics").text
    line = re.compile(r'[a-z_]+(\{([a-z]+="[^"\n]*",?)+\})? [0-9.e+-]+')
    assert all(line.fullmatch(one) for one in text.splitlines() if not one.startswith("#"))
    assert 'trope_requests_total{route="/api/v1/search",method="GET",status="200"} 1' in text
    assert 'route="/api/v1/items/{key:path}"' in text
    assert "image:r1" not in text
    assert 'trope_items{index="0",modality="image"} 48' in text
    buckets = re.findall(r'seconds_bucket\{route="/api/v1/search",le="[^"]+"\} (\d+)', text)
    assert list(map(int, buckets)) == sorted(map(int, buckets))

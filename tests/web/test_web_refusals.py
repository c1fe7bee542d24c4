"""What is refused is told as JSON to programs, and on a page to people."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from trope.web.app import application
from trope.web.guards.replies import reply
from trope.web.service import Service
from trope.web.settings import ServeSettings

PERSON = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
FILE = {"image": ("a.png", b"\0" * 3_000, "image/png")}


@pytest.mark.parametrize(
    ("limits", "method", "path", "more", "status", "says"),
    [
        ({"body": 1_000}, "POST", "/image", {"files": FILE}, 413, "The picture is too large"),
        ({}, "POST", "/image", {"data": {"image": "x"}}, 422, "image"),
        ({}, "POST", "/explain/mark", {}, 422, "Field required"),
        ({}, "GET", "/static/none.css", {}, 404, "Not Found"),
        ({"rate": 0.001, "burst": 0.5}, "GET", "/", {}, 429, "too many requests"),
        ({}, "GET", "/", {"headers": {"host": "evil.example"}}, 421, "unknown host"),
    ],
)
def test_people_see_a_page(
    service: Service,
    limits: dict[str, Any],
    method: str,
    path: str,
    more: dict[str, Any],
    status: int,
    says: str,
) -> None:
    app = application(service, ServeSettings(**({"rate": 0.0} | limits)))
    headers = more.get("headers", {})
    with TestClient(app, "http://127.0.0.1") as client:
        shown = client.request(method, path, **(more | {"headers": headers | PERSON}))
        told = client.request(method, path, **(more | {"headers": headers | {"accept": "*/*"}}))
    assert (shown.status_code, told.status_code) == (status, status)
    assert shown.headers["content-type"] == "text/html; charset=utf-8"
    assert '<div id="found"' in shown.text
    assert says in shown.text
    assert says in told.json()["error"]


def test_programs_read_json_whatever_they_accept(client: TestClient) -> None:
    for path in ("/api/v1/nowhere", "/api/v1/search?k=0", "/api/v1/items/image:nobody"):
        found = client.get(path, headers=PERSON)
        assert list(found.json()) == ["error"]


def test_what_is_told_is_escaped() -> None:
    scope = {"path": "/", "headers": [(b"accept", b"text/html")]}
    page = bytes(reply(scope, 400, "<script>{why}").body).decode()
    assert "&lt;script&gt;{why}" in page
    assert "<script" not in page


@pytest.mark.parametrize("files", [{"image": ("", b"", "application/octet-stream")}, None])
def test_a_form_without_a_picture_says_what_to_do(client: TestClient, files: Any) -> None:
    found = client.post("/image", files=files, headers=PERSON)
    assert found.status_code == 422
    assert "Choose a picture first." in found.text
    assert '<header class="site' in found.text

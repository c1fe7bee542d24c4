"""How much may be sent: by route, and by all clients together."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from starlette.exceptions import HTTPException
from starlette.testclient import TestClient
from starlette.types import Message, Receive, Scope, Send

from trope.web.app import application
from trope.web.guards.bodies import Bodies
from trope.web.service import Service
from trope.web.settings import ServeSettings

FORM = {"content-type": "application/x-www-form-urlencoded"}


@pytest.fixture
def guarded(service: Service) -> Iterator[TestClient]:
    """An application that asks for a token, of a client that does not know it."""
    app = application(service, ServeSettings(rate=0.0, token="a-long-enough-token"))
    with TestClient(app, "http://127.0.0.1") as made:
        yield made


@pytest.mark.parametrize("whole", [True, False], ids=["length", "chunks"])
def test_the_form_for_the_token_is_small(guarded: TestClient, whole: bool) -> None:
    large = b"token=" + b"%41" * 2_000
    sent = large if whole else iter([large[:3_000], large[3_000:]])
    assert guarded.post("/login", content=sent, headers=FORM).status_code == 413
    assert guarded.post("/login", content=b"token=%41", headers=FORM).status_code == 403


@pytest.mark.parametrize(
    ("method", "path", "kind"),
    [
        ("POST", "/explain/mark", "application/x-www-form-urlencoded"),
        ("POST", "/explain/mark", "multipart/form-data; boundary=x"),
        ("PUT", "/api/v1/marks/image:r1", "image/png"),
        ("PUT", "/api/v1/images", "image/png"),
        ("POST", "/api/v1/imagesX", "image/png"),
    ],
)
def test_only_pictures_are_large(client: TestClient, method: str, path: str, kind: str) -> None:
    sent = client.request(method, path, content=b"a" * 70_000, headers={"content-type": kind})
    assert sent.status_code == 413


@pytest.mark.parametrize(
    ("kind", "size", "status", "says"),
    [
        ("image/png", 22 * 2**20, 413, "at most 20 MiB"),
        ("image/svg+xml", 10, 415, "JPEG, PNG, WebP, GIF, TIFF, BMP, AVIF and JPEG 2000"),
    ],
)
def test_why_a_picture_is_refused_is_told_to_people(
    client: TestClient, kind: str, size: int, status: int, says: str
) -> None:
    sent = client.post("/api/v1/images", content=b"a" * size, headers={"content-type": kind})
    assert sent.status_code == status
    assert says in sent.json()["error"]
    assert "image/" not in sent.json()["error"]


def test_a_form_may_send_a_picture(client: TestClient) -> None:
    sent = client.post("/image", files={"image": ("a.png", b"\0" * 100_000, "image/png")})
    assert sent.status_code == 422  # no picture, but let in


class Slow:
    """Reads what is sent, and answers when it is told to."""

    def __init__(self) -> None:
        self.go, self.read = asyncio.Event(), 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        self.read += 1
        await self.go.wait()


async def _sent(guard: Bodies, size: int) -> None:
    async def receive() -> Message:
        return {"type": "http.request", "body": b"a" * size, "more_body": False}

    async def send(message: Message) -> None:
        pytest.fail("the slow application does not answer")

    scope = {"type": "http", "method": "POST", "path": "/image", "headers": []}
    await guard(scope, receive, send)


def test_all_that_is_sent_at_once_is_bounded() -> None:
    async def run() -> None:
        slow = Slow()
        guard = Bodies(slow, ServeSettings(json=1_000, held=100_000))
        waiting = [asyncio.create_task(_sent(guard, size)) for size in (60_000, 40_000)]
        await asyncio.sleep(0)
        with pytest.raises(HTTPException) as refused:
            await _sent(guard, 2_000)
        assert refused.value.status_code == 503
        waiting.append(asyncio.create_task(_sent(guard, 1_000)))  # the small are let in
        await asyncio.sleep(0)
        assert slow.read == 3
        slow.go.set()
        await asyncio.gather(*waiting)
        await _sent(guard, 100_000)  # nothing is held any more

    asyncio.run(run())

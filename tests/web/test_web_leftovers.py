"""Who sends everything before reading is answered all the same, within bounds."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from starlette.types import Message
from web_samples import served, spoken

from trope.web import server
from trope.web.guards import leftovers
from trope.web.service import Service
from trope.web.settings import ServeSettings

LARGE = 20 * 2**20  # more than any buffer between the two takes
HEAD = b"POST /api/v1/images HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: image/png\r\n"
ALL = b"Connection: close\r\nContent-Length: %d\r\n\r\n" % LARGE + bytes(LARGE)
TOKEN = "a-long-enough-token"


@pytest.mark.parametrize(
    ("limits", "head", "status"),
    [
        ({"token": TOKEN}, HEAD, 401),
        ({}, HEAD + b"Origin: http://evil.example\r\n", 403),
        ({}, HEAD.replace(b"image/png", b"text/html"), 415),
        ({}, HEAD.replace(b"127.0.0.1", b"evil.example"), 421),
        ({"rate": 0.001, "burst": 1.0}, HEAD, 429),
        ({"json": 2 * LARGE}, HEAD.replace(b"POST", b"PUT"), 405),
        ({"held": 100_000}, HEAD, 503),
        ({"each": 0}, HEAD, 503),
        ({"connections": 0}, HEAD, 503),
    ],
    ids=["token", "origin", "type", "host", "rate", "method", "held", "of one address", "of all"],
)
def test_an_early_answer_is_seen(
    service: Service, limits: dict[str, float], head: bytes, status: int
) -> None:
    settings = ServeSettings(**({"port": 0, "rate": 0.0} | limits))  # type: ignore[arg-type]
    with served(service, settings) as chosen:
        assert spoken(chosen.port, head + ALL).startswith(b"HTTP/1.1 %d" % status)


def test_a_line_goes_on_once_all_is_read(service: Service) -> None:
    sent = HEAD + b"Content-Length: 6\r\n\r\n" + bytes(6)
    asked = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
    with served(service, ServeSettings(port=0, rate=0.0, token=TOKEN)) as chosen:
        found = spoken(chosen.port, sent + asked)
    assert found.startswith(b"HTTP/1.1 401")
    assert found.count(b"HTTP/1.1 200") == 1


def test_few_without_room_are_heard_out(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "AWAY", 4)
    with served(service, ServeSettings(port=0, each=0)) as chosen, ExitStack() as opened:
        first, second = (opened.enter_context(_line(chosen.port)) for _ in range(2))
        assert [line.recv(12) for line in (first, second)] == [b"HTTP/1.1 503"] * 2
        first.sendall(bytes(LARGE))
        with pytest.raises(OSError, match=r"reset|pipe"):
            second.sendall(bytes(LARGE))


def test_who_has_no_room_is_not_heard_for_long(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "HEARD", 0.2)
    with served(service, ServeSettings(port=0, each=0)) as chosen, _line(chosen.port) as line:
        time.sleep(1)
        with pytest.raises(OSError, match=r"reset|pipe"):
            line.sendall(bytes(LARGE))


def _line(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=20)


@pytest.fixture(scope="module")
def small(service: Service) -> Iterator[int]:
    """The port of a server that takes little."""
    with served(service, ServeSettings(port=0, rate=0.0, body=100_000)) as chosen:
        yield chosen.port


@pytest.mark.parametrize("whole", [True, False], ids=["length", "chunks"])
def test_who_reads_after_sending_all_is_told_that_it_is_too_much(small: int, whole: bool) -> None:
    length = b"Connection: close\r\nContent-Length: %d\r\n\r\n" % LARGE
    chunks = b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n" % LARGE
    sent = (
        HEAD + (length if whole else chunks) + bytes(LARGE) + (b"" if whole else b"\r\n0\r\n\r\n")
    )
    assert spoken(small, sent).startswith(b"HTTP/1.1 413")


def test_who_asks_before_sending_is_told_at_once(small: int) -> None:
    asked = b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % LARGE
    assert spoken(small, HEAD + asked).startswith(b"HTTP/1.1 413")


def test_who_waits_for_the_answer_gets_it(small: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leftovers, "PAUSE", 0.1)
    sent = HEAD + b"Content-Length: %d\r\n\r\n" % LARGE + bytes(1_000)
    assert spoken(small, sent).startswith(b"HTTP/1.1 413")


def test_what_is_dropped_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leftovers, "DROPPED", 10_000)
    read = []

    async def receive() -> Message:
        read.append(1_000)
        return {"type": "http.request", "body": b"a" * 1_000, "more_body": True}

    asyncio.run(leftovers.drop(receive, 10.0))
    assert sum(read) == 10_000


def test_what_is_dropped_takes_no_longer_than_a_request() -> None:
    started = time.monotonic()

    async def receive() -> Message:
        assert time.monotonic() - started < 5, "read on and on"
        await asyncio.sleep(0.001)
        return {"type": "http.request", "body": b"a", "more_body": True}

    async def run() -> list[bool]:
        return await asyncio.gather(*(leftovers.drop(receive, 0.1) for _ in range(20)))

    assert asyncio.run(run()) == [True] * 20

"""How much a request may bring and how long it may take, whatever its headers say."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from trope.web.guards.replies import header, refuse
from trope.web.settings import ServeSettings

CLOSE = {"Connection": "close"}
PICTURES = frozenset(["/image", "/api/v1/images"])  # where they are sent to
DROPPED = 64 * 2**20  # bytes that are read of what is too large, after which the line is cut
PAUSE = 2.0  # seconds without any, after which the client is taken to wait for the answer
LOGIN, FORM = "/login", 4 * 2**10  # bytes of what anyone may send


class Bodies:
    """Counts what comes in, and ends what takes too long."""

    def __init__(self, app: ASGIApp, settings: ServeSettings) -> None:
        self._app, self._settings = app, settings
        self._held = 0  # bytes of all requests that are being answered

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on within bounds."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        most = self._most(scope)
        length = header(scope, b"content-length")
        if length.isdecimal() and int(length) > most:
            if not header(scope, b"expect"):  # who asks before sending has sent nothing yet
                await drop(receive, self._settings.seconds)
            await refuse(scope, receive, send, 413, _large(most), CLOSE)
            return
        body = _Body(self, receive, most, self._settings.seconds)
        try:
            await self._timed(scope, body.received, send)
        finally:
            self._held -= body.count

    def hold(self, size: int, count: int) -> None:
        """Count what one request brings; what is small is always let in."""
        self._held += size
        if count > self._settings.json and self._held > self._settings.held:
            told = CLOSE | {"Retry-After": "5"}
            raise HTTPException(503, "too much is being sent; send it again later", told)

    async def _timed(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = False

        async def sent(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            async with asyncio.timeout(self._settings.seconds):
                await self._app(scope, receive, sent)
        except TimeoutError:
            if not started:
                await refuse(scope, receive, send, 408, "the request took too long", CLOSE)

    def _most(self, scope: Scope) -> int:
        if scope["path"] == LOGIN:
            return FORM
        picture = scope["method"] == "POST" and scope["path"] in PICTURES
        return self._settings.body if picture else self._settings.json


class _Body:
    """What one request has brought so far."""

    def __init__(self, bodies: Bodies, receive: Receive, most: int, seconds: float) -> None:
        self._bodies, self._receive, self._most = bodies, receive, most
        self._seconds, self.count = seconds, 0

    async def received(self) -> Message:
        """The next part, within bounds."""
        message = await self._receive()
        size = len(message.get("body", b""))
        self.count += size
        self._bodies.hold(size, self.count)
        if self.count > self._most:
            if message.get("more_body"):
                await drop(self._receive, self._seconds)
            raise HTTPException(413, _large(self._most), CLOSE)
        return message


async def drop(receive: Receive, seconds: float) -> None:
    """Read on for a while and keep nothing.

    A connection that is closed with more to be read is reset: a client that sends everything before
    it reads would never see the answer.
    """
    left, more = DROPPED, True
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while more and left > 0:
                message = await asyncio.wait_for(receive(), PAUSE)
                left -= len(message.get("body", b""))
                more = message.get("more_body", False)


def _large(most: int) -> str:
    return f"the request brings more than {most:,} bytes"

"""How much a request may bring and how long it may take, whatever its headers say."""

from __future__ import annotations

import asyncio

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from trope.web.guards.replies import header, refuse
from trope.web.settings import ServeSettings
from trope.web.uploads import BYTES

CLOSE = {"Connection": "close"}
PICTURES = frozenset(["/image", "/api/v1/images"])  # where they are sent to
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
            await refuse(scope, receive, send, 413, self._large(most))
            return
        body = _Body(self, receive, most, self._large(most))
        try:
            await self._timed(scope, body.received, send)
        finally:
            self._held -= body.count

    def hold(self, size: int, count: int) -> None:
        """Count what one request brings; what is small is always let in."""
        self._held += size
        if count > self._settings.json and self._held > self._settings.held:
            told = "too much is being sent; send it again later"
            raise HTTPException(503, told, {"Retry-After": "5"})

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

    def _large(self, most: int) -> str:
        """In words; of what a picture comes in a little may be something else."""
        if most == self._settings.body:
            return f"The picture is too large: it may have at most {BYTES >> 20} MiB."
        return f"the request brings more than {most >> 10} KiB"

    def _most(self, scope: Scope) -> int:
        if scope["path"] == LOGIN:
            return FORM
        picture = scope["method"] == "POST" and scope["path"] in PICTURES
        return self._settings.body if picture else self._settings.json


class _Body:
    """What one request has brought so far."""

    def __init__(self, bodies: Bodies, receive: Receive, most: int, large: str) -> None:
        self._bodies, self._receive, self._most, self._large = bodies, receive, most, large
        self.count = 0

    async def received(self) -> Message:
        """The next part, within bounds."""
        message = await self._receive()
        size = len(message.get("body", b""))
        self.count += size
        self._bodies.hold(size, self.count)
        if self.count > self._most:
            raise HTTPException(413, self._large)
        return message

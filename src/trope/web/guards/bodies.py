"""How much a request may bring and how long it may take, whatever its headers say."""

from __future__ import annotations

import asyncio

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from trope.web.guards.replies import header, refuse
from trope.web.settings import ServeSettings

CLOSE = {"Connection": "close"}


class Bodies:
    """Counts what comes in, and ends what takes too long."""

    def __init__(self, app: ASGIApp, settings: ServeSettings) -> None:
        self._app, self._settings = app, settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on within bounds."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        most, started = self._most(scope), False

        async def sent(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        length = header(scope, b"content-length")
        if length.isdecimal() and int(length) > most:
            await refuse(scope, receive, send, 413, _large(most), CLOSE)
            return
        try:
            async with asyncio.timeout(self._settings.seconds):
                await self._app(scope, _bounded(receive, most), sent)
        except TimeoutError:
            if not started:
                await refuse(scope, receive, send, 408, "the request took too long", CLOSE)

    def _most(self, scope: Scope) -> int:
        kind = header(scope, b"content-type").partition(";")[0].strip().lower()
        return self._settings.json if kind == "application/json" else self._settings.body


def _large(most: int) -> str:
    return f"the request brings more than {most:,} bytes"


def _bounded(receive: Receive, most: int) -> Receive:
    count = 0

    async def received() -> Message:
        nonlocal count
        message = await receive()
        count += len(message.get("body", b""))
        if count > most:
            raise HTTPException(413, _large(most), CLOSE)
        return message

    return received

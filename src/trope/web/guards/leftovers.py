"""What is left of a request that is answered before all of it has come: read, and dropped.

A connection that is closed with more to be read is reset: a client that sends everything before it
reads would never see the answer.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from time import monotonic

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from trope.web.guards.replies import header

DROPPED = 64 * 2**20  # bytes, after which the line is cut
PAUSE = 2.0  # seconds without any, after which the client is taken to wait for the answer
CLOSE = (b"connection", b"close")


class Leftovers:
    """Lets every answer wait until its request is there, within bounds; beyond, the line is cut."""

    def __init__(self, app: ASGIApp, seconds: float) -> None:
        self._app, self._seconds = app, seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, and before the answer read the rest."""
        if scope["type"] != "http" or not brings(scope):
            await self._app(scope, receive, send)
            return
        asks = bool(header(scope, b"expect"))  # whether it may send: so far it has not
        left, end = True, monotonic() + self._seconds

        async def received() -> Message:
            nonlocal left, asks
            asks = False
            message = await receive()
            left = message.get("more_body", False)
            return message

        async def sent(message: Message) -> None:
            nonlocal left
            if left and message["type"] == "http.response.start":
                if asks or await drop(receive, end - monotonic()):
                    others = [one for one in message["headers"] if one[0].lower() != CLOSE[0]]
                    message["headers"] = [*others, CLOSE]
                left = False
            await send(message)

        await self._app(scope, received, sent)


def brings(scope: Scope) -> bool:
    """Whether something comes with a request."""
    return any(name in (b"content-length", b"transfer-encoding") for name, _ in scope["headers"])


async def drop(receive: Receive, seconds: float) -> bool:
    """Read on for a while and keep nothing; says whether there is more."""
    left, more, end = DROPPED, True, monotonic() + seconds
    with suppress(TimeoutError):
        while more and left > 0 and (time := end - monotonic()) > 0:
            async with asyncio.timeout(min(PAUSE, time)):
                message = await receive()
            left -= len(message.get("body", b""))
            more = message.get("more_body", False)
    return more

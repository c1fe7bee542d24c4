"""Requests whose end can be told in two ways: another server in between may have told another.

What one takes for the body, the other takes for a request of its own (RFC 9112, 6.1).
"""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from trope.web.guards.replies import refuse

CLOSE = {"Connection": "close"}
CODED, LENGTH = b"transfer-encoding", b"content-length"


class Framing:
    """Refuses them, and nothing more is read from their connection."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what has one end."""
        if scope["type"] == "http" and (why := _unclear(scope)):
            await refuse(scope, receive, send, 400, why, CLOSE)
        else:
            await self._app(scope, receive, send)


def _unclear(scope: Scope) -> str:
    names = {name for name, _ in scope["headers"]}
    if CODED not in names:
        return ""
    if LENGTH in names:
        return "the request has a Content-Length and a Transfer-Encoding"
    return "HTTP/1.0 has no Transfer-Encoding" if scope.get("http_version") == "1.0" else ""

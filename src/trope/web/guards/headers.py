"""Headers that keep a browser from doing more than showing the page."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' blob: data:",
        "connect-src 'self'",
        "font-src 'self'",
        "manifest-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    ]
)
HEADERS = {
    b"content-security-policy": POLICY.encode(),
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"same-origin",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"permissions-policy": b"camera=(), geolocation=(), microphone=()",
    b"x-frame-options": b"DENY",
}


class Headers:
    """Adds them to every answer; what is not said to be kept is not kept.

    Static files are, and asked for again by their tag: a new version is seen at once.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, and add."""
        static = scope["type"] == "http" and scope["path"].startswith("/static/")
        more = HEADERS | {b"cache-control": b"no-cache" if static else b"no-store"}

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {name.lower() for name, _ in message["headers"]}
                added = [(name, value) for name, value in more.items() if name not in given]
                message["headers"] = [*message["headers"], *added]
            await send(message)

        await self._app(scope, receive, sent if scope["type"] == "http" else send)

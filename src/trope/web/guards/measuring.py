"""Counts and times of requests."""

from __future__ import annotations

from time import perf_counter

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from trope.web.metrics import Metrics


class Measuring:
    """Notes each answer: which route, which status, how long it took."""

    def __init__(self, app: ASGIApp, metrics: Metrics, prefix: str) -> None:
        self._app, self._metrics, self._prefix = app, metrics, prefix

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, and count."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status, started = 500, perf_counter()

        async def sent(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        self._metrics.running += 1
        try:
            await self._app(scope, receive, sent)
        finally:
            self._metrics.running -= 1
            route, seconds = self._route(scope), perf_counter() - started
            self._metrics.note(route, scope["method"], status, seconds)

    def _route(self, scope: Scope) -> str:
        """The route's own path, never what was asked: one name for all items."""
        path = str(getattr(scope.get("route"), "path", "other"))
        nested = scope["path"].startswith(self._prefix) and not path.startswith(self._prefix)
        return f"{self._prefix}{path}" if nested and path != "other" else path

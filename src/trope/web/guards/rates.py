"""How much one address may ask for."""

from __future__ import annotations

import math

from starlette.types import ASGIApp, Receive, Scope, Send

from trope.web.guards.buckets import Buckets
from trope.web.guards.replies import refuse
from trope.web.metrics import Metrics

PULSE = "/healthz"
COSTS = {"/static/": 0.05, "/api/v1/pictures/": 0.1, "/api/v1/images/": 0.1}
SENT = {"/login": 20.0, "/image": 5.0, "/api/v1/images": 5.0}  # a token must not be guessed


class Rates:
    """Refuses who asks for more than their share, with the time after which to ask again."""

    def __init__(self, app: ASGIApp, buckets: Buckets, metrics: Metrics) -> None:
        self._app, self._buckets, self._metrics = app, buckets, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what there is enough left for."""
        wait = self._buckets.take(scope, cost(scope)) if scope["type"] == "http" else 0.0
        if wait:
            self._metrics.refused += 1
            told = {"Retry-After": str(math.ceil(wait))}
            await refuse(scope, receive, send, 429, "too many requests; ask again later", told)
        else:
            await self._app(scope, receive, send)


def cost(scope: Scope) -> float:
    """What a request takes, in searches; the pulse nothing, so that it is never refused."""
    path = scope["path"]
    if path == PULSE:
        return 0.0
    if scope["method"] == "POST" and path in SENT:
        return SENT[path]
    return next((price for start, price in COSTS.items() if path.startswith(start)), 1.0)

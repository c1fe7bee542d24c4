"""How much one address may ask for: a bucket each, that fills as time goes by."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from starlette.types import ASGIApp, Receive, Scope, Send

from trope.recent import Recent
from trope.web.guards.replies import refuse
from trope.web.metrics import Metrics
from trope.web.settings import ServeSettings

ADDRESSES = 10_000
COSTS = {"/healthz": 0.0, "/static": 0.05, "/api/v1/pictures": 0.1, "/api/v1/images": 0.1}
SENT = {"/login": 20.0, "/image": 5.0, "/api/v1/images": 5.0}  # a token must not be guessed


@dataclass
class Bucket:
    """What an address has left, and when that was counted."""

    left: float
    seen: float


class Rates:
    """Refuses who asks for more than their share, with the time after which to ask again."""

    def __init__(
        self,
        app: ASGIApp,
        settings: ServeSettings,
        metrics: Metrics,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._app, self._metrics, self._clock = app, metrics, clock
        self._rate, self._burst = settings.rate, settings.burst
        self._buckets: Recent[str, Bucket] = Recent(ADDRESSES)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what there is enough left for."""
        wait = self._taken(scope) if scope["type"] == "http" and self._rate else 0.0
        if wait:
            self._metrics.refused += 1
            told = {"Retry-After": str(math.ceil(wait))}
            await refuse(scope, receive, send, 429, "too many requests; ask again later", told)
        else:
            await self._app(scope, receive, send)

    def _taken(self, scope: Scope) -> float:
        """Take the cost of a request; the seconds to wait where there is not enough."""
        now, address = self._clock(), (scope.get("client") or ("",))[0]
        bucket = self._buckets.get(address)
        if bucket is None:
            bucket = self._buckets.put(address, Bucket(self._burst, now))
        bucket.left = min(self._burst, bucket.left + (now - bucket.seen) * self._rate)
        bucket.seen, price = now, cost(scope)
        if bucket.left < price:
            return (price - bucket.left) / self._rate
        bucket.left -= price
        return 0.0


def cost(scope: Scope) -> float:
    """What a request takes, in searches."""
    path = scope["path"]
    if scope["method"] == "POST" and path in SENT:
        return SENT[path]
    return next((price for start, price in COSTS.items() if path.startswith(start)), 1.0)

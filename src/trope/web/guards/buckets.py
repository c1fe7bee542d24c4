"""What each address has left: a bucket each, that fills as time goes by."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from starlette.types import Scope

from trope.recent import Recent
from trope.web.settings import ServeSettings

ADDRESSES = 10_000


@dataclass
class Bucket:
    """What an address has left, and when that was counted."""

    left: float
    seen: float


class Buckets:
    """Of all addresses; a `rate` of 0 takes nothing."""

    def __init__(
        self, settings: ServeSettings, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rate, self._burst, self._clock = settings.rate, settings.burst, clock
        self._known: Recent[str, Bucket] = Recent(ADDRESSES)

    def take(self, scope: Scope, price: float) -> float:
        """Take a price; where there is not enough, nothing but the seconds to wait."""
        if not self._rate or not price:
            return 0.0
        bucket = self._filled(scope)
        if bucket.left < price:
            return (price - bucket.left) / self._rate
        bucket.left -= price
        return 0.0

    def fine(self, scope: Scope, price: float) -> None:
        """Take a price whether there is enough or not."""
        if self._rate:
            self._filled(scope).left -= price

    def _filled(self, scope: Scope) -> Bucket:
        now, address = self._clock(), (scope.get("client") or ("",))[0]
        bucket = self._known.get(address)
        if bucket is None:
            bucket = self._known.put(address, Bucket(self._burst, now))
        bucket.left = min(self._burst, bucket.left + (now - bucket.seen) * self._rate)
        bucket.seen = now
        return bucket

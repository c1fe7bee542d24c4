"""Whether the server lives, and how it does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import APIRouter
from fastapi.params import Depends
from fastapi.responses import PlainTextResponse, Response

from trope.runtime import version
from trope.web.api.replies import WATCHED, written
from trope.web.metrics import Metrics
from trope.web.refusals import GoneError
from trope.web.service import Service


@dataclass(frozen=True)
class Health:
    """Alive, with so many items."""

    status: str
    version: str
    items: int


def monitoring(service: Service, metrics: Metrics, known: Sequence[Depends] = ()) -> APIRouter:
    """The routes, which have no version; `known` is asked for all but the pulse."""
    routes = APIRouter(tags=["monitoring"], responses=WATCHED)

    @routes.get("/healthz", response_model=Health)
    async def health() -> Response:
        """Alive, and the indexes are there; answered at once, however many wait for a thread."""
        about = service.about()
        if gone := service.gone():
            names = ", ".join(one.name for one in about if one.number in gone)
            raise GoneError(f"removed while it is served: {names}")
        items = sum(one.images + one.texts for one in about)
        return written(Health("ok", version(), items))

    @routes.get("/metrics", response_class=PlainTextResponse, dependencies=known)
    def measures() -> Response:
        """Counts and times, for Prometheus."""
        return PlainTextResponse(
            metrics.text(service), media_type="text/plain; version=0.0.4; charset=utf-8"
        )

    return routes

"""The application: the API, the pages, static files, and what guards them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio.to_thread
from fastapi import FastAPI, Security
from fastapi.security import HTTPBearer
from fastapi.staticfiles import StaticFiles
from starlette.types import ASGIApp

from trope.runtime import cores, version
from trope.web.api import PREFIX, api, monitoring
from trope.web.errors import explain_errors
from trope.web.guards.bodies import Bodies
from trope.web.guards.buckets import Buckets
from trope.web.guards.framing import Framing
from trope.web.guards.headers import Headers
from trope.web.guards.hosts import Hosts
from trope.web.guards.leftovers import Leftovers
from trope.web.guards.measuring import Measuring
from trope.web.guards.rates import Rates
from trope.web.guards.tokens import Tokens
from trope.web.login import login
from trope.web.metrics import Metrics
from trope.web.pages import pages
from trope.web.service import Service
from trope.web.settings import ServeSettings

STATIC = Path(__file__).parent / "static"
OPENAPI = f"{PREFIX}/openapi.json"


def application(service: Service, settings: ServeSettings | None = None) -> ASGIApp:
    """Everything, guarded: from the outside in, the measures come first and the pages last."""
    settings, metrics = settings or ServeSettings(), Metrics()
    buckets = Buckets(settings)
    made: ASGIApp = routes(service, metrics, settings)
    made = Bodies(made, settings)
    if settings.token:
        made = Tokens(made, settings.token, buckets)
    made = Rates(made, buckets, metrics)
    made = Hosts(made, settings)
    made = Framing(made)
    made = Headers(made)
    made = Leftovers(made, settings.seconds)
    return Measuring(made, metrics, PREFIX)


def routes(service: Service, metrics: Metrics, settings: ServeSettings) -> FastAPI:
    """The API and the pages."""
    app = FastAPI(
        title="Trope",
        summary="Search among pictures and texts.",
        version=version(),
        openapi_url=OPENAPI,
        docs_url=None,  # both would load scripts from elsewhere
        redoc_url=None,
        lifespan=_lifespan,
    )
    # `Tokens` checks it, before anything is read; here it is described
    known = [Security(HTTPBearer(auto_error=False))] if settings.token else []
    app.include_router(api(service), dependencies=known)
    app.include_router(monitoring(service, metrics, known))
    if settings.token:
        app.include_router(login(settings.token))
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    app.include_router(pages(service))
    explain_errors(app)
    return app


@asynccontextmanager
async def _lifespan(_: FastAPI) -> AsyncIterator[None]:
    """Fewer threads than a server would take: each may hold a model's answer."""
    anyio.to_thread.current_default_thread_limiter().total_tokens = 2 * cores() + 4
    yield

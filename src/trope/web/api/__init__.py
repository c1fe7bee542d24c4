"""The API: versioned JSON below /api/v1; openapi.json there says what it takes and gives."""

from __future__ import annotations

from fastapi import APIRouter

from trope.web.api import explaining, looking, marking, searching, showing
from trope.web.api.monitoring import monitoring
from trope.web.api.replies import REFUSED
from trope.web.service import Service

__all__ = ["api", "monitoring"]

PREFIX = "/api/v1"


def api(service: Service) -> APIRouter:
    """All routes of this version."""
    router = APIRouter(prefix=PREFIX, responses=REFUSED)
    for part in (searching, looking, showing, marking, explaining):
        router.include_router(part.router(service))
    return router

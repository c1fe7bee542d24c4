"""Searches, and the same search in two indexes."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends
from fastapi.responses import Response

from trope.web.answers import Answer, Comparison
from trope.web.api.replies import written
from trope.web.asked import Asked
from trope.web.parameters import asked
from trope.web.service import Service

Given = Annotated[Asked, Depends(asked)]


def router(service: Service) -> APIRouter:
    """The routes."""
    routes = APIRouter(tags=["search"])

    @routes.get("/search", response_model=Answer)
    def search(given: Given) -> Response:
        """The items most like words, a picture or an item; without any, some items."""
        return written(service.search(given))

    @routes.get("/compare", response_model=Comparison)
    def compare(given: Given) -> Response:
        """The same asked of both indexes; `index` is of no account."""
        return written(service.compare(given))

    return routes

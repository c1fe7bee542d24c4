"""What there is: indexes, items, facets, and the map."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import Response

from trope.web.answers import IndexAbout, Item
from trope.web.api.replies import Key, Number, written
from trope.web.facets import Facets
from trope.web.points import Points
from trope.web.service import Service


def router(service: Service) -> APIRouter:
    """The routes."""
    routes = APIRouter(tags=["items"])
    maps: dict[int, tuple[Points, Response]] = {}  # writing one takes long enough to do it once

    @routes.get("/indexes", response_model=list[IndexAbout])
    def indexes() -> Response:
        """The indexes that are served."""
        return written(service.about())

    @routes.get("/items/{key:path}", response_model=Item)
    def item(key: Key, index: Number = 0) -> Response:
        """An item with its whole row, and what is like it."""
        return written(service.item(key, index))

    @routes.get("/facets", response_model=Facets)
    def facets(index: Number = 0) -> Response:
        """Columns and labels to filter by, with how many rows have each value."""
        return written(service.facets(index))

    @routes.get("/map", response_model=Points)
    def points(index: Number = 0) -> Response:
        """The items in two dimensions; made when first asked for, which takes a while."""
        found = service.map(index)
        if index not in maps or maps[index][0] is not found:
            maps[index] = (found, written(found))
        return maps[index][1]

    return routes

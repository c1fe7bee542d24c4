"""What `trope explain` found, with the rows it speaks of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from fastapi.responses import Response

from trope.web.answers import Found
from trope.web.api.replies import written
from trope.web.explained import Kind
from trope.web.service import Service

SHOWN = 100  # pairs at once, or rows

Name = Annotated[str, Path(max_length=80, description="From the list of explanations.")]


@dataclass(frozen=True)
class Summary:
    """An explanation that there is."""

    name: str
    kind: Kind
    title: str
    rows: int


@dataclass(frozen=True)
class Explanation:
    """A page of a document of `trope explain`, and the rows it names, as far as they are there.

    The document's `pairs` are those of the page; the rest of it comes with every page.
    """

    name: str
    kind: Kind
    title: str
    document: Mapping[str, Any]
    rows: Mapping[str, Found]
    page: int
    more: bool


def router(service: Service) -> APIRouter:
    """The routes."""
    routes = APIRouter(tags=["explain"])

    @routes.get("/explain", response_model=list[Summary])
    def summaries() -> Response:
        """What was explained."""
        pages = service.explain_pages()
        return written([Summary(p.name, p.kind, p.title, len(p.rows)) for p in pages])

    @routes.get("/explain/{name}", response_model=Explanation)
    def explanation(name: Name, page: Annotated[int, Query(ge=1, le=10_000)] = 1) -> Response:
        """An explanation and the rows it names, its pairs a page at a time."""
        found = service.explain_page(name)
        part = found.part(SHOWN * (page - 1), SHOWN)
        rows = service.rows(part.rows)
        about = (name, found.kind, found.title)
        return written(Explanation(*about, part.document, rows, page, part.more))

    return routes

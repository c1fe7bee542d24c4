"""Marks: what to keep, and what is flagged."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from trope.web.answers import Verdict
from trope.web.api.replies import Key, written
from trope.web.marks import LONGEST, Mark
from trope.web.service import Service

FILES = {"jsonl": "application/x-ndjson", "csv": "text/csv; charset=utf-8"}
EXPORTED: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {"application/x-ndjson": {}, "text/csv": {}},
        "description": "A file of marks.",
    }
}


class Decision(BaseModel):
    """What is decided about an item; null takes it back."""

    model_config = ConfigDict(extra="forbid")

    verdict: Verdict | None
    note: str = Field("", max_length=LONGEST)


def router(service: Service) -> APIRouter:
    """The routes."""
    routes = APIRouter(tags=["marks"])

    @routes.get("/marks", response_model=list[Mark])
    def marks() -> Response:
        """All decisions that hold."""
        return written(service.marks().all())

    @routes.put("/marks/{key:path}", response_model=Mark)
    def mark(key: Key, decision: Decision) -> Response:
        """Keep or flag an item, or take that back; it is on disk when this is answered."""
        return written(service.mark(key, decision.verdict, decision.note))

    @routes.get("/marks/export", response_class=Response, responses=EXPORTED)
    def export(
        format: Annotated[
            Literal["jsonl", "csv"], Query(description="The kind of file.")
        ] = "jsonl",
    ) -> Response:
        """All decisions as a file."""
        kept = service.marks()
        content = kept.jsonl() if format == "jsonl" else kept.csv().encode()
        told = {"Content-Disposition": f'attachment; filename="marks.{format}"'}
        return Response(content, media_type=FILES[format], headers=told)

    return routes

"""The pages: made on the server, usable without scripts, and with them changed in place."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote, urlencode

from fastapi import APIRouter, File, Form, Request, Response, UploadFile
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, RedirectResponse

from trope.errors import DataError, TropeError
from trope.web.pages.comparing import compare_page
from trope.web.pages.explaining import explain_page
from trope.web.pages.frame import Frame
from trope.web.pages.items import item_page
from trope.web.pages.searching import search_page
from trope.web.pages.wording import brief
from trope.web.refusals import NotThereError
from trope.web.service import Service
from trope.web.uploads import BYTES

SEE_OTHER = 303


def pages(service: Service) -> APIRouter:
    """Routes of all pages."""
    frame = Frame(service)
    router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)

    @router.get("/")
    def search(request: Request) -> HTMLResponse:
        return search_page(frame, request.query_params.multi_items())

    @router.get("/item/{key:path}")
    def item(key: str, request: Request) -> HTMLResponse:
        return item_page(frame, key, request.query_params.multi_items())

    @router.get("/compare")
    def compare(request: Request) -> HTMLResponse:
        return compare_page(frame, request.query_params.multi_items())

    @router.get("/map")
    def the_map(index: str = "0") -> HTMLResponse:
        return map_page(frame, index)

    @router.get("/explain")
    def explain(request: Request) -> HTMLResponse:
        return explain_page(frame, None, request.query_params.get("from", "0"))

    @router.get("/explain/{name}")
    def explained(name: str, request: Request) -> HTMLResponse:
        return explain_page(frame, name, request.query_params.get("from", "0"))

    _forms(router, frame)

    @router.get("/favicon.ico")
    def icon() -> RedirectResponse:
        return RedirectResponse("/static/favicon.svg")  # for what is no page, and names none

    @router.get("/{name}")
    def unknown(name: str) -> HTMLResponse:
        return frame.error(NotThereError(f"There is no page '/{brief(name, 60)}'."))

    return router


def _forms(router: APIRouter, frame: Frame) -> None:
    """What is sent by forms, for browsers without scripts."""

    @router.post("/image")
    async def image(image: Annotated[UploadFile | None, File()] = None, to: str = "") -> Response:
        try:
            if image is None:
                raise DataError("Choose a picture first.")
            data = await image.read(BYTES + 1)
            kept = await frame.service.upload(data)
        except TropeError as error:
            return await run_in_threadpool(frame.error, error)
        place = "/compare" if to == "compare" else "/"
        return RedirectResponse(f"{place}?{urlencode({'image': kept.digest})}", SEE_OTHER)

    @router.post("/explain/mark")
    def mark(
        key: Annotated[str, Form()],
        page: Annotated[str, Form()],
        verdict: Annotated[str, Form()] = "",
        start: Annotated[str, Form(alias="from")] = "0",
    ) -> Response:
        try:
            if verdict not in ("keep", "flag", ""):
                raise NotThereError("marks: keep or flag")
            frame.service.mark(key, verdict or None)  # type: ignore[arg-type]
        except TropeError as error:
            return frame.error(error)
        query = urlencode({"from": start})
        place = quote(key.partition(":")[2], safe="")
        return RedirectResponse(f"/explain/{quote(page, safe='')}?{query}#row-{place}", SEE_OTHER)


def map_page(frame: Frame, index: str) -> HTMLResponse:
    """The frame of the map; its points come from the API."""
    try:
        about = frame.about(int(index) if index.isascii() and index.isdigit() else -1)
    except TropeError as error:
        return frame.error(error)
    return frame.page(
        "map", ("search", "item", "map"), ("map",), index=about.number, name=about.name
    )

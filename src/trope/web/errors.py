"""Errors as answers: one line, a status that says whose fault it is, no details of the machine."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeAlias

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from trope.errors import DataError, MissingExtra, TropeError, UsageError
from trope.web.refusals import BusyError, NotThereError, TooMuchError

Page: TypeAlias = Callable[[Request, int, str], Response]

STATUS: tuple[tuple[type[TropeError], int], ...] = (
    (NotThereError, 404),
    (TooMuchError, 413),
    (BusyError, 503),
    (MissingExtra, 501),
    (UsageError, 400),
    (DataError, 422),
    (TropeError, 500),
)  # the first that fits


def status_of(error: TropeError) -> int:
    """Whose fault an error is."""
    return next(status for kind, status in STATUS if isinstance(error, kind))


def explain_errors(app: FastAPI, page: Page | None = None) -> None:
    """Answer errors of every kind in one form: JSON, and for people a page where there is one."""

    def refusal(request: Request, status: int, why: str) -> Response:
        people = "text/html" in request.headers.get("accept", "")
        if page is not None and people and not request.url.path.startswith("/api/"):
            return page(request, status, why)
        return JSONResponse({"error": why}, status)

    @app.exception_handler(TropeError)
    def known(request: Request, error: TropeError) -> Response:
        return refusal(request, status_of(error), " ".join(str(error).split()))

    @app.exception_handler(RequestValidationError)
    def wrong(request: Request, error: RequestValidationError) -> Response:
        return refusal(request, 422, "; ".join(_line(one) for one in error.errors()[:5]))

    @app.exception_handler(HTTPException)
    def plain(request: Request, error: HTTPException) -> Response:
        reply = refusal(request, error.status_code, str(error.detail))
        reply.headers.update(error.headers or {})
        return reply

    @app.exception_handler(Exception)
    def defect(request: Request, error: Exception) -> Response:
        logging.getLogger("trope.web").error("defect in trope", exc_info=error)
        return refusal(request, 500, "defect in trope; the server's log has the details")


def _line(problem: dict[str, object]) -> str:
    place = problem.get("loc")
    names = [str(part) for part in place] if isinstance(place, (tuple, list)) else []
    return f"{'.'.join(names[1:]) or 'request'}: {problem.get('msg')}"

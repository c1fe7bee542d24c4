"""Errors as answers: one line, a status that says whose fault it is, no details of the machine."""

from __future__ import annotations

import logging

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from trope.errors import DataError, MissingExtra, TropeError, UsageError
from trope.web.guards.replies import reply
from trope.web.refusals import BusyError, GoneError, NotThereError, TooMuchError, UnsavedError

STATUS: tuple[tuple[type[TropeError], int], ...] = (
    (NotThereError, 404),
    (TooMuchError, 413),
    (BusyError, 503),
    (GoneError, 503),
    (UnsavedError, 507),
    (MissingExtra, 501),
    (UsageError, 400),
    (DataError, 422),
    (TropeError, 500),
)  # the first that fits


def status_of(error: TropeError) -> int:
    """Whose fault an error is."""
    return next(status for kind, status in STATUS if isinstance(error, kind))


def explain_errors(app: FastAPI) -> None:
    """Answer errors of every kind in one form; pages tell those of their own in theirs."""

    @app.exception_handler(TropeError)
    def known(request: Request, error: TropeError) -> Response:
        return reply(request.scope, status_of(error), " ".join(str(error).split()))

    @app.exception_handler(RequestValidationError)
    def wrong(request: Request, error: RequestValidationError) -> Response:
        return reply(request.scope, 422, "; ".join(_line(one) for one in error.errors()[:5]))

    @app.exception_handler(HTTPException)
    def plain(request: Request, error: HTTPException) -> Response:
        return reply(request.scope, error.status_code, str(error.detail), error.headers)

    @app.exception_handler(Exception)
    def defect(request: Request, error: Exception) -> Response:
        logging.getLogger("trope.web").error("defect in trope", exc_info=error)
        return reply(request.scope, 500, "defect in trope; the server's log has the details")


def _line(problem: dict[str, object]) -> str:
    place = problem.get("loc")
    names = [str(part) for part in place] if isinstance(place, (tuple, list)) else []
    return f"{'.'.join(names[1:]) or 'request'}: {problem.get('msg')}"

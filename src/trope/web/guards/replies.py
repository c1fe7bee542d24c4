"""Short answers: why something is refused."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi.responses import HTMLResponse, JSONResponse, Response
from starlette.types import Receive, Scope, Send

from trope.web.plain import refused

PROGRAMS = "/api/"  # who asks for this reads JSON


async def refuse(
    scope: Scope,
    receive: Receive,
    send: Send,
    status: int,
    why: str,
    headers: Mapping[str, str] | None = None,
) -> None:
    """Answer with a status and one line."""
    await reply(scope, status, why, headers)(scope, receive, send)


def reply(
    scope: Scope, status: int, why: str, headers: Mapping[str, str] | None = None
) -> Response:
    """One line as JSON, or as a page where a browser shows it to a person."""
    told = dict(headers or {})
    if "text/html" in header(scope, b"accept") and not scope["path"].startswith(PROGRAMS):
        return HTMLResponse(refused(status, why), status, told)
    return JSONResponse({"error": why}, status, told)


def header(scope: Scope, name: bytes) -> str:
    """The one value of a header; empty where there is none, or more than one."""
    found = [value for key, value in scope["headers"] if key == name]
    return str(found[0].decode("latin-1")) if len(found) == 1 else ""

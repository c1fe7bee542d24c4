"""Short answers of the guards themselves."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi.responses import JSONResponse
from starlette.types import Receive, Scope, Send


async def refuse(
    scope: Scope,
    receive: Receive,
    send: Send,
    status: int,
    why: str,
    headers: Mapping[str, str] | None = None,
) -> None:
    """Answer with a status and one line."""
    response = JSONResponse({"error": why}, status, dict(headers or {}))
    await response(scope, receive, send)


def header(scope: Scope, name: bytes) -> str:
    """The one value of a header; empty where there is none, or more than one."""
    found = [value for key, value in scope["headers"] if key == name]
    return str(found[0].decode("latin-1")) if len(found) == 1 else ""

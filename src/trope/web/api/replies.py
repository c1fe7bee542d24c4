"""What all routes share: how answers are written, and how a request can be refused."""

from __future__ import annotations

import hashlib
from typing import Annotated, Any

import orjson
from fastapi import Path, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel

from trope.web.parameters import LONGEST_KEY

KEEP = "private, max-age=86400"  # where the URL names the state of the index, or the content
ASK = "private, no-cache"


class Refusal(BaseModel):
    """Why a request was not answered."""

    error: str


REFUSED: dict[int | str, dict[str, Any]] = {
    400: {"model": Refusal, "description": "What is asked makes no sense."},
    401: {"model": Refusal, "description": "A token is needed."},
    403: {"model": Refusal, "description": "Sent by a page of another site."},
    404: {"model": Refusal, "description": "There is no such item, picture, index or page."},
    405: {"model": Refusal, "description": "Not a method of this route."},
    408: {"model": Refusal, "description": "The request took too long."},
    413: {"model": Refusal, "description": "The request, or a picture, is too large."},
    415: {"model": Refusal, "description": "Not a content type that is taken."},
    421: {"model": Refusal, "description": "Asked for under an unknown host name."},
    422: {"model": Refusal, "description": "A parameter or a picture cannot be read."},
    429: {"model": Refusal, "description": "Too many requests."},
    500: {"model": Refusal, "description": "A defect; the server's log has the details."},
    501: {"model": Refusal, "description": "Something optional is not installed."},
    503: {"model": Refusal, "description": "Too busy, or the index was removed."},
    507: {"model": Refusal, "description": "A mark cannot be saved."},
}
WATCHED: dict[int | str, dict[str, Any]] = {
    code: REFUSED[code] for code in (401, 405, 408, 413, 421, 429, 500, 503)
}

Key = Annotated[
    str, Path(min_length=1, max_length=LONGEST_KEY, description="Such as `image:17`, `text:0:17`.")
]
Number = Annotated[int, Query(ge=0, le=1, description="Which index, of two.")]


def written(answer: object) -> Response:
    """Records as JSON, written once and without a copy."""
    return Response(orjson.dumps(answer), media_type="application/json")


def pictured(request: Request, content: bytes, kind: str, *, keep: bool = True) -> Response:
    """A picture, or the news that the client has it already."""
    tag = f'"{hashlib.blake2b(content, digest_size=12).hexdigest()}"'
    headers = {"ETag": tag, "Cache-Control": KEEP if keep else ASK}
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=kind, headers=headers)

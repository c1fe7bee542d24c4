"""Pictures: those of the index, and those sent to search with."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Path, Query, Request
from fastapi.responses import Response

from trope.web.api.replies import Key, Number, pictured, written
from trope.web.parameters import DIGEST
from trope.web.service import Service
from trope.web.thumbnails import SIZES
from trope.web.uploads import Upload

TYPES = (
    "image/avif",
    "image/bmp",
    "image/gif",
    "image/jp2",
    "image/jpeg",
    "image/png",
    "image/tiff",
    "image/webp",
    "application/octet-stream",
)
KINDS = (
    "This kind of file cannot be used. Pictures of these kinds can: JPEG, PNG, WebP, GIF, TIFF, "
    "BMP, AVIF and JPEG 2000, each sent with its content type."
)
BINARY = {"schema": {"type": "string", "format": "binary"}}
SENT: dict[str, Any] = {"requestBody": {"required": True, "content": dict.fromkeys(TYPES, BINARY)}}
GIVEN: dict[int | str, dict[str, Any]] = {
    200: {"content": {"image/jpeg": BINARY}, "description": "A small copy."},
    304: {"description": "The client has it."},
}

Size = Annotated[
    int, Query(description="Pixels of the longer side.", json_schema_extra={"enum": list(SIZES)})
]
Digest = Annotated[str, Path(pattern=DIGEST, description="What `POST /images` answered.")]
Version = Annotated[str, Query(max_length=40, description="Changes when the picture may have.")]


def router(service: Service) -> APIRouter:
    """The routes."""
    routes = APIRouter(tags=["pictures"])

    @routes.get("/pictures/{key:path}", response_class=Response, responses=GIVEN)
    def picture(
        request: Request, key: Key, size: Size = SIZES[1], index: Number = 0, v: Version = ""
    ) -> Response:
        """A small copy of the picture of an item's row."""
        keep = v == service.version(index)
        return pictured(request, *service.picture(key, size, index), keep=keep)

    @routes.post("/images", response_model=Upload, status_code=201, openapi_extra=SENT)
    async def upload(request: Request) -> Response:
        """Send a picture, as it is, to search with: `/search?image=DIGEST`."""
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind not in TYPES:
            raise HTTPException(415, KINDS)
        made = await service.upload(await request.body())
        reply = written(made)
        reply.status_code = 201
        return reply

    @routes.get("/images/{digest}", response_class=Response, responses=GIVEN)
    def uploaded(request: Request, digest: Digest) -> Response:
        """A small copy of a picture that was sent."""
        return pictured(request, *service.uploaded(digest))

    return routes

"""Two indexes asked the same, side by side."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from fastapi.responses import HTMLResponse

from trope.errors import TropeError
from trope.search.index import Find
from trope.web.answers import Comparison
from trope.web.asked import Asked
from trope.web.errors import status_of
from trope.web.pages import urls
from trope.web.pages.frame import Frame, asked_links, menus, tries
from trope.web.pages.searching import FINDS, find_of, joined
from trope.web.pages.wording import brief
from trope.web.refusals import NotThereError

SHOWN = 12  # hits of each index
SHEETS, SCRIPTS = ("search", "item", "compare"), ("search",)


def compare_page(frame: Frame, pairs: Iterable[tuple[str, str]]) -> HTMLResponse:
    """The page for a URL; with one index it says how to serve two."""
    if len(frame.service.about()) < 2:
        return frame.error(NotThereError("Only one index is served. trope serve takes two."))
    asked = Asked()
    try:
        asked = urls.read(pairs)
        compared = _compared(frame, asked) if asked.anything else None
        return _page(frame, asked, compared, None)
    except TropeError as error:
        return _page(frame, frame.mendable(asked), None, error)


def _compared(frame: Frame, asked: Asked) -> Comparison:
    return frame.service.compare(replace(asked, find=_kind(frame, asked), k=SHOWN, page=1))


def _kind(frame: Frame, asked: Asked) -> Find:
    """What is found: one kind, as scores of both do not compare."""
    find = find_of(asked, frame.about(0))
    return "image" if find == "both" else find


def _page(
    frame: Frame, asked: Asked, compared: Comparison | None, error: TropeError | None
) -> HTMLResponse:
    facets = frame.service.facets(0)
    said = joined(brief(" and ".join(asked.q), 60), asked.image)
    return frame.page(
        "compare",
        SHEETS,
        SCRIPTS,
        status=status_of(error) if error else 200,
        title=f"{said or 'Compare'} · Trope",
        find=_kind(frame, asked),
        finds=FINDS[:2],
        by_picture=all(one.by_picture for one in frame.service.about()),
        facets=menus(facets),
        tries=tries(facets),
        query_picture=frame.query_picture(asked),
        problem=str(error) if error else None,
        compared=compared,
        changes={one.key: one for one in compared.differences} if compared else {},
        shared=_shared(compared) if compared else 0,
        remarks=_remarks(compared) if compared else [],
        **asked_links("/compare", asked),
    )


def _shared(compared: Comparison) -> int:
    return sum(one.left is not None and one.right is not None for one in compared.differences)


def _remarks(compared: Comparison) -> list[str]:
    return list(dict.fromkeys((*compared.left.remarks, *compared.right.remarks)))

"""What `trope explain` found, as pages over the rows of the index."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi.responses import HTMLResponse

from trope.errors import TropeError, UsageError
from trope.web.asked import Asked
from trope.web.explained import ExplainPage
from trope.web.pages.frame import Frame, asked_links
from trope.web.pages.wording import count

STEP = 24  # suspicious pairs of a page
SHEETS, SCRIPTS = ("search", "item", "explain"), ("explain",)


def explain_page(frame: Frame, name: str | None, start: str = "0") -> HTMLResponse:
    """One of the documents, the first where none is named."""
    pages = frame.service.explain_pages()
    if not pages:
        return frame.page("explain", SHEETS, SCRIPTS, page=None, **asked_links("/", Asked()))
    try:
        page = frame.service.explain_page(name) if name else pages[0]
        return _shown(frame, pages, page, _number(start))
    except TropeError as error:
        return frame.error(error)


def _shown(
    frame: Frame, pages: tuple[ExplainPage, ...], page: ExplainPage, start: int
) -> HTMLResponse:
    pairs = page.pairs if page.kind == "wrong" else []
    suspects = pairs[start : start + STEP]
    ids = [pair["id"] for pair in suspects] if page.kind == "wrong" else page.rows
    return frame.page(
        "explain",
        SHEETS,
        SCRIPTS,
        pages=pages,
        page=page,
        lead=_lead(page),
        rows=frame.service.rows(ids),
        suspects=suspects,
        start=start,
        step=STEP,
        listed=len(pairs),
        marked=len(frame.service.marks()),
        measure_names=_measured(page.document),
        **asked_links("/", Asked()),
    )


def _lead(page: ExplainPage) -> str:
    """What the page is about, in a sentence."""
    known = page.document
    if page.kind == "wrong":
        judged = count(known["usable"], "pair")
        return (
            f"{judged} of {known['data']}, those whose picture and text support each other least "
            "first. A list, not a verdict: keep what is right, flag what is wrong."
        )
    if page.kind == "weights":
        pairs = count(known["pairs"], "training pair")
        return f"How unevenly the {pairs} of {known['run']} count, and which count most and least."
    if page.kind == "neighbors":
        return f"Do pairs of {known['data']} that mean alike also look alike?"
    pairs = count(known["pairs"], "pair")
    return (
        f"{known['one']} against {known['other']} on {pairs} ({known['split']}): neighbors in "
        "meaning that one keeps closer together than the other."
    )


def _measured(document: Mapping[str, Any]) -> list[str]:
    """The columns of the table of measures."""
    measures = document.get("measures", {})
    return list(dict.fromkeys(what for known in measures.values() for what in known))


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise UsageError(f"from: a whole number, not '{text[:40]}'")
    return int(text)

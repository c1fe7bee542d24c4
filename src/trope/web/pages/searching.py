"""The search page: pictures, texts or both, as sections with words about them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from fastapi.responses import HTMLResponse

from trope.errors import TropeError
from trope.index.items import Modality
from trope.search.index import Find
from trope.web.answers import Answer, Found, IndexAbout
from trope.web.asked import Asked
from trope.web.errors import status_of
from trope.web.pages import urls
from trope.web.pages.frame import Frame, asked_links, menus, tries
from trope.web.pages.wording import brief, count

FINDS: tuple[tuple[Find, str], ...] = (("image", "Pictures"), ("text", "Texts"), ("both", "Both"))
NOUNS: dict[Modality, str] = {"image": "picture", "text": "text"}
SIZES: dict[Find, int] = {"image": 30, "text": 24, "both": 12}  # hits of a page
SHEETS, SCRIPTS = ("search", "item"), ("search",)


@dataclass(frozen=True)
class Section:
    """Hits of one modality under a heading."""

    title: str
    told: str
    find: Modality
    hits: tuple[Found, ...]


def search_page(frame: Frame, pairs: Iterable[tuple[str, str]]) -> HTMLResponse:
    """The page for a URL; what cannot be searched is told on it."""
    asked = Asked()
    try:
        asked = urls.read(pairs)
        return _page(frame, asked)
    except TropeError as error:
        return _failed(frame, frame.mendable(asked), error)


def find_of(asked: Asked, about: IndexAbout) -> Find:
    """What is to be found where the URL does not say: words find pictures, a picture both."""
    if asked.find:
        return asked.find
    if asked.item:
        return "image" if asked.like == "picture" else "text"
    if not about.images:
        return "text"
    return "both" if asked.image and about.texts else "image"


def _page(frame: Frame, asked: Asked) -> HTMLResponse:
    about = frame.about(asked.index)
    find = find_of(asked, about)
    asked = replace(asked, k=SIZES[find])
    answers = answered(frame, asked, find)
    fresh = asked == Asked(index=asked.index, k=asked.k)
    facets = frame.service.facets(asked.index)
    return frame.page(
        "search",
        SHEETS,
        SCRIPTS,
        title=title(asked),
        fresh=fresh,
        find=find,
        finds=FINDS,
        by_picture=about.by_picture,
        facets=menus(facets),
        tries=tries(facets) if fresh else [],
        query_picture=frame.query_picture(asked),
        problem=None,
        remarks=list(dict.fromkeys(r for answer in answers for r in answer.remarks)),
        sections=[_section(asked, answer, fresh) for answer in answers],
        any_hits=any(answer.hits for answer in answers),
        more=any(answer.more for answer in answers),
        **asked_links("/", asked),
    )


def answered(frame: Frame, asked: Asked, find: Find) -> list[Answer]:
    """An answer for each modality, as their scores do not compare; of a picture, texts first."""
    both: tuple[Find, ...] = ("text", "image") if asked.image and not asked.q else ("image", "text")
    kinds = both if find == "both" else (find,)
    return [frame.service.search(replace(asked, find=kind)) for kind in kinds]


def title(asked: Asked) -> str:
    """What a tab is called."""
    words = brief(" and ".join(asked.q), 60)
    said = joined(words, asked.image)
    return f"{said} · Trope" if said else "Trope"


def joined(words: str, image: str | None) -> str:
    """What is asked with, the picture last."""
    return " and ".join(part for part in (words, "your picture" if image else "") if part)


def _section(asked: Asked, answer: Answer, fresh: bool) -> Section:
    kind: Modality = "text" if answer.find == "text" else "image"
    return Section(_heading(asked, kind, fresh), _told(asked, answer, kind), kind, answer.hits)


def _heading(asked: Asked, kind: Modality, fresh: bool) -> str:
    noun = f"{NOUNS[kind].capitalize()}s"
    if fresh:
        return "From the collection"
    if asked.item:
        return f"{noun} that mean the same" if asked.like == "meaning" else f"{noun} like this"
    if asked.image and not asked.q:
        return "Pictures like yours" if kind == "image" else "Texts it could illustrate"
    words = " and ".join(f"“{brief(text, 80)}”" for text in asked.q)
    less = f", less of “{brief(asked.minus[0], 40)}”" if asked.minus else ""
    return f"{noun} for {joined(words, asked.image)}{less}" if words else noun


def _told(asked: Asked, answer: Answer, kind: Modality) -> str:
    parts = []
    if answer.total is not None:
        narrowed = "that pass" if asked.facets or asked.where else "in all"
        parts.append(f"{count(answer.total, NOUNS[kind])} {narrowed}")
    if asked.anything and answer.hits:
        parts.append(f"nearest first, in {answer.took_ms:.0f} ms")
    return ", ".join(parts)


def _failed(frame: Frame, asked: Asked, error: TropeError) -> HTMLResponse:
    about = frame.about(asked.index)
    return frame.page(
        "search",
        SHEETS,
        SCRIPTS,
        status=status_of(error),
        title="Trope",
        fresh=False,
        find=find_of(asked, about),
        finds=FINDS,
        by_picture=about.by_picture,
        facets=menus(frame.service.facets(asked.index)),
        query_picture=frame.query_picture(asked),
        problem=str(error),
        **asked_links("/", asked),
    )

"""What all pages have in common: the bar, the style sheets and scripts, errors told in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from fastapi.responses import HTMLResponse

from trope.errors import TropeError
from trope.web.answers import Found, IndexAbout
from trope.web.asked import Asked
from trope.web.errors import status_of
from trope.web.facets import Facet, Facets
from trope.web.pages import urls
from trope.web.pages.wording import environment
from trope.web.plain import HEADINGS
from trope.web.refusals import NotThereError
from trope.web.service import Service

MENUS = 8  # columns to filter by that have room on a page
LONGEST_VALUE = 40  # characters of half of a column's values
TRIES = 7  # words to begin with


class Frame:
    """Renders the templates over a service."""

    def __init__(self, service: Service) -> None:
        self.service, self._templates = service, environment()

    def page(
        self,
        on: str,
        sheets: Sequence[str],
        scripts: Sequence[str],
        *,
        status: int = 200,
        dialog: bool = True,
        **values: Any,
    ) -> HTMLResponse:
        """A page; `on` is its name in the bar."""
        about = self.service.about()
        html = self._templates.get_template(f"{on}.html").render(
            on=on,
            sheets=sheets,
            scripts=scripts,
            dialog=dialog,
            indexes=about,
            changed={one.number for one in self.service.collections if one.sources.changed},
            places=_places(len(about)),
            **values,
        )
        return HTMLResponse(html, status, {"Cache-Control": "no-cache"})

    def error(self, error: TropeError) -> HTMLResponse:
        """A page that says what went wrong."""
        code = status_of(error)
        return self.page(
            "error",
            (),
            ("large",),
            status=code,
            dialog=False,
            heading=HEADINGS.get(code, "That did not work"),
            message=str(error),
        )

    def about(self, index: int) -> IndexAbout:
        """The index that is asked."""
        known = self.service.about()
        if not 0 <= index < len(known):
            raise NotThereError(f"there is no index {index}")
        return known[index]

    def mendable(self, asked: Asked) -> Asked:
        """What a question that cannot be answered leaves to be changed: its words and filters."""
        index = asked.index if asked.index < len(self.service.about()) else 0
        minus = asked.minus if asked.q else ()
        return replace(asked, minus=minus, image=None, item=None, page=1, index=index)

    def query_picture(self, asked: Asked) -> str | None:
        """Where the picture that is asked with can be seen."""
        if asked.image:
            return f"/api/v1/images/{asked.image}"
        if asked.item:
            found: Found = self.service.item(asked.item, asked.index).found
            return found.picture.small if found.picture else "/static/favicon.svg"
        return None


def menus(facets: Facets) -> Facets:
    """Those columns that there is room for; values that are sentences fit in no menu."""
    short = [facet for facet in facets.columns if not _wordy(facet)]
    return replace(facets, columns=tuple(short[:MENUS]))


def _wordy(facet: Facet) -> bool:
    lengths = sorted(len(one.value) for one in facet.values)
    return bool(lengths) and lengths[len(lengths) // 2] > LONGEST_VALUE


def tries(facets: Facets) -> list[str]:
    """Words to begin with: the most frequent labels, or values of a column."""

    def rank(facet: Facet) -> int:
        return {"labels": 0, "choice": 1}.get(facet.kind, 2)

    for facet in sorted(facets.columns, key=rank):
        words = [one.value for one in facet.values if _word(one.value)]
        if len(words) > 1 and rank(facet) < 2 and facet.column != "split":
            return words[:TRIES]
    return []


def _word(text: str) -> bool:
    return len(text) < 24 and text.replace(" ", "").isalpha()


def _places(indexes: int) -> list[tuple[str, str, str]]:
    known = [("search", "/", "Search"), ("map", "/map", "Map"), ("explain", "/explain", "Explain")]
    return [*known[:1], ("compare", "/compare", "Compare"), *known[1:]] if indexes > 1 else known


def asked_links(path: str, asked: Asked) -> dict[str, Any]:
    """What templates make URLs with."""

    def item_url(key: str, index: int | None = None) -> str:
        return urls.item(key, asked, index=asked.index if index is None else index)

    return {
        "asked": asked,
        "ranges": urls.ranges(asked),
        "choice": urls.choice,
        "narrowed": bool(asked.facets or asked.minus or asked.where),
        "url": lambda **changes: urls.write(path, asked, **_tuples(changes)),
        "item_url": item_url,
    }


def _tuples(changes: dict[str, Any]) -> dict[str, Any]:
    """Lists of a template as the tuples of a question; with a picture goes its find."""
    found = {name: tuple(v) if isinstance(v, list) else v for name, v in changes.items()}
    return found | {"find": None} if "image" in found and found["image"] is None else found

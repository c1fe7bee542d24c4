"""What all pages have in common: the bar, the style sheets and scripts, errors told in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
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

MENUS, MORE = 8, 12  # columns to filter by that have room on a page, and in one more menu
FILLED = 0.5  # of the rows of a column that comes before others
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
            gone=self.service.gone(),
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
        """What a question that cannot be answered leaves to be changed: all that is still there."""
        index = asked.index if asked.index < len(self.service.about()) else 0
        image = asked.image if self._sent(asked.image, index) else None
        item = asked.item if self._there(asked.item, index) else None
        minus = asked.minus if asked.q or image else ()
        return replace(asked, minus=minus, image=image, item=item, page=1, index=index)

    def _sent(self, digest: str | None, index: int) -> bool:
        """Whether a picture was sent, is kept, and can be asked with."""
        return digest in self.service.uploads and self.about(index).by_picture

    def _there(self, key: str | None, index: int) -> bool:
        try:
            return key is not None and bool(self.service.item(key, index))
        except TropeError:
            return False

    def query_picture(self, asked: Asked) -> str | None:
        """Where the picture that is asked with can be seen."""
        if asked.image:
            return f"/api/v1/images/{asked.image}"
        if asked.item:
            found: Found = self.service.item(asked.item, asked.index).found
            return found.picture.small if found.picture else "/static/favicon.svg"
        return None


@dataclass(frozen=True)
class Menus:
    """Columns with a menu each, those that share one, and how many there is no room for."""

    columns: tuple[Facet, ...]
    more: tuple[Facet, ...]
    left: int
    rows: int
    sampled: bool


def menus(facets: Facets) -> Menus:
    """Columns that most rows have come first; values that are sentences fit in no menu."""

    def sparse(facet: Facet) -> bool:
        return facet.missing > FILLED * facets.rows

    short = sorted((one for one in facets.columns if not _wordy(one)), key=sparse)
    first, more = tuple(short[:MENUS]), tuple(short[MENUS : MENUS + MORE])
    left = len(facets.columns) - len(first) - len(more)
    return Menus(first, more, left, facets.rows, facets.sampled)


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

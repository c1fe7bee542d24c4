"""Pages as a browser would read them."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path


class Page(HTMLParser):
    """Tags with their attributes, and the text between them."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attributes)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def attributes(self, tag: str, name: str) -> list[str]:
        """The values of an attribute, in order."""
        return [str(known[name]) for found, known in self.tags if found == tag and name in known]


def check_alone(page: Page) -> None:
    """A page asks nobody, runs nothing, and all that it shows or leads to is there."""
    for tag, attributes in page.tags:
        assert tag not in ("script", "link", "iframe", "form")
        assert not any(name.startswith("on") for name in attributes)
        for value in attributes.values():
            assert "//" not in (value or "")
        if tag == "img":
            assert attributes["alt"]
    assert "url(" not in page.path.read_text(encoding="utf-8")
    for name in (*page.attributes("img", "src"), *page.attributes("a", "href")):
        assert (page.path.parent / name).stat().st_size > 0

"""Storybooks: pages of illustrated children's stories, told beside the picture, not about it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from trope.data.convert.layout import NO_TEXT, Contents, Format, Found, Missing, Row
from trope.data.convert.lookup import text_lines
from trope.errors import DataError, UsageError

RELIABLE = 9  # Pratham stories with more images have them in an order of their own
COLLECTIONS = {"asp": "African Storybook", "pb": "Pratham Books StoryWeaver"}
STORY = re.compile(r"(\d{4})_.*\.md")
FIELD = re.compile(r"[*-]\s*([^:]+):\s*(.*)")
LINK = re.compile(r"\[([^\]]*)\](?:\([^)]*\))?")


@dataclass(frozen=True)
class Storybooks:
    """Which language's texts, and which size of the images."""

    language: str = "en"
    size: Literal["medium", "large"] = "medium"


@dataclass(frozen=True)
class Story:
    """A story as its file has it: a title, the text of each page, and who made it."""

    title: str
    pages: list[str]
    notes: dict[str, str] = field(default_factory=dict)


def read(source: Path, settings: Storybooks) -> Contents:
    """The stories of every collection whose texts and images are both checked out."""
    there = [p for p in COLLECTIONS if (source / f"{p}-source" / settings.language).is_dir()]
    if not there:
        looked = " or ".join(f"{prefix}-source/{settings.language}" for prefix in COLLECTIONS)
        raise UsageError(f"{source}: stories not found; looked for {looked}")
    for prefix in there:
        if not (source / f"{prefix}-imagebank").is_dir():
            raise UsageError(f"{source}: images not found; looked for {prefix}-imagebank")
    return Contents(item for prefix in there for item in _collection(source, prefix, settings))


def parse(path: Path) -> Story:
    """Read a story: sections between lines of `##`, first the title, last the credits."""
    sections = re.split(r"^##[ \t]*$", "\n".join(text_lines(path)), flags=re.MULTILINE)
    title = " ".join(sections[0].partition("\n")[0].removeprefix("#").split())
    notes = {m[1].strip().lower(): LINK.sub(r"\1", m[2]).strip() for m in _fields(sections[-1])}
    pages = sections[1:-1] if notes else sections[1:]
    if not title or not pages:
        raise DataError(f"{path}: not a story: no title or no page")
    return Story(title, [" ".join(page.split()) for page in pages], notes)


def _fields(section: str) -> Iterator[re.Match[str]]:
    return (match for line in section.splitlines() if (match := FIELD.match(line.strip())))


def _collection(source: Path, prefix: str, settings: Storybooks) -> Iterator[Found | Missing]:
    seen: set[str] = set()
    for path in sorted((source / f"{prefix}-source" / settings.language).glob("*.md")):
        if not (match := STORY.fullmatch(path.name)):
            continue
        number = match[1]
        if number in seen:
            yield Missing(f"{prefix}_{number}", "a second file of the same story", detail=path.name)
            continue
        seen.add(number)
        yield from _story(source, prefix, number, path, settings)


def _story(
    source: Path, prefix: str, number: str, path: Path, settings: Storybooks
) -> Iterator[Found | Missing]:
    name = f"{prefix}_{number}"
    try:
        story = parse(path)
    except DataError as error:
        yield Missing(name, "not a story", detail=str(error))
        return
    bank = f"{prefix}-imagebank"
    sizes = (settings.size, "medium", "large", ".")
    places = [
        f"{bank}/{size}/{number}" for size in sizes if (source / bank / size / number).is_dir()
    ]
    about: Row = {"id": name, "title": story.title}
    if not places:
        yield Missing(name, "a story without images", about, f"{bank}/{settings.size}/{number}")
    elif prefix == "pb" and len(list((source / places[0]).glob("*.jpg"))) > RELIABLE:
        yield Missing(name, f"more than {RELIABLE} images, whose order is unreliable", about)
    else:
        images = _described(source / bank / "metadata" / f"{number}.md")
        yield from _pages(name, story, places, images)


def _pages(
    name: str, story: Story, places: list[str], images: dict[str, Row]
) -> Iterator[Found | Missing]:
    """Image 01 is the cover, image k + 1 belongs to page k."""
    for page, text in enumerate(story.pages, 1):
        file = f"{page + 1:02}.jpg"
        row: Row = {"id": f"{name}_{page:02}", "text": text, "group": name}
        row |= {"title": story.title, "page": page, **_credits(story.notes), **images.get(file, {})}
        if text:
            yield Found(row, f"{name}_{file}", tuple(f"{place}/{file}" for place in places))
        else:
            yield Missing(row["id"], NO_TEXT, row)


def _credits(notes: dict[str, str]) -> Row:
    return {
        "author": notes.get("text") or notes.get("writer"),
        "illustrator": notes.get("illustration") or notes.get("illustrator"),
        "translator": notes.get("translation") or notes.get("translator"),
        "language": notes.get("language"),
        "text_license": notes.get("license"),
        "image_license": notes.get("license"),
    }


def _described(path: Path) -> dict[str, Row]:
    """What Pratham's table says of each image: description, illustrator, license."""
    if not path.is_file():
        return {}
    cells = ([cell.strip() for cell in line.split("|")] for line in text_lines(path))
    return {
        row[0]: {
            "description": row[1],
            "illustrator": row[2],
            "image_license": LINK.sub(r"\1", row[3]),
        }
        for row in cells
        if len(row) == 4 and row[0].endswith(".jpg")
    }


FORMAT = Format(
    about="pages of illustrated children's stories: a picture and the text told beside it",
    paper="African Storybook and Pratham Books StoryWeaver, "
    "as collected by the Global African Storybook Project",
    layout="""\
SOURCE/                               checkouts of the repositories of that name
  asp-source/en/0001_<title>.md       story texts, pages between lines of ##
  asp-imagebank/medium/0001/01.jpg    01 is the cover, k + 1 belongs to page k
  pb-source/en/0002_<title>.md
  pb-imagebank/medium/0002/01.jpg
  pb-imagebank/metadata/0002.md       descriptions and licenses of the images""",
    becomes="no splits; group is the story; license, author and illustrator are columns",
    read=read,
    settings=Storybooks,
)

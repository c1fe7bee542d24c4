from __future__ import annotations

from pathlib import Path

import pytest

from trope.data.convert import convert
from trope.data.convert.storybooks import parse
from trope.errors import UsageError

TALL = """# A very tall man

##
His hoe was too
short.

##

##
“May I, please,” he said,

“have a bed?”

##
* License: [CC-BY]
* Text: Cornelius Gulere
* Illustration: Catherine Groenewald
* Language: en
"""
KING = """# Fat King

##
A fat king.

##
With a thin dog.

##
* License: [CC-BY]
* Text: Parismita
* Illustration: Several
* Translation: Manisha Chaudhry
* Language: en
"""
TABLE = """Image metadata for the story [Fat King](https://example.org/7) by Parismita.

Image | Description | Illustrator | License
----- | ----------- | ----------- | -------
01.jpg | Cover  | Parismita | [CC-BY](https://example.org/by/4.0/)
02.jpg | Fat King | Parismita | [CC-BY](https://example.org/by/4.0/)
03.jpg | King and dog | Somebody | Public Domain"""


@pytest.fixture
def source(tmp_path: Path, note, jpeg) -> Path:
    folder = tmp_path / "books"
    note(folder / "asp-source/en/README.md", "not a story")
    note(folder / "asp-source/en/0001_a-very-tall-man.md", TALL)
    note(folder / "asp-source/en/0002_no-pictures.md", KING)
    note(folder / "asp-source/en/0003_broken.md", "# Only a title")
    jpeg(folder / "asp-imagebank/medium/0001", "01.jpg", "02.jpg", "03.jpg", "04.jpg")
    jpeg(folder / "asp-imagebank/medium/0003", "01.jpg")
    note(folder / "pb-source/en/0002_fat-king.md", KING)
    note(folder / "pb-source/en/0002_fat_king_old_name.md", KING)
    note(folder / "pb-source/en/0004_long.md", KING)
    jpeg(folder / "pb-imagebank/large/0002", "01.jpg", "02.jpg", "03.jpg")
    jpeg(folder / "pb-imagebank/large/0004", *(f"{n:02}.jpg" for n in range(1, 11)))
    note(folder / "pb-imagebank/metadata/0002.md", TABLE)
    return folder


def test_pages_and_pictures(source: Path, tmp_path: Path, rows, lost) -> None:
    convert("storybooks", source, tmp_path / "out")
    found = rows(tmp_path / "out")
    assert list(found) == ["asp_0001_01", "asp_0001_03", "pb_0002_01", "pb_0002_02"]
    tall = found["asp_0001_03"]
    assert tall.texts == ("“May I, please,” he said, “have a bed?”",)
    assert tall.image == "images/asp_0001_04.jpg"
    assert (tall.group, tall.split) == ("asp_0001", None)
    wanted = {"title": "A very tall man", "page": 3, "author": "Cornelius Gulere"}
    wanted |= {"illustrator": "Catherine Groenewald", "text_license": "CC-BY"}
    assert wanted.items() <= tall.extra.items()
    king = found["pb_0002_02"].extra
    wanted = {"description": "King and dog", "illustrator": "Somebody", "text_license": "CC-BY"}
    wanted |= {"image_license": "Public Domain", "translator": "Manisha Chaudhry"}
    assert wanted.items() <= king.items()
    assert lost(tmp_path / "out") == {
        "asp_0001_02": "no text",
        "asp_0002": "a story without images",
        "asp_0003": "not a story",
        "pb_0002": "a second file of the same story",
        "pb_0004": "more than 9 images, whose order is unreliable",
    }


def test_the_right_picture_goes_with_the_page(source: Path, tmp_path: Path) -> None:
    convert("storybooks", source, tmp_path / "out")
    ours = (tmp_path / "out/images/pb_0002_03.jpg").read_bytes()
    assert ours == (source / "pb-imagebank/large/0002/03.jpg").read_bytes()
    assert ours != (source / "pb-imagebank/large/0002/02.jpg").read_bytes()


def test_another_language(source: Path, tmp_path: Path, note, rows) -> None:
    note(
        source / "asp-source/am/0001_x.md",
        "# ረጅም ሰው",
        "##",
        "አጭር ነበር።",
        "##",
        "* License: [CC-BY-NC]",
    )
    convert("storybooks", source, tmp_path / "out", language="am")
    page = rows(tmp_path / "out")["asp_0001_01"]
    assert (page.texts, page.extra["title"]) == (("አጭር ነበር።",), "ረጅም ሰው")
    assert page.extra["image_license"] == "CC-BY-NC"


def test_a_story_without_credits_keeps_its_last_page(tmp_path: Path, note) -> None:
    note(tmp_path / "a.md", "# Title", "subtitle", "##", "one", "##", "two")
    story = parse(tmp_path / "a.md")
    assert (story.title, story.pages, story.notes) == ("Title", ["one", "two"], {})


def test_what_is_not_checked_out_is_named(source: Path, tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match="stories not found; looked for asp-source/xx or pb-source/xx"
    ):
        convert("storybooks", source, tmp_path / "out", language="xx")
    (source / "asp-imagebank").rename(source / "elsewhere")
    with pytest.raises(UsageError, match="images not found; looked for asp-imagebank"):
        convert("storybooks", source, tmp_path / "out")

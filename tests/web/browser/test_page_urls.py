"""URLs of the pages say what is asked, and nothing is lost on the way."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trope.errors import UsageError
from trope.web.answers import Picture
from trope.web.asked import Asked
from trope.web.pages import urls
from trope.web.pages.wording import brief, clean, count, ratio, score, sentence, value

LETTERS = st.characters(codec="utf-8", exclude_categories=["Cc"])
WORDS = st.text(LETTERS, min_size=1, max_size=20).filter(
    lambda text: text == text.strip() and "\\" not in text
)
CHOSEN = st.dictionaries(WORDS, st.lists(WORDS, min_size=1, max_size=3, unique=True), max_size=3)


def read(url: str) -> Asked:
    return urls.read(parse_qsl(urlsplit(url).query, keep_blank_values=True))


@given(st.lists(WORDS, min_size=1, max_size=3), st.lists(WORDS, max_size=2), CHOSEN)
def test_a_question_comes_back_from_its_url(
    q: list[str], minus: list[str], chosen: dict[str, list[str]]
) -> None:
    facets = {name: tuple(values) for name, values in chosen.items()}
    asked = Asked(tuple(q), tuple(minus), None, None, "picture", "text", "a = 1", facets, 1, 3)
    assert read(urls.write("/", asked)) == asked


def test_forms_say_ranges_in_two_fields() -> None:
    asked = urls.read([("q", "harp"), ("from.year", "2010"), ("to.year", ""), ("minus", " ")])
    assert asked.facets == {"year": ("2010..",)}
    assert urls.ranges(asked) == {"year": ("2010", "")}
    assert read(urls.write("/", asked)) == asked


@pytest.mark.parametrize(
    ("pairs", "told"),
    [
        ([("page", "-1")], "page: a whole number"),
        ([("page", "²")], "page: a whole number"),
        ([("find", "sound")], "find: one of image, text, both"),
        ([("like", "this")], "like: one of picture, meaning"),
    ],
)
def test_what_makes_no_sense_is_refused(pairs: list[tuple[str, str]], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        urls.read(pairs)


def test_items_of_any_name_have_a_page() -> None:
    assert urls.item("image:a/b ü?") == "/item/image:a%2Fb%20%C3%BC%3F"
    assert urls.item("image:1", Asked(q=("harp",))) == "/item/image:1?q=harp"


def test_values_are_said_as_people_do() -> None:
    assert brief("one\n two\x00" + "x" * 300, 12) == "one two\ufffdxxx…"
    assert clean("a\nb\x1b") == "a\nb\ufffd"
    assert (count(1, "text"), count(2400, "text")) == ("1 text", "2,400 texts")
    assert (score(-0.001), score(-0.5), score(0.256)) == ("0.00", "−0.50", "0.26")
    assert value([True, {"a": 1.0}, "x"]) == "yes, a: 1, x"


def test_pictures_are_as_wide_as_they_are() -> None:
    sizes = [(4, 3), (1, 9), (9, 1), (None, None)]
    assert [ratio(Picture("", "", "", *size)) for size in sizes] == [13, 6, 24, 10]


def test_words_are_asked_instead_of_an_item() -> None:
    given = [("item", "image:1"), ("like", "meaning"), ("q", "harp")]
    assert urls.read(given).item is None
    assert urls.read(given[:2]).item == "image:1"
    assert urls.read([*given[:2], ("q", " ")]).item == "image:1"
    assert urls.read([*given[:2], ("image", "0" * 32)]).item is None


def test_remarks_are_sentences() -> None:
    assert sentence("no such word") == "No such word."
    assert sentence("min_count lowered from 20 to 9") == "min_count lowered from 20 to 9."

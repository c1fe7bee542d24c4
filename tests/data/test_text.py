from __future__ import annotations

import time
import unicodedata

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from trope import config
from trope.data.text import TextPreparation, clean, listed, prepare, tokenize
from trope.errors import UsageError

ALL = TextPreparation()

CLEANED = {
    "tags": ("<p>Hello <b>w</b>orld</p><br/>again", "Hello world again"),
    "attributes": ('See <a href="https://x.org/a?b=c" title="t">here</a>!', "See here!"),
    "script": ("Before<script>if (a<b) x()</script>after<style>p{}</style>!", "Before after !"),
    "comment": ("a<!-- <b>hidden</b> -->b", "a b"),
    "open comment": ("kept <!-- lost", "kept"),
    "entities": ("Fish &amp; chips&nbsp;&#8212; &eacute;&#x41;", "Fish & chips — éA"),
    "escaped tags": ("&lt;p&gt;Hello&lt;/p&gt;", "Hello"),
    "not markup": (
        "I <3 you, a < b, x <y and z> w, AT&T;",
        "I <3 you, a < b, x <y and z> w, AT&T;",
    ),
    "link": ("Read https://t.co/abc. Then www.example.org/x?y=1, ok", "Read . Then , ok"),
    "bare link": ("look pic.twitter.com/x1y and/or St.John/Mary", "look and/or St.John/Mary"),
    "link in han": ("看http://t.cn/abc这里", "看 这里"),
    "address": ("write to me@www.example.org", "write to me@www.example.org"),
    "control": ("a\x00b\x07c\td\r\n e\u3000f\u00a0g\u2028h", "abc d e f g h"),
    "zero width": ("\ufeffco\u00adop\u200berate \u202eright\u202c", "cooperate right"),
    "surrogate": ("a\ud800b", "ab"),
    "composed": ("cafe\u0301", "caf\u00e9"),
    "persian": ("می\u200cخواهم", "می\u200cخواهم"),
    "persian twice": ("می\u200c\u200cخواهم", "می\u200cخواهم"),
    "sinhala": ("ශ්\u200dරී ලංකා", "ශ්\u200dරී ලංකා"),
    "malayalam": ("അവന്\u200d വന്നു", "അവന്\u200d വന്നു"),
    "latin joiner": ("Auf\u200clage a\u200db \u200c", "Auflage ab"),
    "family": ("👩\u200d👧 x\u200d", "👩\u200d👧 x"),
    "arabic number sign": ("\u0601\u0661", "\u0601\u0661"),
}


@pytest.mark.parametrize(("text", "expected"), CLEANED.values(), ids=CLEANED)
def test_clean(text: str, expected: str) -> None:
    assert clean(text, ALL) == expected


def test_markup_and_links_stay_on_request() -> None:
    keep = TextPreparation(strip_markup=False, strip_links=False)
    assert clean("<b>a</b>  &amp; http://x.org", keep) == "<b>a</b> &amp; http://x.org"


@settings(deadline=None)
@given(st.text())
def test_clean_leaves_composed_printable_single_spaced_text(text: str) -> None:
    cleaned = clean(text, ALL)
    assert cleaned == " ".join(cleaned.split())
    assert unicodedata.is_normalized("NFC", cleaned)
    assert not regex.search(r"[\p{Cc}\p{Cs}\u200b\ufeff]", cleaned)


@settings(deadline=None)
@given(st.text(alphabet=st.characters(categories=["Ll", "Lu", "Lo", "Nd", "Mn"])))
def test_clean_keeps_every_letter(text: str) -> None:
    assert clean(text, ALL) == unicodedata.normalize("NFC", text)


TOKENS = {
    "words": ("Hello, world!", ["Hello", "world"]),
    "apostrophes": (
        "don't l’eau 'tis dogs' rock'n'roll",
        ["don't", "l'eau", "tis", "dogs", "rock'n'roll"],
    ),
    "numbers": ("3.5 of 1,000 in 1999. mp3", ["3.5", "of", "1,000", "in", "1999", "mp3"]),
    "posts": ("#love @you foo_bar well-known", ["love", "you", "foo", "bar", "well", "known"]),
    "hindi": ("नमस्ते, दुनिया।", ["नमस्ते", "दुनिया"]),
    "arabic": ("كِتَابٌ، قلم", ["كِتَابٌ", "قلم"]),
    "persian": ("می\u200cخواهم بروم", ["می\u200cخواهم", "بروم"]),
    "hebrew": ("צה״ל שָׁלוֹם", ["צה״ל", "שָׁלוֹם"]),
    "decomposed": ("cafe\u0301 noir", ["cafe\u0301", "noir"]),
    "catalan": ("col·lecció", ["col·lecció"]),
    "korean": ("한국어 단어", ["한국어", "단어"]),
    "japanese": ("スーパーへ行く々", list("スーパーへ行く々")),
    "chinese with latin": ("我用Python3写", ["我", "用", "Python3", "写"]),
    "variation": ("葛\U000e0100飾", ["葛\U000e0100", "飾"]),
    "thai": ("น้ำดี ๑๒", ["น้ำ", "ดี", "๑๒"]),
    "lao": ("ນ້ຳ", ["ນ້ຳ"]),
    "khmer": ("ស្រី", ["ស្រី"]),
    "burmese": ("မြန်မာ", ["မြ", "န်", "မာ"]),
    "emoji": ("ok😀👍🏽!", ["ok", "😀", "👍🏽"]),
    "joined emoji": ("👩\u200d👩\u200d👧 🤷\u200d♀️", ["👩\u200d👩\u200d👧", "🤷\u200d♀️"]),
    "flags": (
        "🇩🇪🇫🇷🏴\U000e0067\U000e0062\U000e007f",
        ["🇩🇪", "🇫🇷", "🏴\U000e0067\U000e0062\U000e007f"],
    ),
    "keycap": ("1️⃣ 2", ["1️⃣", "2"]),
    "hearts": ("❤️ ❤ ☺", ["❤️", "❤", "☺"]),
    "signs": ("© ™ ▪ → • ½", ["½"]),
    "special": ("<pad> <unk>", ["pad", "unk"]),
    "nothing": (" …!? ", []),
}


@pytest.mark.parametrize(("text", "expected"), TOKENS.values(), ids=TOKENS)
def test_tokenize(text: str, expected: list[str]) -> None:
    assert tokenize(text) == expected


@settings(deadline=None)
@given(st.text())
def test_tokens_stand_in_the_text_and_every_letter_in_a_token(text: str) -> None:
    tokens, position = tokenize(text), 0
    for token in tokens:
        position = text.index(token, position) + len(token)
    assert regex.findall(r"\p{L}|\p{Nd}", "".join(tokens)) == regex.findall(r"\p{L}|\p{Nd}", text)


def test_prepare_runs_all_steps_in_order() -> None:
    short = TextPreparation(sentences=2, max_chars=40)
    text = "<p>Mr. ŁÓDŹ  spoke.</p> See http://x.org. He sat. The end."
    assert prepare(text, short) == "mr. łódź spoke. see ."
    assert prepare("İstanbul", ALL) == unicodedata.normalize("NFC", "İstanbul".lower())
    assert prepare("Keep It", TextPreparation(lower=False)) == "Keep It"


@pytest.mark.parametrize(
    ("text", "length", "expected"),
    [
        ("one two three", 9, "one two"),
        ("one two three", 7, "one two"),
        ("one two", 7, "one two"),
        ("あいうえお", 3, "あいう"),
        ("नननति", 4, "ननन"),
        ("ab👩\u200d👧cd", 4, "ab"),
        ("ab👩\u200d👧cd", 5, "ab👩\u200d👧"),
        ("a" * 100, 10, "a" * 10),
    ],
)
def test_a_cut_ends_between_words_or_letters(text: str, length: int, expected: str) -> None:
    assert prepare(text, TextPreparation(max_chars=length)) == expected


@settings(deadline=None)
@given(st.text(), st.integers(1, 20))
def test_a_cut_is_never_too_long(text: str, length: int) -> None:
    assert len(prepare(text, TextPreparation(max_chars=length, lower=False))) <= length


@pytest.mark.parametrize("name", ["sentences", "max_chars"])
def test_settings_refuse_nonsense(name: str) -> None:
    with pytest.raises(UsageError, match=f"{name} must be at least 1"):
        config.load(TextPreparation, sets=[f"{name}=0"])
    assert getattr(config.load(TextPreparation, sets=[f"{name}=none"]), name) is None


MEGABYTES = ["a", "<", ".", " "]
PIECES = """& <a <b_x <!-- <script> </script_ <x: &#9 &amp; http:// www. a- a. a.com/ 1, a' ก ក្ 한
    \u200d \u0301 🇦 👩\u200d \x00"""


@pytest.mark.parametrize(
    ("piece", "length"),
    [(piece, 1_000_000) for piece in MEGABYTES]
    + [(piece.replace("_", " "), 200_000) for piece in PIECES.split()],
)
def test_long_runs_of_anything_take_linear_time(piece: str, length: int) -> None:
    text = piece * (length // len(piece))
    start = time.process_time()
    clean(text, ALL)
    tokenize(text)
    assert time.process_time() - start < 10


def test_an_endless_number_in_an_entity_is_left_alone() -> None:
    assert clean(f"&#{'9' * 5000};", ALL).startswith("&#999")


@pytest.mark.usefixtures("untyped")
def test_one_text_is_no_list() -> None:
    for fine in ([], ["a"], ("a", "b"), {"a": 1}):
        assert listed(fine, "texts") is fine
    for wrong in ("a ship", b"a ship", None, 3):
        with pytest.raises(UsageError, match=f"words: a list is wanted, found {wrong!r}"):
            listed(wrong, "words")  # type: ignore[type-var]
    with pytest.raises(UsageError) as told:
        listed("x" * 1_000_000, "words")
    assert len(str(told.value)) < 120

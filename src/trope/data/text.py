"""Texts as a model sees them: clean-up, first sentences and word tokens, in any script.

Every pattern is linear in the length of the text, also when the text is made to be slow.
"""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

import regex

from trope.data.sentences import first_sentences
from trope.errors import UsageError

__all__ = [
    "PATTERNS",
    "TextPreparation",
    "clean",
    "first_sentences",
    "listed",
    "prepare",
    "tokenize",
]

Several = TypeVar("Several", bound="Iterable[object]")


@dataclass(frozen=True)
class TextPreparation:
    """How a text is prepared: what is removed, how many sentences stay, where it is cut."""

    sentences: int | None = None
    lower: bool = True
    strip_markup: bool = True
    strip_links: bool = True
    max_chars: int | None = 10_000

    def __post_init__(self) -> None:
        for name in ("sentences", "max_chars"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"{name} must be at least 1, or none for no limit; found {value}")


def prepare(text: str, settings: TextPreparation) -> str:
    """Clean, keep the first sentences, cut, lower; lower comes last as sentences need capitals."""
    text = clean(text, settings)
    if settings.sentences is not None:
        text = first_sentences(text, settings.sentences)
    if settings.max_chars is not None:
        text = _cut(text, settings.max_chars)
    # A capital may become a letter and a mark (İ); composing again keeps the promise of NFC.
    return unicodedata.normalize("NFC", text.lower()) if settings.lower else text


def listed(items: Several, what: str) -> Several:
    """The same, unless it is one text where several are meant: to Python, a list of its letters."""
    if isinstance(items, (str, bytes)) or not isinstance(items, Iterable):
        raise UsageError(f"{what}: a list is wanted, found {items!r:.60} ({type(items).__name__})")
    return items


def clean(text: str, settings: TextPreparation) -> str:
    """The text without markup, links, control and zero-width characters; NFC, single-spaced."""
    if settings.strip_markup:
        text = _without_markup(text)
    if settings.strip_links:
        text = _LINK.sub(_after_link, text)
    if not (text.isascii() and text.isprintable()):
        text = _JOINERS.sub(r"\1\2\3", _JUNK.sub("", text))
        text = unicodedata.normalize("NFC", text)
    return " ".join(text.split())


def tokenize(text: str) -> list[str]:
    """Words, numbers and emoji of a text; one token per character where words are not spaced.

    Typographic and plain apostrophes are one: both spellings of a word are the same word.
    """
    return [str(token) for token in _TOKEN.findall(text.replace("’", "'"))]


# --- markup -----------------------------------------------------------------------------------

# An unclosed block runs to the end of the text, as in a browser: so no stretch is scanned twice.
_BLOCK = regex.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style)(?=[\s/>])[^<>]*>.*?(?:</\1\s*>|\Z)",
    regex.IGNORECASE | regex.DOTALL,
)
# These stand inside words ("<b>O</b>nce"): no space takes their place.
_INLINE = "a b big del em font i ins mark s small span strong sub sup tt u wbr"
_ELEMENTS = """
    abbr acronym address applet area article aside audio base bdi bdo blockquote body br button
    canvas caption center cite code col colgroup data datalist dd details dfn dialog dir div dl dt
    embed fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup
    hr html iframe img input kbd label legend li link main map marquee menu meta meter nav nobr
    noframes noscript object ol optgroup option output p param picture pre progress q rp rt ruby
    samp script search section select slot source strike style summary svg table tbody td template
    textarea tfoot th thead time title tr track ul var video
"""
# Only names that HTML knows (or `prefix:name`), so that "x <y and z> w" stays as it is.
_TAG = regex.compile(
    r"</?(?:(\L<inline>)|\L<elements>|[a-z]{1,20}:[a-z][a-z0-9]{0,30})(?=[\s/>])[^<>]*>"
    r"|<!doctype\s[^<>]*>|<\?xml\s[^<>]*>",
    regex.IGNORECASE,
    inline=_INLINE.split(),
    elements=_ELEMENTS.split(),
)
_ENTITY = regex.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")


def _without_markup(text: str) -> str:
    """Tags out and entities resolved; then tags once more, for markup that was itself escaped."""
    text = _without_tags(text)
    if "&" not in text:
        return text
    return _without_tags(_ENTITY.sub(lambda entity: html.unescape(entity[0]), text))


def _without_tags(text: str) -> str:
    if "<" not in text:
        return text
    return str(_TAG.sub(lambda tag: "" if tag[1] else " ", _BLOCK.sub(" ", text)))


# --- links and invisible characters -----------------------------------------------------------

# Scripts written without spaces may follow a link directly; they are not part of it.
_IN_LINK = (
    r"[^\s<>\x22\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
    r"\u3000-\u303f\uff00-\uffef]"
)
_LINK = regex.compile(
    rf"(?:(?:https?|ftp)://|(?<![\w.@-])www\.){_IN_LINK}++"
    r"|(?<![\w.@/-])(?:[a-z0-9-]{1,63}\.){1,4}(?:com|org|net|edu|gov|info|io|co|ly|me|tv|be|gl)/"
    rf"{_IN_LINK}*+",
    regex.IGNORECASE,
)
_JUNK = regex.compile(
    r"[[\p{Cc}\p{Cs}\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff"
    r"\ufff9-\ufffb]--[\s\x1c-\x1f]]",
    regex.V1,
)
# Joiners shape words of the Arabic and Indic scripts and compose emoji; elsewhere they are junk.
_JOINED = (
    r"[[\p{L}\p{M}]--[\p{Latin}\p{Greek}\p{Cyrillic}\p{Han}\p{Hangul}\p{Hiragana}\p{Katakana}"
    r"\ufe0f]]"
)
_JOINERS = regex.compile(
    rf"(?<={_JOINED})([\u200c\u200d])[\u200c\u200d]*+(?={_JOINED})"
    r"|(?<=\p{Canonical_Combining_Class=Virama})([\u200c\u200d])[\u200c\u200d]*+"
    r"|(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])(\u200d)(?=\p{Extended_Pictographic})"
    r"|[\u200c\u200d]++",
    regex.V1,
)


def _after_link(link: regex.Match[str]) -> str:
    """What stays of a link: the punctuation of the sentence around it."""
    found = str(link[0])
    return " " + found[len(found.rstrip(".,;:!?'’”)]")) :]


# --- tokens -----------------------------------------------------------------------------------

_UNSPACED = (
    r"[[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"
    r"&&[\p{L}\p{Nl}]]"
)
# A character with its marks, its am-vowel (Thai, Lao) and the consonants stacked under it.
_CLUSTER = rf"{_UNSPACED}(?:\p{{M}}|[\u0e33\u0eb3]|(?<=[\u17d2\u1039]){_UNSPACED})*+"
_IN_WORD = rf"[[\p{{L}}\p{{M}}\p{{N}}\u200c\u200d]--{_UNSPACED}]"
_BETWEEN = r"(?:['’\u00b7\u05f3\u05f4](?=\p{L})|(?<=\p{Nd})[.,\u066b\u066c](?=\p{Nd}))"
_WORD = rf"[[\p{{L}}\p{{N}}]--{_UNSPACED}]{_IN_WORD}*+(?:{_BETWEEN}{_IN_WORD}++)*+"
# Dingbats are emoji with or without their selector; bullets, arrows and © only with it.
_PICTURE = (
    r"(?:[\p{Emoji_Presentation}"
    r"[\p{Extended_Pictographic}&&[\u2600-\u27bf\U0001f000-\U0001faff]]]"
    r"|\p{Extended_Pictographic}(?=\ufe0f))[\ufe0f\p{Emoji_Modifier}]?+"
)
_EMOJI = (
    rf"\p{{Regional_Indicator}}{{2}}|[0-9#*]\ufe0f?\u20e3|{_PICTURE}[\U000e0020-\U000e007f]*+"
    r"(?:\u200d\p{Extended_Pictographic}[\ufe0f\p{Emoji_Modifier}]?+)*+"
)
_TOKEN = regex.compile(rf"{_EMOJI}|{_CLUSTER}|{_WORD}", regex.V1)
_ATTACHED = regex.compile(r"[\p{M}\u200c\u200d\u0e33\u0eb3\p{Emoji_Modifier}]|(?<=\u200d).")

# By name, for programs that prepare texts without this one.
PATTERNS = {
    "block": _BLOCK,
    "tag": _TAG,
    "entity": _ENTITY,
    "link": _LINK,
    "junk": _JUNK,
    "joiners": _JOINERS,
    "token": _TOKEN,
    "attached": _ATTACHED,
}


def _cut(text: str, length: int) -> str:
    """At most `length` characters; ends between words if one ends nearby, never inside a letter."""
    if len(text) <= length:
        return text
    space = text.rfind(" ", max(0, length - 50), length + 1)
    if space > 0:
        return text[:space]
    while length > 0 and _ATTACHED.match(text, length):
        length -= 1
    return text[:length]

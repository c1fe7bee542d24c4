"""Where a sentence ends: enders of all scripts, but not the periods of Mr., U.S., 3.5 and J."""

from __future__ import annotations

import regex

# Enders, then the quotes and brackets that close with them; French sets a space before its ».
_ENDING = regex.compile(
    r"(?P<enders>[[\p{Sentence_Terminal}…]--\u104a]++)"
    r"(?:[\p{Pe}\p{Pf}\p{Pi}\x22']|[ \u00a0\u202f]»)*+",
    regex.V1,
)
# These may stand inside a sentence or a word; the enders of other scripts never do.
_DOUBTFUL = ".!?…"
_CAPITAL = regex.compile(r"\p{Lu}")
_LETTER = regex.compile(r"\p{L}")
_NEXT = regex.compile(r"\s*+[\p{Ps}\p{Pi}\x22']*+(?:(?P<small>\p{Ll})|(?P<number>\p{N}))?")
_LAST_WORD = regex.compile(r"[\p{L}\p{M}.]+\Z")
# No abbreviation is longer, so that one look back costs the same in any text.
_LOOK_BACK = 20
# One letter (J.) or short parts with periods between (U.S., e.g., Ph.D., z.B.).
_INITIALS = regex.compile(r"\p{L}\p{M}*|(?:(?:\p{L}\p{M}*){1,2}\.)+(?:\p{L}\p{M}*){1,2}")
_TITLES = """
    adm approx ave bros brig bzw capt cf cie cmdr co col corp cpl dept dott dr dra drs fr gen geb
    ggf gov hl hr hrn inc inkl insp jr lt ltd maj messrs mgr mlle mme mmes mr mrs ms mt mx nr pres
    prof rev sen sens sgt sog sr sra srta st ste str supt ud uds univ vgl viz vs zzgl гг им тов ул
"""
# Words of their own, or the last of a sentence, unless a number follows.
_BEFORE_NUMBERS = """
    apr art aug ca cap ch chap dec feb fig figs jan jul jun mar no nos nov num núm oct par pág pp
    sec sep sept vol рис стр
"""
_ABBREVIATIONS = frozenset(_TITLES.split())
_NUMBERED = frozenset(_BEFORE_NUMBERS.split())


def first_sentences(text: str, n: int) -> str:
    """The first `n` sentences of a text, or all of it when it has fewer."""
    if n < 1:
        raise ValueError(f"the number of sentences must be at least 1, found {n}")
    has_capitals = _CAPITAL.search(text) is not None
    found, start, has_letters = 0, 0, False
    for ending in _ENDING.finditer(text):
        # "1. Flour" is not two sentences: each needs a letter.
        has_letters = has_letters or _LETTER.search(text, start, ending.start()) is not None
        start = ending.end()
        if has_letters and _ends_sentence(text, ending, has_capitals):
            found, has_letters = found + 1, False
            if found == n:
                return text[:start].strip()
    return text.strip()


def _ends_sentence(text: str, ending: regex.Match[str], has_capitals: bool) -> bool:
    """Whether an ender ends a sentence: what stands after it and before it decides."""
    if ending["enders"][0] not in _DOUBTFUL:
        return True
    if text[ending.end() : ending.end() + 1].strip():
        return False
    following = _NEXT.match(text, ending.end())
    # In a text without capitals a small letter says nothing.
    if has_capitals and following["small"]:
        return False
    return ending["enders"] != "." or not _abbreviated(
        text, ending.start(), following["number"] is not None
    )


def _abbreviated(text: str, period: int, before_number: bool) -> bool:
    """Whether a period belongs to the word before it: Mr., U.S., J. or, before a number, No."""
    last = _LAST_WORD.search(text, max(0, period - _LOOK_BACK), period)
    if last is None:
        return False
    word = last[0].casefold()
    if word in _ABBREVIATIONS or (before_number and word in _NUMBERED):
        return True
    return _INITIALS.fullmatch(word) is not None

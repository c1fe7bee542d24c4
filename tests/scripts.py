"""Texts in many scripts, with everything that usually gets lost."""

from __future__ import annotations

SCRIPTS = (
    "न्याय अंधा होता है",
    "العدالة عمياء، والسؤال هنا؟",
    "正義は盲目である。公正",
    "Cafe\u0301 \u0300combining \u200dZWJ 👩‍👩‍👧‍👦 \U0001f1eb\U0001f1f7",
    "Ελληνικά, עברית, ไทย, ქართული, 한국어",
    "quotes \" and ' and, commas; tabs\t| bars \\ back",
    "two\nlines\r\nthree\u2028four\x85five",
    "NUL \x00 inside, replacement \ufffd, noncharacter \uffff",
)

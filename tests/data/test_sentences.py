from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trope.data.sentences import first_sentences

TWO = {
    "plain": ("One fish. Two fish! Red fish?", "One fish. Two fish!"),
    "title": ("Mr. Smith met Dr. Wu. They spoke. Then left.", "Mr. Smith met Dr. Wu. They spoke."),
    "country": ("The U.S. Senate met. It voted. It left.", "The U.S. Senate met. It voted."),
    "latin": ("Some, e.g. Bob, ran. Others, i.e. Al, sat. End.", None),
    "degree": ("A Ph.D. Student came. She read. She left.", "A Ph.D. Student came. She read."),
    "decimal": (
        "It grew 3.5 percent. Prices fell 0.2. End.",
        "It grew 3.5 percent. Prices fell 0.2.",
    ),
    "initials": ("J. R. R. Tolkien wrote. He smoked. End.", "J. R. R. Tolkien wrote. He smoked."),
    "number": (
        "See No. 5 in Fig. 2. He said no. Then he left.",
        "See No. 5 in Fig. 2. He said no.",
    ),
    "date": ("It was Jan. 5 again. We met. End.", "It was Jan. 5 again. We met."),
    "quotes": ("“Stop!” he cried. “Why?” Nobody spoke.", "“Stop!” he cried. “Why?”"),
    "brackets": ("It rained. (We stayed in.) Then sun.", "It rained. (We stayed in.)"),
    "straight": ('He said "go." She went. End.', 'He said "go." She went.'),
    "ellipsis": ("Wait... what? Yes… Fine.", "Wait... what? Yes…"),
    "list": ("1. Flour. 2. Sugar. 3. Eggs.", "1. Flour. 2. Sugar."),
    "no capitals": ("hello there. how are you? fine.", "hello there. how are you?"),
    "domain": ("Visit example.org today. Do it. Now.", "Visit example.org today. Do it."),
    "french": ("« Bonjour ! » dit-il. Il part. Fin.", "« Bonjour ! » dit-il. Il part."),
    "german": ("Er kam z.B. gestern. „Ach!“ Dann ging er.", "Er kam z.B. gestern. „Ach!“"),
    "russian": ("Это дом. Он, т.е. дом, стар. Конец.", "Это дом. Он, т.е. дом, стар."),
    "japanese": ("東京です。「大阪です。」京都です。", "東京です。「大阪です。」"),
    "chinese": ("你好！你是谁？我是我。", "你好！你是谁？"),
    "hindi": ("यह पहला है। यह दूसरा है। यह तीसरा है।", "यह पहला है। यह दूसरा है।"),
    "arabic": ("ما هذا؟ هذا كتاب. وهذا قلم.", "ما هذا؟ هذا كتاب."),
    "urdu": ("یہ ایک ہے۔ یہ دو ہے۔ یہ تین ہے۔", "یہ ایک ہے۔ یہ دو ہے۔"),
    "burmese": ("ဒါ၊ တစ်။ ဒါ နှစ်။ ဒါ သုံး။", "ဒါ၊ တစ်။ ဒါ နှစ်။"),
    "amharic": ("ይህ አንድ ነው። ይህ ሁለት ነው። ሦስት።", "ይህ አንድ ነው። ይህ ሁለት ነው።"),
    "armenian": ("Սա մեկն է։ Սա երկուսն է։ Երեք։", "Սա մեկն է։ Սա երկուսն է։"),
}


@pytest.mark.parametrize(("text", "two"), TWO.values(), ids=TWO)
def test_two_sentences_of_three(text: str, two: str | None) -> None:
    expected = text.removesuffix(" End.") if two is None else two
    assert first_sentences(text, 2) == expected


def test_a_text_with_fewer_sentences_stays_whole() -> None:
    assert first_sentences("  No end here ", 2) == "No end here"
    assert first_sentences("One. Two.", 5) == "One. Two."
    assert first_sentences("", 1) == ""


def test_no_sentence_at_all_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1, found 0"):
        first_sentences("One. Two.", 0)


@settings(deadline=None)
@given(st.text(), st.integers(1, 4))
def test_more_sentences_only_add_to_the_end(text: str, n: int) -> None:
    fewer, more = first_sentences(text, n), first_sentences(text, n + 1)
    assert more.startswith(fewer)
    assert text.strip().startswith(more)
    assert first_sentences(text, 10**6) == text.strip()


@pytest.mark.parametrize(
    ("piece", "length"),
    [(".", 1_000_000), ("<", 1_000_000), ("a", 1_000_000)]
    + [(piece, 100_000) for piece in (". ", ".'", "J. ", ". »", "a.", "…»", ". (", "。")],
)
def test_long_runs_of_anything_take_linear_time(piece: str, length: int) -> None:
    text = piece * (length // len(piece))
    start = time.process_time()
    first_sentences(text, 10**9)
    assert time.process_time() - start < 10

from __future__ import annotations

import numpy as np
import pytest
from caption_samples import CORPUS, IMAGES, Captions, whole
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

from trope.data.text import tokenize
from trope.spaces.captions import Corpus
from trope.spaces.captions.daa import as_released


def plain_daa(corpus: list[Captions], fitted_on: list[Captions]) -> np.ndarray:
    """scikit-learn with its defaults, and the mean over references."""
    counter = CountVectorizer()
    transformer = TfidfTransformer()
    transformer.fit(counter.fit_transform([" ".join(t) for refs in fitted_on for t in refs]))
    texts = [" ".join(t) for references in corpus for t in references]
    vectors = transformer.transform(counter.transform(texts))
    similarity = (vectors @ vectors.T).toarray()
    ends = np.cumsum([len(references) for references in corpus])[:-1]
    return np.stack([part.mean(0) for part in np.split(similarity, ends)])


def test_daa_is_scikit_learn() -> None:
    assert whole("cider-daa", CORPUS) == pytest.approx(plain_daa(IMAGES, IMAGES), abs=1e-6)


def test_words_are_cut_as_scikit_learn_cuts_them() -> None:
    texts = [
        ["a dog's 1,000 toys", "men's café's don't"],
        ["the men's toys 3.14 o'clock"],
        ["il n'a pas d'œufs", "собака и кот"],
    ]
    images = [[tokenize(text) for text in captions] for captions in texts]
    found = whole("cider-daa", Corpus.from_tokens(images))
    assert found == pytest.approx(plain_daa(images, images), abs=1e-6)


@given(st.lists(st.text("ab1'.é", min_size=1, max_size=6), max_size=5))
def test_any_word_is_cut_as_scikit_learn_cuts_it(words: list[str]) -> None:
    cut = CountVectorizer().build_analyzer()
    corpus = as_released(Corpus.from_tokens([[words]]))
    found = [corpus.words[token] for token in corpus.tokens]
    wordless = [word for word in words if not any(map(str.isalnum, word))]
    assert [word for word in found if word not in wordless] == cut(" ".join(words))


def test_daa_leaves_out_unseen_words_and_single_letters() -> None:
    train = [[["aa", "bb", "a"]], [["aa", "cc"]]]
    test = [[["aa", "zz", "a", "7"], ["cc", "bb"]], [["zz"]]]
    found = whole("cider-daa", Corpus.from_tokens(test), Corpus.from_tokens(train))
    assert found == pytest.approx(plain_daa(test, train), abs=1e-6)
    assert found[1, 2] == 0


def test_daa_keeps_the_characters_of_scripts_without_spaces() -> None:
    corpus = Corpus.from_texts([["正義は盲目"], ["正義"], ["公園の犬"]])
    found = whole("cider-daa", corpus)
    assert found[0, 1] > found[0, 2] == 0


def test_marks_belong_to_their_letters_and_emoji_are_words() -> None:
    corpus = as_released(Corpus.from_texts([["न्याय अंधा होता है 🐕 a"]]))
    assert corpus.words == ("न्याय", "अंधा", "होता", "है", "🐕")

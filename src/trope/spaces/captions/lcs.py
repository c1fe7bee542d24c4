"""Longest common subsequences, 64 columns of the table in one machine word (Hyyrö 2004).

A caption of up to 64 words is one word of bits, updated only by the tokens of the other text that
it holds: sparse like everything else here. Longer ones are cut into strips of 64 that pass their
carry bits on, so memory grows with the length of the texts and never with its square.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import UInt64

from trope.compiled import compiled
from trope.spaces.captions.corpus import Corpus

WORD = 64


def position_masks(corpus: Corpus) -> UInt64[np.ndarray, " entries"]:
    """Where each word of a caption stands in it, as bits; 0 in captions of more than 64 words.

    One mask for each stored entry of the corpus's single-word counts, in their order.
    """
    caption = np.repeat(np.arange(corpus.caption_count), corpus.lengths)
    place = np.arange(len(corpus.tokens)) - corpus.starts[caption]
    _, entry = np.unique(caption * len(corpus.words) + corpus.tokens, return_inverse=True)
    masks = np.zeros(int(entry.max(initial=-1)) + 1, np.uint64)
    short = corpus.lengths[caption] <= WORD
    bits = np.uint64(1) << place[short].astype(np.uint64)
    np.bitwise_or.at(masks, entry[short], bits)
    return masks


@compiled
def zeros_in(bits: np.uint64) -> np.uint64:
    """How many of 64 bits are 0."""
    bits = ~bits
    bits -= (bits >> np.uint64(1)) & np.uint64(0x5555555555555555)
    low = np.uint64(0x3333333333333333)
    bits = (bits & low) + ((bits >> np.uint64(2)) & low)
    bits = (bits + (bits >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (bits * np.uint64(0x0101010101010101)) >> np.uint64(56)


@compiled
def strips(one: np.ndarray, other: np.ndarray, table: np.ndarray) -> np.uint64:
    """The common length, 64 words of `one` at a time; `table` is a zero for every word."""
    carries = np.zeros(len(other), np.uint64)
    common = np.uint64(0)
    for first in range(0, len(one), WORD):
        strip = one[first : first + WORD]
        for k in range(len(strip)):
            table[strip[k]] |= np.uint64(1) << np.uint64(k)
        common += zeros_in(_pass(table, other, carries))
        for word in strip:
            table[word] = np.uint64(0)
    return common


@compiled
def _pass(table: np.ndarray, other: np.ndarray, carries: np.ndarray) -> np.uint64:
    """The bits of one strip after all words of the other text; carries go in and come out."""
    bits = ~np.uint64(0)
    for k in range(len(other)):
        bits, carries[k] = step(bits, table[other[k]], carries[k])
    return bits


@compiled
def step(bits: np.uint64, matches: np.uint64, carry: np.uint64) -> tuple[np.uint64, np.uint64]:
    """The bits of a strip and the carry after one more word, which stands where `matches` are."""
    half = bits + (bits & matches)
    whole = half + carry
    return whole | (bits & ~matches), np.uint64(half < bits) | np.uint64(whole < half)

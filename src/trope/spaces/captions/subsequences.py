"""Which words a longest common subsequence holds, for each part of a text against one caption.

Of several longest ones, which may hold different words, it is the one found from the ends
backwards: where both texts have the same word it is taken, else the caption's last word is dropped
unless the common length would shrink. The rows of the table are bits, as in `lcs`. For captions of
up to 64 words only the rows of words that they hold are kept; longer ones take two bits for each
pair of words, the only place where memory grows with the product of two lengths.
"""

from __future__ import annotations

import numpy as np

from trope.compiled import compiled
from trope.spaces.captions.lcs import WORD, step, zeros_in

# The bits of some rows, where the row's word stands in the caption, and in the text.
Table = tuple[np.ndarray, np.ndarray, np.ndarray]
# The same for each word of a text and each strip of a caption.
Strips = tuple[np.ndarray, np.ndarray]


@compiled
def common_words(
    caption: np.ndarray, text: np.ndarray, ends: np.ndarray, table: Table, masks: np.ndarray
) -> np.uint64:
    """How many words are in a longest common subsequence of the caption with a part of the text.

    The caption has up to 64 words; `masks` is a zero for every word.
    """
    firsts, union = np.uint64(0), np.uint64(0)
    for k in range(len(caption)):
        bit = np.uint64(1) << np.uint64(k)
        firsts |= np.uint64(0) if masks[caption[k]] else bit
        masks[caption[k]] |= bit
    start = 0
    for end in ends:
        union |= _of_part(text[start:end], len(caption), table, masks)
        start = end
    for word in caption:
        masks[word] = np.uint64(0)
    return zeros_in(~(union & firsts))


@compiled
def _of_part(part: np.ndarray, size: int, table: Table, masks: np.ndarray) -> np.uint64:
    """Where the words of one part's subsequence stand in the caption."""
    rows, places, where = table
    bits, count = ~np.uint64(0), 0
    for k in range(len(part)):
        matches = masks[part[k]]
        if matches:
            held = bits & matches
            bits = (bits + held) | (bits - held)
            rows[count], places[count], where[count] = bits, matches, k
            count += 1
    left, below, union = ~np.uint64(0) >> np.uint64(WORD - size), len(part), np.uint64(0)
    for row in range(count - 1, -1, -1):
        if where[row] + 1 < below:  # words that the caption lacks: back to where the length grows
            left = up_to_highest(~rows[row] & left)
        left = up_to_highest((places[row] | ~rows[row]) & left)
        if places[row] & (left ^ (left >> np.uint64(1))):
            union |= places[row]
            left >>= np.uint64(1)
        below = where[row]
    return union


@compiled
def up_to_highest(bits: np.uint64) -> np.uint64:
    """Ones up to the highest bit that is set."""
    bits |= bits >> np.uint64(1)
    bits |= bits >> np.uint64(2)
    bits |= bits >> np.uint64(4)
    bits |= bits >> np.uint64(8)
    bits |= bits >> np.uint64(16)
    return bits | (bits >> np.uint64(32))


@compiled
def common_words_of_long(
    caption: np.ndarray,
    text: np.ndarray,
    ends: np.ndarray,
    masks: np.ndarray,
    seen: np.ndarray,
    mark: int,
) -> int:
    """The same for a caption of any length; `seen` is where words are ticked off under a `mark`."""
    size = -(-len(caption) // WORD) * len(text)
    rows, places = np.empty(size, np.uint64), np.empty(size, np.uint64)
    _fill(caption, text, ends, (rows, places), masks)
    count, start = 0, 0
    for end in ends:
        count += _read_back(len(caption), text, start, end, (rows, places), seen, mark)
        start = end
    return count


@compiled
def _fill(
    caption: np.ndarray, text: np.ndarray, ends: np.ndarray, table: Strips, masks: np.ndarray
) -> None:
    """The rows of the tables of all parts, 64 words of the caption at a time."""
    width = -(-len(caption) // WORD)
    carries = np.zeros(len(text), np.uint64)
    for strip in range(width):
        words = caption[strip * WORD : (strip + 1) * WORD]
        for k in range(len(words)):
            masks[words[k]] |= np.uint64(1) << np.uint64(k)
        start = 0
        for end in ends:
            _rows(text, start, end, table, masks, carries, width, strip)
            start = end
        for word in words:
            masks[word] = np.uint64(0)


@compiled
def _rows(
    text: np.ndarray,
    start: int,
    end: int,
    table: Strips,
    masks: np.ndarray,
    carries: np.ndarray,
    width: int,
    strip: int,
) -> None:
    """The rows of one part and one strip; carries go in from the strip before."""
    rows, places = table
    bits = ~np.uint64(0)
    for k in range(start, end):
        matches = masks[text[k]]
        bits, carries[k] = step(bits, matches, carries[k])
        rows[k * width + strip], places[k * width + strip] = bits, matches


@compiled
def _read_back(
    size: int, text: np.ndarray, start: int, end: int, table: Strips, seen: np.ndarray, mark: int
) -> int:
    """Tick off the words of one part's subsequence; how many were not ticked off before."""
    width = -(-size // WORD)
    count, left = 0, size
    for k in range(end - 1, start - 1, -1):
        place = _last(table, k * width, left)
        if place < 0:
            break
        left = place + 1
        word = table[1][k * width + place // WORD] >> np.uint64(place % WORD)
        if word & np.uint64(1):
            left = place
            if seen[text[k]] != mark:
                seen[text[k]] = mark
                count += 1
    return count


@compiled
def _last(table: Strips, row: int, left: int) -> int:
    """The last of `left` places where the row's word stands or the common length grows, or -1."""
    rows, places = table
    strip = (left - 1) // WORD
    inside = ~np.uint64(0) >> np.uint64(WORD - 1 - (left - 1) % WORD)
    while left and strip >= 0:
        bits = (places[row + strip] | ~rows[row + strip]) & inside
        if bits:
            return int(strip * WORD + np.int64(zeros_in(~up_to_highest(bits))) - 1)
        strip, inside = strip - 1, ~np.uint64(0)
    return -1

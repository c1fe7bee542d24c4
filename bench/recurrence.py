"""The text encoder's GRU against torch's on the same packed words, forward and backward."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pack_padded_sequence

from trope.encoders import TextSettings
from trope.encoders.gru import Gru
from trope.features.backbones.outputs import one_core_each

TEXTS, WORDS, REPEATS = 64, 8_000, 9
TYPICAL, SPREAD = 26, 0.6  # words of a text: the mean is then 31, as in the storybooks


def gru(full: bool) -> dict[str, Any]:
    """One thread each: where others use the machine, several mostly wait for each other."""
    with one_core_each():
        encoder, (ids, lengths) = Gru(WORDS, TextSettings()), texts()
        sides = [lambda: ours(encoder, ids, lengths), lambda: theirs(encoder, ids, lengths)]
        check(encoder, sides)
        times = [[seconds(side) for side in sides] for _ in range(REPEATS * (5 if full else 1))]
    mine, other = np.median(np.array(times), axis=0).tolist()
    return {
        "ratio": other / mine,
        "better": "higher",
        "ours": mine,
        "theirs": other,
        "against": "torch.nn.GRU on packed sequences",
        "work": f"forward and backward of {TEXTS} texts, {int(lengths.sum()):,} words in all, "
        "vectors of 200, states of 512",
    }


def texts() -> tuple[Tensor, Tensor]:
    """Padded numbers of words, and lengths."""
    random = np.random.default_rng(0)
    lengths = random.lognormal(np.log(TYPICAL), SPREAD, TEXTS).round().clip(1, 150)
    ids = random.integers(2, WORDS, (TEXTS, int(lengths.max())))
    ids[np.arange(ids.shape[1]) >= lengths[:, None]] = 0
    return torch.from_numpy(ids), torch.from_numpy(lengths.astype(np.int64))


def ours(encoder: Gru, ids: Tensor, lengths: Tensor) -> Tensor:
    return encoder(ids, lengths).whole


def theirs(encoder: Gru, ids: Tensor, lengths: Tensor) -> Tensor:
    words = pack_padded_sequence(
        encoder.words(ids), lengths, batch_first=True, enforce_sorted=False
    )
    return encoder.gru(words)[1][0]


def seconds(side: Callable[[], Tensor]) -> float:
    """Of the processor, which is the same whoever else uses the machine."""
    started = time.process_time()
    side().sum().backward()
    return time.process_time() - started


def check(encoder: Gru, sides: list[Callable[[], Tensor]]) -> None:
    """Both sides give the same states and the same gradients."""
    found = [side() for side in sides]
    assert torch.allclose(found[0], found[1], atol=1e-5), "states differ"
    learned = list(encoder.parameters())
    mine, other = (torch.autograd.grad(states.sum(), learned) for states in found)
    for one, two in zip(mine, other, strict=True):
        assert torch.allclose(one, two, rtol=1e-3, atol=1e-4), "gradients differ"

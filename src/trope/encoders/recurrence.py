"""The recurrence of a GRU on a processor: torch's numbers in less time.

Texts stand in the order of torch's packed sequences: step after step, longest text first, so that
the texts of a step are the first of the step before and no padding is computed.

    r, z = sigmoid(x W_i + h W_h)      n = tanh(x W_in + r (h W_hn))      h' = n + z (h - n)

Torch's own adds to the gradients of the weights at every step. Here the gradients of all gates are
kept, and each weight gets its gradient in one product at the end.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn.utils.rnn import PackedSequence

Sizes = list[int]  # the number of texts that have a word at each step


def last_states(gru: nn.GRU, words: PackedSequence) -> Float[Tensor, "n h"]:
    """What the only layer of a GRU holds after the last word of each text, both ways if it has two.

    The order is that of the texts before they were packed.
    """
    if words.data.device.type != "cpu":
        last = gru(words)[1]
        return torch.cat(tuple(last), dim=1)
    sizes = words.batch_sizes.tolist()
    recurrence: Any = _Recurrence.apply
    with torch.autocast("cpu", enabled=False):
        weights = _weights(gru, "")
        data = words.data.to(weights[0].dtype)
        ends = [recurrence(data, sizes, *weights)]
        if gru.bidirectional:
            data = data[backwards(words.batch_sizes)]
            ends.append(recurrence(data, sizes, *_weights(gru, "_reverse")))
    last = torch.cat(ends, dim=1)
    return last if words.unsorted_indices is None else last[words.unsorted_indices]


def backwards(sizes: Int[Tensor, " steps"]) -> Int[Tensor, " tokens"]:
    """Where in a packed sequence its words stand when each text is read from its end."""
    text = torch.cat([torch.arange(int(size)) for size in sizes])
    step = torch.arange(len(sizes)).repeat_interleave(sizes)
    length = torch.bincount(text)
    starts = sizes.cumsum(0) - sizes
    return starts[length[text] - 1 - step] + text


def _weights(gru: nn.GRU, suffix: str) -> list[Tensor]:
    names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    return [getattr(gru, f"{name}_l0{suffix}") for name in names]


class _Recurrence(torch.autograd.Function):
    """Words, sizes and weights in, last states out; in the precision of the weights."""

    @staticmethod
    def forward(ctx: Any, *inputs: Any) -> Any:
        """All steps, each text as long as it has words."""
        words, sizes, weights = inputs[0], inputs[1], inputs[2:]
        last, memory = run(words, sizes, *weights)
        ctx.sizes = sizes
        ctx.save_for_backward(words, weights[0], weights[1], *memory)
        return last

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *outputs: Any) -> Any:
        """Gradients of words and weights."""
        words, inputs, hidden, *memory = ctx.saved_tensors
        with torch.autocast("cpu", enabled=False):
            reaching = back(outputs[0], ctx.sizes, hidden, Memory(*memory))
            by_words, by_weights = products(reaching, ctx.sizes[0], words, inputs, memory[1])
        return by_words, None, *by_weights


class Memory(NamedTuple):
    """What a run leaves for the way back."""

    gates: Float[Tensor, "tokens gates"]  # reset, update, new
    before: Float[Tensor, "tokens h"]  # the state that each word finds
    new_of: Float[Tensor, "tokens h"]  # h W_hn, before it is reset


def run(
    words: Float[Tensor, "tokens d"],
    sizes: Sizes,
    inputs: Float[Tensor, "gates d"],
    hidden: Float[Tensor, "gates h"],
    input_bias: Float[Tensor, " gates"],
    hidden_bias: Float[Tensor, " gates"],
) -> tuple[Float[Tensor, "n h"], Memory]:
    """From the first step to the last; the order of gates is torch's: reset, update, new."""
    h, n = hidden.shape[1], sizes[0]
    gates = torch.addmm(input_bias, words, inputs.T)
    before, new_of = gates.new_empty(len(gates), h), gates.new_empty(len(gates), h)
    last, product = gates.new_empty(n, h), gates.new_empty(n, 3 * h)
    before[:n] = 0
    start = 0
    for size, later in zip(sizes, [*sizes[1:], 0], strict=True):
        part = slice(start, start + size)
        found = torch.addmm(hidden_bias, before[part], hidden.T, out=product[:size])
        gates[part, : 2 * h].add_(found[:, : 2 * h]).sigmoid_()
        reset, update, new = torch.split(gates[part], h, dim=1)
        new_of[part] = found[:, 2 * h :]
        new.addcmul_(reset, found[:, 2 * h :]).tanh_()
        state = torch.lerp(new, before[part], update)
        before[part.stop : part.stop + later] = state[:later]
        last[later:size] = state[later:]
        start = part.stop
    return last, Memory(gates, before, new_of)


def back(
    last: Float[Tensor, "n h"], sizes: Sizes, hidden: Float[Tensor, "gates h"], memory: Memory
) -> Float[Tensor, "tokens 4 h"]:
    """From the last step to the first: what reaches the gates before their functions.

    They are: new, reset, update, and new by way of the state.
    """
    gates, before, new_of = memory
    h = hidden.shape[1]
    reaching = gates.new_empty(len(gates), 4, h)
    state, start = last.clone(), len(gates)
    for size in reversed(sizes):
        part = slice(start - size, start)
        now, found = state[:size], reaching[part]
        reset, update, new = torch.split(gates[part], h, dim=1)
        _slopes(reset, update, new, before[part], new_of[part], found)
        found.mul_(now[:, None])
        if part.start:
            now.mul_(update).addmm_(found[:, 1:].flatten(1), hidden)
        start = part.start
    return reaching


def products(
    reaching: Float[Tensor, "tokens 4 h"],
    first: int,
    words: Float[Tensor, "tokens d"],
    inputs: Float[Tensor, "gates d"],
    before: Float[Tensor, "tokens h"],
) -> tuple[Float[Tensor, "tokens d"], list[Tensor]]:
    """The gradient of the words, and those of the weights; the first states are zero."""
    flat, h = reaching.flatten(1), before.shape[1]
    turned, bias = flat[:, : 3 * h], flat.sum(dim=0)  # new, reset, update
    by_inputs = (turned.T @ words).roll(-h, 0)
    by_hidden = flat[first:, h:].T @ before[first:]
    return turned @ inputs.roll(h, 0), [by_inputs, by_hidden, bias[: 3 * h].roll(-h), bias[h:]]


def _slopes(
    reset: Tensor, update: Tensor, new: Tensor, before: Tensor, new_of: Tensor, out: Tensor
) -> None:
    """What a gradient of one on the state after a step is on its gates, before their functions."""
    to_new, to_reset, to_update, to_new_of = out.unbind(1)
    torch.mul(1 - update, 1 - new * new, out=to_new)
    torch.mul(to_new, reset, out=to_new_of)
    torch.mul(to_new_of * new_of, 1 - reset, out=to_reset)
    torch.mul((before - new) * update, 1 - update, out=to_update)

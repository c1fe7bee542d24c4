"""What the files of an export take, and how it is made of texts and pictures: for programs."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import Any

import regex

from trope import config
from trope.data.text import PATTERNS
from trope.data.vocabulary import PAD, SPECIAL, UNKNOWN
from trope.encoders.plan import Plan
from trope.encoders.tuned import Tuned
from trope.export.patterns import plain
from trope.features.sentences import sentence_encoder

FORMAT = "trope-onnx-1"
WORDS, BACKBONE, TOKENIZER = "vocabulary.json", "backbone.onnx", "tokenizer"
FLAGS = {"i": re.IGNORECASE, "s": re.DOTALL}


def described(plan: Plan, network: Tuned | None) -> dict[str, Any]:
    """The content of `inputs.json`; `network` takes pixels, where one is exported."""
    settings = {name: config.plain(getattr(plan, name)) for name in ("image", "text", "head")}
    inputs = {"text": _text(plan), "image": _image(plan, network)}
    return {"format": FORMAT, **settings, "inputs": inputs}


def _text(plan: Plan) -> dict[str, Any]:
    if plan.text.encoder == "precomputed":
        return {"takes": "features", "how": "text.onnx takes vectors that come with the data"}
    about = {
        "preparation": asdict(plan.text.preparation),
        "patterns": {name: _pattern(known) for name, known in PATTERNS.items()},
    }
    if plan.text.encoder == "sentence":
        what = "vectors of pieces of words" if plan.parts else "vectors"
        how = f"text.onnx takes the {what} that sentence encoder '{plan.text.model}' makes of"
        return about | {"takes": "features", "how": f"{how} prepared texts"}
    if plan.text.encoder == "sentence-tuned":
        most = sentence_encoder(plan.text.model).network.max_seq_length or plan.text.longest
        longest = min(plan.text.longest, int(most))
        tokenizer = {"tokenizer": f"{TOKENIZER}/tokenizer.json", "padding": PAD, "longest": longest}
        return about | {"takes": "pieces", **tokenizer}
    numbers = {"padding": PAD, "unknown": UNKNOWN, "first": len(SPECIAL)}
    return about | {"takes": "words", "words": WORDS, **numbers, "longest": plan.text.longest}


def _image(plan: Plan, network: Tuned | None) -> dict[str, Any]:
    if network is None:
        what = "vectors of cells" if plan.parts else "one vector a picture"
        how = f"image.onnx takes features of backbone '{plan.image.backbone}' ({what})"
        return {"takes": "features", "how": how}
    about = {
        "size": network.size,
        "resize": "stretch",
        "resample": "bicubic",
        "inside": {"mean": network.mean.tolist(), "std": network.std.tolist()},
    }
    if plan.image.encoder == "tuned":
        return {"takes": "pixels", **about}
    return {"takes": "features", "backbone": BACKBONE, **about}


def _pattern(known: regex.Pattern[str]) -> dict[str, str]:
    letters = "".join(letter for letter, flag in FLAGS.items() if known.flags & flag)
    return {"pattern": plain(known), "flags": letters}

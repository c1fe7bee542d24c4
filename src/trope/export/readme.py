"""The page that lies beside exported files: what they take, how it is made, and an example."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trope.encoders.plan import Plan

HEAD = """\
# An image-text model as ONNX

Made by `trope export onnx`. Texts and pictures become vectors of {width} numbers and length one;
their product says how well a text and a picture go together. `python prepare.py {arguments}`
prints such vectors, and needs this folder, Python 3.11, numpy, Pillow and onnxruntime alone:

```python
from prepare import Exported

model = Exported(".")
{calls}
```
{missing}
All numbers below stand in `inputs.json` too, under `inputs`.
"""
OUTPUTS = """\
## What comes out

`mean` is the vector of each item, of length one; all zeros for an item without content, which is
like nothing.{points}
"""
POINTS = """ `points` are the {senses} senses of each, of length one too: of two
items the best pair counts."""
PREPARED = """\
## Texts

A text is prepared in this order; the patterns are those of `inputs.json`, in the language of
Python's `re`, PCRE and Java.

{steps}
"""
WORDS = """
Then it is split into words: typographic apostrophes (’) become plain ones ('), and words are what
`token` finds from left to right. Of these the first {longest} are kept. `text.onnx` takes their
numbers:

- `ids` (int64, texts × words): a word's place in `vocabulary.json`, counted from {first}; {unknown}
  for a word that is not there; {padding} after the last word of a text that is shorter than others.
- `lengths` (int64, texts): how many words each text has; 0 for none, with at least one column.
"""
PIECES = """
Then `{tokenizer}` (of the package `tokenizers`) splits it into pieces of words with marks at both
ends, {longest} at most. `text.onnx` takes their numbers:

- `ids` (int64, texts × pieces), with {padding} after the last piece of a text.
- `lengths` (int64, texts): how many pieces each text has, the marks among them.
"""
PICTURES = """\
## Pictures

A picture is decoded to RGB of 8 bits: the first frame, transparency on white, gray of 16 bits
divided by 257. It is stretched to {size} × {size} pixels by bicubic interpolation, without a crop,
and then turned as EXIF says. JPEG files are decoded at a reduced scale where that is large enough
(`draft` of Pillow). `{file}` takes the values as they are, 0 to 255:

- `pixels` (uint8, pictures × {size} × {size} × 3).

It begins with (x − mean) / std by itself: mean {mean}, std {std}.
"""
BACKBONE = """
`{backbone}` gives `features`, which `image.onnx` takes.
"""


def readme(plan: Plan, inputs: dict[str, Any]) -> str:
    """For people, what `inputs.json` says to programs."""
    said, shown, senses = inputs["text"], inputs["image"], plan.head.senses
    points = POINTS.format(senses=senses) if senses > 1 else ""
    parts = [
        HEAD.format(width=plan.width, **_example(inputs)),
        _texts(said),
        _pictures(shown),
        OUTPUTS.format(points=points),
    ]
    return "\n".join(parts)


def _example(inputs: dict[str, Any]) -> dict[str, str]:
    """What the program can be asked for: vectors of a frozen encoder are made elsewhere."""
    ways = {
        "text": ('"some words"', 'texts = model.texts(["some words"])'),
        "image": ("photo.jpg", 'images = model.images(["photo.jpg"])'),
    }
    known = [side for side in ways if _from_scratch(inputs[side])]
    calls = [ways[side][1] for side in known]
    calls += ["print(texts @ images.T)"] if len(known) == len(ways) else []
    missing = [
        f"\nNot from scratch: {inputs[side]['how']}.\n" for side in ways if side not in known
    ]
    return {
        "arguments": " ".join(ways[side][0] for side in known),
        "calls": "\n".join(calls),
        "missing": "".join(missing),
    }


def _from_scratch(about: dict[str, Any]) -> bool:
    return about["takes"] != "features" or "backbone" in about


def _texts(about: dict[str, Any]) -> str:
    steps = "\n".join(f"{i}. {step}" for i, step in enumerate(_steps(about), 1))
    page = PREPARED.format(steps=steps) if steps else "## Texts\n"
    if about["takes"] == "features":
        return f"{page}\n{about['how']}.\n"
    return page + (WORDS if about["takes"] == "words" else PIECES).format(**about)


def _steps(about: dict[str, Any]) -> Iterator[str]:
    asked = about.get("preparation")
    if asked is None:
        return
    if asked["strip_markup"]:
        yield "What `block` finds becomes a space; so does `tag`, or nothing if group 1 matched."
        yield "What `entity` finds is resolved as in HTML (`&amp;` is &), then step 1 once more."
    if asked["strip_links"]:
        yield "What `link` finds becomes a space and the punctuation it ends with (.,;:!?'’”)])."
    yield (
        "Unless all of it is printable ASCII: what `junk` finds goes, what `joiners` finds becomes "
        "its groups, and the rest is composed (NFC)."
    )
    yield "Whitespace becomes single spaces, none at the ends."
    if asked["sentences"] is not None:
        yield f"The first {asked['sentences']} sentences stay; `prepare.py` does not find them."
    if asked["max_chars"] is not None:
        yield (
            f"At most {asked['max_chars']} characters stay, up to a space among the last 50, else "
            "not before what `attached` finds."
        )
    if asked["lower"]:
        yield "Letters become small, and are composed again (NFC)."


def _pictures(about: dict[str, Any]) -> str:
    if "size" not in about:
        return f"## Pictures\n\n{about['how']}.\n"
    file = about.get("backbone", "image.onnx")
    page = PICTURES.format(size=about["size"], file=file, **about["inside"])
    return page + (BACKBONE.format(**about) if "backbone" in about else "")

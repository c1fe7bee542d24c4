"""A scene in plain words: what is drawn, in which color and where; never what it means."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trope.data.emblems.scene import Figure, Ground, Mark, Scene

GROUNDS = {  # {0} and {1} are the colors, {a0} and {a1} the colors after `a` or `an`
    "plain": ("a plain {0} background", "plain {0}"),
    "shaded": ("a background that shades from {0} to {1}", "{0} fading into {1}"),
    "glowing": ("{a0} background that turns {1} toward the edges", "{a0} glow on {1}"),
    "striped": ("{0} and {1} stripes", "a background striped in {0} and {1}"),
    "dotted": ("{a0} background with {1} polka dots", "{0} dotted with {1}"),
    "checkered": ("a checkered background of {0} and {1}", "{0} and {1} checks"),
    "rays": ("rays of {0} and {1}", "a burst of {0} and {1} rays"),
    "hills": ("{a0} background with {1} hills along the bottom", "{1} hills below {0}"),
    "wavy": ("wavy stripes of {0} and {1}", "a background of {0} and {1} waves"),
    "rings": ("rings of {0} and {1}", "a background of {0} and {1} rings"),
    "split": ("a background split between {0} and {1}", "a ground part {0}, part {1}"),
    "bordered": ("{a0} background with {a1} border", "{0} framed in {1}"),
}
FINISHES = {
    "flat": ("",),
    "shadow": ("", " casting a soft shadow", " with a shadow"),
    "outline": ("", " with an outline", " with a clear edge"),
    "sticker": ("", " cut out like a sticker", " as a sticker"),
}
PLACES = {
    (0, 0): ("in the upper left", "at the top left"),
    (1, 0): ("at the top", "in the upper part"),
    (2, 0): ("in the upper right", "at the top right"),
    (0, 1): ("on the left", "at the left"),
    (1, 1): ("in the middle", "in the center"),
    (2, 1): ("on the right", "at the right"),
    (0, 2): ("in the lower left", "at the bottom left"),
    (1, 2): ("at the bottom", "in the lower part"),
    (2, 2): ("in the lower right", "at the bottom right"),
}
SENTENCES = (
    "{figures}, on {ground}{extras}.",
    "{figures} against {ground}{extras}.",
    "On {ground}: {figures}{extras}.",
    "The picture shows {figures} on {ground}{extras}.",
    "There is {figures} in front of {ground}{extras}.",
    "Drawn on {ground}: {figures}{extras}.",
    "An image of {figures}, set on {ground}{extras}.",
)
EXTRAS = (", with {}", "; nearby, {}", ", and also {}", "; off to the side, {}", ", besides {}")
NUMBERS = ("no", "a", "two", "three")
SILENT_H = ("hourglass",)


def describe(scene: Scene, random: np.random.Generator) -> str:
    """One sentence that says what the picture shows, with phrasing drawn at random."""
    small = [f"a tiny {one.color} {one.motif.phrase}" for one in scene.trinkets]
    small += [_marks(scene.marks)] if scene.marks else []
    text = _pick(SENTENCES, random).format(
        figures=_figures(scene, random),
        ground=_ground(scene.ground, random),
        extras=_pick(EXTRAS, random).format(_listing(small)) if small else "",
    )
    return text[0].upper() + text[1:]


def with_article(phrase: str) -> str:
    """The phrase after `a` or `an`, whichever it sounds like."""
    vowel = phrase[0] in "aeiou" or phrase.startswith(SILENT_H)
    return f"an {phrase}" if vowel else f"a {phrase}"


def _figures(scene: Scene, random: np.random.Generator) -> str:
    """Motifs in order; only a lone one is told at length."""
    if len(scene.figures) > 1:
        return _listing([f"{_thing(one)} {_place(one, random)}" for one in scene.figures])
    lone = scene.figures[0]
    look = _pick(FINISHES[scene.finish], random)
    return f"{_thing(lone)}{_tilt(lone)}{look} {_place(lone, random)}"


def _thing(figure: Figure) -> str:
    size = "large " if figure.size >= 0.5 else "small " if figure.size < 0.36 else ""
    if figure.plate:
        disc = with_article(f"{size}{figure.plate} disc")
        return f"{with_article(figure.motif.phrase)} in {figure.color} on {disc}"
    return with_article(f"{size}{figure.color} {figure.motif.phrase}")


def _tilt(figure: Figure) -> str:
    """Counterclockwise turns lean to the left; slight ones go unsaid."""
    if abs(figure.angle) < 8:
        return ""
    return " leaning to the left" if figure.angle > 0 else " leaning to the right"


def _place(item: Figure, random: np.random.Generator) -> str:
    column, row = (int(np.digitize(value, (0.4, 0.6))) for value in (item.x, item.y))
    return _pick(PLACES[column, row], random)


def _ground(ground: Ground, random: np.random.Generator) -> str:
    names = (ground.first, ground.second)
    one, two = map(with_article, names)
    return _pick(GROUNDS[ground.pattern], random).format(*names, a0=one, a1=two)


def _marks(marks: Sequence[Mark]) -> str:
    plural = "s" if len(marks) > 1 else ""
    return f"{NUMBERS[len(marks)]} small {marks[0].color} {marks[0].shape}{plural}"


def _listing(items: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join(filter(None, (", ".join(items[:-1]), *items[-1:])))


def _pick(choices: Sequence[str], random: np.random.Generator) -> str:
    return choices[int(random.integers(len(choices)))]

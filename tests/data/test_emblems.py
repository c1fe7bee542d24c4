"""The built-in data set: what it says, what it draws, and how it is written."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from scipy.stats import chi2_contingency

import trope
from trope.data.emblems import EmblemBook, backgrounds, glyphs, write_emblem_book
from trope.data.emblems import write as writing
from trope.data.emblems.book import LICENSE, Emblem, emblems
from trope.data.emblems.colors import colors, contrast, palettes
from trope.data.emblems.describe import with_article
from trope.data.emblems.layouts import LAYOUTS, distance, overlapping
from trope.data.emblems.render import render
from trope.data.emblems.scene import PATTERNS, Ground
from trope.data.emblems.topics import motifs, topics, trinkets
from trope.errors import MissingExtra, UsageError

# Words that begin like a motif's word, or hold one, and mean something else: read and judged.
HARMLESS = frozenset(
    {
        *("across", "archduke", "bankruptcy", "billionaire", "billions", "blocked", "centuries"),
        *("childhood", "clocks", "contractors", "crowds", "delighted", "dialect"),
        *(
            "factory",
            "first",
            "golden",
            "greenhouse",
            "handed",
            "moneylender",
            "moonlight",
            "posted",
        ),
        *("restores", "speaks", "start", "started", "starts", "startup"),
        *("starving", "sweethearts", "training", "trains", "transplanted", "window"),
    }
)


@pytest.fixture(scope="module")
def large() -> list[Emblem]:
    """More pairs than there are sentences."""
    return list(emblems(EmblemBook(pairs=2_450)))


@pytest.fixture(scope="module")
def book(large: list[Emblem]) -> list[Emblem]:
    """The book as it is by default."""
    return large[: EmblemBook().pairs]


def words_of(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.lower())


def names(word: str, token: str) -> bool:
    """Whether a word of a sentence names a motif: the same word, an inflection or a compound."""
    inflected = len(word) >= 4 and token.startswith(word)
    compound = len(word) >= 5 and word in token
    return token == word or ((inflected or compound) and token not in HARMLESS)


# What is written


def test_every_topic_has_motifs_and_sentences_enough() -> None:
    assert len(topics()) == 50
    for topic in topics():
        assert len({motif.name for motif in topic.motifs}) == len(topic.motifs) >= 10, topic.name
        assert len(topic.sentences) == 48, topic.name
        assert all(4 <= len(line.split()) <= 28 for line in topic.sentences), topic.name
        starts = Counter(" ".join(line.lower().split()[:3]) for line in topic.sentences)
        assert max(starts.values()) <= 3, topic.name


def test_no_sentence_names_a_motif_of_its_topic() -> None:
    for topic in topics():
        forbidden = {word: motif.name for motif in topic.motifs for word in motif.words}
        for line in topic.sentences:
            tokens = words_of(line)
            flat = f" {' '.join(tokens)} "
            for word, motif in forbidden.items():
                parts = words_of(word)
                if len(parts) > 1:
                    assert f" {' '.join(parts)} " not in flat, (topic.name, motif, line)
                else:
                    assert not any(names(parts[0], token) for token in tokens), (motif, line)


def test_the_check_for_named_motifs_can_fail() -> None:
    assert names("gavel", "gavels")
    assert names("house", "farmhouse")
    assert not names("star", "started")
    assert not names("cat", "catalog")


def test_no_two_sentences_are_alike() -> None:
    lines = [line for topic in topics() for line in topic.sentences]
    flat = [re.sub(r"\W+", " ", line.lower()) for line in lines]
    grams = [{text[at : at + 5] for at in range(len(text) - 4)} for text in flat]
    index = {gram: column for column, gram in enumerate(sorted(set().union(*grams)))}
    rows = np.repeat(np.arange(len(grams)), [len(gram) for gram in grams])
    columns = [index[gram] for each in grams for gram in sorted(each)]
    table = csr_matrix((np.ones(len(rows), np.float32), (rows, columns)))
    shared = (table @ table.T).tocoo()
    counts = np.asarray(table.sum(axis=1)).ravel()
    union = counts[shared.row] + counts[shared.col] - shared.data
    alike = (shared.data / union)[shared.row < shared.col]
    assert alike.max() < 0.25


def test_phrases_say_what_is_drawn_and_give_no_topic_away() -> None:
    known = {topic.name for topic in topics()}
    phrases = [motif.phrase for motif in (*motifs().values(), *trinkets())]
    assert len(set(phrases)) == len(phrases)
    for phrase in phrases:
        assert not known & set(words_of(phrase)), phrase
        assert words_of(phrase)[0] not in {"a", "an", "the"}
    for motif in motifs().values():
        assert len(motif.words) >= 1
        assert motif.name not in known


def test_motifs_and_trinkets_are_kept_apart() -> None:
    used = {motif.name for topic in topics() for motif in topic.motifs}
    assert used == set(motifs())
    assert not used & {trinket.name for trinket in trinkets()}


def test_glyphs_are_those_of_the_icon_font() -> None:
    metadata = glyphs.font_file().parents[1] / "metadata" / "icons.json"
    icons = json.loads(metadata.read_text(encoding="utf-8"))
    for motif in (*motifs().values(), *trinkets()):
        icon = icons[motif.name]
        assert "solid" in icon["free"]
        assert chr(int(icon["unicode"], 16)) == motif.glyph


def test_inks_stand_out_on_both_grounds_of_their_palette() -> None:
    assert contrast((0, 0, 0), (255, 255, 255)) == pytest.approx(21)
    assert contrast((118, 118, 118), (255, 255, 255)) == pytest.approx(4.54, abs=0.01)
    for palette in palettes():
        for ink in palette.inks:
            for ground in palette.grounds:
                assert contrast(colors()[ink], colors()[ground]) > 3, (palette.name, ink, ground)


# The book


def test_the_whole_book_uses_every_sentence_once(book: list[Emblem]) -> None:
    written = sorted(line for topic in topics() for line in topic.sentences)
    assert sorted(page.sentence for page in book) == written
    assert len({page.description for page in book}) == len({page.id for page in book}) == 2_400
    assert set(Counter(page.topic for page in book).values()) == {48}
    assert not {page.sentence for page in book} & {page.description for page in book}


def test_a_small_book_is_balanced_and_the_beginning_of_a_large_one(book: list[Emblem]) -> None:
    small = list(emblems(EmblemBook(pairs=75)))
    assert small == book[:75]
    assert set(Counter(page.topic for page in small).values()) == {1, 2}
    assert small[0].id == "aging-000"


def test_a_large_book_repeats_sentences_with_new_pictures(large: list[Emblem]) -> None:
    for again, first in zip(large[2_400:], large[:50], strict=True):
        assert again.sentence == first.sentence
        assert again.scene != first.scene
    assert len({page.description for page in large}) == len(large)


def test_seeds_give_other_books() -> None:
    one, other = (list(emblems(EmblemBook(pairs=50, seed=seed))) for seed in (0, 1))
    assert sum(a.scene == b.scene for a, b in zip(one, other, strict=True)) == 0
    assert sum(a.sentence == b.sentence for a, b in zip(one, other, strict=True)) < 10


def test_literal_rows_are_nested() -> None:
    shares = (0.0, 0.3, 0.5, 1.0)
    literal = [
        {page.id for page in emblems(EmblemBook(pairs=150, literalness=share)) if page.literal}
        for share in shares
    ]
    assert all(fewer < more for fewer, more in pairwise(literal))
    assert [len(ids) / 150 for ids in literal] == pytest.approx(shares, abs=0.1)


def test_a_row_holds_both_texts_and_shows_one() -> None:
    for page in emblems(EmblemBook(pairs=100, literalness=0.5)):
        row = page.row()
        assert row["text"] == (row["description"] if row["literal"] else row["sentence"])
        assert row["labels"] == [row["topic"], *row["motifs"]]
        assert row["id"].startswith(row["topic"])
        assert row["license"] == LICENSE
        assert "split" not in row
        assert set(row["motifs"]) <= {
            motif.name for topic in topics() if topic.name == row["topic"] for motif in topic.motifs
        }


@pytest.mark.parametrize(
    ("setting", "value"),
    [("pairs", 0), ("seed", -1), ("size", 8), ("size", 5_000), ("literalness", 1.1)],
)
def test_settings_out_of_range_are_refused(setting: str, value: float) -> None:
    with pytest.raises(ValueError, match=setting):
        EmblemBook(**{setting: value})  # type: ignore[arg-type]


# Descriptions


def test_descriptions_say_what_is_drawn_and_not_what_it_means(book: list[Emblem]) -> None:
    for page in book:
        said = page.description
        for figure in page.scene.figures:
            assert figure.motif.phrase.lower() in said.lower()
            assert (figure.plate or figure.color) in said.lower()
        for trinket in page.scene.trinkets:
            assert trinket.motif.phrase in said
        assert page.scene.ground.first in said.lower()
        assert page.topic not in words_of(said)
        assert not re.search(r"\ba [aeiou]", said.lower()), said
        assert said[0].isupper()
        assert said.endswith(".")


@pytest.mark.parametrize(
    ("phrase", "said"),
    [("gavel", "a gavel"), ("open door", "an open door"), ("hourglass", "an hourglass")],
)
def test_articles_follow_the_sound(phrase: str, said: str) -> None:
    assert with_article(phrase) == said


# Nothing but the motifs gives the topic away


def test_palette_and_pattern_are_drawn_without_regard_to_the_topic(book: list[Emblem]) -> None:
    for feature in (lambda page: page.scene.ground.first, lambda page: page.scene.ground.pattern):
        kinds = sorted({feature(page) for page in book})
        counts = np.zeros((50, len(kinds)))
        for row, page in enumerate(book):
            counts[row % 50, kinds.index(feature(page))] += 1
        assert chi2_contingency(counts).pvalue > 0.001


def test_the_mean_color_tells_no_topic(book: list[Emblem]) -> None:
    pictures = [np.asarray(render(page.scene, 32), np.float64) for page in book[:600]]
    means = np.stack([picture.mean(axis=(0, 1)) for picture in pictures]).reshape(12, 50, 3)
    centroids = means[::2].mean(axis=0)
    distances = ((means[1::2, :, None] - centroids) ** 2).sum(axis=-1)
    right = (distances.argmin(axis=-1) == np.arange(50)).mean()
    assert right < 0.06  # chance is 0.02; 300 guesses


# Pictures


def test_motifs_stand_inside_the_picture_and_clear_of_distractors(book: list[Emblem]) -> None:
    for page in book:
        large, small = page.scene.figures, (*page.scene.trinkets, *page.scene.marks)
        for item in (*large, *small):
            assert item.size / 2 <= item.x <= 1 - item.size / 2
            assert item.size / 2 <= item.y <= 1 - item.size / 2
        for one in large:
            for two in small:
                apart = np.hypot(one.x - two.x, one.y - two.y)
                assert apart > 0.5 * (one.size + two.size)


def test_overlapping_motifs_have_an_edge(book: list[Emblem]) -> None:
    assert any(overlapping(layout) for options in LAYOUTS for layout in options)
    for page in book:
        slots = tuple((one.x, one.y, one.size) for one in page.scene.figures)
        near = [distance(a, b) < 0.35 * (a[2] + b[2]) for a in slots for b in slots if a is not b]
        if any(near):
            assert page.scene.finish in ("outline", "sticker")


def test_every_motif_can_be_seen(book: list[Emblem]) -> None:
    for page in book[:60]:
        bare = replace(page.scene, figures=())
        full, empty = (np.asarray(render(scene, 96), np.int64) for scene in (page.scene, bare))
        changed = np.abs(full - empty).sum(axis=-1) > 60
        assert changed.mean() > 0.04, page.id


def test_pictures_have_the_size_asked_for_and_are_drawn_alike_twice(book: list[Emblem]) -> None:
    picture = render(book[7].scene, 100)
    assert (picture.mode, picture.size) == ("RGB", (100, 100))
    assert picture.tobytes() == render(book[7].scene, 100).tobytes()


@given(angle=st.floats(-25, 25), pixels=st.floats(60, 160))
@settings(max_examples=25)
def test_a_turned_icon_keeps_its_middle_and_its_area(angle: float, pixels: float) -> None:
    glyph = motifs()["gavel"].glyph
    upright, turned = (
        np.asarray(glyphs.icon_mask(glyph, pixels, turn), np.float64) for turn in (0.0, angle)
    )
    assert turned.sum() == pytest.approx(upright.sum(), rel=0.03)
    box = np.argwhere(turned > 100)
    assert np.all(np.abs((box.min(axis=0) + box.max(axis=0) - len(turned)) / 2) < 0.15 * pixels)


def test_icons_turn_counterclockwise() -> None:
    glyph = motifs()["flag"].glyph  # its pole is on the left, and stands up
    mask = np.asarray(glyphs.icon_mask(glyph, 120.0, 20.0), np.float64)
    left, right = mask[:40].nonzero()[1].min(), mask[-40:].nonzero()[1].min()
    assert left < right  # the top of the pole has gone to the left of its foot


@given(st.tuples(*[st.floats(0, 1)] * 3), st.sampled_from(PATTERNS))
def test_patterns_mix_two_colors(numbers: tuple[float, float, float], pattern: str) -> None:
    field = backgrounds.field(Ground(pattern, "ivory", "teal", *numbers), 40)
    assert field.shape == (40, 40)
    assert field.min() >= 0
    assert field.max() <= 1
    assert (field.max() > field.min()) == (pattern != "plain")


def test_every_pattern_can_be_drawn() -> None:
    assert set(PATTERNS) == set(backgrounds.PATTERNS)


# The folder

TINY = EmblemBook(pairs=60, size=48, literalness=0.4)


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_the_folder_is_a_data_set(tmp_path: Path) -> None:
    out = write_emblem_book(tmp_path / "emblems", TINY)
    pairs = trope.open(out)
    assert len(pairs) == 60
    assert not pairs.rejected
    expected = [page.row() for page in emblems(TINY)]
    for pair, row in zip(pairs, expected, strict=True):
        assert (pair.id, pair.texts, list(pair.labels)) == (
            row["id"],
            (row["text"],),
            row["labels"],
        )
        assert pair.extra["description"] == row["description"]
        assert pair.extra["literal"] == row["literal"]
        assert pair.split is None
    assert all(pairs.images.read(row)[:2] == b"\xff\xd8" for row in range(60))
    terms = (out / "LICENSE.txt").read_text(encoding="utf-8")
    assert all(word in terms for word in ("CC BY 4.0", "Fonticons", "SIL OFL 1.1", "Apache"))


def test_the_number_of_workers_changes_nothing(tmp_path: Path) -> None:
    one = write_emblem_book(tmp_path / "one", TINY, workers=1)
    three = write_emblem_book(tmp_path / "three", TINY, workers=3)
    assert contents(one) == contents(three)


def test_python_hash_seeds_change_nothing(book: list[Emblem]) -> None:
    code = (
        "import hashlib; from trope.data.emblems.book import EmblemBook, emblems;"
        "print(hashlib.sha256(repr(list(emblems(EmblemBook(100)))).encode()).hexdigest())"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert runs[0] == runs[1]


def interrupted(out: Path, after: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that dies after some pictures."""
    real, count = writing.encode, iter(range(10_000))

    def dying(page: Emblem, size: int) -> bytes:
        if next(count) >= after:
            raise KeyboardInterrupt
        return real(page, size)

    monkeypatch.setattr(writing, "encode", dying)
    with pytest.raises(KeyboardInterrupt):
        write_emblem_book(out, TINY, workers=1)
    monkeypatch.setattr(writing, "encode", real)
    assert not out.exists()


def recorded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of what is drawn from here on."""
    real, ids = writing.encode, []

    def encode(page: Emblem, size: int) -> bytes:
        ids.append(page.id)
        return real(page, size)

    monkeypatch.setattr(writing, "encode", encode)
    return ids


def test_a_killed_run_is_taken_up_where_it_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "emblems"
    interrupted(out, 25, monkeypatch)
    kept = sorted((tmp_path / ".emblems.partial" / "images").glob("*.jpg"))
    kept[0].write_bytes(kept[0].read_bytes()[:-20])  # one that a power cut left short
    ids: list[str] = []
    real = writing.encode
    monkeypatch.setattr(
        writing, "encode", lambda page, size: (ids.append(page.id), real(page, size))[1]
    )
    write_emblem_book(out, TINY)
    assert len(ids) == 60 - 25 + 1
    assert kept[0].stem in ids
    assert contents(out) == contents(write_emblem_book(tmp_path / "whole", TINY))


def test_nothing_of_a_run_with_other_settings_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "emblems"
    interrupted(out, 25, monkeypatch)
    (tmp_path / ".emblems.partial" / "stray.txt").write_text("from elsewhere")
    other = replace(TINY, seed=5)
    write_emblem_book(out, other)
    assert contents(out) == contents(write_emblem_book(tmp_path / "whole", other))


def test_a_folder_in_use_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("precious")
    with pytest.raises(UsageError, match="not empty"):
        write_emblem_book(tmp_path / "mine", TINY)


def test_without_the_icon_font_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(name: str) -> None:
        raise ModuleNotFoundError(name)

    glyphs.font_file.cache_clear()
    monkeypatch.setattr(glyphs.resources, "files", absent)
    with pytest.raises(MissingExtra, match=r"trope\[demo\]"):
        write_emblem_book(tmp_path / "emblems", TINY)
    assert not list(tmp_path.iterdir()) or [p.name for p in tmp_path.iterdir()] == [".trope-cache"]

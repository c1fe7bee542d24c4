"""Flickr8K: photos with five literal captions each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from trope.data.convert import karpathy, tokens
from trope.data.convert.layout import Contents, Defaults, Format, Found, Row
from trope.data.convert.lookup import below, folders, optional, required

# the archive really spells it so
IMAGES = ("Flicker8k_Dataset", "Flickr8k_Dataset", "Flickr8k_Dataset/Flicker8k_Dataset", "images")
PARTS = {"train": "trainImages", "val": "devImages", "test": "testImages"}


def read(source: Path, settings: Defaults) -> Contents:
    """The official caption and split lists, or Karpathy's split file."""
    places = folders(source, "images", *IMAGES)
    if path := optional(source, "Flickr8k.token.txt", "*/Flickr8k.token.txt"):
        lists = {s: (f"Flickr_8k.{p}.txt", f"*/Flickr_8k.{p}.txt") for s, p in PARTS.items()}
        listed = tokens.splits(source, lists)
        return Contents(tokens.rows(path, listed, lambda name: below(places, name)))
    path = required(
        source, "captions", "Flickr8k.token.txt", "dataset_flickr8k.json", "*/dataset_flickr8k.json"
    )

    def finish(image: dict[str, Any], row: Row) -> Found:
        return Found(row, image["filename"], below(places, image["filename"]))

    return Contents(karpathy.rows(path, finish))


FORMAT = Format(
    about="8,091 photos with five literal captions each",
    paper="Hodosh et al., Framing Image Description as a Ranking Task, JAIR 2013",
    layout="""\
SOURCE/
  Flickr8k.token.txt             captions, image.jpg#0<TAB>caption (also below Flickr8k_text/)
  Flickr_8k.trainImages.txt      the official splits: train, dev and test
  Flickr_8k.devImages.txt
  Flickr_8k.testImages.txt
  dataset_flickr8k.json          or Karpathy's file in place of all four
  Flicker8k_Dataset/*.jpg        images (spelled so in the archive)""",
    becomes="train, dev (as val) and test of the lists; images in no list are set aside",
    read=read,
)

"""Flickr30K: photos with five literal captions each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from trope.data.convert import karpathy, tokens
from trope.data.convert.layout import Contents, Defaults, Format, Found, Row
from trope.data.convert.lookup import below, folders, optional, required

IMAGES = ("flickr30k-images", "flickr30k_images", "images", "flickr30k-images/flickr30k-images")
LISTS = {"train": ("train.txt",), "val": ("val.txt",), "test": ("test.txt",)}


def read(source: Path, settings: Defaults) -> Contents:
    """Karpathy's split file where there is one, else the caption list and any lists of splits."""
    places = folders(source, "images", *IMAGES)
    if path := optional(source, "dataset_flickr30k.json", "*/dataset_flickr30k.json"):

        def finish(image: dict[str, Any], row: Row) -> Found:
            return Found(row, image["filename"], below(places, image["filename"]))

        return Contents(karpathy.rows(path, finish))
    path = required(
        source,
        "captions",
        "dataset_flickr30k.json",
        "results_20130124.token",
        "*/results_20130124.token",
    )
    listed = tokens.splits(source, LISTS)
    return Contents(tokens.rows(path, listed, lambda name: below(places, name)))


FORMAT = Format(
    about="31,783 photos with five literal captions each",
    paper="Young et al., From Image Descriptions to Visual Denotations, TACL 2014; "
    "splits: Karpathy and Li, CVPR 2015",
    layout="""\
SOURCE/
  dataset_flickr30k.json    Karpathy's captions and splits, or instead of it
  results_20130124.token    the official captions, image.jpg#0<TAB>caption
  train.txt, val.txt, test.txt  optional lists of images, used with the .token file
  flickr30k-images/*.jpg    images (or flickr30k_images/ or images/)""",
    becomes="the splits of the file or the lists; none with the .token file alone",
    read=read,
)

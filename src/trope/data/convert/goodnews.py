"""GoodNews: press photos of the New York Times with their captions and articles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from trope.data.convert.jsonstream import elements, is_object, members
from trope.data.convert.layout import NOT_IN_SPLIT, Contents, Format, Found, Missing, Row
from trope.data.convert.lookup import below, folders, optional, required

ARTICLES = ("captioning_dataset.json", "article_caption.json", "article+caption.json")
SPLITS = ("img_splits.json", "news_dataset.json")
IMAGES = ("resized", "images", "images/resized", "data/resized")


@dataclass(frozen=True)
class GoodNews:
    """Which of the texts is the row's text, and whether articles and unsplit images are kept."""

    text: Literal["caption", "headline", "article"] = "caption"
    keep_article: bool = True
    keep_unsplit: bool = False


def read(source: Path, settings: GoodNews) -> Contents:
    """The articles one by one, each with its images, and the split of every image."""
    path = required(source, "articles", *ARTICLES, *(f"data/{name}" for name in ARTICLES))
    places = folders(source, "images", *IMAGES)
    split_file = optional(source, *SPLITS, *(f"data/{name}" for name in SPLITS))
    splits = _splits(split_file) if split_file else {}
    return Contents(_rows(path, places, splits, settings))


def _splits(path: Path) -> dict[str, str]:
    """The split of every image, from a table of names or from a list of entries."""
    if is_object(path):
        return {_stem(name): str(split) for name, split in members(path)}
    entries = (entry for entry in elements(path) if isinstance(entry, dict))
    return {_stem(str(e.get("imgid") or e.get("filename"))): str(e.get("split")) for e in entries}


def _rows(
    path: Path, places: tuple[str, ...], splits: dict[str, str], settings: GoodNews
) -> Iterator[Found | Missing]:
    for key, article in members(path):
        images = article.get("images") if isinstance(article, dict) else None
        if not isinstance(images, dict) or not images:
            yield Missing(key, "an article without images", {"id": key})
            continue
        for index, caption in images.items():
            name = f"{key}_{index}"
            row = _row(name, key, str(caption or ""), article, settings) | {
                "split": splits.get(name)
            }
            if splits and name not in splits and not settings.keep_unsplit:
                yield Missing(name, NOT_IN_SPLIT, row)
            else:
                yield Found(row, f"{name}.jpg", below(places, f"{name}.jpg"))


def _row(name: str, key: str, caption: str, article: dict[str, Any], settings: GoodNews) -> Row:
    texts = {
        "caption": caption.strip(),
        "headline": _headline(article.get("headline")),
        "article": str(article.get("article") or "").strip(),
    }
    row: Row = {"id": name, "text": texts.pop(settings.text), "group": key, **texts}
    row["url"] = article.get("article_url") or article.get("web_url")
    if not settings.keep_article:
        row.pop("article", None)
    return row


def _headline(value: Any) -> str:
    """The headline as the interface of the newspaper gives it: a text, or a table with `main`."""
    main = value.get("main") if isinstance(value, dict) else value
    return str(main or "").strip()


def _stem(name: str) -> str:
    return name.removesuffix(".jpg")


FORMAT = Format(
    about="466,000 press photos with captions, headlines and articles of the New York Times",
    paper="Biten et al., Good News, Everyone! Context Driven Entity-Aware Captioning for News "
    "Images, CVPR 2019",
    layout="""\
SOURCE/
  captioning_dataset.json   articles: {id: {images: {"0": caption}, headline, article}}
                            (also article_caption.json, article+caption.json, or below data/)
  img_splits.json           optional: {id_0: "train"}; or news_dataset.json, a list of entries
  resized/<id>_<n>.jpg      images (or images/)""",
    becomes="the splits of the file; an image that is not in it is set aside; group is the article",
    read=read,
    settings=GoodNews,
)

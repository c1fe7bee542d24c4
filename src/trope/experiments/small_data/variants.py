"""What is tried by default, for each text encoder: one thing at a time, both ways."""

from __future__ import annotations

from collections.abc import Mapping

Changes = tuple[str, ...]

SHARED: Mapping[str, Changes] = {
    "learning rate 3e-3": ("training.learning_rate=3e-3",),
    "learning rate 3e-4": ("training.learning_rate=3e-4",),
    "dropout 0.5": ("image.dropout=0.5", "text.dropout=0.5"),
    "12 epochs": ("training.epochs=12",),
    "30 epochs": ("training.epochs=30",),
    "rate by plateaus": ("training.schedule=plateau", "training.epochs=100"),
}
VARIANTS: Mapping[str, Mapping[str, Changes]] = {
    "sentence": {
        **SHARED,
        "no dropout": ("image.dropout=0", "text.dropout=0"),
        "dropout 0.8": ("image.dropout=0.8", "text.dropout=0.8"),
        "head 256": ("head.size=256",),
        "head 1024": ("head.size=1024",),
        "batch 128": ("training.batch=128",),
    },
    "gru": {
        **SHARED,
        "head 512": ("head.size=512",),
        "GRU 512": ("text.hidden=512",),
        "GRU 128": ("text.hidden=128",),
        "words from nothing": ("text.pretrained=false",),
    },
}

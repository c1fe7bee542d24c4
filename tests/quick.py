"""Settings for models that learn a few topics within seconds."""

from __future__ import annotations

QUICK = (
    "text.hidden=16",
    "text.words=12",
    "text.pretrained=false",
    "head.size=12",
    "training.batch=16",
    "training.learning_rate=0.01",
    "image.dropout=0",
    "text.dropout=0",
)

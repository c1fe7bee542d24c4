"""Models: what turns pictures and texts into points of one space."""

from trope.encoders.model import Model, compare, encode
from trope.encoders.plan import Plan
from trope.encoders.settings import HeadSettings, ImageSettings, TextSettings

__all__ = ["HeadSettings", "ImageSettings", "Model", "Plan", "TextSettings", "compare", "encode"]

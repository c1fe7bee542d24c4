"""Features of pictures from frozen backbones, computed once and kept."""

from trope.features.backbones import BACKBONES, backbone
from trope.features.cache import features
from trope.features.kinds import Backbone, Kind
from trope.features.precomputed import Precomputed
from trope.features.table import FeatureTable

__all__ = ["BACKBONES", "Backbone", "FeatureTable", "Kind", "Precomputed", "backbone", "features"]

"""Whole jobs, from a folder to a result."""

from trope.pipeline.demo import Demo, DemoResult, demo
from trope.pipeline.searches import Search
from trope.pipeline.up import Up, UpResult, up

__all__ = ["Demo", "DemoResult", "Search", "Up", "UpResult", "demo", "up"]

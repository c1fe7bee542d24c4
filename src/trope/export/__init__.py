"""For other programs: vectors as Parquet or NumPy, encoders as ONNX, runs as repositories."""

from trope.export.onnx import export_onnx
from trope.export.repository import fetch, publish, write_repository
from trope.export.vectors import export_vectors

__all__ = ["export_onnx", "export_vectors", "fetch", "publish", "write_repository"]

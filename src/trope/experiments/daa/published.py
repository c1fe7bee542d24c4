"""The figures of the paper's appendix: SGR on COCO, 1K protocol, in points."""

from __future__ import annotations

Row = tuple[float, ...]

# R@1, ASP by CIDEr, BLEU, ROUGE and all three, as its code computes them: image to text, then text
# to image.
TABLE_1: dict[str, tuple[Row, Row]] = {
    "base": ((77.2, 53.9, 53.0, 52.6, 53.3), (61.9, 54.6, 53.5, 52.6, 53.3)),
    "cider-daa": ((78.0, 68.5, 55.7, 63.3, 65.1), (62.6, 62.8, 57.9, 59.1, 60.8)),
    "bleu": ((77.6, 55.6, 68.7, 57.8, 58.7), (62.0, 59.2, 58.9, 58.2, 59.6)),
    "rouge-daa": ((77.4, 63.2, 56.6, 67.1, 66.0), (61.9, 60.5, 57.9, 59.4, 60.5)),
}
# By ratio, without and with DAA: R@1 and ASP image to text, R@1 and ASP text to image.
TABLE_2: dict[float, tuple[Row | None, Row]] = {
    0.2: (None, (68.0, 61.8, 53.2, 60.0)),
    0.4: ((69.2, 54.1, 54.7, 55.1), (72.7, 67.0, 58.0, 61.8)),
    0.6: ((73.0, 54.5, 57.7, 55.0), (74.8, 68.0, 60.5, 62.3)),
    0.8: ((75.0, 54.0, 59.5, 55.1), (76.4, 68.4, 61.8, 62.6)),
    1.0: ((77.2, 53.9, 61.9, 54.6), (78.0, 68.5, 62.6, 62.8)),
}
LOW = 0.15  # the share of true captions with CIDEr below 0.3
SETTING = "SGR on COCO: 113,287 training images with 5 captions, 36 regions each"


def gain_1(kind: str, side: int, metric: int) -> float | None:
    """What DAA gained by a measure, in points, where the paper says it."""
    if kind not in TABLE_1:
        return None
    return TABLE_1[kind][side][metric] - TABLE_1["base"][side][metric]


def shared_ratios() -> list[float]:
    """Ratios at which the paper has both a base and DAA."""
    return [ratio for ratio, (base, _) in TABLE_2.items() if base is not None]


def gain_2(ratio: float, column: int) -> float | None:
    """What DAA gained at a ratio, in points; the base did not converge at 20 %."""
    base, better = TABLE_2.get(ratio, (None, ()))
    return None if base is None else better[column] - base[column]

"""Labels inside a drawing that would stand on each other: above it they get rows, at an edge they move apart.

How large a drawing becomes is known to the reader's screen alone: distances are those of a small one, so that labels
that are kept apart here are apart in a larger one, too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

WIDTH, HEIGHT = 400, 240  # of the area with the lines, in pixels
LETTER, LINE = 6.2, 16  # a label's letter is so wide and its line so high, in pixels


def rows(labels: Sequence[tuple[float, str]], low: float, high: float) -> list[int]:
    """The row of each (x, text) that is centred at its x, counted from the drawing upwards, on a logarithmic axis."""
    ends: list[float] = []  # where the last label of each row ends
    found = [0] * len(labels)
    for k in sorted(range(len(labels)), key=lambda k: labels[k][0]):
        x, text = labels[k]
        middle, half = WIDTH * _share(x, low, high), LETTER * (len(text) + 1) / 2
        row = next((n for n, end in enumerate(ends) if end <= middle - half), len(ends))
        ends[row:] = [middle + half, *ends[row + 1 :]]
        found[k] = row
    return found


def lifts(ys: Sequence[float], low: float, high: float) -> list[float]:
    """By how many pixels each label at y is lifted, so that none stands on the one below, on a logarithmic axis."""
    found = [0.0] * len(ys)
    least = -math.inf
    for k in sorted(range(len(ys)), key=lambda k: ys[k]):
        at = HEIGHT * _share(ys[k], low, high)
        found[k] = max(0.0, least - at)
        least = max(least, at) + LINE
    return found


def _share(value: float, low: float, high: float) -> float:
    return math.log(value / low) / math.log(high / low) if high > low else 0.5

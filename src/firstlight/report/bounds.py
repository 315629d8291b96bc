"""Bounds: how much of a very large run its page shows. The rest is in files alongside it, which the page names."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from firstlight.core.units import count
from firstlight.report.frame import Drawing

LARGE = 20_000
"""The number of figures from which on tables and drawings are limited to the room of a page."""
ROWS = 2000
"""The most rows of all tables behind drawings together: one or two megabytes."""
DATA = 500_000
"""The most bytes of all drawings together."""
EMBEDDED = 2_500_000
"""The most bytes of figures that the page embeds; a longer file is stored alongside the page and linked."""
LISTED = 500
"""The most commands that are listed."""
RECORDS = 5000
"""The most launches whose hashes are listed."""


def most_rows(drawings: Sequence[Drawing], most: int) -> int:
    """Return how many rows each table may show: `most`, or fewer, so that all together stay within ROWS."""
    lengths = [len(drawing.rows) for drawing in drawings]
    while most > 1 and sum(min(length, most) for length in lengths) > ROWS:
        most = most * 3 // 4
    return most


def lighten(drawings: Sequence[Drawing]) -> None:
    """Reduce the largest drawings to their tables until all others stay within DATA."""
    sizes = {id(d): len(msgspec.json.encode((d.data, d.layout))) for d in drawings if d.data}
    for drawing in sorted((d for d in drawings if d.data), key=lambda d: -sizes[id(d)]):
        if sum(sizes.values()) <= DATA:
            return
        points = sum(len(x) for trace in drawing.data for x in [trace.get("x", ())] if isinstance(x, Sequence))
        del sizes[id(drawing)]
        drawing.data, drawing.layout = [], {}
        drawing.notes = (*drawing.notes, f"not drawn: {count(points, 'point')} exceed the limit of this page")

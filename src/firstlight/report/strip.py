"""A strip: the launches of one figure as ticks on a line, with the median and its interval."""

from __future__ import annotations

import msgspec

from firstlight.analysis.verdict import Verified
from firstlight.core.units import count, quantity


class Strip(msgspec.Struct, frozen=True):
    """Positions in percent of the width. `low` and `high` are None where there were too few launches."""

    ticks: tuple[float, ...]
    median: float
    low: float | None
    high: float | None
    left: str
    right: str
    words: str


def strip(figure: Verified) -> Strip:
    """Return the strip. Its axis spans all launches, and at least 2 % of the median, so that noise looks small."""
    e = figure.estimate
    reach = max(0.01 * abs(e.median), *(abs(x - e.median) for x in e.launches)) * 1.05 or 1.0
    first = e.median - reach

    def place(x: float) -> float:
        return round(100 * (x - first) / (2 * reach), 2)

    least, most = quantity(min(e.launches), figure.unit), quantity(max(e.launches), figure.unit)
    return Strip(
        ticks=tuple(place(x) for x in e.launches),
        median=50.0,
        low=None if e.low is None else place(e.low),
        high=None if e.high is None else place(e.high),
        left=_apart(-reach, figure),
        right=_apart(reach, figure),
        words=f"{count(len(e.launches), 'launch', 'launches')} between {least} and {most}",
    )


def _apart(reach: float, figure: Verified) -> str:
    """Return an end of the axis in percent of the median, or as a value if the median (of an observed value) is 0."""
    middle = figure.estimate.median
    return (
        f"{100 * reach / middle:+.1f} %"
        if middle
        else f"{'-' if reach < 0 else '+'}{quantity(abs(reach), figure.unit)}"
    )

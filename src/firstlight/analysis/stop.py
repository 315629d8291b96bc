"""When to stop: a cell is launched again until the intervals of its figures are narrow enough.

The rule uses the data to decide how much to measure, so its intervals are slightly too narrow (optional stopping).
With a minimum of launches and one look per round the effect stays below that of a drifting machine.
"""

from __future__ import annotations

from collections.abc import Collection

from firstlight.analysis.verdict import Estimate

PRECISION = 0.025  # relative half-width of the interval

NARROW = "interval narrow enough"
SPENT = "budget spent"
MOST = "maximum launches"


def half_width(e: Estimate) -> float | None:
    """Return half the width of the interval over the median; None without an interval."""
    if e.low is None or e.high is None:
        return None
    if e.median == 0:  # an observed value
        return 0.0 if e.low == e.high else None
    return (e.high - e.low) / 2 / abs(e.median)


def narrow(e: Estimate, precision: float = PRECISION) -> bool:
    width = half_width(e)
    return width is not None and width <= precision


def needs_more(
    estimates: Collection[Estimate], minimum: int, precision: float = PRECISION, maximum: int | None = None
) -> bool:
    """Return whether a cell needs another launch. `estimates`: of all its figures (none yet counts as no launch).

    It needs one below `minimum` and none from `maximum` on; between them, if any figure is not narrow enough.
    """
    return reason(estimates, minimum, precision, maximum) is None


def reason(
    estimates: Collection[Estimate],
    minimum: int,
    precision: float = PRECISION,
    maximum: int | None = None,
    budget_spent: bool = False,
) -> str | None:
    """Return why to stop launching a cell, or None to go on. A narrow interval is the reason even if time is up."""
    launches = min((len(e.launches) for e in estimates), default=0)
    if estimates and launches >= minimum and all(narrow(e, precision) for e in estimates):
        return NARROW
    if maximum is not None and launches >= maximum:
        return MOST
    return SPENT if budget_spent else None

"""Limits: the time limit of a job covers the setup, the budget of its run, and the time to end the run."""

from __future__ import annotations

import math

import msgspec

from firstlight.core.errors import UsageError
from firstlight.core.units import duration

SETUP = 15 * 60.0
"""Seconds for setup (probing the machine and building) inside of the job, if the user sets no other time."""
WARNING = 120.0
"""Seconds before the time limit at which the run receives the signal to end: enough for its report."""
EARLY = 60.0
"""Seconds by which Slurm may send this signal too early."""


class Limits(msgspec.Struct, frozen=True):
    """Seconds: the job's time limit, the run's budget of launching, and the limit of setup and builds."""

    time: float
    budget: float
    setup: float
    warning: float = WARNING


def agree(time: float | None, budget: float | None, usual: float, setup: float | None) -> Limits:
    """Return the limits, with defaults for missing values. `usual`: the default budget of the suite.

    With a time limit and no budget, the budget is the time that remains, at most `usual`.
    Raises UsageError if the time limit leaves no room for the rest.
    """
    before = SETUP if setup is None else setup
    after = WARNING + EARLY
    if time is None:
        spent = usual if budget is None else budget
        return Limits(60.0 * math.ceil((before + spent + after) / 60), spent, before)
    room = time - before - after
    if budget is None and room >= min(60.0, usual):
        return Limits(time, min(usual, room), before)
    if budget is not None and budget <= room:
        return Limits(time, budget, before)
    wanted = min(60.0, usual) if budget is None else budget
    least = math.ceil((before + wanted + after) / 60)
    raise UsageError(
        f"the time limit {duration(time)} is too short: setup and builds require {duration(before)}, launches "
        f"{duration(wanted)}, and the report {duration(after)}. Set --time {least}m, "
        "or reduce --setup-time or --budget"
    )

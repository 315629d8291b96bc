"""Effort: how much a suite measures, and spans of time as the user writes them."""

from __future__ import annotations

import re
from typing import NamedTuple

from firstlight.errors import UsageError


class Effort(NamedTuple):
    """How much a suite measures: `budget` seconds of launching; `samples` of at least `sample_seconds` in a launch.

    No sample of a case is begun after `case_seconds`, but two are always taken. A launch that takes longer than
    `timeout` seconds hangs, and is killed.
    """

    budget: float
    samples: int
    sample_seconds: float
    case_seconds: float
    timeout: float

    @property
    def arguments(self) -> tuple[str, ...]:
        given = {"samples": self.samples, "sample-seconds": self.sample_seconds, "case-seconds": self.case_seconds}
        return tuple(word for name, value in given.items() for word in (f"--{name}", str(value)))


EFFORT = {
    "quick": Effort(140, 5, 0.002, 0.3, 40),
    "standard": Effort(15 * 60, 10, 0.01, 2, 180),
    "full": Effort(2 * 3600, 20, 0.02, 10, 900),
}
LAUNCHES = 6  # fewer give no nonparametric 95 % interval of a median
MOST_LAUNCHES = 30

_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*([smh]?)")


def parse_budget(text: str) -> float:
    """Seconds in `110`, `150s`, `10m`, `2h` or `1h30m`. Raises UsageError for anything else and for zero."""
    return parse_time(text, "budget")


def parse_time(text: str, what: str) -> float:
    """A span of time as `parse_budget`; `what` names it in the error."""
    compact = text.strip().lower()
    parts = _DURATION.findall(compact)
    seconds = sum(float(number) * {"": 1, "s": 1, "m": 60, "h": 3600}[unit] for number, unit in parts)
    whole = "".join(number + unit for number, unit in parts) == compact
    plain = len(parts) == 1 or all(unit for _, unit in parts)
    if not (whole and plain and 0 < seconds < 1e7):
        raise UsageError(f"{text!r} is no {what}; write it as 150s, 10m or 2h")
    return seconds

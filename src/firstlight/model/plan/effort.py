"""Effort: how much a suite measures."""

from __future__ import annotations

from typing import NamedTuple

from firstlight.system.machine import Machine


class Effort(NamedTuple):
    """How much a suite measures: `budget` seconds of launching; `samples` of at least `sample_seconds` per launch.

    No sample of a case is begun after `case_seconds`, but each case has at least two (an external command: one). A
    launch that exceeds `timeout` seconds hangs, and is killed. If workloads are named, the budget is `each` seconds per
    workload, or the wanted launches of one candidate of each row if these need more.
    """

    budget: float
    samples: int
    sample_seconds: float
    case_seconds: float
    timeout: float
    each: float

    def enough(self, workloads: int, needed: float) -> float:
        """Return the seconds of launching for a number of named workloads whose rows need `needed` seconds."""
        return min(self.budget, max(self.each * workloads, needed))

    @property
    def arguments(self) -> tuple[str, ...]:
        given = {"samples": self.samples, "sample-seconds": self.sample_seconds, "case-seconds": self.case_seconds}
        return tuple(word for name, value in given.items() for word in (f"--{name}", str(value)))


EXTERNAL = "bench"
"""The suite of external commands: no workload declares a suite of this name."""
EFFORT = {
    "quick": Effort(170, 5, 0.002, 0.3, 40, each=170),
    "standard": Effort(15 * 60, 5, 0.004, 1, 180, each=40),
    "full": Effort(2 * 3600, 7, 0.01, 4, 900, each=1800),
    EXTERNAL: Effort(600, 50, 0.002, 0.3, 900, each=600),
}
PATIENCE = 20
"""Factor by which the time limit of a launch grows if its processor is emulated."""


def effort(suite: str, machine: Machine) -> Effort:
    """Return the effort of a suite on that machine. Emulated programs are not timed: few samples, long time limit."""
    usual = EFFORT[suite]
    if not machine.emulated:
        return usual
    return usual._replace(samples=2, sample_seconds=0.0001, timeout=PATIENCE * usual.timeout)


MOST_LAUNCHES = 30

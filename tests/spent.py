"""Spent: where the time of the tests went, by kind and by workload."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from time import monotonic

BUILD, LAUNCH = "building programs", "launching programs"
PROPERTY = "spent"

charged: Counter[tuple[str, str]] = Counter()
"""Seconds by (kind, workload) since the worker last took them."""


@contextmanager
def charge(kind: str, workload: str) -> Iterator[None]:
    """Charges what happens inside, but for what charges itself there."""
    before, start = charged.total(), monotonic()
    try:
        yield
    finally:
        charged[kind, workload] += monotonic() - start - (charged.total() - before)


def take() -> dict[str, float]:
    """All that was charged, as `kind/workload`, and forget it."""
    told = {f"{kind}/{workload}": seconds for (kind, workload), seconds in charged.items()}
    charged.clear()
    return told


def table(told: Mapping[str, float], by: int, most: int = 24) -> list[str]:
    """A line for each kind (by=0) or workload (by=1), the longest first."""
    sums: Counter[str] = Counter()
    for name, seconds in told.items():
        sums[name.split("/", 1)[by] or "(no workload)"] += seconds
    total = sum(sums.values()) or 1.0
    lines = [f"{seconds:8.1f} s {100 * seconds / total:5.1f} %  {name}" for name, seconds in sums.most_common(most)]
    rest = sum(seconds for _, seconds in sums.most_common()[most:])
    return lines + ([f"{rest:8.1f} s          the rest"] if rest > 0 else [])

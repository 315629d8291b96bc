"""Spent: where the time of the tests went, by kind and by workload, and what took longest to compile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

BUILD, LAUNCH, WAIT = "building programs", "launching programs", "waiting for processors"
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


def slowest_compiled(cache: Path, since: float, most: int = 10) -> list[str]:
    """A line for each of the files that took longest to compile since then, as Ninja's logs in the trees of this cache
    tell: seconds, compiler and MPI library, what it was compiled for and from."""
    found: list[tuple[float, str]] = []
    for log in cache.glob("build/*/.ninja_log"):
        sanitized = ", sanitized" if "FL_SANITIZE:STRING=address" in (log.parent / "CMakeCache.txt").read_text() else ""
        tree = log.parent.name.rpartition("-")[0] + sanitized
        for line in log.read_text().splitlines()[1:]:  # start and end in ms, start in ns since 1970, file, hash
            start, end, began, made, _ = line.split("\t")
            if made.endswith(".o") and not made.startswith("/") and int(began) >= since * 1e9:
                target = made.removeprefix("CMakeFiles/").partition(".dir/")[0]
                found.append(((int(end) - int(start)) / 1e3, f"{tree}: {target}, {Path(made).name.removesuffix('.o')}"))
    return [f"{seconds:8.1f} s  {what}" for seconds, what in sorted(found, reverse=True)[:most]]

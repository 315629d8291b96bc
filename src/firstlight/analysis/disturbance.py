"""Whether other processes disturbed a run: they did if wall and CPU time diverged in DISTURBED of its samples or more.

Programs that wait for a device or for others by their nature, in all samples, are not counted. External commands that
mostly compute are counted in any case.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean, median

from msgspec.structs import replace

from firstlight.analysis import Judgement
from firstlight.analysis.verdict import DISTURBED, Figure, Identity, Verified
from firstlight.core.roles import EXECUTION, EXECUTION_CPU
from firstlight.core.units import count, percent, significant
from firstlight.results.record import Run

BY_NATURE = 0.95
BUSY = 0.2  # CPU time over wall time; what waits has less, even a program that shares its processor has more


def of_pairs(a: Judgement, b: Judgement, pairs: Sequence[tuple[Verified, Verified]]) -> Iterator[str]:
    """Yield `B was disturbed: ...` for each disturbed run, judged by the compared figures."""
    busy = computing(a.run, a.figures) | computing(b.run, b.figures)
    timed = [
        (x.diverged, y.diverged)
        for x, y in pairs
        if not x.observed and (min(x.diverged, y.diverged) < BY_NATURE or replace(x.identity, metric="") in busy)
    ]
    for k, (name, one) in enumerate((("A", a), ("B", b))):
        share = fmean(both[k] for both in timed) if timed else 0.0
        if share >= DISTURBED:
            yield _sentence(name, one, share)


def warning(name: str, one: Judgement) -> str:
    """Return the sentence for a disturbed run, "" for another."""
    share = share_disturbed(one.run, one.figures)
    return _sentence(name, one, share) if share >= DISTURBED else ""


def _sentence(name: str, one: Judgement, share: float) -> str:
    """Return `B was disturbed: wall and CPU time diverged in 31 % of its samples, at a load of 9.1 on 2 CPUs`."""
    cpus, load = len(one.run.machine.cpus), median(r.start.load for r in one.records) if one.records else 0.0
    loaded = f", at a load of {significant(load, 2)} on {count(cpus, 'CPU')}" if load > cpus > 0 else ""
    return f"{name} was disturbed: wall and CPU time diverged in {percent(share)} of its samples{loaded}"


def computing(run: Run, figures: Iterable[Figure]) -> frozenset[Identity]:
    """Return the external commands that mostly compute, as identities without a metric.

    Their wall and CPU time diverge only because other processes use the processors, never by nature.
    """
    of = {f.identity: f for f in figures if isinstance(f, Verified)}
    found = set()
    for one in run.brought:
        wall, cpu = one.metric(EXECUTION), one.metric(EXECUTION_CPU)
        for i, f in of.items():
            if (i.workload, i.metric) == (one.name, wall) and computes(run, f, of.get(replace(i, metric=cpu))):
                found.add(replace(i, metric=""))
    return frozenset(found)


def computes(run: Run, wall: Verified, cpu: Verified | None) -> bool:
    """Return whether a command mostly computes, by its wall and CPU time.

    If more processes than CPUs were ready to run, each one has a smaller share of a CPU.
    """
    share = min(1.0, len(run.machine.cpus) / run.machine.load) if run.machine.load > 0 else 1.0
    return cpu is not None and cpu.estimate.median >= BUSY * share * wall.estimate.median


def share_disturbed(run: Run, figures: Iterable[Figure]) -> float:
    """Return the share of a run's samples whose wall and CPU time diverged, as the mean over its timed figures.

    Figures that wait by design are not counted.
    """
    some = [f for f in figures if isinstance(f, Verified)]
    busy = computing(run, some)
    timed = [
        f.diverged
        for f in some
        if not f.observed and (f.diverged < BY_NATURE or replace(f.identity, metric="") in busy)
    ]
    return fmean(timed) if timed else 0.0

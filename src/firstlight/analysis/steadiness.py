"""Steadiness: which launches of a class were slower than usual, and whether they were so together.

A class is what launches need of the machine: one core, several cores, several ranks, or memory beyond the last cache
(by placement, and by the ceiling that binds). A launch is slow in a class if its figures there last, in the median,
SLOW times as long as usual. Usual is the faster state of a figure with two states, else its median.

Slow launches come together if neighbours in time are alike more often than by chance: the machine changed for a while.
They come one by one if neighbours are hardly more alike than launches far apart: each launch draws its own state, by
the placement of its ranks and pages. Chance is computed from the run itself: slow launches are shuffled among the
launches of the same program, SHUFFLES times with a fixed seed. Programs that were never or always slow do not count.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from statistics import fmean, median, pstdev
from typing import Literal, NamedTuple

from firstlight.analysis.provenance import number, settle
from firstlight.analysis.states import levels
from firstlight.analysis.verdict import Figure, Steadiness, Together, Verified
from firstlight.core.units import count, factor
from firstlight.model.catalogue import Workload, device_variant
from firstlight.system.machine import Machine

SLOW = 1.3
SHUFFLES = 200
SHARE = 0.05  # of a class's launches: from so many slow ones on, the machine's box reports them
FEWEST = 12  # launches of programs that were slow at times, below which their order shows nothing
FEWEST_SLOW = 5
CERTAIN = 2.33  # standard deviations beyond chance: 1 %, one-sided
LOOSE = 0.5  # of the way from chance to "neighbours are always alike": below, each launch draws its own

Kind = Literal["one core", "several cores", "several ranks", "memory", "a GPU"]


class Launched(NamedTuple):
    """One launch in a class: when, of which program, how many times slower than usual."""

    time: float
    program: tuple[object, ...]
    slower: float


def kind(figure: Verified, workloads: Mapping[str, Workload], machine: Machine) -> Kind:
    """Return what the figure's launches need of the machine."""
    return _kinds(workloads, machine)(figure)


def _kinds(workloads: Mapping[str, Workload], machine: Machine) -> Callable[[Verified], Kind]:
    """Return kind() for many figures; it looks at the machine and all workloads only once."""
    cached = {p.ceiling for w in workloads.values() for p in w.provides if p.by_working_set}
    last = machine.last_cache()

    def of(figure: Verified) -> Kind:
        i = figure.identity
        workload = workloads.get(i.workload)
        if workload is not None and device_variant(workload, i.variant):
            return "a GPU"
        if i.placement.ranks > 1:
            return "several ranks"
        held_by_memory = figure.ceiling is None or figure.ceiling.resource in cached
        if held_by_memory and last is not None and figure.working_set > last.size:
            return "memory"
        return "several cores" if i.placement.threads > 1 else "one core"

    return of


def steadiness(
    figures: Iterable[Figure], workloads: Mapping[str, Workload], machine: Machine
) -> tuple[Steadiness, ...]:
    """Return one result for each class that was launched at least twice, in the order of first appearance."""
    by_kind: dict[Kind, list[Verified]] = {}
    of = _kinds(workloads, machine)
    for f in figures:
        if isinstance(f, Verified) and not (f.observed or f.oversubscribed) and f.estimate.times:
            by_kind.setdefault(of(f), []).append(f)
    return tuple(s for k, some in by_kind.items() if (s := _of(k, some)) is not None)


def _of(name: Kind, figures: Sequence[Verified]) -> Steadiness | None:
    some = launched(figures)
    if len(some) < 2:
        return None
    slow = [x.slower for x in some if x.slower >= SLOW]
    return Steadiness(
        name=name,
        launches=len(some),
        slow=len(slow),
        slower=median(slow) if slow else 1.0,
        figures=len(figures),
        with_states=sum(f.states is not None for f in figures),
        together=_together(some),
        about=tuple(f.identity for f in figures),
    )


def disturbed(classes: Iterable[Steadiness]) -> list[Steadiness]:
    """Return the classes in which a share of the launches was slow, the largest share first."""
    some = [s for s in classes if s.slow >= 2 and s.slow >= SHARE * s.launches]
    return sorted(some, key=lambda s: -s.slow / s.launches)


def disturbances(classes: Iterable[Steadiness]) -> list[str]:
    """Return a sentence for each class of `disturbed`."""
    return [settle(sentence(s)) for s in disturbed(classes)]


def sentence(s: Steadiness) -> str:
    """Return the sentence of `slow`, and what the order of the slow launches shows."""
    drawn = ", so perhaps ranks or pages were placed differently" if s.with_states else ""
    why = {
        "together": ". They were clustered in time, so something outside these programs slowed them",
        "each": f". They were not clustered in time{drawn}",
        "unclear": "",
    }[s.together]
    return slow(s) + why


def slow(s: Steadiness) -> str:
    """Return `55 of 161 launches of several ranks were 2.9 x slower than other launches of the same programs`."""
    known = {"memory": "beyond the caches", "one core": "on one core", "several cores": "on several cores",
             "a GPU": "on a GPU"}  # fmt: skip
    many = number(str(s.slow), f"len(slow(each, {SLOW}))", of=s.about)
    every = number(count(s.launches, "launch", "launches"), "len(slow(each, 0))", of=s.about)
    slower = number(f"{factor(s.slower)} x", f"median(slow(each, {SLOW}))", of=s.about)
    launches = f"{many} of {every} {known.get(s.name, f'of {s.name}')}"
    return f"{launches} were {slower} slower than other launches of the same programs"


def restless(classes: Iterable[Steadiness]) -> Steadiness | None:
    """Return the class with the largest share of slow launches; None if no class had two: the machine was steady."""
    return max((s for s in classes if s.slow > 1), key=lambda s: s.slow / s.launches, default=None)


def launched(figures: Iterable[Verified]) -> list[Launched]:
    """Return the launches of these figures in the order of time, without figures that were launched once."""
    seen: dict[tuple[float, tuple[object, ...]], list[float]] = {}
    for f in figures:
        i, e = f.identity, f.estimate
        if len(e.launches) < 2 or len(e.times) != len(e.launches) or min(e.launches) <= 0:
            continue
        lower, upper = levels(f)
        for time, value in zip(e.times, e.launches, strict=True):
            slower = value / lower if f.better == "lower" else upper / value
            program = (i.workload, i.variant, i.toolchain, i.mpi, i.placement)
            seen.setdefault((time, program), []).append(slower)
    found = [Launched(time, program, median(values)) for (time, program), values in seen.items()]
    return sorted(found, key=lambda x: x.time)


def _together(some: Sequence[Launched]) -> Together:
    programs: dict[tuple[object, ...], list[bool]] = {}
    for x in some:
        programs.setdefault(x.program, []).append(x.slower >= SLOW)
    varying = [x.program for x in some if 0 < sum(programs[x.program]) < len(programs[x.program])]
    if len(varying) < FEWEST or sum(sum(programs[p]) for p in set(varying)) < FEWEST_SLOW:
        return "unclear"
    observed = _alike(varying, programs)
    chance = random.Random(len(varying))
    dealt = []
    for _ in range(SHUFFLES):
        dealt.append(_alike(varying, {p: chance.sample(labels, len(labels)) for p, labels in programs.items()}))
    expected, deviation = fmean(dealt), max(pstdev(dealt), 1e-9)
    if observed > expected + CERTAIN * deviation:
        return "together"
    most = (observed + 1.645 * deviation - expected) / max(1 - expected, 1e-9)
    return "each" if most < LOOSE else "unclear"


def _alike(order: Sequence[tuple[object, ...]], labels: Mapping[tuple[object, ...], Sequence[bool]]) -> float:
    """Return the share of neighbours in time that are both slow or both not."""
    turn = {p: iter(some) for p, some in labels.items()}
    slow = [next(turn[p]) for p in order]
    return fmean(a == b for a, b in pairwise(slow))

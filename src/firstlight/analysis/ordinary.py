"""Ordinary code: which compiler and flags suit plain loops, over all plain kernels of a run.

A kernel is a plain variant (`plain` in workload.toml: written as a user would, without explicit vectors, prefetches or
libraries) in the case of a row of the report. Tuned variants show nothing about flags for ordinary code: their speed is
in their source, so that base flags often suffice for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from firstlight.analysis import Judgement, ranking
from firstlight.analysis.evidence import unfit
from firstlight.analysis.verdict import Failed, Figure, Identity, Verified
from firstlight.model.catalogue import Row, Workload
from firstlight.model.plan.selectors import in_row, serves
from firstlight.system.machine import Machine

FEWEST = 2  # kernels that advice rests on, and toolchains that it compares, at least
CLEARLY = 1.25  # a largest loss that is so many times smaller counts more than one kernel
MANY = 4  # with so many kernels, flags that are as good as the best in one fewer are close
RELAXED = ("-Ofast", "-ffast-math")  # options that change the arithmetic, whether or not a result here shows it


class Kernel(NamedTuple):
    """A plain variant in the case of a row, with a figure for each toolchain that measured it.

    `fortran`: whether it is written in Fortran.
    """

    title: str
    program: str
    figures: Mapping[str, Figure]
    fortran: bool = False

    @property
    def name(self) -> str:
        """Return `scalar product in L1, dot.serial`."""
        return f"{self.title}, {self.program}"

    @property
    def verified(self) -> dict[str, Verified]:
        return {name: f for name, f in self.figures.items() if isinstance(f, Verified)}

    @property
    def best(self) -> Verified | None:
        return ranking.best(self.verified.values())


Pair = tuple[Verified, Verified]
"""The best figure of a kernel, and that of one flag set."""


class Flags(msgspec.Struct, frozen=True):
    """How a compiler with one flag set, the `options`, does over the kernels that it measured.

    `broken`: the programs, plain or tuned, whose results it breaks.
    """

    toolchain: str
    options: str
    kernels: tuple[Kernel, ...]
    broken: tuple[str, ...]

    @property
    def pairs(self) -> list[Pair]:
        """Return the best figure of each kernel, and the figure of this flag set."""
        return [(best, k.verified[self.toolchain]) for k in self.kernels if (best := k.best) is not None]

    @property
    def near(self) -> int:
        """Return in how many kernels it is as good as the best."""
        return sum(same(*pair) and not undecided(*pair) for pair in self.pairs)

    @property
    def undecided(self) -> int:
        """Return in how many kernels launches scatter too much for a conclusion."""
        return sum(undecided(*pair) for pair in self.pairs)

    @property
    def worst(self) -> tuple[Kernel, Pair] | None:
        """Return the kernel in which it loses most; None if it is as good as the best everywhere."""
        far = [(k, pair) for k, pair in zip(self.kernels, self.pairs, strict=True) if not same(*pair)]
        return max(far, key=lambda x: ranking.advantage(*x[1]), default=None)

    @property
    def kernel(self) -> str:
        """Return the name of that kernel; "" if there is none."""
        return self.worst[0].name if self.worst else ""

    @property
    def factor(self) -> float:
        """Return how many times worse than the best it is in the worst case."""
        return ranking.advantage(*self.worst[1]) if self.worst else 1.0

    def supported(self, planned: int) -> bool:
        """Return whether it was compared in enough of the planned kernels for advice: at least half."""
        return 2 * len(self.kernels) >= planned


class Ordinary(msgspec.Struct, frozen=True):
    """The flag sets for ordinary code, the best first. `kernels`: those that any of them were compared in, of `planned`
    that the run would compare if it had the time.
    """

    kernels: tuple[Kernel, ...]
    flags: tuple[Flags, ...]
    planned: int


def ordinary(judgement: Judgement, workloads: Mapping[str, Workload]) -> Ordinary | None:
    """Return the comparison; None if fewer than two kernels have figures with intervals for two toolchains, or if the
    machine was not fit for measuring.

    A toolchain that measured fewer than half of the planned kernels is left out, if two others measured more. The order
    is that over the kernels that all of them measured, if these are two or more.
    """
    some = [k for k in kernels(judgement, workloads) if len(k.verified) > 1]
    if len(some) < FEWEST or unfit(judgement.run, judgement.records):
        return None
    names = sorted({name for k in some for name in k.figures})
    planned = max(len(some), _planned(judgement, workloads))
    flags = [f for f in (_flags(judgement, name, some) for name in names) if len(f.kernels) >= FEWEST]
    supported = [f for f in flags if f.supported(planned)]
    flags = supported if len(supported) >= FEWEST else flags
    return Ordinary(tuple(some), tuple(_ranked(flags)), planned) if len(flags) >= FEWEST else None


def _ranked(flags: Sequence[Flags]) -> list[Flags]:
    """Return the flags from best to worst."""

    def order(f: Flags) -> tuple[float, float, str]:
        fair = fair_over(f, flags)
        return -fair.near / len(fair.kernels), fair.factor, f.toolchain

    return preferred(sorted(flags, key=order))


def among(flags: Sequence[Flags]) -> list[Flags]:
    """Return these flags, ranked and compared with each other alone; those with fewer than two such kernels are left
    out.
    """
    names = {f.toolchain for f in flags}
    kept = {
        k.name: k._replace(figures={n: x for n, x in k.figures.items() if n in names}) for f in flags for k in f.kernels
    }
    some = [replace(f, kernels=tuple(kept[k.name] for k in f.kernels if len(kept[k.name].verified) > 1)) for f in flags]
    some = [f for f in some if len(f.kernels) >= FEWEST]
    return _ranked(some) if some else []


def fair_over(f: Flags, flags: Sequence[Flags]) -> Flags:
    """Return a flag set over the kernels that all of them measured, if these are two or more."""
    shared = tuple(k for k in f.kernels if all(other.toolchain in k.verified for other in flags))
    return replace(f, kernels=shared) if len(shared) >= FEWEST else f


def preferred(flags: Sequence[Flags]) -> list[Flags]:
    """Put the first of those that are close to the best at the front: flags without a wrong result, then flags that
    keep the arithmetic, then flags whose largest loss is clearly smaller. The next run may rank close ones in another
    order.
    """
    fair = {f.toolchain: fair_over(f, flags) for f in flags}
    best = fair[flags[0].toolchain]

    def close(f: Flags) -> bool:
        mine = fair[f.toolchain]
        comparable = len(mine.kernels) == len(best.kernels) >= MANY
        return comparable and mine.near >= best.near - 1 and mine.factor < CLEARLY * best.factor

    def risk(f: Flags) -> tuple[bool, bool]:
        return bool(f.broken), option(f) != ""

    some = [flags[0], *(f for f in flags[1:] if close(f))]
    safe = [f for f in some if risk(f) == min(map(risk, some))]
    gentle = min(safe, key=lambda f: fair[f.toolchain].factor)
    first = gentle if fair[gentle.toolchain].factor * CLEARLY <= fair[safe[0].toolchain].factor else safe[0]
    return [first, *(f for f in flags if f is not first)]


def equals(flags: Sequence[Flags]) -> list[Flags]:
    """Return those that are as good as the best in one kernel more or fewer than the first, and lose about as much."""
    fair = [fair_over(f, flags) for f in flags]
    return [
        f
        for f, mine in zip(flags[1:], fair[1:], strict=True)
        if len(mine.kernels) == len(fair[0].kernels) >= MANY
        and abs(mine.near - fair[0].near) <= 1
        and max(mine.factor / fair[0].factor, fair[0].factor / mine.factor) < CLEARLY
    ]


def _planned(judgement: Judgement, workloads: Mapping[str, Workload]) -> int:
    """Return the number of plain variants that a run plans to launch in the case of a row, with two toolchains."""
    machine = judgement.run.machine
    found: dict[tuple[str, str], set[str]] = {}
    for cell in judgement.run.cells:
        workload = workloads.get(cell.program.workload)
        if workload and workload.toolchain_sensitive and cell.program.variant in workload.plain:
            for row in (row for row in workload.rows if serves(cell, row, workload, machine)):
                found.setdefault((row.title, cell.program.target), set()).add(cell.program.toolchain)
    return sum(len(toolchains) > 1 for toolchains in found.values())


def kernels(judgement: Judgement, workloads: Mapping[str, Workload]) -> list[Kernel]:
    """Return the plain kernels of a run, by the order of rows. A figure with too few launches is left out."""
    found: list[Kernel] = []
    for workload in workloads.values():
        if workload.plain and workload.toolchain_sensitive:
            own = [f for f in judgement.figures if f.identity.workload == workload.name]
            plain = [f for f in own if f.identity.variant in workload.plain]
            for row in sorted(workload.rows, key=lambda r: r.order):
                found += _of_row(plain, row, workload, judgement.run.machine)
    return found


def _of_row(plain: Sequence[Figure], row: Row, workload: Workload, machine: Machine) -> list[Kernel]:
    cases: dict[Identity, dict[str, Figure]] = {}
    for f in plain:
        i = f.identity
        if not in_row(i, row, workload, machine):
            continue
        if isinstance(f, Failed) or (isinstance(f, Verified) and f.estimate.low is not None and not f.oversubscribed):
            cases.setdefault(replace(i, toolchain=""), {})[i.toolchain] = f
    fortran = {v.name for v in workload.variants if v.fortran}
    return [
        Kernel(row.title, f"{i.workload}.{i.variant}", figures, i.variant in fortran) for i, figures in cases.items()
    ]


def _flags(judgement: Judgement, name: str, some: Sequence[Kernel]) -> Flags:
    measured = tuple(k for k in some if name in k.verified)
    failed = [f.identity for f in judgement.figures if isinstance(f, Failed) and f.cause == "check"]
    broken = dict.fromkeys(f"{i.workload}.{i.variant}" for i in failed if i.toolchain == name)
    options = next((" ".join(t.flags) for t in judgement.run.toolbox.toolchains if t.name == name), "")
    return Flags(name, options, measured, tuple(broken))


def same(best: Verified, other: Verified) -> bool:
    """Return whether a figure equals the best, by the rule of the ranking."""
    return other is best or ranking.alike(best, other)


def undecided(best: Verified, other: Verified) -> bool:
    """Return whether the launches support no conclusion: the medians are far apart, but not clearly different."""
    return other is not best and ranking.standing(best, other) == ranking.UNCLEAR


def option(f: Flags) -> str:
    """Return the option that changes the arithmetic; "" if the flags keep it."""
    return next((word for word in f.options.split() if word in RELAXED), "")

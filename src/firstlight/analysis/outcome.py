"""The outcome of a run: which variants no toolchain makes correct. Exit status and JUnit follow it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from firstlight.analysis import Judgement
from firstlight.analysis.evidence import refused
from firstlight.analysis.verdict import Failed, Figure, Untimed, Unverified, Verified


class Correctness(NamedTuple):
    """`failed`: variants (workload, variant) that were tried and are right under no toolchain, in the plan's order.

    `right`: by variant, the toolchains (with their MPI libraries) under which it is.
    """

    failed: tuple[tuple[str, str], ...]
    right: dict[tuple[str, str], tuple[str, ...]]


def outcome(judgement: Judgement) -> Correctness:
    """Return which variants failed, and the toolchains under which each variant is right.

    A flag set that makes a program fast but wrong is a finding about the flags. A variant that is wrong with all
    toolchains is a failure of the run, unless its workload declares the failure with these flags. A case that a program
    refused (three ranks for pairs) was not tried. A variant that is unverified by design only has to run.
    """
    run = judgement.run
    launched = {r.start.cell for r in judgement.records if not refused(r)}
    tried = [c.program for c in run.cells if c.id in launched]
    tried += [b.program for b in run.builds if not b.ok]
    by_program: dict[tuple[str, str, str, str | None], list[Figure]] = defaultdict(list)
    for figure in judgement.figures:
        who = figure.identity
        by_program[who.workload, who.variant, who.toolchain, who.mpi].append(figure)
    by_design = {name for name, d in run.descriptions.items() if d.unverified}
    right: dict[tuple[str, str], list[str]] = defaultdict(list)
    for (workload, variant, toolchain, mpi), some in by_program.items():
        if _sound(some, f"{workload}.{variant}" in by_design):
            right[workload, variant].append(toolchain + (f" with {mpi}" if mpi else ""))
    wrong = {who: [f for f in some if isinstance(f, Failed)] for who, some in by_program.items()}
    expected = {who for who, some in wrong.items() if some and all(f.expected for f in some)}
    tried = [p for p in tried if (p.workload, p.variant, p.toolchain, p.mpi) not in expected]
    failed = dict.fromkeys((p.workload, p.variant) for p in tried if (p.workload, p.variant) not in right)
    return Correctness(tuple(failed), {variant: tuple(tools) for variant, tools in right.items()})


def _sound(figures: Iterable[Figure], by_design: bool) -> bool:
    """Return whether some figure is correct (or unverified by design), and no launched one is wrong."""
    some = list(figures)
    right = by_design or any(isinstance(f, Verified | Untimed) or _doubted(f) for f in some)
    return right and not any(isinstance(f, Failed) for f in some)


def _doubted(figure: Figure) -> bool:
    """Return whether the results are correct and only the speed is doubtful."""
    return isinstance(figure, Unverified) and figure.cause == "ceiling"

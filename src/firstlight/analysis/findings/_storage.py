"""Functions that the rules on storage share: figures of files, and pairs that differ in one parameter."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

from firstlight.analysis import Finding, Judgement, provenance
from firstlight.analysis.findings._common import SHOWN, apart, command, grouped, once, shown, target, without_defaults
from firstlight.analysis.formatting import values
from firstlight.analysis.roles import RoleFigure, played, players
from firstlight.analysis.verdict import Verified
from firstlight.core.roles import FILE_TRANSFER, Role
from firstlight.model.catalogue import Workload

IN_MEMORY = ("tmpfs", "ramfs")
"""File systems that keep their files in memory."""


class Difference(NamedTuple):
    """Two figures of one program that differ in one parameter only, and by how much the first is better."""

    factor: float
    better: Verified
    worse: Verified
    parameter: str

    def value(self, figure: Verified) -> int | float | str:
        return dict(figure.identity.parameters)[self.parameter]


def differences(
    judgement: Judgement,
    workloads: dict[str, Workload],
    parameter: Callable[[Role], str],
    threshold: float,
    without: Collection[str] = (),
) -> Iterator[Difference]:
    """Yield the best and the worst value of a parameter, by its role's name, of each case where they differ.

    `without`: values that are not compared.
    """
    files = list(played(judgement.figures, players(workloads, FILE_TRANSFER), judgement.run.machine))

    def case(p: RoleFigure) -> tuple[object, ...]:
        i = p.identity
        others = tuple(x for x in i.parameters if x[0] != parameter(p.role))
        return target(i), i.toolchain, i.mpi, i.placement, others, i.metric, parameter(p.role)

    for key, some in grouped(files, case).items():
        compared = [p.figure for p in some if dict(p.identity.parameters).get(str(key[-1])) not in without]
        found = apart(compared, threshold) if len(compared) > 1 else None
        if found is not None:
            yield Difference(*found, str(key[-1]))


def finding(judgement: Judgement, rule: str, some: list[Difference], words: str, weight: int) -> Finding:
    """Return one finding about differences, the largest first. `words`: what the reader can do."""
    worst = max(some, key=lambda d: d.factor)
    bound = "at most " if provenance.at_least(worst.better, worst.worse) else ""
    i = without_defaults(judgement, worst.worse.identity)
    others = values([x for x in i.parameters if x[0] != worst.parameter])
    return Finding(
        rule=rule,
        sentence=(
            f"{worst.parameter} {worst.value(worst.worse)} has {bound}"
            f"{provenance.advantage(f'1/{worst.factor:.2g}', worst.better, worst.worse)} of the bandwidth of "
            f"{worst.parameter} {worst.value(worst.better)} ({target(i)}, {others}); {words}"
        ),
        evidence=tuple(shown(judgement, f) for d in some[: SHOWN // 2] for f in (d.better, d.worse)),
        command=command(*once(target(d.worse.identity) for d in some)),
        weight=weight,
        about=tuple(f.identity for d in some for f in (d.better, d.worse)),
    )

"""Derive the time lost to communication as R5 does, from one program measured with and without it.

The twin without communication does the same arithmetic and leaves the exchange out. Its results cannot be checked, so
it is unverified by design: its times are used here only, as one half of a ratio, never as figures of their own.

Source: M. Hasenbusch, D. Pop, P. Wegner, A. Gellrich and H. Wittig, LQCD benchmarks on cluster architectures, CHEP03
(R5): t_with = flops / speed_without + B / bandwidth.
"""

from __future__ import annotations

from statistics import median
from typing import NamedTuple

from firstlight.analysis import Judgement
from firstlight.analysis.evidence import Subject, gather
from firstlight.analysis.interval import Ratio, ratio
from firstlight.analysis.verdict import Identity, Verified
from firstlight.core import confidence
from firstlight.model.plan import Program

Silent = dict[Subject, tuple[float, ...]]
"""Seconds of a step, one value per launch, of programs that are unverified by design."""


class Exchange(NamedTuple):
    """The effect of communication on a step.

    `seconds`, `silent`: a step with and without it, medians. `kept`: the speed with it over the speed without it.
    `size`: bytes that leave a process in a step; as many arrive.
    """

    figure: Verified
    seconds: float
    silent: float
    kept: Ratio
    size: float

    @property
    def bandwidth(self) -> float | None:
        """Return the bytes per second each way; None if communication is hidden, because no time is lost to it."""
        return bandwidth(self.size, self.seconds, self.silent)


def speed(without: float, flops: float, size: float, bandwidth: float) -> float:
    """Return the model's flop/s if a step sends `size` bytes at `bandwidth` B/s. `without`: flop/s if it sends none."""
    return flops / (flops / without + size / bandwidth)


def bandwidth(size: float, seconds: float, silent: float) -> float | None:
    """Return the model's bandwidth in B/s, from the time lost to communication; None if no time is lost."""
    return size / (seconds - silent) if size > 0 and seconds > silent else None


def efficiency(size_a_flop: float, without: float, bandwidth: float) -> float:
    """Return the model's share of speed kept, 0 to 1. `size_a_flop`: bytes to send per flop; `without`: in flop/s."""
    return 1 / (1 + size_a_flop * without / bandwidth)


def silent(judgement: Judgement) -> Silent:
    """Return the seconds per step of all programs that are unverified by design."""
    marked = {name for name, d in judgement.run.descriptions.items() if d.unverified}
    if not marked:
        return {}
    cells = {c.id for c in judgement.run.cells if c.program.target in marked}
    evidence, _ = gather(judgement.run, [r for r in judgement.records if r.start.cell in cells])
    found = {s: tuple(t.wall / t.steps for t in e.timings if t.steps > 0 and t.wall > 0) for s, e in evidence.items()}
    return {subject: times for subject, times in found.items() if times}


def exchange(figure: Verified, seconds: float, twins: Silent, variant: str) -> Exchange | None:
    """Return the effect of communication on `figure`, whose step lasts `seconds`; None without a twin of that variant.

    The figure must be a rate. A twin is the same case of the same toolchain, MPI library and placement.
    """
    times = twins.get(_twin(figure.identity, variant))
    size = figure.cost.get("flow", 0.0) / 2
    if not times or size <= 0 or figure.better != "higher":
        return None
    middle = figure.estimate.median
    with_it = [seconds * middle / v for v in figure.estimate.launches if v > 0]
    return Exchange(figure, seconds, median(times), ratio(with_it, times, confidence.LEVEL), size)


def _twin(who: Identity, variant: str) -> Subject:
    return Subject(Program(who.workload, variant, who.toolchain, who.mpi), who.placement, who.parameters)

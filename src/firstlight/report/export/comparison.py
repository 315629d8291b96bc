"""A comparison of two runs as JSON: a figure is identified as in a row of figures."""

from __future__ import annotations

import msgspec

from firstlight.analysis.compare import Changed, Compared, Comparison
from firstlight.analysis.verdict import Identity
from firstlight.model.plan import Placement


class Which(msgspec.Struct, frozen=True):
    """The identity of a measurement."""

    workload: str
    variant: str
    toolchain: str
    mpi: str | None
    placement: Placement
    parameters: dict[str, int | float | str]
    metric: str


class ComparedFigure(Compared[Which], frozen=True):
    """One figure in both runs. `ratio`: B / A of the medians, with its interval (null: too few launches).

    `outcome`: same, better, worse (B compared with A, in the figure's direction) or inconclusive, with the reason.
    `observed`: an observed value, which does not affect the exit status. `a_states`, `b_states`: both groups of a
    bimodal figure. `reporter`: the tool that reported the figure in B, "" if firstlight verified it.
    """


class ChangedVerdict(Changed[Which], frozen=True):
    """A figure whose verdict changed. A figure that had a number and now fails is a regression."""


class ComparedRuns(msgspec.Struct, frozen=True):
    """Run B compared with run A. `shift`: the median over all figures of how many times better B is (1: equal).

    `environment`: one sentence per difference. `not_compared`: oversubscribed in either run, or verified in neither.
    `disturbed`: a sentence for each run in which other processes used the processors. `code`: the exit status.
    """

    a: str
    b: str
    same_run: bool
    disturbed: tuple[str, ...]
    code: int
    threshold: float
    confidence: float
    drift: float
    counts: dict[str, int]
    figures: tuple[ComparedFigure, ...]
    changed: tuple[ChangedVerdict, ...]
    only_a: tuple[Which, ...]
    only_b: tuple[Which, ...]
    not_compared: tuple[Which, ...]
    environment: tuple[str, ...]
    shift: float | None


def compared(found: Comparison) -> ComparedRuns:
    """Return the comparison as it is printed."""
    return ComparedRuns(
        a=found.a,
        b=found.b,
        same_run=found.same_run,
        disturbed=found.disturbed,
        code=found.code,
        threshold=found.threshold,
        confidence=found.confidence,
        drift=found.drift,
        counts=found.counts,
        figures=tuple(_figure(f) for f in found.figures),
        changed=tuple(_changed(c) for c in found.changed),
        only_a=tuple(which(i) for i in found.only_a),
        only_b=tuple(which(i) for i in found.only_b),
        not_compared=tuple(which(i) for i in found.not_compared),
        environment=found.environment,
        shift=found.shift,
    )


def which(i: Identity) -> Which:
    return Which(i.workload, i.variant, i.toolchain, i.mpi, i.placement, dict(i.parameters), i.metric)


def _figure(f: Compared[Identity]) -> ComparedFigure:
    who = which(f.identity)
    return ComparedFigure(
        who, f.unit, f.better, f.a, f.b, f.ratio, f.low, f.high, f.outcome, f.reason, f.observed, f.a_states,
        f.b_states, f.reporter,
    )  # fmt: skip


def _changed(c: Changed[Identity]) -> ChangedVerdict:
    return ChangedVerdict(which(c.identity), c.before, c.after, c.reason)

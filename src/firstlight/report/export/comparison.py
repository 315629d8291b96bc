"""A comparison of two runs as JSON: a figure is identified as in a row of figures."""

from __future__ import annotations

import msgspec

from firstlight.analysis.compare import Changed, Compared, Comparison
from firstlight.analysis.verdict import Identity
from firstlight.model.plan import Placement


class Which(msgspec.Struct, frozen=True):
    """What was measured."""

    workload: str
    variant: str
    toolchain: str
    mpi: str | None
    placement: Placement
    parameters: dict[str, int | float | str]
    metric: str


class ComparedFigure(Compared[Which], frozen=True):
    """One figure in both runs. `ratio` is B / A of the medians, with its interval (null: too few launches).

    `outcome`: same, better, worse (B against A, by the figure's direction) or inconclusive, with the reason.
    `observed`: a value that the program observed; it decides no exit status. `a_states`, `b_states`: where the launches
    of a run fall into two. `reporter`: the tool that reported it in B, "" if firstlight verified it.
    """


class ChangedVerdict(Changed[Which], frozen=True):
    """A figure whose verdict changed. A number before and failed now is a regression."""


class ComparedRuns(msgspec.Struct, frozen=True):
    """Run B against run A. `shift`: the median of how many times better B is, over all figures (1: none).

    `environment`: one sentence a difference. `not_compared`: oversubscribed in either run, or verified in neither.
    `disturbed`: a sentence for each run that something else kept from its processors. `code`: the exit status.
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

"""Every other unexpected failed figure, one finding per variant and cause, so that no failure is left out."""

from __future__ import annotations

from firstlight.analysis import Finding, Judgement, provenance
from firstlight.analysis.findings import _common
from firstlight.analysis.findings._common import SHOWN, command, grouped, once, target, without_defaults
from firstlight.analysis.findings.fast_but_wrong import broken_by_flags
from firstlight.analysis.formatting import listing, name
from firstlight.analysis.verdict import Failed
from firstlight.model.catalogue import Workload

OF_RESULTS = True
WEIGHT = {"check": 90.0, "lost": 80.0, "record": 75.0, "build": 65.0}


def find(judgement: Judgement, workloads: dict[str, Workload]) -> list[Finding]:
    elsewhere = {f.identity for f in broken_by_flags(judgement)}  # and those above a ceiling have a rule of their own
    left = [f for f in _common.failed(judgement) if f.identity not in elsewhere and f.cause != "ceiling"]
    left = [f for f in left if not f.expected]
    groups = grouped(left, lambda f: (target(f.identity), f.cause))
    return [_finding(judgement, what, cause, figures) for (what, cause), figures in groups.items()]


def _finding(judgement: Judgement, what: str, cause: str, figures: list[Failed]) -> Finding:
    toolchains = once(f.identity.toolchain for f in figures)
    mpis = once(f.identity.mpi for f in figures if f.identity.mpi)
    tools = listing(toolchains) + (f" and {listing(mpis)}" if mpis else "")
    return Finding(
        rule="failed",
        sentence=f"{what} failed with {tools}: {provenance.reason(figures[0])}",
        evidence=tuple(
            f"{name(without_defaults(judgement, f.identity))}: {provenance.reason(f)}" for f in figures[:SHOWN]
        ),
        command=command(what, toolchains=toolchains, mpi=mpis[0] if len(mpis) == 1 else None),
        weight=WEIGHT.get(cause, 75.0),
        about=tuple(f.identity for f in figures),
    )

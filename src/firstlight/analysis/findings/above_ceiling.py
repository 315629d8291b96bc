"""Figures above the measured ceiling of the machine: either they or the ceiling are wrong, so they fail."""

from __future__ import annotations

from firstlight.analysis import Finding, Judgement, provenance
from firstlight.analysis.findings._common import SHOWN, command, failed, grouped, once, target, without_defaults
from firstlight.analysis.formatting import listing, name
from firstlight.model.catalogue import Workload


def find(judgement: Judgement, workloads: dict[str, Workload]) -> list[Finding]:
    above = [f for f in failed(judgement) if f.cause == "ceiling"]
    found = []
    for what, figures in grouped(above, lambda f: target(f.identity)).items():
        toolchains = once(f.identity.toolchain for f in figures)
        workload = figures[0].identity.workload
        sources = _sources(workloads.get(workload), workloads)
        verb = "is" if len(figures) == 1 else f"has {len(figures)} figures"
        found.append(
            Finding(
                rule="above_ceiling",
                sentence=f"{what} {verb} {provenance.reason(figures[0])} ({listing(toolchains)})",
                evidence=tuple(
                    f"{name(without_defaults(judgement, f.identity))}: {provenance.reason(f)}" for f in figures[:SHOWN]
                ),
                command=command(what, *sources, toolchains=toolchains),
                weight=95,
                about=tuple(f.identity for f in figures),
            )
        )
    return found


def _sources(workload: Workload | None, workloads: dict[str, Workload]) -> list[str]:
    """Return the workloads that measure this one's ceilings, which must run in the same run."""
    wanted = {b.ceiling for b in workload.bounded_by} if workload else set()
    return [w.name for w in workloads.values() if any(p.ceiling in wanted for p in w.provides)]

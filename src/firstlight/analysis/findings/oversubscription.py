"""More ranks and threads than processors, or than GPUs: shown, but never ranked or compared."""

from __future__ import annotations

from firstlight.analysis import Finding, Judgement
from firstlight.analysis.ceilings import cores, more_than_processors
from firstlight.analysis.findings._common import SHOWN, command, once, shown, target
from firstlight.analysis.formatting import listing, where
from firstlight.analysis.verdict import Verified
from firstlight.core.units import count
from firstlight.model.catalogue import Workload

OF_MACHINE = True


def find(judgement: Judgement, workloads: dict[str, Workload]) -> list[Finding]:
    machine = judgement.run.machine
    over = [f for f in judgement.figures if isinstance(f, Verified) and f.oversubscribed]
    crowded = [f for f in over if not more_than_processors(f.identity, machine)]
    processors = [f for f in over if f not in crowded]
    both = ((processors, count(len(machine.cpus), "CPU")), (crowded, "fewer GPUs than ranks"))
    return [_finding(judgement, figures, on) for figures, on in both if figures]


def _finding(judgement: Judgement, over: list[Verified], on: str) -> Finding:
    most = max(over, key=lambda f: cores(f.identity))
    what = once(target(f.identity) for f in over)
    named = listing(what if len(what) <= 3 else [*what[:2], f"{len(what) - 2} more"])
    placed = where(most.identity.placement)
    return Finding(
        rule="oversubscription",
        sentence=f"oversubscribed: {named} ran with up to {placed} on {on}. firstlight neither ranks nor compares "
        f"these figures",
        evidence=tuple(shown(judgement, f) for f in over[:SHOWN]),
        command=command(what[0]),
        weight=30,
        about=tuple(f.identity for f in over),
    )

"""More ranks and threads than processors: shown, but never ranked or compared."""

from __future__ import annotations

from firstlight.catalogue import Workload
from firstlight.judge import Finding, Judgement
from firstlight.judge.ceilings import cores
from firstlight.judge.findings._common import SHOWN, command, once, shown, target
from firstlight.judge.verdict import Verified
from firstlight.judge.words import listing, where
from firstlight.units import count


def find(judgement: Judgement, workloads: dict[str, Workload]) -> list[Finding]:
    over = [f for f in judgement.figures if isinstance(f, Verified) and f.oversubscribed]
    if not over:
        return []
    most = max(over, key=lambda f: cores(f.identity))
    what = once(target(f.identity) for f in over)
    n = len(judgement.run.machine.cpus)
    named = listing(what if len(what) <= 3 else [*what[:2], f"{len(what) - 2} more"])
    return [
        Finding(
            rule="oversubscription",
            sentence=(
                f"oversubscribed: {named} ran with up to {where(most.identity.placement)} on "
                f"{count(n, 'CPU')}; not ranked, not compared"
            ),
            evidence=tuple(shown(f) for f in over[:SHOWN]),
            command=command(what[0]),
            weight=30,
            about=tuple(f.identity for f in over),
        )
    ]

"""Wall time and CPU time diverge: other work used the machine as well."""

from __future__ import annotations

from firstlight.analysis import Finding, Judgement, provenance
from firstlight.analysis.evidence import NOTICED, diverged
from firstlight.analysis.findings._common import SHOWN, command, target, verified, without_defaults
from firstlight.analysis.formatting import name
from firstlight.analysis.verdict import Verified
from firstlight.core.units import significant
from firstlight.model.catalogue import Workload

OF_MACHINE = True


def find(judgement: Judgement, workloads: dict[str, Workload]) -> list[Finding]:
    some, samples = diverged(judgement.records)
    if some <= NOTICED * samples:
        return []
    share = some / samples
    worst = sorted((f for f in verified(judgement) if f.diverged > 0), key=lambda f: -f.diverged)[:SHOWN]
    many = provenance.number(f"{significant(100 * share, 2)} %", "diverged() / samples()")
    counts = f"{provenance.number(str(some), 'diverged()')} of {provenance.number(str(samples), 'samples()')}"
    of = f"{many} of the samples ({counts})"
    return [
        Finding(
            rule="divergence",
            sentence=f"other processes used the processors: wall and CPU time diverged in {of}",
            evidence=tuple(
                f"{name(without_defaults(judgement, f.identity))}: {_share_text(f)} of its samples" for f in worst
            ),
            command=command(*(target(f.identity) for f in worst[:1])),
            weight=45 + 40 * share,
            about=tuple(f.identity for f in worst),
        )
    ]


def _share_text(figure: Verified) -> str:
    return provenance.number(f"{significant(100 * figure.diverged, 2)} %", "diverged_of(a)", of=(figure,))

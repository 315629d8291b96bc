"""A flag set that makes a variant wrong while the variant is right with another flag set: fast but wrong."""

from __future__ import annotations

from firstlight.analysis import Finding, Judgement, provenance
from firstlight.analysis.findings._common import (
    SHOWN,
    command,
    failed,
    flag_set,
    grouped,
    once,
    target,
    without_defaults,
)
from firstlight.analysis.formatting import listing, name
from firstlight.analysis.verdict import ELSEWHERE, Failed, Untimed, Verified
from firstlight.model.catalogue import Workload
from firstlight.results.record import Run

OF_RESULTS = True


def find(judgement: Judgement, workloads: dict[str, Workload]) -> list[Finding]:
    found = []
    for what, wrong in grouped(broken_by_flags(judgement), lambda f: target(f.identity)).items():
        # Show the error of the largest case, which comes last, and not one that only another case had.
        shown = [f for f in wrong if not f.reason.startswith(ELSEWHERE)] or wrong
        why = next((f"; {f.expected}" for f in wrong if f.expected), "")
        toolchains = once(f.identity.toolchain for f in wrong)
        verb = "breaks" if len(toolchains) == 1 else "break"
        found.append(
            Finding(
                rule="fast_but_wrong",
                sentence=f"fast but wrong: {listing(toolchains)} {verb} {what}: {provenance.reason(shown[-1])}{why}",
                evidence=tuple(
                    f"{name(without_defaults(judgement, f.identity))}: {provenance.reason(f)}"
                    for f in [*shown[::-1], *(f for f in wrong if f not in shown)][:SHOWN]
                ),
                command=command(what, toolchains=toolchains),
                weight=100 + min(9.0, len(wrong) / 10),
                about=tuple(f.identity for f in wrong),
            )
        )
    return found


def broken_by_flags(judgement: Judgement) -> list[Failed]:
    """Return figures that are wrong with flags beyond base, if that is declared or the variant verifies with others."""
    run = judgement.run
    right = {
        (target(f.identity), flag_set(run, f.identity.toolchain))
        for f in judgement.figures
        if isinstance(f, Verified | Untimed)
    }
    return [f for f in failed(judgement) if f.cause == "check" and _by_flags(f, run, right)]


def _by_flags(figure: Failed, run: Run, right: set[tuple[str, str]]) -> bool:
    flags = flag_set(run, figure.identity.toolchain)
    elsewhere = any(w == target(figure.identity) and other != flags for w, other in right)
    return bool(figure.expected) or (flags != "base" and elsewhere)

"""A clock frequency that may change between launches, or whose policy is unknown."""

from __future__ import annotations

from firstlight.analysis import Finding, Judgement
from firstlight.analysis.formatting import listing
from firstlight.model.catalogue import Workload

STEADY = {"performance", "userspace"}
OF_MACHINE = True


def find(judgement: Judgement, workloads: dict[str, Workload]) -> list[Finding]:
    m = judgement.run.machine
    moving, unknown = [], []
    if m.governor is None:
        unknown.append("governor")
    elif m.governor not in STEADY:
        moving.append(f"the frequency governor is {m.governor}")
    if m.turbo is None:
        unknown.append("turbo")
    elif m.turbo:
        moving.append("turbo is on")
    if not moving and not unknown:
        return []
    where = "; virtual machine" if m.virtual else ""
    sentence = (
        f"{listing(moving)}: the clock frequency may change between launches"
        if moving
        else f"the frequency policy is not visible ({listing(unknown)} unknown{where}): clock drift would go unnoticed"
    )
    return [
        Finding(
            rule="frequency_policy",
            sentence=sentence,
            evidence=(
                f"governor: {m.governor or 'unknown'}",
                f"turbo: {'unknown' if m.turbo is None else 'on' if m.turbo else 'off'}",
            ),
            command="./fl doctor",
            weight=20 if moving else 10,
        )
    ]

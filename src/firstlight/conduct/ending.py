"""The ending: why a run stopped, in one line, and the exit status that follows from its figures."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from firstlight.conduct.rounds import BUDGET, Rounds
from firstlight.errors import OK, REGRESSION
from firstlight.judge import Judgement
from firstlight.judge.evidence import refused
from firstlight.judge.verdict import Figure
from firstlight.plan import LAUNCHES
from firstlight.record import LaunchRecord, Run
from firstlight.units import duration, minutes


def status(judgement: Judgement) -> int:
    """0 where every variant that was tried is verified under at least one toolchain, 1 otherwise.

    A flag set that makes a program fast but wrong is a finding about the flags; a variant that no toolchain gets right
    is a failure of the run. What a program refused to run (three ranks for pairs) was not tried; of a variant that is
    unverified by design nothing more is asked than that it ran.
    """
    launched = {r.start.cell for r in judgement.records if not refused(r)}
    tried = {c.program for c in judgement.run.cells if c.id in launched}
    tried |= {b.program for b in judgement.run.builds if not b.ok}
    by_program: dict[tuple[str, str, str, str | None], list[Figure]] = defaultdict(list)
    for figure in judgement.figures:
        who = figure.identity
        by_program[who.workload, who.variant, who.toolchain, who.mpi].append(figure)
    by_design = {name for name, d in judgement.run.descriptions.items() if d.unverified}
    good = {key[:2] for key, some in by_program.items() if _sound(some, f"{key[0]}.{key[1]}" in by_design)}
    return OK if all((p.workload, p.variant) in good for p in tried) else REGRESSION


def _sound(figures: Iterable[Figure], by_design: bool) -> bool:
    """Something is verified (or cannot be, by design), and nothing that was launched is wrong."""
    verdicts = [str(figure.__struct_config__.tag) for figure in figures]
    return ("verified" in verdicts or by_design) and "failed" not in verdicts


def why(run: Run, rounds: Rounds | None, directory: Path) -> str:
    """One sentence. `rounds` None: interrupted."""
    resume = f"./fl run --resume {directory}"
    if rounds is None:
        return f"interrupted; go on with: {resume}"
    wide, cells = rounds.wide(), len(rounds.tallies)
    sure = f"± {100 * run.precision:g} %"
    if run.state == BUDGET:
        return (
            f"the budget of {duration(run.budget)} is spent; less sure than {sure}: {len(wide)} of {cells} cells; "
            f"go on with: {resume} --budget {minutes(1.1 * rounds.missing())}"
        )
    if run.launches < LAUNCHES:
        return f"complete; no intervals: they need {LAUNCHES} launches"
    if wide:
        return f"complete; less sure than {sure} after the most launches: {len(wide)} of {cells} cells"
    return f"complete; every interval is within {sure}"


def spent(records: Iterable[LaunchRecord]) -> float:
    """Seconds of launching so far."""
    return sum(record.exit.seconds for record in records)

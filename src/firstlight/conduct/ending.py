"""The ending: why a run stopped, in one line, and the exit status that follows from its figures."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from firstlight.conduct.rounds import BUDGET, Rounds
from firstlight.errors import OK, REGRESSION
from firstlight.judge import Judgement
from firstlight.judge.outcome import outcome
from firstlight.plan import LAUNCHES
from firstlight.record import LaunchRecord, Run
from firstlight.shell import command
from firstlight.units import duration


def status(judgement: Judgement) -> int:
    """0 where every variant that was tried is verified under at least one toolchain, 1 otherwise."""
    return REGRESSION if outcome(judgement).failed else OK


def why(run: Run, rounds: Rounds | None, directory: Path) -> str:
    """One sentence. `rounds` None: interrupted."""
    resume = command("run", "--resume", directory, *run.more())
    if rounds is None:
        return f"interrupted; go on with: {resume}"
    wide, cells = rounds.wide(), len(rounds.tallies)
    sure = f"± {100 * run.precision:g} %"
    if run.state == BUDGET:
        none, planned = rounds.unbegun(), cells + len(rounds.later)
        begun = [name for name in wide if rounds.tallies[name].records]
        unbegun = f"not begun: {none} of {planned} cells; " if none else ""
        return (
            f"the budget of {duration(run.budget)} is spent; {unbegun}"
            f"less sure than {sure}: {len(begun)} of {planned - none} cells; "
            f"go on with: {resume}"
        )
    if run.launches < LAUNCHES:
        return f"complete; no intervals: they need {LAUNCHES} launches"
    if wide:
        return f"complete; less sure than {sure} after the most launches: {len(wide)} of {cells} cells"
    return f"complete; every interval is within {sure}"


def spent(records: Iterable[LaunchRecord]) -> float:
    """Seconds of launching so far."""
    return sum(record.exit.seconds for record in records)

"""Why a run stopped, in one line, and the exit status that follows from its figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from firstlight.analysis import Judgement
from firstlight.analysis.evidence import unfit
from firstlight.analysis.outcome import outcome
from firstlight.analysis.verdict import Verified
from firstlight.core.confidence import LAUNCHES
from firstlight.core.errors import INCONCLUSIVE, OK, REGRESSION
from firstlight.core.shell import command
from firstlight.core.units import count, duration
from firstlight.model.catalogue import Workload
from firstlight.model.plan import MOST_LAUNCHES
from firstlight.report.answers import answers
from firstlight.results.record import LaunchRecord, Run
from firstlight.runner import agenda
from firstlight.runner.rounds import BUDGET, Rounds


def status(judgement: Judgement, unfinished: bool = False) -> int:
    """Return 1 if no toolchain verified a variant that was tried, 4 if the run supports no conclusion, else 0.

    It supports none if a comparison is unfinished or the machine was not fit for measuring.
    """
    if outcome(judgement).failed:
        return REGRESSION
    return INCONCLUSIVE if unfinished or unfit(judgement.run, judgement.records) else OK


def came_out(judgement: Judgement, workloads: Mapping[str, Workload]) -> str:
    """Return `figures for 10 of 28 rows; `, to compare with the forecast; "" if every requested row has its figure."""
    run = judgement.run
    named = agenda.named(workloads, run.names, (one.name for one in run.brought))
    known = [c for c in run.cells if c.program.workload in workloads]
    rows = agenda.rows(known, workloads, run.machine, named)
    found = {(a.workload, a.row.title) for a in answers(judgement, workloads) if a.best is not None or a.untimed}
    good = sum((r.workload, r.row.title) in found for r in rows)
    return f"figures for {good} of {count(len(rows), 'row')}; " if good < len(rows) else ""


def why(judgement: Judgement, workloads: Mapping[str, Workload], rounds: Rounds | None, directory: Path) -> str:
    """Return one sentence. `rounds`: None if the run was interrupted."""
    run = judgement.run
    resume = command("run", "--resume", directory, *run.more())
    if rounds is None:
        return f"interrupted; continue with: {resume}"
    wide, cells = rounds.wide(), len(rounds.tallies)
    sure = f"± {100 * run.precision:g} %"
    if run.state == BUDGET:
        none, planned = rounds.unbegun(), cells + len(rounds.later)
        begun = [name for name in wide if rounds.tallies[name].records]
        unbegun = f"not started: {none} of {planned} cells; " if none else ""
        return (
            f"the budget of {duration(run.budget)} is used up; "
            f"{came_out(judgement, workloads)}{unbegun}{_unfinished(run, rounds)}"
            f"interval wider than {sure}: {len(begun)} of {planned - none} cells; "
            f"continue with: {resume}"
        )
    if run.launches < LAUNCHES:
        return f"complete after --launches {run.launches}; intervals require --launches {LAUNCHES}"
    if wide:
        most = max(run.launches, MOST_LAUNCHES)
        return (
            f"complete; interval wider than {sure} after {most} launches: {len(wide)} of {cells} cells; "
            f"start a new run with --launches {2 * most}"
        )
    if not any(isinstance(f, Verified) for f in judgement.figures):
        return "complete; no figure is verified"
    return f"complete; every interval is within {sure}"


def _unfinished(run: Run, rounds: Rounds) -> str:
    """Return which launches the comparisons of commands lack."""
    lacking = rounds.unfinished()
    if not lacking:
        return ""
    fewest = min(len(rounds.tallies[name].records) for name in lacking)
    cells = f"{len(lacking)} of {len(rounds.tallies)} cells"
    return f"fewer than --launches {run.launches}: {cells} (the fewest: {fewest}); "


def spent(records: Iterable[LaunchRecord]) -> float:
    """Return the seconds of launching so far."""
    return sum(record.exit.seconds for record in records)

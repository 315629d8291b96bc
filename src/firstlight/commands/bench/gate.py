"""Gate: whether a command is slower than the first one by more than a limit; for CI."""

from __future__ import annotations

from firstlight.analysis import Judgement
from firstlight.analysis.provenance import settle
from firstlight.commands.bench.request import BenchRequest
from firstlight.commands.shared.output import note
from firstlight.core.errors import INCONCLUSIVE, OK, REGRESSION, UsageError
from firstlight.report import external_commands
from firstlight.report.external_commands import Line


def require(request: BenchRequest) -> None:
    """Raise UsageError if there are not at least two commands to compare."""
    if len(request.commands) < 2:
        raise UsageError("--limit compares commands with the first one: ./fl bench --limit 2% -- ./old -- ./new")


def passed(judgement: Judgement, limit: float) -> int:
    """Print one line per compared command that breaks the limit or may break it, and return the exit status.

    A command breaks the limit if its whole interval is above. It keeps the limit if its whole interval is below.
    Wall time decides, or CPU time if other programs used the processors.
    """
    codes = {
        _of_line(line, table.brought.called(table.decides), limit)
        for table in external_commands.tables(judgement)
        for lines in table.cases.values()
        for line in lines[1:]
    }
    return REGRESSION if REGRESSION in codes else OK if codes == {OK} else INCONCLUSIVE


def _of_line(line: Line, what: str, limit: float) -> int:
    where = f"at {line.case}: " if line.case else ""
    shown, compared = f"{100 * limit:g} %", settle(line.compared)
    if line.ratio is None or line.ratio.low is None or line.ratio.high is None:
        note(f"{where}{line.label}: no interval, so the limit of {shown} is not decided")
        return INCONCLUSIVE
    if line.ratio.low > 1 + limit:
        note(f"{where}{compared} in {what}: above the limit of {shown}")
        return REGRESSION
    if line.ratio.high > 1 + limit:
        note(f"{where}{compared} in {what}: whether it keeps the limit of {shown} is uncertain")
        return INCONCLUSIVE
    return OK

"""Gate: whether a command is slower than the first one by more than a limit; for CI."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from firstlight.analysis import Judgement
from firstlight.analysis.provenance import settle
from firstlight.analysis.verdict import Identity
from firstlight.commands.bench.request import BenchRequest
from firstlight.commands.shared.output import note
from firstlight.core.errors import INCONCLUSIVE, OK, REGRESSION, UsageError
from firstlight.report import external_commands, ratios
from firstlight.report.external_commands import Line, Table
from firstlight.report.ratios import Ratio

if TYPE_CHECKING:
    from firstlight.runner import Result


def require(request: BenchRequest) -> None:
    """Raise UsageError if there are not at least two commands to compare."""
    if len(request.commands) < 2:
        raise UsageError("--limit compares commands with the first one: ./fl bench --limit 2% -- ./old -- ./new")


def status(result: Result, code: int) -> int:
    """Return the exit status of a run that ended with `code`: that of its stored limit, if there is one."""
    limits = [one.limit for one in result.judgement.run.brought if one.limit is not None]
    return passed(result.judgement, limits[0]) if limits and code in (OK, INCONCLUSIVE) else code


class Compared(NamedTuple):
    """A command that was compared with the first one.

    `code`: REGRESSION if it breaks the limit, OK if it keeps it, INCONCLUSIVE if that is uncertain. `text` is a
    sentence without the limit. `ratio`: None without an interval. `decides`: the metric that was compared, and `metric`
    its title, as `wall time`.
    """

    code: int
    text: str
    ratio: Ratio | None
    decides: str
    metric: str


def passed(judgement: Judgement, limit: float) -> int:
    """Print one line per command that breaks the limit or may break it, and return the exit status."""
    shown, codes = f"{100 * limit:g} %", set[int]()
    for one in comparisons(judgement, limit):
        codes.add(one.code)
        if one.code == REGRESSION:
            note(f"{one.text}: above the limit of {shown}")
        elif one.code == INCONCLUSIVE:
            colon = "" if one.ratio is None else ":"
            note(f"{one.text}{colon} it is uncertain whether the limit of {shown} is met")
    return REGRESSION if REGRESSION in codes else OK if codes == {OK} else INCONCLUSIVE


def comparisons(judgement: Judgement, limit: float, decides: str = "") -> list[Compared]:
    """Compare each command with the first one.

    A command breaks the limit if the whole interval of its ratio to the first command is above, in the same case and
    with the same toolchain, MPI library and placement. It keeps the limit if the whole interval is below. Wall time
    decides, or CPU time if other programs used the processors; or the metric `decides`, if it is given.
    """
    return [
        _compared(table, first, line, limit, decides or table.decides)
        for table in external_commands.tables(judgement)
        for first, line in _pairs(table)
    ]


def _pairs(table: Table) -> Iterator[tuple[Line, Line]]:
    """Yield each command with the first command that was measured in the same way."""
    alike: dict[Identity, dict[str, Line]] = {}
    for line in table.lines:
        identity = next(iter(line.figures.values())).identity
        alike.setdefault(replace(identity, variant="", metric=""), {})[identity.variant] = line
    first = next(iter(table.brought.commands))
    for lines in alike.values():
        if first in lines:
            yield from ((lines[first], line) for name, line in lines.items() if name != first)


def _compared(table: Table, first: Line, line: Line, limit: float, decides: str) -> Compared:
    where, metric = f"at {line.case}: " if line.case else "", table.brought.called(decides)
    a, b = first.ranked(decides), line.ranked(decides)
    found = None if a is None or b is None else ratios.ratio(a, b, limit)
    if found is None or found.low is None or found.high is None:
        return Compared(INCONCLUSIVE, f"{where}{line.label}: without an interval", None, decides, metric)
    text = f"{where}{line.label} / {first.label} = {settle(found.text)} in {metric}"
    code = REGRESSION if found.low > 1 + limit else INCONCLUSIVE if found.high > 1 + limit else OK
    return Compared(code, text, found, decides, metric)

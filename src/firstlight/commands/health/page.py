"""The page of a health check: the verdict first, one line per problem, then every row; and its OpenMetrics file."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from firstlight.analysis.nodes import FEWEST
from firstlight.commands.health.checks import BAD, OK, UNCLEAR, Check
from firstlight.core.errors import INCONCLUSIVE, REGRESSION
from firstlight.core.shell import command
from firstlight.core.units import count, quantity, ratio
from firstlight.report.ink import Ink, wrap


class Health(msgspec.Struct, frozen=True):
    """A health check as `--json` prints it.

    `disturbed`: why no figure is called bad, "" if the machine was fit for measuring. `accepted`: the accepted run, ""
    if there is none. `similar`: the number of other machines with the same processor.
    """

    machine: str
    run: str
    checks: tuple[Check, ...]
    disturbed: str
    accepted: str
    similar: int
    limits: int

    @property
    def sound(self) -> bool:
        """Return whether something was measured, no row is bad or unclear, and the machine was not disturbed."""
        return {check.grade for check in self.checks} == {OK} and not self.disturbed

    @property
    def code(self) -> int:
        """Return 1 if a row is bad, 0 if the rows are sound and were compared with anything, else 4."""
        if BAD in {check.grade for check in self.checks} and not self.disturbed:
            return REGRESSION
        compared = self.limits or self.accepted or self.similar + 1 >= FEWEST
        return 0 if self.sound and compared else INCONCLUSIVE

    @property
    def verdict(self) -> str:
        """Return the verdict in a few words."""
        bad, unclear = (sum(check.grade == grade for check in self.checks) for grade in (BAD, UNCLEAR))
        if self.disturbed:
            return f"inconclusive: {self.disturbed}"
        if self.code == REGRESSION:
            return f"not healthy: {count(bad, 'bad row')}"
        if unclear or not self.checks:
            return f"inconclusive: {count(unclear, 'row')} unclear" if unclear else "inconclusive: nothing was measured"
        if self.code == INCONCLUSIVE:
            return "inconclusive: no limit and no run to compare with"
        return f"healthy: {count(len(self.checks), 'row')}, no problems"


def summary(health: Health, width: int, colour: bool) -> str:
    """Return the page for a terminal, without a final newline."""
    ink = Ink(colour)
    style = {0: "good", REGRESSION: "bad"}.get(health.code, "warn")
    first, *more = wrap(f"{health.machine}: {health.verdict}", width, "", "  ")
    lines = [ink(style, first), *more]
    for check in health.checks:
        for problem in check.problems:
            kind, mark = ("bad", "✗") if check.grade == BAD else ("warn", "?")
            lines += [ink(kind, x) for x in wrap(f"{check.title}: {problem}", width, f"  {mark} ", "    ")]
    lines += ["", *_table(health.checks, ink)]
    return "\n".join(ink.page([*lines, "", *_compared(health, width)]).splitlines())


def _table(checks: Sequence[Check], ink: Ink) -> list[str]:
    rows: list[tuple[str, ...]] = [("row", "median", "limit", "/ accepted", "/ similar")]
    for c in checks:
        shown = [None if x is None else quantity(x, c.unit) for x in (c.value, c.limit)]
        shares = [None if x is None else ratio(x) for x in (c.of_accepted, c.of_similar)]
        rows.append((c.title, *(x or "-" for x in (*shown, *shares))))
    sizes = [max(len(row[k]) for row in rows) for k in range(5)]
    lines = [
        "  " + "  ".join([row[0].ljust(sizes[0]), *(x.rjust(n) for x, n in zip(row[1:], sizes[1:], strict=True))])
        for row in rows
    ]
    return [ink("dim", lines[0]), *lines[1:]]


def _compared(health: Health, width: int) -> list[str]:
    """Return what the rows were compared with, and what is missing for a comparison."""
    accepted = f"accepted run {health.accepted}" if health.accepted else "no accepted run (--accept sets it)"
    limits = count(health.limits, "limit") if health.limits else "no limits in the site file"
    similar = f"{count(health.similar, 'similar machine')} in the results folder"
    similar += "" if health.similar + 1 >= FEWEST else f", {FEWEST - 1} are required"
    lines = wrap(f"compared with: {limits}; {accepted}; {similar}", width, "  ", "    ")
    lines += wrap("ratios to the accepted run and to similar machines: higher is better for rates, lower for times",
                  width, "  ", "    ")  # fmt: skip
    return [*lines, f"  every figure: {command('report', health.run)}"]


def openmetrics(health: Health) -> str:
    """Return the check in the OpenMetrics text format, for the textfile collector of Prometheus.

    Source: OpenMetrics 1.0, https://github.com/OpenObservability/OpenMetrics.
    """
    machine = _label(health.machine)
    lines = [
        "# TYPE firstlight_health gauge",
        "# HELP firstlight_health Exit status of the last check: 0 healthy, 1 not healthy, 4 inconclusive.",
        f'firstlight_health{{machine="{machine}"}} {health.code}',
        "# TYPE firstlight_row gauge",
        "# HELP firstlight_row Median of a row of the last check, in the unit of the label.",
    ]
    measured = [c for c in health.checks if c.value is not None]
    for c in measured:
        lines.append(
            f'firstlight_row{{machine="{machine}",row="{_label(c.title)}",unit="{_label(c.unit)}"}} {c.value!r}'
        )
    lines += [
        "# TYPE firstlight_row_problem gauge",
        "# HELP firstlight_row_problem Whether a row of the last check is bad.",
    ]
    for c in health.checks:
        lines.append(f'firstlight_row_problem{{machine="{machine}",row="{_label(c.title)}"}} {int(c.grade == BAD)}')
    return "\n".join([*lines, "# EOF", ""])


def _label(text: str) -> str:
    return re.sub(r'[\\"\n]', lambda m: {"\n": "\\n"}.get(m[0], f"\\{m[0]}"), text)

"""`firstlight figures`: print the figures of a run as a table, as JSON or as CSV."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from firstlight.commands.shared import runs
from firstlight.commands.shared.output import as_json, echo_json, results_folder, tell
from firstlight.core.units import count, significant

if TYPE_CHECKING:
    from firstlight.report.export import Row

SECTION = "Read"


def schemas() -> dict[str, object]:
    """Return the types that this command prints as JSON, by the name of their schema."""
    from firstlight.report import export

    return {"figures": list[export.Row]}


@click.command(
    epilog="""\b
Examples:
  ./fl figures latest
  ./fl figures latest --csv

\b
Exit status:
  0    done
  2    wrong usage, or no such run
"""
)
@click.argument("run", default="latest")
@as_json
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV with one line per figure.")
@click.option("--failed", is_flag=True, help="Show only failed and unverified figures, with complete reasons.")
@click.option(
    "--launches", is_flag=True, help="Also print the value of every launch; the CSV then has one line per launch."
)
@results_folder
def command(run: str, as_json: bool, as_csv: bool, failed: bool, launches: bool, results: Path) -> None:
    """Print every figure with its interval, ceiling and verdict.

    RUN is a directory, the name of a run in the results folder, or `latest` (the default). firstlight computes the
    verdicts again from the launches. For runs of 1000 launches or more, it does so only if a file has changed. Only
    verified figures and figures from other tools have numbers.
    """
    from firstlight.report import export
    from firstlight.report.export import kept

    if as_json and as_csv:
        raise click.UsageError("choose one of --json and --csv")
    path = runs.find(run, results)
    before = None if launches else kept.key(path)
    known = kept.find(path, before)
    if known is not None and as_json and not failed:
        runs.passed_over(known.defects)
        echo_json(known.pretty())
        return
    if known is None:
        judgement, _, defects = runs.judged(path)
        name, whole = judgement.run.id, export.rows(judgement, launches)
        kept.keep(path, name, defects, whole, before)
    else:
        name, whole = known.run, known.table()
        runs.passed_over(known.defects)
    table = [row for row in whole if row.verdict not in ("verified", "untimed", "reported")] if failed else whole
    if as_json:
        echo_json(export.to_json(table))
    elif as_csv:
        click.echo(export.to_csv(table), nl=False)
    else:
        for row in table:
            tell(line(row))
            if row.values:
                tell("  " + ", ".join(significant(value) for value in row.values))
        tell(f"{_counted(whole, failed)} of {name}")


def _counted(whole: list[Row], failed: bool) -> str:
    """Return `354 verified of 364 figures`; with --failed, `10 failed, none unverified, of 364 figures`."""
    numbers = Counter(row.verdict for row in whole)
    if not failed:
        good = f"{numbers['untimed']} verified, not timed," if numbers["untimed"] else f"{numbers['verified']} verified"
        good += f", {numbers['reported']} reported by other tools" if numbers["reported"] else ""
        return f"{good} of {count(len(whole), 'figure')}"
    parts = (f"{numbers[verdict] or 'none'} {verdict}" for verdict in ("failed", "unverified"))
    return f"{', '.join(parts)}, of {count(len(whole), 'figure')}"


def line(row: Row) -> str:
    """Return a figure as one line, with its full reason if it has no number."""
    from firstlight.analysis.formatting import values, where
    from firstlight.analysis.states import describe_states

    tools = row.toolchain + (f" {row.mpi}" if row.mpi else "")
    what = ", ".join(x for x in (values(sorted(row.parameters.items())), where(row.placement)) if x)
    head = f"{row.workload}.{row.variant} {row.metric} ({tools}) {what}".rstrip()
    if row.median is None:
        return f"{head}: {row.verdict}: {row.reason}"
    interval = "too few" if row.low is None or row.high is None else f"{significant(row.low)} - {significant(row.high)}"
    share = "" if row.of_ceiling is None else f", {100 * row.of_ceiling:.0f} % of ceiling"
    note = f" ({row.reason})" if row.reason else ""
    note = f"; bimodal: {describe_states(row.states, row.unit)}{note}" if row.states else note
    return f"{head}: {significant(row.median)} {row.unit} [{interval}], {row.launches} launches{share}{note}"

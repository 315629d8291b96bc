"""`firstlight compare`: show what changed between two runs, or any number of machines side by side."""

from __future__ import annotations

from pathlib import Path

import click

from firstlight import __version__
from firstlight.commands.shared import runs
from firstlight.commands.shared.output import (
    as_json,
    colour,
    output_file,
    print_json,
    results_folder,
    smallest,
    tell,
    width,
)
from firstlight.core.errors import UsageError

SECTION = "Read"


def schemas() -> dict[str, object]:
    """Return the types that this command prints as JSON, by the name of their schema."""
    from firstlight.commands.compare.machines import Beside
    from firstlight.report.export.comparison import ComparedRuns

    return {"compare": ComparedRuns, "compare-many": Beside}


@click.command(
    epilog="""\b
Examples:
  ./fl compare 20261101-020000-quick latest
  ./fl compare results/node07 results/node08 results/node09 --output machines.html

\b
Exit status:
  0    two runs: every figure is the same or better; more runs: always
  1    two runs: a figure is worse, or was verified in A and failed in B
  2    wrong usage
  4    some differences are uncertain, or a run was disturbed
"""
)
@click.argument("names", nargs=-1, required=True, metavar="A B [C]...")
@as_json
@click.option("--all", "everything", is_flag=True, help="Also list unchanged figures.")
@click.option("--side-by-side", "as_machines", is_flag=True, help="Also show the machines of two runs side by side.")
@output_file("Write the side-by-side page of machines to FILE.")
@smallest
@results_folder
def command(
    names: tuple[str, ...],
    as_json: bool,
    everything: bool,
    as_machines: bool,
    output: Path | None,
    threshold: float,
    results: Path,
) -> int:
    """Compare two runs, or several machines.

    firstlight compares two runs figure by figure and lists the differences between their environments. It shows more
    than two runs side by side.

    A, B, ... are directories, names of runs in the results folder, or `latest`. For two runs, the exit status shows
    whether B is worse. A run is disturbed if wall and CPU time diverged in a fifth of its samples; no figure is then
    reported as worse. For more runs, each row of the report has one line. It shows each run's share of the best median,
    and published figures of earlier machines.
    """
    if len(names) < 2:
        raise UsageError(f"{names[0]} is the only run; name at least two runs to compare")
    if len(names) > 2 or as_machines:
        return _machines(names, as_json, output, threshold, results)
    if output is not None:
        raise UsageError("--output writes a page of machines; add --side-by-side, or use `./fl report B --against A`")
    from firstlight.analysis.compare import compare
    from firstlight.report.comparison import comparison as page
    from firstlight.report.export.comparison import compared

    before, after = (runs.judged(runs.find(name, results))[0] for name in names)
    comparison = compare(before, after, threshold=threshold)
    if as_json:
        print_json(compared(comparison))
    else:
        tell(page(comparison, width(200), colour(), most=10_000, everything=everything))
    return comparison.code


def _machines(names: tuple[str, ...], as_json: bool, output: Path | None, threshold: float, results: Path) -> int:
    from firstlight.commands.compare import machines as page
    from firstlight.core import heritage

    judged = [runs.judged(runs.find(name, results))[:2] for name in names]
    found = page.beside(judged, heritage.load(), threshold)
    if output is not None:
        page.write(found, __version__, output)
    if as_json:
        print_json(found)
    else:
        tell(page.summary(found, width(200), colour(), output))
    return found.code

"""`firstlight compare`: what changed between two runs."""

from __future__ import annotations

from pathlib import Path

import click

from firstlight.cli import runs
from firstlight.cli.output import as_json, colour, print_json, results_folder, tell, width


@click.command()
@click.argument("a")
@click.argument("b")
@as_json
@click.option("--all", "everything", is_flag=True, help="List the figures that are the same as well.")
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1, max_open=True),
    default=0.05,
    show_default=True,
    help="The smallest difference that matters, as a share.",
)
@results_folder
def command(a: str, b: str, as_json: bool, everything: bool, threshold: float, results: Path) -> int:
    """Run B against run A, figure by figure, and what differs in their environments.

    A and B are directories, names of runs in the results folder, or `latest`. The exit status is 0 if every figure is
    the same or better, 1 if one is worse or failed, 4 if some could not be told, or if some differ and a run was
    disturbed: wall and CPU time diverged in a fifth of its samples.
    """
    from firstlight.export.comparison import compared
    from firstlight.judge.compare import compare
    from firstlight.report.comparison import comparison as page

    before, after = (runs.judged(runs.find(name, results))[0] for name in (a, b))
    comparison = compare(before, after, threshold=threshold)
    if as_json:
        print_json(compared(comparison))
    else:
        tell(page(comparison, width(200), colour(), most=10_000, everything=everything))
    return comparison.code

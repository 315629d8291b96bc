"""`firstlight compare`: what changed between two runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from firstlight.cli import runs
from firstlight.cli.output import as_json, print_json, results_folder

if TYPE_CHECKING:
    from firstlight.judge.compare import Compared, Comparison


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
    the same or better, 1 if one is worse or failed, 4 if some could not be told.
    """
    from firstlight.judge.compare import compare

    before, after = (runs.judged(runs.find(name, results))[0] for name in (a, b))
    comparison = compare(before, after, threshold=threshold)
    if as_json:
        print_json(comparison)
    else:
        for line in page(comparison, everything):
            click.echo(line)
    return comparison.code


def page(comparison: Comparison, everything: bool) -> list[str]:
    """The comparison as lines: worse first, then better, changed verdicts, environments, counts."""
    from firstlight.judge import compare, words

    lines = [f"A  {comparison.a}", f"B  {comparison.b}", ""]
    for outcome in (compare.WORSE, compare.BETTER, compare.UNCLEAR, *([compare.SAME] if everything else [])):
        lines += [_line(figure) for figure in comparison.figures if figure.outcome == outcome]
    lines += [
        f"{'verdict':<13} {words.name(c.identity)}: {c.before} in A, {c.after} in B: {c.reason}"
        for c in comparison.changed
    ]
    only = [("A", comparison.only_a), ("B", comparison.only_b)]
    lines += [f"only in {run}: {len(figures)} figures" for run, figures in only if figures]
    lines += ["", "environments:", *(f"  {line}" for line in comparison.environment or ("no difference",)), ""]
    counts = ", ".join(f"{count} {outcome}" for outcome, count in comparison.counts.items())
    return [*lines, f"{counts} (different: more than {100 * comparison.threshold:g} %, interval excludes 1)"]


def _line(figure: Compared) -> str:
    from firstlight.judge.words import digits, name

    interval = "" if figure.low is None or figure.high is None else f" [{digits(figure.low)} - {digits(figure.high)}]"
    reason = f"; {figure.reason}" if figure.reason else ""
    medians = f"{digits(figure.a.median)} -> {digits(figure.b.median)} {figure.unit}"
    return f"{figure.outcome:<13} {name(figure.identity)}: {medians}, x {digits(figure.ratio)}{interval}{reason}"

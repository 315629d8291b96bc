"""`firstlight health`: measure this node for a minute, and report whether it is as fast as it should be."""

from __future__ import annotations

from pathlib import Path

import click

from firstlight.commands.shared import runs
from firstlight.commands.shared.output import (
    as_json,
    colour,
    new_run_folder,
    note,
    print_json,
    quiet,
    remark,
    smallest,
    tell,
    to_write,
    verbose,
    width,
)
from firstlight.core.errors import UsageError

SECTION = "Trust"


def schemas() -> dict[str, object]:
    """Return the types that this command prints as JSON, by the name of their schema."""
    from firstlight.commands.health.page import Health

    return {"health": Health}


@click.command(
    epilog="""\b
Examples:
  ./fl health
  ./fl health --accept
  ./fl health --run latest --json

\b
Exit status:
  0    healthy: no row is bad or unclear
  1    not healthy: a row is bad, or failed verification
  2    wrong usage
  3    no program could be built, or this system cannot run the command
  4    inconclusive: other programs used the processors, a row is unclear, or no
       limit and no run was available for comparison
  130  interrupted
"""
)
@click.argument("workload", nargs=-1, metavar="[WORKLOAD]...")
@click.option(
    "--budget", default="50s", show_default=True, metavar="TIME", help="The time for launches, without builds."
)
@click.option(
    "--toolchain",
    metavar="PATTERN",
    help="Measure with the toolchains that match (default: the first compiler's native flags).",
)
@click.option("--run", "run", metavar="RUN", help="Check an existing run instead of measuring.")
@click.option(
    "--accept", is_flag=True, help="Accept this run as the reference for its machine if no row is bad or unclear."
)
@click.option(
    "--openmetrics",
    type=click.Path(path_type=Path, dir_okay=False),
    callback=to_write,
    metavar="FILE",
    help="Write the result to FILE for Prometheus; its textfile collector requires a name that ends in .prom.",
)
@smallest
@quiet
@verbose("Show every command that is launched.")
@as_json
@new_run_folder
def command(
    workload: tuple[str, ...],
    budget: str,
    toolchain: str | None,
    run: str | None,
    accept: bool,
    openmetrics: Path | None,
    threshold: float,
    as_json: bool,
    results: Path,
) -> int:
    """Check whether this node is as fast as expected.

    firstlight runs the node chapter, or WORKLOAD, with one toolchain. It compares every row with the limit in the
    site
    file, with the accepted run of this machine, and with the newest runs of similar machines in the results folder.

    A row is bad if it misses its limit, is worse than in the accepted run, or is significantly slower than on similar
    machines. If a row is bad or unclear after 60 % of the budget, firstlight repeats the measurement in the remaining
    time.
    """
    from firstlight.commands.health import checking
    from firstlight.commands.health.page import openmetrics as metrics
    from firstlight.commands.health.page import summary
    from firstlight.core.units import parse_duration

    seconds = parse_duration(budget, "budget")
    if run is not None and workload:
        raise UsageError("--run checks the rows of that run: leave out the workloads")
    if run is not None:
        path = runs.find(run, results)
        health = checking.check(path, results, threshold)
    else:
        path, health = checking.measure(workload, seconds, toolchain, results, threshold)
    if openmetrics is not None:
        openmetrics.write_text(metrics(health), encoding="utf-8")
    if as_json:
        print_json(health)
    else:
        tell(summary(health, width(), colour()))
    if accept and health.sound:
        run_id = runs.accept(path, results).id
        remark(f"{run_id} is accepted: later checks of this machine compare with this run")
    elif accept:
        note("not accepted: a row is bad or unclear, or the machine was disturbed")
    return health.code

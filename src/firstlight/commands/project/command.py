"""`firstlight project`: predict the performance of N nodes from one run, and the error of such projections."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from firstlight.commands.shared.output import (
    FiniteRange,
    as_json,
    output_file,
    print_json,
    results_folder,
    tell,
    width,
)
from firstlight.core.errors import INCONCLUSIVE, OK, UsageError

SECTION = "Predict"


def schemas() -> dict[str, object]:
    """Return the types that this command prints as JSON, by the name of their schema."""
    from firstlight.commands.project.answer import Projected

    return {"project": Projected}


@click.command(
    epilog="""\b
Examples:
  ./fl project --nodes 64 --network edr100
  ./fl project --topology torus:4x4x4 --network tofu --watts 350W --power 40kW
  ./fl project --nodes 64 --network hdr200 --class light --year 2018 --power 20MW
  ./fl project --nodes 1024 --network hdr200 --mtbf 43800 --checkpoint 300

\b
Classes: light (Blue Gene/L), heavy (Red Storm), aggressive (designed for an exaflop)
and k (the K computer, by its data sheet) are described in machines/, each number with a
source; FILE.toml is your own class. Topologies are those of ./fl simulate.

\b
Exit status:
  0    projected
  2    wrong usage, or the run lacks data that a projection requires; the message names the command that measures it
  3    firstlight-simulate cannot be built
  4    no application could be projected; the page shows the reason
"""
)
@click.argument("run_name", required=False, default="latest", metavar="[RUN]")
@click.option(
    "--nodes",
    type=click.IntRange(1, 1 << 24),
    metavar="N",
    help="The number of nodes (default: those of --topology).",
)
@click.option("--topology", default="", metavar="SPEC", help="The network, such as torus:8x8x8 (default: flat:N).")
@click.option("--network", default="", metavar="NAME|PARAMETERS",
              help="The message model: a network (see ./fl simulate networks), parameters, or `fitted` (the default), "
              "which fits the run's ping-pong.")  # fmt: skip
@click.option("--mpi", metavar="NAME", help="The MPI library whose ping-pong to use, if the run has several.")
@click.option(
    "--class",
    "node_class",
    default="",
    metavar="NAME|FILE",
    help="Project to nodes of this class instead of the run's.",
)
@click.option(
    "--year",
    type=click.IntRange(1990, 2100),
    metavar="Y",
    help="Scale the class of nodes to the technology of this year.",
)
@click.option("--power", default="", metavar="WATTS", help="The power limit of all nodes, such as 20MW.")
@click.option("--watts", default="", metavar="WATTS", help="The power of one node, such as 350W.")
@click.option("--only", default="", metavar="WORKLOADS", help="Project only these workloads, comma separated.")
@click.option("--simulate", "simulated", type=click.IntRange(4, 1 << 20), default=256, show_default=True, metavar="N",
              help="The largest network to simulate; times on larger networks are extrapolated.")  # fmt: skip
@click.option(
    "--mtbf",
    type=FiniteRange(1e-3, 1e9),
    metavar="HOURS",
    help="The mean time between failures of a node; adds the best intervals between checkpoints.",
)
@click.option(
    "--checkpoint",
    type=FiniteRange(1e-6, 1e7),
    metavar="SECONDS",
    help="The time of a checkpoint of all nodes (default: as measured in the run).",
)
@output_file("Also write a page to FILE.")
@results_folder
@as_json
def command(
    run_name: str,
    nodes: int | None,
    topology: str,
    network: str,
    mpi: str | None,
    node_class: str,
    year: int | None,
    power: str,
    watts: str,
    only: str,
    simulated: int,
    mtbf: float | None,
    checkpoint: float | None,
    output: Path | None,
    results: Path,
    as_json: bool,
) -> int:
    """Project the applications of a run to more nodes.

    The projection covers strong and weak scaling, the share of communication, and power.

    The page first shows the error of the same method within the run: projections from one process to several, and from
    smaller sizes to the largest.
    """
    from firstlight.commands.project import page as projection
    from firstlight.commands.project import projector
    from firstlight.commands.shared import runs
    from firstlight.core.formulas import FormulaError

    order = projector.ProjectionRequest(
        nodes=nodes,
        topology=topology,
        node_class=node_class,
        year=year,
        power=power,
        watts=watts,
        machine=network,
        mpi=mpi,
        simulated=simulated,
        mtbf=None if mtbf is None else 3600 * mtbf,
        checkpoint=checkpoint,
        only=tuple(dict.fromkeys(w.strip() for w in only.split(",") if w.strip())),
    )
    judgement, workloads, _ = runs.judged(runs.find(run_name, results))
    try:
        found = projector.project(judgement, workloads, order, _progress)
    except FormulaError as error:
        raise UsageError(
            f"run {judgement.run.id} cannot be projected: {error}; a parameter of this run is too large or missing, "
            f"so project another run"
        ) from error
    _progress("")
    if output is not None:
        projection.write(found, output)
    if as_json:
        print_json(found)
    else:
        tell(projection.summary(found, output, width()))
    return OK if any(a.weak for a in found.applications) else INCONCLUSIVE


def _progress(line: str) -> None:
    """Overwrite one line with the progress, only on a terminal."""
    if sys.stderr.isatty():
        click.echo(f"\r{line:<60}\r", err=True, nl=False)

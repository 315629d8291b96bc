"""Options that several subcommands of `simulate` have, and the parts of their help that are the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

import click

from firstlight.commands.shared.output import as_json, output_file, results_folder

if TYPE_CHECKING:
    from firstlight.execute.network.program import Evaluator

_Command = TypeVar("_Command", bound=Callable[..., Any])

EXIT = """
\b
Exit status:
  0    predicted
  1    a schedule is wrong or deadlocks: the checker shows why
  2    wrong usage
  3    firstlight-simulate cannot be built
  4    no prediction: every algorithm refused the problem
"""
TOPOLOGIES = f"""
\b
Topologies: tofu:24x18x16 (the K computer's six axes; each has 2x3x2 nodes inside),
torus:8x8x8, mesh:16x16, fattree:..., dragonfly:..., hypercube:10, and flat:1024
(no links; all ranks are equally far apart).
{EXIT}"""


class Shared(TypedDict):
    """The values of `predicting`."""

    topology: str | None
    scale: str | None
    algorithm: str
    network: str
    run_name: str
    mpi: str | None
    noise: str
    evaluator: Evaluator
    output: Path | None
    results: Path
    as_json: bool


page = output_file("Also write a page to FILE.")
mpi = click.option("--mpi", metavar="NAME", help="The MPI library whose ping-pong to use, if the run has several.")
goal = click.option(
    "--goal",
    is_flag=True,
    help="Make no prediction, but print the schedule in the GOAL language, or write it to --output.",
)


def predicting(algorithms: str, runs: str = "The run that `fitted` uses.") -> Callable[[_Command], _Command]:
    """Return the options of every prediction; `algorithms` and `runs`: the help of --algorithm and --run."""
    options = (
        click.option("--topology", metavar="SPEC", help="The network, such as tofu:24x18x16; see below."),
        click.option(
            "--scale",
            metavar="SHAPES",
            help="Also predict for these shapes of the same kind: 4x4x4,8x8x8 or 64..65536 (for flat).",
        ),
        click.option("--algorithm", default="all", metavar="NAMES", help=algorithms),
        click.option(
            "--network",
            default="",
            metavar="NAME|PARAMETERS",
            help="A real network by its name (./fl simulate networks lists them), parameters as key=value,... (L, o, "
            "g, hop, overhead in ns; G, O in ns/B; S in B; bandwidth in B/s), or `fitted`, which fits the ping-pong "
            "of a run (see --run, --mpi).",
        ),
        click.option("--run", "run_name", default="latest", show_default=True, metavar="RUN", help=runs),
        mpi,
        click.option(
            "--noise",
            default="",
            metavar="PARAMETERS",
            help="The OS noise to simulate, such as period_us=1000,duration_us=100,phase=independent.",
        ),
        click.option(
            "--evaluator",
            type=click.Choice(["auto", "maxplus", "rounds", "events"]),
            default="auto",
            show_default=True,
            help="The evaluation method; auto: the method that the checker's verdict permits.",
        ),
        page,
        results_folder,
        as_json,
    )

    def decorate(command: _Command) -> _Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate

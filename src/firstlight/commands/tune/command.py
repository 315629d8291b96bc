"""`firstlight tune`: make the collectives of a library, or a loop, faster, and prove it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from firstlight.commands.shared.groups import Group
from firstlight.commands.shared.output import (
    as_json,
    output_folder,
    print_json,
    quiet,
    results_folder,
    tell,
    verbose,
    width,
)
from firstlight.core.confidence import LAUNCHES
from firstlight.core.errors import INCONCLUSIVE, INTERRUPTED, OK, UsageError

if TYPE_CHECKING:
    from firstlight.commands.tune.planning import Target

SIZES = "8,64,512,4KiB,32KiB,256KiB,1MiB"

SECTION = "Improve"
EXIT = """
\b
Exit status:
  0    files are written, or no candidate is better than the current choice
  2    wrong usage
  3    no program could be built, or this system cannot run the command
  4    candidates exist, but the budget was too short to decide about any of them
  130  interrupted
"""


def schemas() -> dict[str, object]:
    """Return the types that this command prints as JSON, by the name of their schema."""
    from firstlight.commands.tune.tuner import Tuned

    return {"tune": Tuned}


@click.group(
    cls=Group,
    epilog=f"""\b
Examples:
  ./fl tune collectives --collective allreduce --budget 5m
  ./fl tune loop examples/tune/loops.c --loop dot
{EXIT}""",
)
def command() -> None:
    """Make collectives of MPI libraries or loops in C faster."""


@command.command(
    epilog=f"""\b
Example:
  ./fl tune collectives --collective allreduce --budget 5m
{EXIT}"""
)
@click.option(
    "--collective",
    "names",
    multiple=True,
    metavar="NAME",
    help="Tune only this collective, such as bcast; repeatable. Default: broadcast, allreduce, allgather and alltoall.",
)
@click.option(
    "--bytes",
    "sizes",
    default=SIZES,
    show_default=True,
    metavar="SIZES",
    help="The message sizes to tune, or a range such as 8..1MiB.",
)
@click.option(
    "--for",
    "targets",
    multiple=True,
    type=click.Choice(["rules", "preload"]),
    help="What to write: rules, the file that the library reads, or preload, the table of libfirstlight_coll.so "
    "(default: both).",
)
@click.option(
    "--budget", default="10m", show_default=True, metavar="TIME", help="The time for launches, such as 150s, 10m or 2h."
)
@click.option("--mpi", multiple=True, metavar="PATTERN", help="Use only MPI libraries that match; repeatable.")
@click.option("--toolchain", multiple=True, metavar="PATTERN", help="Use only toolchains like gcc-native; repeatable.")
@click.option(
    "--placement",
    multiple=True,
    metavar="NxRxT",
    help="N nodes, R ranks per node, T threads per rank, such as 1x4x1 or allxallx1; repeatable (default: 1xallx1).",
)
@click.option(
    "--launches",
    type=click.IntRange(2, 100),
    default=LAUNCHES,
    show_default=True,
    help="The minimum number of launches of each setting.",
)
@click.option(
    "--trials",
    type=click.IntRange(LAUNCHES, 1000),
    default=12,
    show_default=True,
    help="The number of launches of each side of a trial.",
)
@click.option(
    "--run",
    "measured",
    metavar="RUN",
    help="Reuse the first measurement of an earlier tuning, so that the whole budget is available for the trial.",
)
@output_folder("Write the files to DIR (default: a new folder in `tuned`, next to the runs).")
@results_folder
@quiet
@verbose("Show every command that is launched.")
@as_json
def collectives(
    names: tuple[str, ...],
    sizes: str,
    targets: tuple[Target, ...],
    budget: str,
    mpi: tuple[str, ...],
    toolchain: tuple[str, ...],
    placement: tuple[str, ...],
    launches: int,
    trials: int,
    measured: str | None,
    output: Path | None,
    results: Path,
    as_json: bool,
) -> int:
    """Find faster algorithms for collectives of MPI libraries.

    firstlight first measures, interleaved, each library's algorithms, its own algorithms, and the library's default
    choice. If an algorithm is faster by more than 5 %, firstlight writes it to the files that the library reads. A
    trial then compares the library with and without these files, in alternate launches. Only algorithms that are
    faster in the trial are kept. The page lists the others with the reason.
    """
    from firstlight.commands.shared import runs
    from firstlight.commands.tune import terminal
    from firstlight.commands.tune.tuner import TuningRequest, tune
    from firstlight.core.naming import collective
    from firstlight.core.units import parse_duration, parse_sizes
    from firstlight.runner.interrupt import interruptible
    from firstlight.runner.progress import display

    wanted = parse_sizes(sizes)
    if odd := [s for s in wanted if s % 8]:
        raise UsageError(f"sizes must be multiples of 8 bytes; {odd[0]} is not")
    request = TuningRequest(
        collectives=tuple(dict.fromkeys(map(collective, names))) or ("broadcast", "allreduce", "allgather", "alltoall"),
        sizes=tuple(wanted),
        targets=targets or ("rules", "preload"),
        budget=parse_duration(budget, "budget"),
        mpis=mpi or ("*",),
        placements=placement or ("1xallx1",),
        toolchains=toolchain or ("*",),
        results=results,
        output=output,
        launches=launches,
        trials=trials,
        measured=None if measured is None else runs.find(measured, results),
    )
    with interruptible(), display() as progress:
        tuned = tune(request, progress)
    if as_json:
        print_json(tuned)
    else:
        tell(terminal.summary(tuned, width()))
    if tuned.interrupted:
        return INTERRUPTED
    unclear = bool(tuned.choices) and all(c.unclear for c in tuned.choices)
    return INCONCLUSIVE if unclear else OK

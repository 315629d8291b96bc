"""`firstlight setup`: prepare all that a run needs, on a login node."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from firstlight.commands.run import OneSuite
from firstlight.commands.shared.output import as_json, print_json, quiet, tell
from firstlight.core.errors import OK
from firstlight.core.units import count

if TYPE_CHECKING:
    from firstlight.runner import RunRequest

SECTION = "Measure"


class SetUp(msgspec.Struct, frozen=True):
    """The result of a setup: built programs, programs that do not build, and the toolchains."""

    cache: str
    offline: bool
    toolchains: tuple[str, ...]
    mpis: tuple[str, ...]
    programs: int
    failed: tuple[str, ...]


def schemas() -> dict[str, object]:
    """Return the types that this command prints as JSON, by the name of their schema."""
    return {"setup": SetUp}


@click.command(
    cls=OneSuite,
    epilog="""\b
Examples:
  ./fl setup
  ./fl setup dot network --toolchain 'gcc-*'
  ./fl setup --make-wheelhouse wheels
  ./fl setup --offline --wheelhouse wheels

\b
Exit status:
  0    ready: all programs that this machine supports are built
  2    wrong usage
  3    no program could be built, or packages could not be installed
""",
)
@click.argument("workload", nargs=-1, metavar="[WORKLOAD]...")
@click.option("--quick", "suite", flag_value="quick", help="Build the programs of the quick suite.")
@click.option(
    "--standard",
    "suite",
    flag_value="standard",
    default="standard",
    help="Build the programs of the standard suite (the default).",
)
@click.option("--full", "suite", flag_value="full", help="Build the programs of the full suite.")
@click.option(
    "--toolchain", multiple=True, metavar="PATTERN", help="Use only toolchains like gcc-fast; prefix ! to exclude."
)
@click.option("--mpi", multiple=True, metavar="PATTERN", help="Use only MPI libraries that match; repeatable.")
@click.option("--offline", is_flag=True, help="Do not use a package index, now or in any later command.")
@click.option(
    "--wheelhouse",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    metavar="DIR",
    help="Install packages from this folder; with --offline, only from this folder.",
)
@click.option(
    "--make-wheelhouse",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Only collect the wheels of all packages in this folder, for a machine without a network.",
)
@quiet
@as_json
def command(
    workload: tuple[str, ...],
    suite: str,
    toolchain: tuple[str, ...],
    mpi: tuple[str, ...],
    offline: bool,
    wheelhouse: Path | None,
    make_wheelhouse: Path | None,
    as_json: bool,
) -> int:
    """Prepare everything that a run needs.

    Setup installs the required Python packages, installs MPI libraries if the system has none, and builds the programs.

    Later runs, also on nodes without a network, use the cache. Without a WORKLOAD, setup builds the programs of all
    workloads. After ./fl setup --offline, no command installs anything until the next ./fl setup without this option.

    Make a wheelhouse on a machine with a network and with the same processor architecture and C library. Copy it to the
    other machine, and use it there with --offline --wheelhouse DIR. --mpi selects the MPI libraries that it contains.
    """
    from firstlight import runner
    from firstlight.system import packages

    if make_wheelhouse is not None:
        return _collect(make_wheelhouse, mpi or ("*",))
    if wheelhouse is not None:
        os.environ[packages.WHEELHOUSE] = str(wheelhouse.resolve())
    order = runner.RunRequest(workload, suite, toolchains=toolchain or ("*",), mpis=mpi or ("*",))
    offline = offline or bool(os.environ.get(packages.OFFLINE))
    ready = _prepare(order, offline)
    if as_json:
        print_json(ready)
    else:
        tell(_summary(ready))
    return OK


def _collect(folder: Path, mpis: tuple[str, ...]) -> int:
    from firstlight.model.plan.selectors import matches
    from firstlight.system import packages
    from firstlight.system.mpi_families import every

    names = packages.collect(folder, [f.name for f in every() if f.embedded and matches(f.name, mpis)])
    tell(f"{count(len(names), 'wheel')} in {folder}; on the other machine: ./fl setup --offline --wheelhouse {folder}")
    return OK


def _prepare(order: RunRequest, offline: bool) -> SetUp:
    from firstlight import runner
    from firstlight.runner.interrupt import leaving_nothing
    from firstlight.runner.progress import display
    from firstlight.system import packages
    from firstlight.system.machine import cache_directory

    cache = cache_directory()
    cache.mkdir(parents=True, exist_ok=True)
    packages.keep(cache, offline)
    with leaving_nothing(), display() as progress:
        prepared = runner.prepare(order, progress)
        made = runner.make(prepared.plan.programs, prepared.toolbox, prepared.workloads, progress)
    used = [build.program for build in made.builds if build.ok]
    return SetUp(
        str(cache),
        offline,
        tuple(sorted({program.toolchain for program in used})),
        tuple(sorted({program.mpi for program in used if program.mpi})),
        len(used),
        tuple(build.program.key for build in made.builds if not build.ok),
    )


def _summary(ready: SetUp) -> str:
    with_mpi = f" and {', '.join(ready.mpis)}" if ready.mpis else ""
    lines = [f"{count(ready.programs, 'program')} ready in {ready.cache}, by {', '.join(ready.toolchains)}{with_mpi}"]
    lines += [f"{count(len(ready.failed), 'program')} do not build; ./fl run shows the reasons"] if ready.failed else []
    lines += (
        ["offline: no later command installs anything; ./fl setup without --offline ends this mode"]
        if ready.offline
        else []
    )
    return "\n".join([*lines, "next: ./fl run"])

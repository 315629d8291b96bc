"""`firstlight profile`: record who communicates with whom in any MPI program."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from firstlight.commands.shared.output import note, print_json, results_folder, tell, width
from firstlight.core.errors import ENVIRONMENT, FirstlightError, UsageError
from firstlight.results.traffic import PROFILE

if TYPE_CHECKING:
    from firstlight.results.traffic import Cost

SECTION = "Improve"
DOCUMENT = PROFILE
"""`./fl report` recognises a folder of this command by this file, and calls `report` to write its page again."""


def schemas() -> dict[str, object]:
    """Return the types that this command prints as JSON, by the name of their schema."""
    from firstlight.results.traffic import Traffic

    return {"profile": Traffic}


@click.command(
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    epilog="""\b
Example:
  ./fl profile -- mpiexec -n 2 ./app

\b
Exit status: that of COMMAND, or
  2    wrong usage
  3    COMMAND succeeded, but no traffic was recorded; or this system cannot record it
""",
)
@click.argument("words", metavar="-- COMMAND...", nargs=-1, type=click.UNPROCESSED)
@click.option("--mpi", metavar="NAME", help="The MPI library of the program, if firstlight does not recognise it.")
@click.option("--json", "as_json", is_flag=True, help="Print the profile as JSON; COMMAND's own output goes to stderr.")
@results_folder
def command(words: tuple[str, ...], mpi: str | None, as_json: bool, results: Path) -> int:
    """Record the messages between the ranks of an MPI program.

    COMMAND is the program with its launcher, such as `mpiexec -n 8 ./a.out`.

    firstlight writes the profile to a new folder in the results folder: profile.json, report.html and the records of
    the ranks. The summary goes to stderr. The output, the signals and the exit status of COMMAND are unchanged.

    MPI_Pcontrol sets phases: level 0 stops recording, and any other level starts the phase with that number. A program
    starts in phase 1.
    """
    from firstlight import __version__, toolchain
    from firstlight.commands import profile
    from firstlight.commands.profile import collect, page
    from firstlight.execute.recorder import library, recording
    from firstlight.results import store
    from firstlight.results.store.durable import replace
    from firstlight.results.traffic import Traffic
    from firstlight.system import machine
    from firstlight.toolchain import used_mpi

    if not words:
        raise UsageError("no command to profile: write ./fl profile -- mpiexec -n 4 ./program")
    cache = machine.cache_directory()
    toolbox = toolchain.discover(machine.discover(), cache, embed_mpi=False)
    used = used_mpi.mpi_of(words, toolbox.mpis, mpi)
    cxx = toolbox.toolchains[0].cxx if toolbox.toolchains else None
    preload = library.build(used, cxx, cache)
    folder = store.new_folder(results, time.time(), "profile")
    (folder / profile.RANKS).mkdir()
    status = recording.run(words, used, preload, folder / profile.RANKS, to_stderr=as_json)
    ended = status if status >= 0 else 128 - status
    try:
        found = collect.collect(folder / profile.RANKS)
    except FirstlightError as error:
        refused = folder / profile.RANKS / profile.REFUSED
        if was_refused := refused.exists():
            refused.unlink()
        if isinstance(error, collect.NothingRecordedError):
            (folder / profile.RANKS).rmdir()
            folder.rmdir()
        note(str(error))
        return ENVIRONMENT if was_refused else ended or ENVIRONMENT
    fields = found.fields()
    if used.version not in found.mpi:
        fields["notes"] += (
            f"the profiler was built for {used.label}, the program ran with {found.mpi}: calls that exist only in the "
            f"latter are not counted",
        )
    traffic = Traffic(folder.name, __version__, words, status, **fields, cost=_cost(results, used.name))
    replace(folder / PROFILE, msgspec_bytes(traffic))
    page.write(traffic, folder / "report.html")
    if as_json:
        print_json(traffic)
    sys.stdout.flush()
    tell(page.summary(traffic, folder / "report.html", width()), err=True)
    return ended


def report(folder: Path, output: Path | None, as_json: bool) -> None:
    """Write the page of a profile again, to `output` or into its folder, and print the summary."""
    from firstlight.commands.profile import collect, page
    from firstlight.results.store import layout

    traffic = collect.load(folder / PROFILE)
    place = output or folder / layout.REPORT
    if output is None and not os.access(folder, os.W_OK):
        note(f"{folder}: cannot be written, so its page is unchanged")
    else:
        page.write(traffic, place)
    if as_json:
        print_json(traffic)
    else:
        tell(page.summary(traffic, place, width()))


def _cost(results: Path, mpi: str) -> Cost | None:
    """Return the message times of this MPI library from the newest run here; None if it did not measure them."""
    from firstlight.analysis import loggops
    from firstlight.commands.shared import runs
    from firstlight.results.traffic import Cost

    try:
        judgement, workloads, _ = runs.judged(runs.find("latest", results))
        found = loggops.fitted(judgement, workloads, mpi)[0]
    except FirstlightError:
        return None
    short = found.L + 2 * found.o
    curve = ((0, short), *((r.bytes, short + (r.bytes - 1) * r.G) for r in found.rates))
    return Cost(f"from the ping-pong of run {found.run}", found.nodes, curve)


def msgspec_bytes(value: object) -> bytes:
    import msgspec

    return msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n"

"""`firstlight bench`: measure your own programs."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from firstlight.commands.shared import runs
from firstlight.commands.shared.output import (
    FiniteRange,
    as_json,
    new_run_folder,
    note,
    print_json,
    quiet,
    smallest,
    tell,
    verbose,
)
from firstlight.core import caller, shell
from firstlight.core.confidence import LAUNCHES
from firstlight.core.errors import UsageError

if TYPE_CHECKING:
    from firstlight.commands.bench.request import BenchRequest
    from firstlight.runner import Result

SECTION = "Measure"


def schemas() -> dict[str, object]:
    """Return the types that this command prints as JSON, by the name of their schema."""
    from firstlight.commands.bench.revisions import Search

    return {"bench-revisions": Search}


ONCE = {
    "check": "join checks with &&",
    "expect": "use --check COMMAND for further checks",
    "like": "use --check COMMAND for further checks",
    "tolerance": "one tolerance applies to all numbers",
    "prepare": "join preparations with &&",
    "limit": "one limit applies to all commands",
    "revisions": "a search covers one range",
}
"""Options of which click alone would drop all but the last one, with what to write instead."""


class Once(click.Command):
    """Reject a check that is given twice: click alone would use the last one."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        _, _, given = self.make_parser(ctx).parse_args(list(args))
        twice = next((p for k, p in enumerate(given) if p.name in ONCE and p in given[:k]), None)
        if twice is not None:
            raise click.UsageError(f"{twice.opts[0]} occurs twice; {ONCE[twice.name or '']}", ctx)
        return super().parse_args(ctx, args)


@click.command(
    cls=Once,
    epilog="""\b
Examples:
  ./fl bench -- sort --version -- ls --version
  ./fl bench --expect 500 --sweep n=500,1000 --budget 20s -- seq {n} -- 'seq 1 {n}'
  ./fl bench --revisions v1.2..HEAD --build 'make -j2' --limit 2% -- ./solver small.in

\b
Exit status:
  0    success: every command passed your checks and met the --limit
  1    a command failed its check, printed no value for a --figure, or is slower
       than the --limit allows; --revisions found the commit
  2    wrong usage, for example an unknown command
  3    no program could be built, or this system cannot run the command
  4    the budget was too short: some command has fewer launches than --launches,
       or firstlight cannot decide whether a command exceeds the --limit, or which
       of several commits made the command slower
  130  interrupted; the report of the finished launches is written
""",
)
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND [-- COMMAND]...]")
@click.option(
    "--file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Read the commands from FILE (default: firstlight-bench.toml, if no COMMAND is given).",
)
@click.option(
    "--sweep",
    multiple=True,
    metavar="NAME=V,V",
    help="Set the values of {NAME} in commands; repeatable: every combination is measured.",
)
@click.option(
    "--vary", metavar="AXIS,AXIS", help="Measure with all values of mpi, placement or bind that this machine offers."
)
@click.option(
    "--placement",
    multiple=True,
    metavar="NxRxT",
    help="N nodes, R ranks per node, T threads per rank ({ranks}, {threads}); repeatable.",
)
@click.option("--mpi", multiple=True, metavar="PATTERN", help="Use only MPI libraries that match; repeatable.")
@click.option(
    "--build",
    metavar="COMMAND",
    help="Build with COMMAND, in a copy of this folder, once per toolchain: 'make CXX={cxx} FLAGS=\"{flags}\"'. {cc}, "
    "{fc} and {openmp} also exist; {mpicxx}, {mpicc} and {mpifc} build once per MPI library.",
)
@click.option(
    "--toolchain",
    multiple=True,
    metavar="PATTERN",
    help="Build (see --build) only with toolchains that match, such as gcc-fast; repeatable.",
)
@click.option(
    "--check",
    default="",
    metavar="COMMAND",
    help="Verify each execution: COMMAND must end with status 0; {out} is the file with the output.",
)
@click.option("--expect", default="", metavar="TEXT", help="Verify: the output must contain TEXT.")
@click.option("--like", metavar="FILE=REFERENCE", help="Verify: FILE ({out}: the output) must equal REFERENCE.")
@click.option(
    "--tolerance",
    type=FiniteRange(min=0),
    help="The largest allowed relative difference between numbers (for --like). By default, every byte must be equal.",
)
@click.option(
    "--ignore-status",
    is_flag=True,
    help="Ignore the exit status. If there is no other check, no figure is verified or ranked.",
)
@click.option(
    "--figure",
    multiple=True,
    metavar="NAME=REGEX",
    help="Measure a number that the program prints: the first group of REGEX in its last match; repeatable.",
)
@click.option("--unit", multiple=True, metavar="UNIT", help="The unit of the preceding --figure; repeatable.")
@click.option("--lower", multiple=True, metavar="NAME", help="Lower values of this --figure are better; repeatable.")
@click.option(
    "--work",
    multiple=True,
    metavar="NAME=AMOUNT",
    help="The work of one execution: flops, bytes (memory traffic) or working_set (per process), such as flops=2e9 or "
    "bytes=3*8*{n}. The page then shows rates and measured ceilings; repeatable.",
)
@click.option(
    "--mpi-share",
    is_flag=True,
    help="Also measure the share of time in MPI, with one additional, untimed execution per launch under the profiler.",
)
@click.option(
    "--prepare", default="", metavar="COMMAND", help="Run COMMAND before each execution; its time does not count."
)
@click.option(
    "--warmup",
    type=click.IntRange(0, 1000),
    default=0,
    show_default=True,
    help="The number of warm-up executions at the start of each launch.",
)
@click.option(
    "--env",
    multiple=True,
    metavar="NAME[=VALUE]",
    help="Pass an environment variable to the commands. By default, they receive few of your variables; repeatable.",
)
@click.option("--timeout", default="", metavar="TIME", help="Kill any launch that lasts longer (default: 15m).")
@click.option("--budget", default="", metavar="TIME", help="The time for launches (default: 10m).")
@click.option(
    "--launches",
    type=click.IntRange(1, 1000),
    metavar="N",
    help=f"The minimum number of launches of each command (default: {LAUNCHES}). Intervals require {LAUNCHES}.",
)
@smallest
@click.option(
    "--limit",
    metavar="SHARE",
    help="A gate for CI: exit with 1 if a command is slower than the first one by more than SHARE, for example 2%, and "
    "with 4 if that is uncertain. Sets --threshold, and measures until intervals are within half of SHARE.",
)
@click.option(
    "--revisions",
    metavar="A..B",
    help="Find the commit between A and B that made the command slower than in A by more than the --limit (default: "
    "2%). The shell command --build builds each commit in a temporary clone. --budget applies to each comparison.",
)
@click.option("--title", default="", metavar="TEXT", help="The title of the page.")
@new_run_folder
@click.option("--resume", metavar="RUN", help="Continue a run: a directory, its name, or `latest`.")
@click.option(
    "--as", "name", metavar="NAME", help="The name of the run's directory (default: derived from the current time)."
)
@quiet
@verbose("Show every command that is launched.")
@as_json
def command(
    words: tuple[str, ...],
    file: Path | None,
    results: Path,
    name: str | None,
    resume: str | None,
    as_json: bool,
    limit: str | None,
    revisions: str | None,
    **given: Any,
) -> int:
    """Measure and compare your own programs.

    firstlight launches the commands in random order. The page shows which command is faster, and wall time, CPU time,
    peak
    memory and every --figure with intervals.

    firstlight starts COMMAND without a shell, and splits a single argument with blanks into words. If COMMAND begins
    with mpiexec -n {ranks}, firstlight can launch it with any MPI library and placement. Without --check, --expect or
    --like, firstlight
    verifies only the exit status, and the page notes this limit.
    """
    from firstlight import runner
    from firstlight.commands.bench import gate
    from firstlight.commands.bench.runner import run
    from firstlight.core.units import parse_duration, parse_share
    from firstlight.runner.interrupt import interruptible
    from firstlight.runner.progress import display

    context = click.get_current_context()
    if resume is not None:
        _alone_with_resume(context, words)
        budget, timeout = (parse_duration(given[o], o) if given[o] else None for o in ("budget", "timeout"))
        with interruptible(), display() as progress:
            result = runner.resume(runs.find(resume, results), progress, budget, timeout)
        return _shown(result, as_json)
    asked, folder = _asked(context, words, file, given)
    share = None if limit is None else parse_share(limit)
    if revisions is not None:
        return _search(asked, folder, revisions, results, name, share, as_json)
    if share is not None:
        gate.require(asked)
        asked = msgspec.structs.replace(asked, threshold=share)
    with interruptible(), display() as progress:
        result = run(asked, folder, results, name, progress, share)
    return _shown(result, as_json)


def _shown(result: Result, as_json: bool) -> int:
    """Show the page and the reason for each failure. Return the exit status of the run."""
    from firstlight.commands.bench import gate
    from firstlight.commands.bench.runner import failures
    from firstlight.commands.run import show

    code = show(result, as_json)
    for line in failures(result.judgement):
        note(line)
    return gate.status(result, code)


def _search(
    asked: BenchRequest, folder: Path, text: str, results: Path, name: str | None, limit: float | None, as_json: bool
) -> int:
    """Find the commit that made a command slower, and print it. Return the exit status."""
    from firstlight.commands.bench import revisions
    from firstlight.runner.interrupt import interruptible
    from firstlight.runner.progress import display

    if name is not None:
        raise UsageError("--as names a single run, but --revisions makes several; omit --as")
    with interruptible(), display() as progress:
        found = revisions.find(asked, folder, text, results, revisions.LIMIT if limit is None else limit, progress)
    if as_json:
        print_json(found)
    else:
        tell("\n".join(revisions.page(found)))
    return found.code


def _alone_with_resume(context: click.Context, words: Sequence[str]) -> None:
    """Raise UsageError for commands and options that a resumed run cannot change."""
    kept = _typed(context) - {"resume", "budget", "timeout", "results", "as_json"}
    if kept or words:
        more = ", ".join(sorted(f"--{one}".replace("_", "-") for one in kept)) or "a command"
        raise UsageError(
            f"--resume uses the options of the earlier run and does not accept {more}; start a new run instead"
        )


def _typed(context: click.Context) -> set[str]:
    typed = click.core.ParameterSource.COMMANDLINE
    return {name for name in context.params if name != "words" and context.get_parameter_source(name) is typed}


def _asked(
    context: click.Context, words: Sequence[str], file: Path | None, given: Mapping[str, Any]
) -> tuple[BenchRequest, Path]:
    """Return the request, and the folder in which commands are started. Typed options override those of the file."""
    from firstlight.commands.bench import request
    from firstlight.system.site.file import trusted

    place = (file or Path(request.FILE)).absolute()
    options = _options(given, _typed(context))
    if words:
        if file is not None:
            raise UsageError(f"commands are either typed or in {file}, not both")
        return request.sound(request.BenchRequest(request.commands(words), **options)), Path.cwd()
    if file is None and not place.is_file():
        raise UsageError(f"no command: ./fl bench -- ./program, or a {request.FILE} in this folder")
    if file is None and not trusted(place):
        raise UsageError(
            f"{place} belongs to another user, and resuming it would start its commands; read the file, then "
            f"{shell.command('bench', '--file', place)}"
        )
    asked = request.sound(msgspec.structs.replace(request.read(place), **options))
    note(f"{place}: firstlight will start these commands in {place.parent}:")
    for what, text in request.started(asked):
        note(f"  {what}: {text}")
    return asked, place.parent


def _options(given: Mapping[str, Any], typed: set[str]) -> dict[str, Any]:
    """Return the fields of a request that the command line sets."""
    from firstlight.commands.bench import request

    if given["tolerance"] is not None and not given["like"]:
        raise UsageError("--tolerance requires --like FILE=REFERENCE")
    made: dict[str, Callable[[], object]] = {
        "vary": lambda: request.axes(given["vary"]),
        "sweep": lambda: request.sweep(given["sweep"]),
        "placement": lambda: given["placement"],
        "mpi": lambda: given["mpi"],
        "toolchain": lambda: given["toolchain"],
        "figure": lambda: request.figures(given["figure"], given["unit"], given["lower"]),
        "work": lambda: request.work(given["work"]),
        "env": lambda: request.variables(given["env"], caller.original(os.environ)),
        "like": lambda: request.output(given["like"], given["tolerance"]),
        "ignore_status": lambda: not given["ignore_status"],
    }
    fields = {
        "placement": "placements",
        "mpi": "mpis",
        "toolchain": "toolchains",
        "figure": "figures",
        "env": "environment",
        "like": "output",
        "ignore_status": "verify_status",
    }
    plain = ("build", "check", "expect", "prepare", "warmup", "timeout", "budget", "launches", "title")
    chosen = {name: given[name] for name in (*plain, "mpi_share", "threshold") if name in typed}
    return chosen | {fields.get(name, name): make() for name, make in made.items() if name in typed}

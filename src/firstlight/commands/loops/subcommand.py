"""`firstlight tune loop`: make marked loops of a C file faster, and verify them against the original loops."""

from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import click

from firstlight.commands.shared.output import as_json, print_json, quiet, remark, tell, width
from firstlight.core.confidence import LAUNCHES
from firstlight.core.errors import OK, UsageError

if TYPE_CHECKING:
    from firstlight.commands.loops.source import Source
    from firstlight.commands.loops.tuner import TunedLoop

GROUP, NAME = "tune", "loop"


def schemas() -> dict[str, object]:
    """Return the types that this command prints as JSON, by the name of their schema."""
    from firstlight.commands.loops.tuner import TunedLoop

    return {"tune-loop": list[TunedLoop]}


@click.command(
    epilog="""\b
Example:
  ./fl tune loop examples/tune/loops.c --loop dot

\b
Exit status:
  0    tuned loops are written; or no candidate is faster than the golden loop
  2    wrong usage
  3    no code could be compiled, or this system cannot run the command
  130  interrupted
"""
)
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.option("--loop", "names", multiple=True, metavar="NAME", help="Tune only the loop in this function; repeatable.")
@click.option(
    "--cc",
    multiple=True,
    metavar="COMPILER",
    help="The C compiler: gcc, clang or a path; repeatable (default: FL_CC, otherwise gcc).",
)
@click.option(
    "--flags",
    default="-O3 -march=native",
    show_default=True,
    metavar="WORDS",
    help="The flags with which your build compiles FILE.",
)
@click.option(
    "--engine",
    default="greedy",
    show_default=True,
    metavar="NAME",
    help="The search engine: greedy, exhaustive, random, evolution (needs SciPy) or replay:FILE.",
)
@click.option(
    "--budget", default="60s", show_default=True, metavar="TIME", help="The maximum time of the search for each loop."
)
@click.option(
    "--launches",
    type=click.IntRange(LAUNCHES, 1000),
    default=12,
    show_default=True,
    help="The number of launches of each side of a trial.",
)
@click.option(
    "--seed", type=click.IntRange(0, 1 << 30), default=1, show_default=True, help="The seed of all random numbers."
)
@click.option(
    "--report",
    is_flag=True,
    help="Tune nothing, but write the page about the tuned loops; with --json, print its data.",
)
@click.option("--golden", is_flag=True, help="Remove the tuned loops of FILE, so that it is compiled unchanged again.")
@quiet
@as_json
def command(
    file: Path,
    names: tuple[str, ...],
    cc: tuple[str, ...],
    flags: str,
    engine: str,
    budget: str,
    launches: int,
    seed: int,
    report: bool,
    golden: bool,
    as_json: bool,
) -> int:
    """Find faster versions of loops in a C file.

    firstlight tunes the loops of FILE that follow `#pragma tune precious`. It compares each candidate with the golden
    loop: for every number type, at the limits of the trip count, with overlapping arrays, and with arrays between
    protected pages. It times the candidates that pass alternately with the golden loop. If a candidate is significantly
    faster, it is written to the folder `tuned` next to FILE, where the compiler wrapper `CC=fl-cc` finds it. A page
    shows
    all candidates. docs/tune-loop.md describes the pragma.
    """
    from firstlight.commands.loops import records, source, trial, tuner
    from firstlight.core.units import parse_duration
    from firstlight.runner.interrupt import leaving_nothing

    if golden:
        return _back(file, names)
    compilers = [_compiler(name, flags) for name in cc or (os.environ.get("FL_CC") or "gcc",)]
    if report:
        found = records.read(file)
        if not found:
            raise UsageError(f"no loop of {file} has been tuned; tune loops with ./fl tune loop {file}")
        return _show(found, source.read(file, command=compilers[0]), as_json)
    read = source.read(file)
    if not read.hashes and not read.refused:
        raise UsageError(f"{file} has no loop after `#pragma tune precious`")
    if unknown := sorted(set(names) - read.hashes.keys()):
        raise UsageError(f"{file} has no loop {unknown[0]}; it has {', '.join(read.hashes) or 'none'}")
    found = []
    with leaving_nothing():
        for path, *options in compilers:
            request = tuner.LoopRequest(
                trial.compiler(path, tuple(options)), engine, parse_duration(budget, "budget"), launches, seed=seed
            )
            read = source.read(file, command=[path, *options])
            for loop in read.loops:
                if not names or loop.name in names:
                    found.append(tuner.tune(read, loop, request, remark))
                    records.write(found[-1])
    return _show(found, read, as_json)


def _compiler(name: str, flags: str) -> list[str]:
    """Return the words of a compiler, with its own options (FL_CC="gcc -m64") and the flags of the build."""
    return [*([name] if shutil.which(name) else shlex.split(name)), *shlex.split(flags)]


def _back(file: Path, names: tuple[str, ...]) -> int:
    """Remove the tuned files and records of these loops, and the page if no record of the file is left."""
    from firstlight.commands.loops import emit, records

    some = [*emit.every(file), *records.every(file)]
    gone = [path for path in some if not names or path.name.split(".")[-3] in names]
    for path in gone:
        path.unlink()
    if not records.every(file):
        records.page(file).unlink(missing_ok=True)
    removed = ", ".join(str(path) for path in gone if path.suffix == ".c")
    tell(f"{file} is now compiled unchanged; removed: {removed or 'nothing'}")
    return OK


def _show(found: list[TunedLoop], read: Source, as_json: bool) -> int:
    """Print the results of these loops, and write the page of all loops of the file that were ever tuned."""
    from firstlight.commands.loops import page as pages
    from firstlight.commands.loops import records, terminal

    page = None
    if some := records.read(read.path):
        page = records.page(read.path)
        pages.write(some, read, page)
    if as_json:
        print_json(found)
    else:
        tell(terminal.page(found, [(str(read.path), one) for one in read.refused], page, width()))
    return OK

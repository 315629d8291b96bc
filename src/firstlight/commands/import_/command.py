"""`firstlight import`: show results of other tools next to your runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from firstlight.commands.shared.output import as_json, colour, new_run_folder, note, print_json, tell, width
from firstlight.core.errors import UsageError

if TYPE_CHECKING:
    from firstlight.commands.import_.runs import Imported, Origin
    from firstlight.model.catalogue import Value

SECTION = "Read"
MOST = 16 << 20  # bytes of a file
HERE, UNKNOWN = "here", "unknown machine"


@click.command(
    epilog="""\b
Examples:
  ./fl import osu-latency.txt stream.txt
  ./fl import --machine here --date 2026-11-01 hyperfine.json
  ./fl import --parameter processes=2 osu-allreduce.txt

\b
Exit status:
  0    done
  1    imported, but a tool reports that one of its results is wrong
  2    a file is unknown, truncated or corrupt: nothing was imported
  3    the run cannot be written
"""
)
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--machine",
    default="",
    metavar="NAME",
    help="The machine of the results, if the files do not name it; `here` is this machine, with the name of its other "
    "runs.",
)
@click.option(
    "--date",
    type=click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M"]),
    help="The local date of the results, if the files do not contain it.",
)
@click.option(
    "--parameter",
    "parameters",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of all results that the files do not contain, such as processes=64 for OSU; repeatable.",
)
@new_run_folder
@click.option(
    "--as", "name", metavar="NAME", help="The name of the run's directory (default: derived from the current time)."
)
@as_json
def command(
    files: tuple[Path, ...],
    machine: str,
    date: datetime | None,
    parameters: tuple[str, ...],
    results: Path,
    name: str | None,
    as_json: bool,
) -> int:
    """Import results of other tools as a run.

    FILE is JSON from hyperfine, IOR or ReFrame, or text from the OSU Micro-Benchmarks, the Intel MPI Benchmarks,
    STREAM, HPL or HPC Challenge. All files become one run. `compare`, `history`, `figures` and `report` show this run
    like other runs, and mark its figures as not verified by firstlight. These figures are never ranked, and no ceiling
    or finding uses them. Results are compared only with results of the same tool.
    """
    from firstlight.commands.import_ import runs
    from firstlight.commands.report import reported
    from firstlight.report import terminal
    from firstlight.results import store
    from firstlight.results.store import layout
    from firstlight.runner.exit_status import status

    if name is not None:
        store.free_name(results, name)
    given = _parameters(parameters)
    read = [_with(given, _read(path)) for path in files]
    _distinct(read)
    origin = _origin(read, machine, date)._replace(options=_options(machine, date, parameters))
    place, judgement = runs.write(read, origin, results, name)
    page = place / layout.REPORT
    if as_json:
        print_json(reported(judgement, page))
    else:
        tell(terminal.summary(judgement, runs.workloads_of(judgement.run), width(), colour(), page))
    for file in read:
        for text in file.results.notes:
            note(f"{file.name}: {text}")
    return status(judgement)


def _read(path: Path) -> Imported:
    """Return the results in a file. Raises UsageError naming the line that cannot be read."""
    from firstlight.commands.import_ import tools
    from firstlight.commands.import_.results import UnreadableError
    from firstlight.commands.import_.runs import Imported
    from firstlight.core import reading

    try:
        data = reading.plain(path, MOST)
        reader, found = tools.read(path.name, data)
    except OSError as error:
        raise UsageError(f"{path}: {(error.strerror or 'cannot be read').lower()}") from None
    except reading.MalformedError as error:
        raise UsageError(f"{path}: {error}") from None
    except UnreadableError as error:
        where = f"{path}:{error.line}" if error.line else str(path)
        raise UsageError(f"{where}: {error}; nothing was imported") from None
    return Imported(path.name, data, reader, found)


def _parameters(words: Sequence[str]) -> dict[str, Value]:
    """Return the parameters of the command line. Raises UsageError."""
    from firstlight.model.plan import settings

    others, found = settings.parse(words)
    several = [setting for setting in found if len(setting.values) > 1]
    if others or several:
        raise UsageError(f"--parameter {others[0] if others else several[0]}: write NAME=VALUE")
    return {setting.name: settings.value(setting.name, setting.values[0]) for setting in found}


def _with(given: Mapping[str, Value], file: Imported) -> Imported:
    """Return the results with further parameters. Raises UsageError if the file contains one of them."""
    for case in file.results.cases:
        if twice := given.keys() & case.parameters.keys():
            raise UsageError(f"--parameter {min(twice)}: {file.name} contains this parameter")
    cases = tuple(case._replace(parameters={**case.parameters, **given}) for case in file.results.cases)
    return file._replace(results=file.results._replace(cases=cases))


def _distinct(files: Sequence[Imported]) -> None:
    """Raise UsageError if two files have the same content, which would count one measurement twice."""
    known: dict[bytes, str] = {}
    for file in files:
        if file.content in known:
            raise UsageError(f"{file.name} and {known[file.content]} have the same content; import one of them")
        known[file.content] = file.name


def _options(machine: str, date: datetime | None, parameters: Sequence[str]) -> tuple[str, ...]:
    """Return the options to import the same files again."""
    words = ["--machine", machine] if machine else []
    words += ["--date", f"{date:%Y-%m-%dT%H:%M}"] if date is not None else []
    return (*words, *(word for text in parameters for word in ("--parameter", text)))


def _origin(files: list[Imported], machine: str, date: datetime | None) -> Origin:
    """Return the machine and the date: as given, else as in the files. Raises UsageError if files differ."""
    from msgspec.structs import replace

    from firstlight.commands.import_.runs import Origin, unseen
    from firstlight.system import machine as system

    named: dict[str, str] = {}
    for file in files:
        if file.results.machine:
            named.setdefault(file.results.machine, file.name)
    if len(named) > 1 and not machine:
        (a, first), (b, second), *_ = named.items()
        raise UsageError(
            f"{first} is from machine {a!r}, {second} from {b!r}; import two separate runs, or set --machine"
        )
    name = machine or next(iter(named), UNKNOWN)
    if not (name.isprintable() and 0 < len(name) <= 80):
        raise UsageError(f"--machine {name[:80]!r}: a name has up to 80 printable characters")
    dates = [file.results.date for file in files if file.results.date is not None]
    when = date.timestamp() if date is not None else min(dates, default=None)
    if when is not None and when < 0:
        raise UsageError(f"--date {date:%Y-%m-%d}: dates before 1970 cannot be recorded")
    if machine != HERE:
        return Origin(unseen(name), when)
    this = system.discover()  # its state now shows nothing about its state then: only its names are recorded
    return Origin(replace(unseen(this.name), label=this.label), when)

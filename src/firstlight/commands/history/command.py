"""`firstlight history`: show runs over time and what changed when; compare the newest with the accepted one."""

from __future__ import annotations

import sys
from datetime import datetime
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

import click

from firstlight.commands.shared import runs
from firstlight.commands.shared.output import (
    as_json,
    colour,
    note,
    output_file,
    print_json,
    results_folder,
    smallest,
    tell,
    to_write,
    width,
)
from firstlight.core import shell
from firstlight.core.errors import OK, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from firstlight.analysis import Judgement
    from firstlight.analysis.compare import Comparison
    from firstlight.analysis.history.folder import Folder
    from firstlight.analysis.history.series import History
    from firstlight.analysis.verdict import Identity

PAGE = "history.html"
MOST_LEFT = 8  # runs that were left out, one line each

SECTION = "Read"


def schemas() -> dict[str, object]:
    """Return the types that this command prints as JSON, by the name of their schema."""
    from firstlight.report.export.history import HistoryDocument

    return {"history": HistoryDocument}


@click.command(
    epilog="""\b
Examples:
  ./fl history
  ./fl history --since 2026-11-01 --figure 'bandwidth'
  ./fl history --accept latest
  ./fl history --junit history.xml

\b
Exit status:
  0    done; the newest run is as good as the accepted run, if there is one
  1    the newest run is worse than the accepted run, or failed a check that the accepted run passed
  2    wrong usage, or no run that can be read
  4    some differences from the accepted run are uncertain, or a run was disturbed
"""
)
@click.argument("places", nargs=-1, metavar="[RUNS]...")
@click.option("--accept", metavar="RUN", help="Accept RUN as the baseline for later runs of its machine.")
@click.option("--since", type=click.DateTime(["%Y-%m-%d"]), help="Show only runs that began on this day or later.")
@click.option(
    "--figure",
    "figures",
    multiple=True,
    metavar="WORDS",
    help="Show only figures whose names contain these words; repeatable.",
)
@click.option(
    "--machine",
    default="",
    metavar="NAME",
    help="Show runs of this machine (default: the machine of the newest run; any: all machines).",
)
@smallest
@click.option(
    "--junit",
    type=click.Path(path_type=Path, dir_okay=False),
    callback=to_write,
    metavar="FILE",
    help="Write the comparison of the newest run with the baseline as JUnit XML.",
)
@output_file(f"Write the page to FILE (default: {PAGE} in the folder of the runs).")
@as_json
@results_folder
def command(
    places: tuple[str, ...],
    accept: str | None,
    since: datetime | None,
    figures: tuple[str, ...],
    machine: str,
    threshold: float,
    junit: Path | None,
    output: Path | None,
    as_json: bool,
    results: Path,
) -> int:
    """Show every figure over all runs of a machine.

    The page shows when a figure changed its level, and what else changed in the same run.

    RUNS are runs or folders of runs (default: the results folder). firstlight judges each run once and stores the
    result in the cache, which you can delete. It reports and skips runs that cannot be read, were altered or are
    incomplete.
    """
    from firstlight.commands.history import page
    from firstlight.commands.history import pair as pairs
    from firstlight.report.export.history import document

    folder, paths = _places(places, results)
    if accept is not None:
        run = runs.accept(runs.find(accept, folder), folder)
        tell(f"{run.id} is accepted: later runs of {run.machine.name} are compared with this run")
        return OK
    read = _read(paths)
    history = _history(read, machine, since, figures, threshold)
    judged, comparison = _compared(folder, history, figures, threshold)
    ends = _ends(history, figures, threshold) if comparison is None else None
    code = OK if comparison is None else comparison.code
    if junit is not None:
        _junit(junit, comparison, judged)
    if as_json:
        print_json(document(history, read.left, comparison, ends, code))
        return code
    pair = pairs.accepted(comparison) if comparison is not None else pairs.first(ends) if ends is not None else None
    place: Path | None = output or folder / PAGE
    left = [(left.path, left.why) for left in read.left]
    try:
        assert place is not None
        page.write(history, read.chapters, pair, left, place)
    except OSError as error:
        if output is not None:
            raise
        note(f"{place}: cannot be written ({error.strerror}); --output FILE writes the page elsewhere")
        place = None
    tell(page.summary(history, pair, len(left), width(), colour(), place))
    return code


def _places(words: Sequence[str], results: Path) -> tuple[Path, list[Path]]:
    """Return the folder of the page and the accepted runs, and the paths that are searched for runs."""
    if not words:
        if not results.is_dir():
            raise UsageError(f"no run in {results}/ yet; `./fl run` makes one")
        return results, [results]
    paths = [Path(word) if Path(word).is_dir() else runs.find(word, results) for word in words]
    folders = [path for path in paths if not (path / "run.json").exists()]
    return (folders[0] if folders else paths[0].resolve().parent), paths


def _read(paths: Sequence[Path]) -> Folder:
    from firstlight.analysis.history import folder, index
    from firstlight.system.machine import cache_directory

    live = sys.stderr.isatty()

    def progress(done: int, of: int) -> None:
        if live:
            click.echo(f"\rjudging runs: {done + 1} of {of} ", err=True, nl=done + 1 == of)
        elif done == 0 and of > 20:
            note(f"judging {of} new runs")

    read = folder.read(paths, index.place(cache_directory(), paths[0]), progress)
    for left in read.left[:MOST_LEFT]:
        note(f"skipped {left.path}: {left.why}")
    if len(read.left) > MOST_LEFT:
        note(f"skipped {len(read.left) - MOST_LEFT} more runs; --json lists them")
    if read.note:
        note(read.note)
    if not read.runs:
        where = ", ".join(map(str, paths))
        raise UsageError(f"{where}: no readable run; `./fl run` makes one")
    return read


def _history(read: Folder, machine: str, since: datetime | None, figures: Sequence[str], threshold: float) -> History:
    from firstlight.analysis.history import series

    names = sorted({past.run.machine.name for past in read.runs})
    if machine not in ("", series.ANY, *names):
        raise UsageError(f"no run is from a machine named {machine!r}; possible values are {', '.join(names)} and any")
    found = series.history(read, machine, since.timestamp() if since else 0.0, figures, threshold)
    if not found.runs:
        raise UsageError(f"no run since {since:%Y-%m-%d}; the newest is of {_day(read)}")
    for text in figures:
        if not any(series.named(s.figure, text) for s in found.series):
            known = sorted({word for f in read.figures for word in (f.identity.workload, f.identity.metric)})
            near = get_close_matches(text, known, n=1, cutoff=0.4)
            hint = f"did you mean {near[0]}?" if near else "./fl figures lists them"
            raise UsageError(f"no figure matches {text!r}; {hint}")
    return found


def _day(read: Folder) -> str:
    return f"{datetime.fromtimestamp(read.runs[-1].run.started):%Y-%m-%d}"


def _compared(
    folder: Path, history: History, figures: Sequence[str], threshold: float
) -> tuple[Judgement | None, Comparison | None]:
    """Return the newest run and its comparison with the accepted one of its machine; (None, None) if there is none."""
    from firstlight.analysis.compare import compare
    from firstlight.analysis.history.accepted import baseline

    base = baseline(folder, history.runs[-1].run.machine.name)
    if base is None:
        return None, None
    before = runs.judged(base)[0]
    newest = next((past for past in reversed(history.runs) if past.run.imported == before.run.imported), None)
    if newest is None:
        return None, None
    after = runs.judged(newest.path)[0]
    return after, _chosen(compare(before, after, threshold=threshold), figures)


def _ends(history: History, figures: Sequence[str], threshold: float) -> Comparison | None:
    """Return the comparison of the newest run with the first one if the runs are too few to detect a change."""
    from firstlight.analysis.compare import compare

    newest = history.runs[-1]
    first = next(past for past in history.runs if past.run.imported == newest.run.imported)
    if history.enough_runs or first is newest:
        return None
    before, after = (runs.judged(past.path)[0] for past in (first, newest))
    return _chosen(compare(before, after, threshold=threshold), figures)


def _chosen(found: Comparison, figures: Sequence[str]) -> Comparison:
    """Return the comparison of the requested figures only."""
    from msgspec.structs import replace

    from firstlight.analysis.formatting import name

    if not figures:
        return found
    wanted = [text.split() for text in figures]

    def chosen(who: Identity) -> bool:
        return any(all(word in name(who) for word in words) for words in wanted)

    return replace(
        found,
        figures=tuple(f for f in found.figures if chosen(f.identity)),
        changed=tuple(c for c in found.changed if chosen(c.identity)),
    )


def _junit(path: Path, comparison: Comparison | None, judged: Judgement | None) -> None:
    from firstlight.report.export.junit import against

    if comparison is None or judged is None:
        raise UsageError(
            f"--junit compares the newest run with the accepted one; accept a run first: "
            f"{shell.command('history')} --accept RUN"
        )
    path.write_text(against(comparison, judged), encoding="utf-8")

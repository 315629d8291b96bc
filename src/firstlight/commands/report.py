"""`firstlight report`: write the two pages of a run again."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import click
import msgspec

from firstlight.commands.shared import command_line, runs
from firstlight.commands.shared.output import (
    as_json,
    colour,
    note,
    output_file,
    print_json,
    results_folder,
    tell,
    verbose,
    width,
)
from firstlight.core import shell
from firstlight.core.errors import ENVIRONMENT, OK, UsageError
from firstlight.results.states import RunState

if TYPE_CHECKING:
    from firstlight.analysis import Judgement
    from firstlight.analysis.compare import Comparison
    from firstlight.model.catalogue import Workload

SECTION = "Read"


class Reported(msgspec.Struct, frozen=True):
    """The place of the page ("": it could not be written), and its counts. `fit`: whether the machine was fit for
    measuring; if not, no finding compares figures.
    """

    run: str
    state: RunState
    report: str
    verified: int
    failed: int
    unverified: int
    findings: tuple[str, ...]
    reported: int = 0  # by other tools, and not verified here
    fit: bool = True


def schemas() -> dict[str, object]:
    """Return the types that this command prints as JSON, by the name of their schema."""
    return {"report": Reported}


@click.command(
    epilog="""\b
Example:
  ./fl report latest

\b
Exit status:
  0    done
  2    wrong usage, or no such run
  3    the page could not be written, but the summary was printed
"""
)
@click.argument("run", default="latest")
@click.option("--against", "other", metavar="RUN", help="Also compare with this earlier run, on the same page.")
@output_file("Write the page to FILE instead of the run's directory.")
@verbose("Show the best program of each row.")
@as_json
@results_folder
def command(run: str, other: str | None, output: Path | None, as_json: bool, results: Path) -> int:
    """Print the summary of a run and write its HTML page.

    RUN is a directory, the name of a run in the results folder, or `latest` (the default); the folder of a profile
    (./fl profile) is also possible. Without --output, firstlight writes the page, figures.json and the seal of the run
    again. Signed runs and runs without write permission remain unchanged. If the disk is full, firstlight prints the
    summary, lists the files that it could not write, and exits with 3.
    """
    if owner := _owner(run, results):
        noun, module, folder = owner
        if other:
            raise UsageError(f"{run} is a {noun}, but --against requires two runs")
        module.report(folder, output, as_json)
        return OK
    from firstlight.analysis.compare import compare
    from firstlight.core import heritage
    from firstlight.report import html, terminal
    from firstlight.results.store import layout

    path = runs.find(run, results)
    judgement, workloads, _ = runs.judged(path)
    compared = compare(runs.judged(runs.find(other, results))[0], judgement) if other else None
    place, missing = output or path / layout.REPORT, ""
    if output is not None:
        html.write(judgement, workloads, heritage.load(), output, compared=compared)
    elif why := _fixed(path):
        another = f"{shell.command('report', path)} --output FILE"
        note(f"{path}: {why}, so its page is unchanged; {another} writes another page")
    else:
        missing = _derive(path, judgement, workloads, compared)
    there = None if missing and not place.is_file() else place
    if as_json:
        print_json(reported(judgement, there))
    else:
        tell(terminal.summary(judgement, workloads, width(), colour(), there) + programs(judgement, workloads))
    if missing:
        note(missing)
    return ENVIRONMENT if missing else OK


def _derive(path: Path, judgement: Judgement, workloads: dict[str, Workload], compared: Comparison | None) -> str:
    """Write the files derived from the run. Return what could not be written, "" if all were written."""
    from firstlight.results.store.disk import Folder
    from firstlight.results.store.durable import os_errors_as_store_error
    from firstlight.runner.session import UnwrittenError, derive

    try:
        with os_errors_as_store_error(path), Folder.at(path) as folder:
            derive(folder, judgement, workloads, compared)
    except UnwrittenError as error:
        return str(error)
    return ""


def _fixed(path: Path) -> str:
    """Return why nothing may be written into a run, "" if it may be written."""
    from firstlight.results.store import layout

    if (path / layout.SIGNATURE).exists():
        return "is signed"
    return "" if os.access(path, os.W_OK) else "cannot be written"


def _owner(name: str, results: Path) -> tuple[str, ModuleType, Path] | None:
    """Return the command whose document is in a folder without a run, and the folder; None if there is none."""
    from firstlight.results.store import layout

    places = [p for p in (Path(name), results / name) if p.is_dir() and not (p / layout.RUN).exists()]
    owners = {n: m for n, m in command_line.modules().items() if hasattr(m, "DOCUMENT")} if places else {}
    return next(((n, m, p) for n, m in owners.items() for p in places if (p / m.DOCUMENT).is_file()), None)


def programs(judgement: Judgement, workloads: dict[str, Workload]) -> str:
    """Return lines with the figure behind each row of the page, which names its program; "" without --verbose."""
    from firstlight.analysis import formatting
    from firstlight.report import answers

    if not shell.call().verbose:
        return ""
    rows = answers.front(judgement.run, answers.answers(judgement, workloads)).rows
    lines = [f"  {row.row.title}: {formatting.name(row.best.identity)}" for row in rows if row.best is not None]
    return "\n".join(["", "", "  programs of the rows", *lines]) if lines else ""


def reported(judgement: Judgement, place: Path | None) -> Reported:
    """Return the document that `report` and `run` print as JSON."""
    from firstlight.analysis.evidence import unfit

    counts = Counter(str(figure.__struct_config__.tag) for figure in judgement.figures)
    run = judgement.run
    sentences = tuple(str(finding.sentence) for finding in judgement.findings)
    return Reported(
        run.id,
        run.state,
        str(place or ""),
        counts["verified"],
        counts["failed"],
        counts["unverified"],
        sentences,
        counts["reported"],
        not unfit(run, judgement.records),
    )

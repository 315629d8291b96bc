"""`firstlight report`: the two pages of a run, written again."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from firstlight.cli import runs
from firstlight.cli.output import as_json, colour, note, print_json, results_folder, tell, width, writable
from firstlight.record import RunState
from firstlight.store import layout

if TYPE_CHECKING:
    from firstlight.judge import Judgement


class Reported(msgspec.Struct, frozen=True):
    """Where the page is, and what it counts."""

    run: str
    state: RunState
    report: str
    verified: int
    failed: int
    unverified: int
    findings: tuple[str, ...]


@click.command()
@click.argument("run", default="latest")
@click.option("--compare", "other", metavar="RUN", help="Lay this earlier run beside it.")
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the page here, not into the run's directory.",
)
@as_json
@results_folder
def command(run: str, other: str | None, output: Path | None, as_json: bool, results: Path) -> None:
    """The summary of RUN on the terminal, and its HTML page written again.

    RUN is a directory, the name of a run in the results folder, or `latest` (the default). Without --output, the run's
    figures.json and its seal are renewed with the page. In a signed run, and in one that you may not write, nothing is
    written.
    """
    from firstlight import heritage
    from firstlight.conduct.session import derive
    from firstlight.judge.compare import compare
    from firstlight.report import html, terminal

    path = runs.find(run, results)
    if output is not None:
        writable(output)
    judgement, workloads, defects = runs.judged(path)
    for defect in defects:
        note(f"passed over {defect}")
    compared = compare(runs.judged(runs.find(other, results))[0], judgement) if other else None
    place = output or path / layout.REPORT
    if output is not None:
        html.write(judgement, workloads, heritage.load(), output, compared=compared)
    elif why := _fixed(path):
        note(f"{path}: {why}; its page is left as it is, ./fl report {path} --output FILE writes another")
    else:
        derive(path, judgement, workloads, compared)
    if as_json:
        print_json(reported(judgement, place))
    else:
        tell(terminal.summary(judgement, workloads, width(), colour(), place))


def _fixed(path: Path) -> str:
    """Why nothing may be written into a run, or ""."""
    if (path / layout.SIGNATURE).exists():
        return "is signed"
    return "" if os.access(path, os.W_OK) else "cannot be written"


def reported(judgement: Judgement, place: Path) -> Reported:
    """What the JSON of `report` and of `run` says."""
    counts = Counter(str(figure.__struct_config__.tag) for figure in judgement.figures)
    run = judgement.run
    sentences = tuple(str(finding.sentence) for finding in judgement.findings)
    return Reported(
        run.id, run.state, str(place), counts["verified"], counts["failed"], counts["unverified"], sentences
    )

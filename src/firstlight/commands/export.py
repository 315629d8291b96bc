"""`firstlight export`: export a run, or the catalogue, in the formats of other tools."""

from __future__ import annotations

from pathlib import Path

import click

from firstlight.commands.shared import runs
from firstlight.commands.shared.groups import Group
from firstlight.commands.shared.output import output_file, results_folder
from firstlight.core.errors import FirstlightError
from firstlight.core.shell import as_typed

output = output_file("Write to FILE instead of the terminal.")

SECTION = "Read"


@click.group(
    cls=Group,
    epilog="""\b
Examples:
  ./fl export junit latest
  ./fl export reframe -o check.py
  ./fl export hpcc latest

\b
Exit status:
  0    done
  2    wrong usage, or no such run
""",
)
def command() -> None:
    """Export a run for JUnit, ReFrame or HPC Challenge.

    `./fl figures --json` exports the figures themselves.
    """


@command.command(
    epilog="""\b
Examples:
  ./fl export junit latest
  ./fl export junit --against 20261101-020000-quick -o junit.xml

\b
Exit status:
  0    done, even if tests failed: the CI server counts failures
  2    wrong usage, or no such run
"""
)
@click.argument("run", default="latest")
@click.option(
    "--against",
    metavar="RUN",
    help="Compare every figure with this run. A failure counts only if it is absent from this run.",
)
@output
@results_folder
def junit(run: str, against: str | None, output: Path | None, results: Path) -> None:
    """Export the verdicts of RUN as JUnit XML, which Jenkins and GitLab display.

    RUN is a directory, the name of a run in the results folder, or `latest` (the default). Verdicts are computed again
    from the launches. A test fails if its variant is wrong with every toolchain; `./fl run` then ends with 1. A
    toolchain that makes a program fast but wrong is reported as skipped, with the finding.

    With --against, each test is a figure. The test fails if the figure is worse than in the earlier run, or was
    verified there and is wrong now. Uncertain differences and figures that were already wrong are skipped.
    """
    from firstlight.analysis.compare import compare
    from firstlight.report.export.junit import against as held
    from firstlight.report.export.junit import to_junit

    judgement, _, _ = runs.judged(runs.find(run, results))
    if against is None:
        _write(to_junit(judgement), output)
    else:
        base = runs.judged(runs.find(against, results))[0]
        _write(held(compare(base, judgement), judgement), output)


@command.command(
    epilog="""\b
Example:
  ./fl export reframe -o check.py

\b
Exit status:
  0    done
  2    wrong usage
  3    this installation has no command that a check can call
"""
)
@output
def reframe(output: Path | None) -> None:
    """Export a ReFrame check of every workload, for `reframe -c FILE -r`.

    The check calls this firstlight. Running the check requires ReFrame 4; writing it does not. The head of the file
    lists the settings.
    """
    from firstlight.model import catalogue
    from firstlight.report.export.reframe import to_reframe
    from firstlight.system import packages

    own = packages.command()
    if own is None:
        raise FirstlightError(
            "this installation has no command that a check can call; install firstlight with pip or pipx"
        )
    _write(to_reframe(catalogue.load(catalogue.roots()), own), output)


@command.command(
    epilog="""\b
Examples:
  ./fl export hpcc latest
  ./fl export hpcc latest --summary -o hpccoutf.txt

\b
Exit status:
  0    done
  2    wrong usage, or no such run
"""
)
@click.argument("run", default="latest")
@click.option("--summary", is_flag=True, help="Print only NAME=VALUE, as HPC Challenge does; for scripts.")
@output
@results_folder
def hpcc(run: str, summary: bool, output: Path | None, results: Path) -> None:
    """Export the figures of RUN under HPC Challenge names, with rules and differences.

    RUN is a directory, the name of a run in the results folder, or `latest` (the default). Verdicts are
    computed again from the launches; only a verified figure has a number. `./fl run --standard` measures these figures.

    --summary prints only the lines of HPC Challenge's summary, for scripts that parse its output. A name without a
    verified figure has no line.
    """
    from firstlight.report.export.hpcc import lines, to_summary, to_table

    judgement, workloads, _ = runs.judged(runs.find(run, results))
    found = lines(judgement, workloads)
    _write(as_typed(to_summary(found) if summary else to_table(judgement, found)), output)


def _write(text: str, output: Path | None) -> None:
    if output is None:
        click.echo(text, nl=False)
    else:
        output.write_text(text, encoding="utf-8")

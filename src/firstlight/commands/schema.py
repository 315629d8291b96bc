"""`firstlight schema`: JSON Schemas of the records and of what every command prints with --json."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from firstlight.core.errors import UsageError

SECTION = "Read"


def published() -> dict[str, Any]:
    """The types that leave firstlight as JSON, by the name of their schema."""
    from firstlight.commands import check, report, setup
    from firstlight.commands import list as listing
    from firstlight.commands.compare import machines as compare_machines
    from firstlight.commands.doctor import diagnosis as doctor
    from firstlight.commands.doctor.lines import Examined
    from firstlight.commands.explain import page as explain
    from firstlight.commands.loops.tuner import TunedLoop
    from firstlight.commands.map.answer import Mapped
    from firstlight.commands.nodes import page as nodes
    from firstlight.commands.patterns import generator as patterns
    from firstlight.commands.profile import traffic
    from firstlight.commands.project.answer import Projected
    from firstlight.commands.simulate import answer, validate
    from firstlight.commands.tune import tuner
    from firstlight.model import plan
    from firstlight.report import export
    from firstlight.report.export.comparison import ComparedRuns
    from firstlight.report.export.history import HistoryDocument
    from firstlight.results import record
    from firstlight.runner import job

    return {
        "run": record.Run,
        "launch-line": record.Line,
        "describe": record.Description,
        "figures": list[export.Row],
        "list": list[listing.ListedWorkload],
        "doctor": doctor.Diagnosis,
        "doctor-site": Examined,
        "plan": plan.Plan,
        "check": check.Checked,
        "compare": ComparedRuns,
        "compare-many": compare_machines.Beside,
        "history": HistoryDocument,
        "explain": explain.Explained,
        "nodes": nodes.Nodes,
        "report": report.Reported,
        "profile": traffic.Traffic,
        "patterns": patterns.Shown,
        "patterns-known": list[patterns.Pattern],
        "patterns-matrix": traffic.Phase,
        "simulate": answer.Simulated,
        "validate": validate.Validated,
        "project": Projected,
        "tune": tuner.Tuned,
        "tune-loop": list[TunedLoop],
        "map": Mapped,
        "setup": setup.SetUp,
        "submit": job.Job,
    }


def schema(name: str) -> str:
    """The JSON Schema (2020-12) of that name, as text with a final newline."""
    import msgspec

    found = msgspec.json.schema(published()[name])
    whole = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"firstlight {name}", **found}
    return msgspec.json.format(msgspec.json.encode(whole), indent=1).decode() + "\n"


@click.command(
    epilog="""\b
Examples:
  ./fl schema
  ./fl schema figures
"""
)
@click.argument("name", required=False)
@click.option(
    "--write",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Write all of them into this folder, as NAME.json.",
)
def command(name: str | None, write: Path | None) -> None:
    """Print a JSON Schema, or the list of their names.

    `run.json` follows the schema run, each line of a launch file launch-line, an executable's --describe describe, and
    what a command prints with --json the schema called like the command (`run` prints report, `run --dry-run` plan,
    `compare` of more than two runs compare-many, `simulate --validate` validate, `patterns` without a name
    patterns-known, and with --matrix patterns-matrix; `doctor --site` doctor-site; `tune loop` tune-loop).
    """
    names = list(published())
    if write is not None:
        write.mkdir(parents=True, exist_ok=True)
        for each in names:
            (write / f"{each}.json").write_text(schema(each), encoding="utf-8")
        click.echo(f"{len(names)} schemas in {write}/")
    elif name is None:
        click.echo("\n".join(names))
    elif name in names:
        click.echo(schema(name), nl=False)
    else:
        raise UsageError(f"no schema named {name!r}; there are {', '.join(names)}")

"""`firstlight schema`: JSON Schemas of the records and of what every command prints with --json."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from firstlight.errors import UsageError


def published() -> dict[str, Any]:
    """The types that leave firstlight as JSON, by the name of their schema."""
    from firstlight import doctor, export, patterns, plan, record
    from firstlight.cli import check, listing, report, setup
    from firstlight.conduct import job
    from firstlight.doctor.lines import Examined
    from firstlight.export.comparison import ComparedRuns
    from firstlight.export.history import HistoryDocument
    from firstlight.loops.tuner import TunedLoop
    from firstlight.mapping.answer import Mapped
    from firstlight.profile import traffic
    from firstlight.project.answer import Projected
    from firstlight.report import compare_machines, explain, nodes
    from firstlight.simulate import answer, validate
    from firstlight.tune import tuner

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
    """The JSON Schema NAME, or the list of names.

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

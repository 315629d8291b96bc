"""`firstlight schema`: print JSON Schemas of the records and of what every command prints with --json."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import click

from firstlight.commands.shared import command_line
from firstlight.commands.shared.output import output_folder
from firstlight.core.errors import UsageError

SECTION = "Read"


def schemas() -> dict[str, object]:
    """Return the types of the records of a run, by the name of their schema."""
    from firstlight.results import description, record

    return {"run": record.Run, "launch-line": record.Line, "describe": description.Description}


def published() -> dict[str, object]:
    """Return the types that firstlight writes as JSON: those of records, and those that each command declares."""
    found = schemas()
    for module in command_line.modules().values():
        found |= getattr(module, "schemas", dict)()
    return found


def schema(name: str) -> str:
    """Return the JSON Schema (2020-12) of that name, as text with a final newline."""
    import msgspec

    found = _dedented(msgspec.json.schema(published()[name]))
    whole = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"firstlight {name}", **found}
    return msgspec.json.format(msgspec.json.encode(whole), indent=1).decode() + "\n"


def _dedented(part: Any) -> Any:
    """Return the schema with docstrings without indentation, as msgspec does from version 0.23 on."""
    if isinstance(part, dict):
        return {
            key: inspect.cleandoc(value) if key == "description" and isinstance(value, str) else _dedented(value)
            for key, value in part.items()
        }
    return [_dedented(one) for one in part] if isinstance(part, list) else part


@click.command(
    epilog="""\b
Examples:
  ./fl schema
  ./fl schema figures

\b
Exit status:
  0    done
  2    wrong usage: no such schema
"""
)
@click.argument("name", required=False)
@output_folder("Write all schemas into this folder, as NAME.json.")
def command(name: str | None, output: Path | None) -> None:
    """Print a JSON Schema, or the names of all schemas.

    `run.json` follows the schema run, each line of a launch file the schema launch-line, and the output of an
    executable's --describe the schema describe. The JSON of a command follows the schema with its name. Exceptions:
    `run` prints report, `run --dry-run` plan, `compare` of more than two runs compare-many, `simulate validate`
    validate, `patterns` without a name patterns-known, `patterns --matrix` patterns-matrix, `doctor --site`
    doctor-site, and `tune loop` tune-loop.
    """
    names = list(published())
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
        for each in names:
            (output / f"{each}.json").write_text(schema(each), encoding="utf-8")
        click.echo(f"{len(names)} schemas in {output}/")
    elif name is None:
        click.echo("\n".join(names))
    elif name in names:
        click.echo(schema(name), nl=False)
    else:
        raise UsageError(f"no schema named {name!r}; available: {', '.join(names)}")

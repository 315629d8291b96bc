"""Output: JSON and text on stdout, the same way in every command."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import click
import msgspec

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON; `./fl schema` has its schema.")
results_folder = click.option(
    "--results",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("results"),
    show_default=True,
    metavar="DIR",
    help="The folder of the runs.",
)


def print_json(value: object) -> None:
    """One JSON document, indented."""
    click.echo(msgspec.json.format(msgspec.json.encode(value), indent=1).decode())


def printable(text: str) -> str:
    """Foreign text for a terminal: no control characters, which could move the cursor or hide what was said."""
    return "".join(c if c in "\n\t" or c.isprintable() else ascii(c)[1:-1] for c in text)


def width() -> int:
    """Columns of a page of text: those of the terminal, 80 to 120."""
    return min(120, max(80, shutil.get_terminal_size((80, 24)).columns))


def colour() -> bool:
    """Colour is a second signal: only on a terminal, and never with NO_COLOR."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"

"""Options of every command that reads a communication pattern: its number of processes and its parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

_Command = TypeVar("_Command", bound=Callable[..., Any])
MOST_PROCESSES = 1 << 24


def processes(what: str) -> Callable[[_Command], _Command]:
    """Return the option --processes, with this help text."""
    return click.option("--processes", "-n", type=click.IntRange(1, MOST_PROCESSES), metavar="P", help=what)


parameters = click.option(
    "--parameter",
    "-p",
    "given",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of the pattern, such as class=B; repeatable.",
)

"""`firstlight help`: show the help of a command."""

from __future__ import annotations

import click

from firstlight.commands.shared import command_line
from firstlight.core.errors import UsageError

SECTION = "Read"


@click.command(
    epilog="""\b
Examples:
  ./fl help bench
  ./fl help tune loop

\b
Exit status:
  0    done
  2    wrong usage: no such command
"""
)
@click.argument("names", nargs=-1, metavar="[COMMAND]...")
def command(names: tuple[str, ...]) -> None:
    """Show the help of a command, as `./fl COMMAND --help` does.

    Without a COMMAND, it lists all commands.
    """
    context = click.get_current_context().find_root()
    found: click.Command = command_line.group
    for name in names:
        inside = found.get_command(context, name) if isinstance(found, click.Group) else None
        if inside is None:
            raise UsageError(f"no command named {' '.join(names)!r}; ./fl --help lists all commands")
        found, context = inside, inside.context_class(inside, info_name=name, parent=context)
    click.echo(found.get_help(context))

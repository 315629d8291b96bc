"""`firstlight help`: show the help of a command."""

from __future__ import annotations

import click

from firstlight.commands.shared import command_line
from firstlight.commands.shared.groups import Group
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

    Without COMMAND, list all commands.
    """
    context = click.get_current_context().find_root()
    found: click.Command = command_line.group
    for name in names:
        if not isinstance(found, Group):
            raise UsageError(
                f"{context.command_path} has no subcommands; {context.command_path} --help shows its options"
            )
        inside = found.get_command(context, name)
        if inside is None:
            raise found.unknown(context, name)
        found, context = inside, inside.context_class(inside, info_name=name, parent=context)
    click.echo(found.get_help(context))

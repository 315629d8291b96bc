"""`firstlight completion`: print the script that completes command lines in a shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from firstlight.commands.shared import command_line

SECTION = "Read"
NAMES = ("firstlight", "fl")
"""The commands that are completed; the second one also completes `./fl`."""


@click.command(
    epilog="""\b
Examples:
  ./fl completion bash
  ./fl completion fish

\b
Exit status:
  0    done
  2    wrong usage
"""
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the completion script for bash, zsh or fish.

    The script completes commands and options of firstlight and fl. Evaluate it in your shell's startup file: for bash,
    add `eval "$(./fl completion bash)"` to ~/.bashrc.
    """
    kind = get_completion_class(shell)
    assert kind is not None
    for name in NAMES:
        click.echo(kind(command_line.group, {}, name, command_line.COMPLETE).source())

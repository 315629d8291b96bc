"""Print docs/cli.md, the reference of the command line, from the commands themselves."""

from __future__ import annotations

import click

from firstlight.commands.shared.command_line import COMMANDS, group

HEAD = """# Command line

Generated from the program by `python -m firstlight.commands.shared.reference > docs/cli.md`. `./fl` sets up once and
then calls `firstlight`, so every command below is typed as `./fl COMMAND`.
"""


def reference() -> str:
    """Return the page in Markdown, with a final newline."""
    settings = group.context_settings
    parent = click.Context(group, info_name="./fl", terminal_width=100, max_content_width=100, **settings)
    parts = [HEAD, _block(group.get_help(parent))]
    for name in COMMANDS:
        command = group.get_command(parent, name)
        assert command is not None
        context = click.Context(command, info_name=name, parent=parent, terminal_width=100, max_content_width=100)
        parts += [f"## {name}\n", _block(command.get_help(context))]
        if isinstance(command, click.Group):
            for inner, part in command.commands.items():
                below = click.Context(part, info_name=inner, parent=context, terminal_width=100, max_content_width=100)
                parts += [f"### {name} {inner}\n", _block(part.get_help(below))]
    return "\n".join(parts)


def _block(text: str) -> str:
    return f"```text\n{text.rstrip()}\n```\n"


if __name__ == "__main__":
    print(reference(), end="")

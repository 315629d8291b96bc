"""Print docs/cli.md, the reference of the command line, or write man pages, from the commands themselves."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from firstlight import __version__
from firstlight.commands.shared.command_line import COMMANDS, group

HEAD = """# Command line

Generated from the program by `python -m firstlight.commands.shared.reference > docs/cli.md`. `./fl` runs the
setup once and then calls `firstlight`, so type every command below as `./fl COMMAND`. The wheel contains the
same texts as man pages: after `pip install` or `pipx install`, `man firstlight` and `man firstlight bench`
show these texts if the command is on PATH. In a checkout, `python -m firstlight.commands.shared.reference
FOLDER` writes the man pages to a folder.
"""


def reference() -> str:
    """Return the page in Markdown, with a final newline."""
    parts = [HEAD]
    for names, command, context in _commands("./fl"):
        title = [f"{'#' * (1 + len(names))} {' '.join(names)}\n"] if names else []
        parts += [*title, _block(command.get_help(context))]
    return "\n".join(parts)


def write_man_pages(folder: Path) -> None:
    """Write `firstlight.1` and `firstlight-COMMAND.1` for each command into a folder, such as share/man/man1.

    Raises OSError if a file cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for names, command, context in _commands("firstlight"):
        page = "-".join(("firstlight", *names))
        lines = [command.get_short_help_str(200).removesuffix("."), *command.get_help(context).splitlines()]
        what, *help_text = (_escaped(line.replace("./fl", "firstlight")) for line in lines)
        text = [
            f'.TH {page.upper()} 1 "" "firstlight {__version__}"',
            ".SH NAME",
            rf"{page} \- {what}",
            ".SH DESCRIPTION",
            ".nf",
            *help_text,
            ".fi",
        ]
        (folder / f"{page}.1").write_text("\n".join(text) + "\n", encoding="utf-8")


def _commands(program: str) -> Iterator[tuple[tuple[str, ...], click.Command, click.Context]]:
    """Yield each command with its names and its context: the program itself, its commands, and theirs."""
    parent = click.Context(
        group, info_name=program, terminal_width=100, max_content_width=100, **group.context_settings
    )
    yield (), group, parent
    for name in COMMANDS:
        command = group.get_command(parent, name)
        assert command is not None
        context = click.Context(command, info_name=name, parent=parent, terminal_width=100, max_content_width=100)
        yield (name,), command, context
        for inner, part in command.commands.items() if isinstance(command, click.Group) else ():
            below = click.Context(part, info_name=inner, parent=context, terminal_width=100, max_content_width=100)
            yield (name, inner), part, below


def _block(text: str) -> str:
    return f"```text\n{text.rstrip()}\n```\n"


def _escaped(line: str) -> str:
    """Return the line for roff, in which a backslash and a point or an apostrophe at the beginning are syntax."""
    line = line.replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{line}" if line.startswith((".", "'")) else line


if __name__ == "__main__":
    if len(sys.argv) > 1:
        write_man_pages(Path(sys.argv[1]))
    else:
        print(reference(), end="")

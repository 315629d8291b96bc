"""Commands called as a user types them, within this process."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import click
import pytest

from firstlight.commands.shared import command_line

_Case = TypeVar("_Case", bound=Sequence[Any])
Captured = pytest.CaptureFixture[str]
SIDE = ("loops", "map", "patterns", "profile", "project", "simulate", "tune")
"""Commands that any user may remove: their folder, and the tests named after it."""


def call(capsys: Captured, *words: str) -> tuple[int, str, str]:
    """Return the exit status, the standard output and the standard error."""
    code = command_line.call(list(words))
    done = capsys.readouterr()
    return code, done.out, done.err


def examples(command: str, capsys: Captured) -> list[list[str]]:
    """Return the words of each example in the help of a command and of its subcommands, without `./fl`."""
    made = command_line.group.get_command(click.Context(command_line.group), command)
    inner = made.list_commands(click.Context(made)) if isinstance(made, click.Group) else []
    found: list[list[str]] = []
    for words in ([command], *([command, name] for name in inner)):
        text = call(capsys, *words, "--help")[1].partition("Example")[2]
        assert text, f"{' '.join(words)} --help has no example"
        lines = [line.strip() for line in text.split("Exit status")[0].splitlines()]
        found += [shlex.split(line)[1:] for line in lines if line.startswith("./fl ")]
    assert found and all(words[0] in command_line.COMMANDS for words in found), found
    return [words for k, words in enumerate(found) if words not in found[:k]]


def here(command: str) -> bool:
    """Return whether the folder or file of a command is here: any of SIDE may be removed."""
    return (command_line.FOLDER / command).is_dir() or (command_line.FOLDER / f"{command}.py").exists()


def needs(*commands: str) -> pytest.MarkDecorator:
    """Skip a test where one of these commands was removed."""
    missing = [c for c in commands if not here(c)]
    return pytest.mark.skipif(bool(missing), reason=f"removed: {', '.join(missing)}")


def present(cases: Iterable[_Case]) -> list[_Case]:
    """Return the cases whose words, their first entry or themselves, begin with a command that is here."""
    return [case for case in cases if here(case[0] if isinstance(case[0], str) else case[0][0])]

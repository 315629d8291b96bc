"""Commands called as a user types them, within this process."""

from __future__ import annotations

import shlex
from typing import TypeVar

import pytest

from firstlight.commands.shared import command_line

_T = TypeVar("_T")
Captured = pytest.CaptureFixture[str]


def call(capsys: Captured, *words: str) -> tuple[int, str, str]:
    """The exit status, and what went to stdout and to stderr."""
    code = command_line.call(list(words))
    done = capsys.readouterr()
    return code, done.out, done.err


def examples(command: str, capsys: Captured) -> list[list[str]]:
    """The words of each example in the help of a command, without `./fl`; those of other commands among them."""
    _, out, _ = call(capsys, command, "--help")
    text = out.partition("Example")[2]
    assert text, f"{command} --help has no example"
    lines = [line.strip() for line in text.split("Exit status")[0].splitlines()]
    found = [shlex.split(line)[1:] for line in lines if line.startswith("./fl ")]
    assert found and all(words[0] in command_line.COMMANDS for words in found), found
    return found


def present(cases: list[tuple[list[str], _T]]) -> list[tuple[list[str], _T]]:
    """Return the cases whose words begin with a command that is here: any of their folders may be removed."""
    return [case for case in cases if case[0][0] in command_line.COMMANDS]

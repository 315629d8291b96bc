"""Commands that firstlight prints: found in a text, and parsed as a user's command line."""

from __future__ import annotations

import re
import shlex

import click

from firstlight.commands.shared import runs
from firstlight.commands.shared.command_line import COMMANDS, group

HINT = re.compile(r"(?<![\w./-])((?:'[^']*/fl'|(?:\.\.?)?/?(?:[\w.-]+/)*fl)(?: [^`\n;<]+)?)")
SAMPLES = re.compile(r"\b(RUN|NAME|VARIANT|PARAMETER|VALUE|DIR|FILE|K|PATTERN|SHARED)\b")
READING = {"report", "figures", "check", "explain", "history", "doctor", "list"}
"""Commands that measure nothing and write nothing but pages."""


def commands(text: str, name: str) -> list[list[str]]:
    """Return the words of every complete command in a text, without the program's name."""
    found = []
    for part in HINT.findall(text):
        words = shlex.split(re.split(r"\)? (?:makes|lists|shows|prints|writes|seals|goes|tells|says|would)\b", part)[0])
        if words[0] != name or len(words) < 2 or not ({*words} & {*COMMANDS}) or SAMPLES.search(part):
            continue
        found.append([words[1], *words[2:]])
    return found


def resolve(words: list[str]) -> None:
    """Parse the words as a user's command line, and find the run that they name. A bare command is only a mention."""
    if "--help" in words:
        words = [word for word in words if word != "--help"]
    if {*words} <= {*COMMANDS, "--results"} or (words[1:2] == ["--results"] and len(words) == 3):
        mentioned = group.get_command(click.Context(group), words[0])
        assert mentioned is not None and not any(p.required and p.default is None for p in mentioned.params), words
        return
    with group.make_context("fl", list(words)) as top:
        name, command, rest = group.resolve_command(top, [*top._protected_args, *top.args])
        assert name is not None and command is not None
        while isinstance(command, click.Group):
            name, command, rest = command.resolve_command(click.Context(command), rest)
            assert name is not None and command is not None
        with command.make_context(name, rest) as context:
            named = context.params.get("resume") or (context.params.get("run") if name != "run" else None)
            if named and name not in ("validate", "project"):
                assert (runs.find(str(named), context.params["results"]) / "run.json").is_file(), words

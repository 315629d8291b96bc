"""Accept the spellings of 0.1 for one release, with a note that shows the new one; `UNTIL` removes this file."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches
from pathlib import Path

from firstlight.commands.shared.output import note
from firstlight.core import shell
from firstlight.core.naming import COLLECTIVES, SHORT

UNTIL = "1.1"
"""The version that no longer accepts them."""

_SIMULATE = ("collective", "pattern", "stages", "validate", "networks")
_OPTIONS = {
    "map": {"--out": "--output", "--hosts": "--node-names", "--seconds": "--budget", "--machine": "--network"},
    "patterns": {"--html": "--output"},
    "project": {"--html": "--output", "--machine": "--network"},
    "report": {"--compare": "--against"},
    "schema": {"--write": "--output"},
    "simulate": {"--html": "--output", "--machine": "--network"},
    "tune": {"--from": "--run"},
}
"""Options that have a new name, by command."""


def renewed(words: list[str], with_value: Collection[str]) -> list[str]:
    """Return a command line with the present spellings. `with_value`: the options before the command with a value."""
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in with_value else 1
    if at >= len(words) or words[at] not in _OPTIONS:
        return words
    end = words.index("--") if "--" in words else len(words)
    command, given = words[at], words[at + 1 : end]
    if command == "simulate" and not (given and _is_subcommand(given[0])):
        given = _simulate(given)
    new = [*words[: at + 1], *(_renamed(word, _OPTIONS[command]) for word in given), *words[end:]]
    if new != words:
        note(f"this spelling works until version {UNTIL}; the new spelling is {shell.command(*new)}")
    return new


def _renamed(word: str, names: dict[str, str]) -> str:
    option, sign, value = word.partition("=")
    return f"{names.get(option, option)}{sign}{value}"


def _is_subcommand(word: str) -> bool:
    """Return whether the word is a subcommand of `simulate`, or a misspelled one."""
    return not word.startswith("-") and bool(get_close_matches(word, _SIMULATE, 1, 0.8))


def _simulate(words: list[str]) -> list[str]:
    """Return the subcommand of `simulate` and its words, for options and a subject without a subcommand."""
    if "--machines" in words:
        return ["networks", *(word for word in words if word != "--machines")]
    words = [part for word in words for part in _parts(word)]
    for option, subcommand in (("--validate", "validate"), ("--pattern", "pattern"), ("--stages", "stages")):
        if option in words:
            return [subcommand, *_without(option, words)]
    known = {*COLLECTIVES, *SHORT}
    if any(word in known or word.endswith(".goal") or Path(word).is_file() for word in words):
        return ["collective", *_without("", words)]
    return words


def _parts(word: str) -> list[str]:
    """Return the option and its value of a word such as `--pattern=halo`."""
    option, sign, value = word.partition("=")
    return [option, value] if sign and option in ("--validate", "--pattern", "--stages", "--goal") else [word]


def _without(option: str, words: list[str]) -> list[str]:
    """Return the values of the option, then the other words; a file after --goal becomes --output."""
    values, others, at = [], [], 0
    while at < len(words):
        word, after = words[at], words[at + 1 : at + 2]
        if word == option:
            value = [] if option == "--validate" and after and after[0].startswith("-") else after
            values += value
            at += len(value)
        else:
            others += ["--goal", "--output"] if word == "--goal" else [word]
        at += 1
    return [*values, *others]

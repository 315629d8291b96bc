"""Calls: the table of MPI calls that the profiler sees, native/profile/calls.txt."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Literal, get_args

import msgspec

from firstlight import ROOT

FOLDER = ROOT / "native" / "profile"
_LINE = re.compile(r"(MPI_\w+)\s+(\w+(?:\(.*\))?) : (.*)")


Group = Literal[
    "point-to-point", "one-sided", "neighbourhood", "collective", "receiving", "waiting", "setting up", "files"
]
_GROUPS: tuple[Group, ...] = get_args(Group)


class Call(msgspec.Struct, frozen=True):
    """One MPI function: its `rule` (a call of record.hpp), the names of its arguments in order, and its group."""

    name: str
    rule: str
    arguments: tuple[str, ...]
    group: Group


def read(path: Path) -> list[Call]:
    """Parse the lines of a table. Raises ValueError, with the line, if one is malformed or names a function again."""
    calls: dict[str, Call] = {}
    group: Group | None = None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        if text.startswith("["):
            group = next((g for g in _GROUPS if text == f"[{g}]"), None)
            continue
        match = _LINE.fullmatch(text)
        if match is None or match[1] in calls or group is None:
            raise ValueError(f"{path}:{number}: not `NAME RULE : ARGUMENTS`, or the second line with this name")
        calls[match[1]] = Call(match[1], match[2], tuple(match[3].split()), group)
    return list(calls.values())


@cache
def groups() -> dict[str, Group]:
    """Return the group of every call, in the order of the table."""
    return {call.name: call.group for call in read(FOLDER / "calls.txt")}

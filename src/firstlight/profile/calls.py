"""Calls: the table of MPI calls that the profiler sees, native/profile/calls.txt."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import msgspec

from firstlight import ROOT

FOLDER = ROOT / "native" / "profile"
_LINE = re.compile(r"(MPI_\w+)\s+(\w+(?:\(.*\))?) : (.*)")


class Call(msgspec.Struct, frozen=True):
    """One MPI function: its `rule` (a call of record.hpp), the names of its arguments in order, and its group."""

    name: str
    rule: str
    arguments: tuple[str, ...]
    group: str  # point-to-point, one-sided, neighbourhood, collective, receiving, waiting, setting up, files


def read(path: Path) -> list[Call]:
    """The lines of a table. Raises ValueError, with the line, where one is malformed or names a function again."""
    calls: dict[str, Call] = {}
    group = ""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        if text.startswith("["):
            group = text.strip("[]")
            continue
        match = _LINE.fullmatch(text)
        if match is None or match[1] in calls or not group:
            raise ValueError(f"{path}:{number}: not `NAME RULE : ARGUMENTS`, or a second line of one name")
        calls[match[1]] = Call(match[1], match[2], tuple(match[3].split()), group)
    return list(calls.values())


@cache
def groups() -> dict[str, str]:
    """The group of every call, in the order of the table."""
    return {call.name: call.group for call in read(FOLDER / "calls.txt")}

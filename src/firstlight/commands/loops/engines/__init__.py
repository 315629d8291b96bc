"""Engines: which candidates are tried, one way of searching a file; all see only values of changes and a score.

A file has `search(space, score, random)`; `score` is the time of a candidate over that of golden (infinite where it was
rejected) and raises SpentError when no more may be tried. One that needs a library says in `missing()` what to install.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Protocol, cast

from firstlight.commands.loops.change import Point
from firstlight.core.errors import UsageError

Space = Mapping[str, tuple[str, ...]]
"""By change: its values, the first of them "" (leave it)."""
Score = Callable[[Point], float]

NAMES = ("greedy", "exhaustive", "random", "evolution", "replay")


class SpentError(Exception):
    """The budget does not allow another candidate."""


class Search(Protocol):
    def __call__(self, space: Space, score: Score, random: Random) -> None: ...


def find(name: str) -> Search:
    """`greedy`, ...; `replay:FILE`. Raises UsageError for an unknown one and for one whose library is not here."""
    kind, _, file = name.partition(":")
    if kind not in NAMES or (kind == "replay") != bool(file):
        raise UsageError(f"no engine named {name!r}; the engines are {', '.join(NAMES[:-1])} and replay:FILE")
    module = import_module(f"{__name__}.{kind}")
    if hasattr(module, "missing") and (why := module.missing()):
        raise UsageError(f"the engine {kind} is not available: {why}")
    return cast(Search, module.of_file(Path(file)) if kind == "replay" else module.search)

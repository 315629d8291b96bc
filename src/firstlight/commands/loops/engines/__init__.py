"""Engines: select the candidates to try, one search method per file, only from values of changes and their scores.

A file defines `search(space, score, random)`. `score` is the time of a candidate divided by golden's (infinite if it is
rejected); it raises SpentError when the budget is spent. `missing()`, if defined, returns what to install.
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
"""The values of each change by its name; the first value is "" (no change)."""
Score = Callable[[Point], float]

NAMES = ("greedy", "exhaustive", "random", "evolution", "replay")


class SpentError(Exception):
    """The budget does not allow another candidate."""


class Search(Protocol):
    def __call__(self, space: Space, score: Score, random: Random) -> None: ...


def find(name: str) -> Search:
    """Return the engine, as `greedy` or `replay:FILE`. Raises UsageError if it is unknown or lacks its library."""
    kind, _, file = name.partition(":")
    if kind not in NAMES or (kind == "replay") != bool(file):
        raise UsageError(f"no engine named {name!r}; the engines are {', '.join(NAMES[:-1])} and replay:FILE")
    module = import_module(f"{__name__}.{kind}")
    if hasattr(module, "missing") and (why := module.missing()):
        raise UsageError(f"the engine {kind} is not available: {why}")
    return cast(Search, module.of_file(Path(file)) if kind == "replay" else module.search)

"""Placeholders: `{n}`, `{ranks}`, `{cxx}` in commands, and what is left for each execution to fill in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

OUT = "out"
PLACED = ("nodes", "ranks", "ranks_per_node", "threads")
BUILT = ("cxx", "cc", "fc", "flags", "openmp")
WRAPPERS = ("mpicxx", "mpicc", "mpifc")
KNOWN = (OUT, *PLACED, *BUILT, *WRAPPERS, "mpi", "bind")

_PLACE = re.compile(r"\{([a-z][a-z0-9_]*)\}")


def names(texts: Iterable[str]) -> set[str]:
    """The placeholders in these texts, also those that nobody knows."""
    return {name for text in texts for name in _PLACE.findall(text)}


def filled(text: str, values: Mapping[str, object]) -> str:
    """The text with what has a value in its place; anything else in braces, and so `{out}`, stays as it is: braces mean
    something to shells and to awk, too."""
    return _PLACE.sub(lambda m: str(values[m[1]]) if m[1] in values else m[0], text)

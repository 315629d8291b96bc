"""Find and fill placeholders in commands: `{n}`, `{ranks}`, `{cxx}`. Each execution fills in `{out}` itself."""

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
    """Return the names of the placeholders in these texts, including unknown ones."""
    return {name for text in texts for name in _PLACE.findall(text)}


def filled(text: str, values: Mapping[str, object]) -> str:
    """Return the text with each placeholder that has a value replaced by it. Anything else in braces, such as `{out}`,
    stays as it is: braces mean something to shells and to awk, too.
    """
    return _PLACE.sub(lambda m: str(values[m[1]]) if m[1] in values else m[0], text)

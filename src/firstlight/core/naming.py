"""Naming: firstlight's names of the collectives that users type, and the nearest name for an unknown one."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from firstlight.core.errors import UsageError

COLLECTIVES = ("broadcast", "reduce", "allreduce", "allgather", "reduce_scatter", "alltoall", "barrier")
SHORT = {"bcast": "broadcast", "reduce_scatter_block": "reduce_scatter"}
"""firstlight's name of each collective that MPI names differently, by MPI's name."""


def collective(text: str) -> str:
    """Return firstlight's name of `broadcast`, `bcast`, `MPI_Bcast` or `reduce-scatter`.

    Raises UsageError with all known names and the nearest, if one is similar.
    """
    name = text.strip().lower().replace("-", "_").removeprefix("mpi_")
    name = SHORT.get(name, name)
    if name not in COLLECTIVES:
        must_be("collective", name, (*COLLECTIVES, *SHORT))
    return name


def must_be(what: str, name: str, known: Sequence[str]) -> None:
    """Raise UsageError unless the name is known."""
    if name not in known:
        near = get_close_matches(name, known, n=1, cutoff=0.6)
        hint = f"did you mean {near[0]}? Possible" if near else "possible"
        raise UsageError(f"no {what} named {name!r}; {hint} names are {', '.join(known)}")

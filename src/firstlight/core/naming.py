"""Naming: what users call collectives and algorithms, and the nearest name where there is none."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from firstlight.core.errors import UsageError

COLLECTIVES = ("broadcast", "reduce", "allreduce", "allgather", "reduce_scatter", "alltoall", "barrier")
SHORT = {"bcast": "broadcast", "reduce_scatter_block": "reduce_scatter"}
"""MPI's names of collectives that firstlight writes out, or that MPI writes longer."""


def collective(text: str) -> str:
    """firstlight's name of `broadcast`, `bcast`, `MPI_Bcast` or `reduce-scatter`.

    Raises UsageError naming the nearest and all there are.
    """
    name = text.strip().lower().replace("-", "_").removeprefix("mpi_")
    name = SHORT.get(name, name)
    if name not in COLLECTIVES:
        must_be("collective", name, (*COLLECTIVES, *SHORT))
    return name


def must_be(what: str, name: str, known: Sequence[str]) -> None:
    """Raises UsageError unless the name is known."""
    if name not in known:
        near = get_close_matches(name, known, n=1, cutoff=0.6)
        hint = f"did you mean {near[0]}? " if near else ""
        raise UsageError(f"no {what} named {name!r}; {hint}There are {', '.join(known)}")

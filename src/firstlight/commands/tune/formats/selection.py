"""MPICH: select an algorithm per collective with the environment, or with a whole selection tree in a JSON file.

A file replaces the built-in tree, so ours is that very tree, read from the library, with a branch for the measured
numbers of ranks. Sizes in a tree are those of the whole message, or of one block. Checked with 4.0.2 and 5.0: both
switch at exactly the sizes of a file. The library maps the file and reads it as a string, so its length must not be a
whole number of pages.
"""

from __future__ import annotations

import json
import mmap
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from firstlight.commands.tune.setting import HINT, PATIENCE, Setting
from firstlight.commands.tune.table import Rule, Table
from firstlight.core.errors import BuildError
from firstlight.system.process import bounded
from firstlight.toolchain import Mpi

NAMES = {
    "broadcast": "bcast", "reduce": "reduce", "allreduce": "allreduce", "allgather": "allgather",
    "reduce_scatter": "reduce_scatter_block", "alltoall": "alltoall", "barrier": "barrier",
}  # fmt: skip

WORDS = {
    "broadcast": ("binomial", "scatter_recursive_doubling_allgather", "scatter_ring_allgather"),
    "reduce": ("binomial", "reduce_scatter_gather"),
    "allreduce": ("recursive_doubling", "reduce_scatter_allgather"),
    "allgather": ("brucks", "recursive_doubling", "ring"),
    "reduce_scatter": ("recursive_halving", "pairwise"),
    "alltoall": ("brucks", "pairwise", "scattered"),
    "barrier": ("dissemination",),
}
"""Algorithms without parameters in releases 4.0 to 5.0; each library is searched for those that it has."""

_NEEDS_POWER = {("broadcast", "scatter_recursive_doubling_allgather"), ("allgather", "recursive_doubling")}
_PAGE = 4096
_MOST = 256 << 20  # bytes of a library
_TREE = re.compile(rb'\{"collective=[^\0]{100,1000000}\0')


def settings(mpi: Mpi, collective: str, ranks: int) -> list[Setting]:
    """Return the algorithms of this library that can be forced. Raises FirstlightError if the library is not found."""
    data = _library(mpi)
    return [
        Setting(collective, word, full(collective, word), forced(collective, word))
        for word in WORDS[collective]
        if full(collective, word).encode() in data
        and (ranks & (ranks - 1) == 0 or (collective, word) not in _NEEDS_POWER)
    ]


def full(collective: str, word: str) -> str:
    """Return the name of an algorithm in a selection tree."""
    return f"MPIR_{NAMES[collective].capitalize()}_intra_{word}"


def forced(collective: str, word: str) -> dict[str, str]:
    """Return the environment that forces an algorithm."""
    return {f"MPIR_CVAR_{NAMES[collective].upper()}_INTRA_ALGORITHM": word}


def environment(file: Path) -> dict[str, str]:
    """Return the variables that make the library read a selection file."""
    return {"MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE": str(file.absolute())}


def _library(mpi: Mpi) -> bytes:
    """Return the content of the shared library that programs load. Raises BuildError if it is not found."""
    place = library(mpi)
    if place is None or place.stat().st_size > _MOST:
        raise BuildError(f"{mpi.label}: no shared MPI library is next to {mpi.cxx}, so a file cannot tune it")
    return place.read_bytes()


def library(mpi: Mpi) -> Path | None:
    """Return libmpi or libmpich with a selection tree, from the wrapper's link folders or next to it, or None."""
    words = [mpi.cxx, "-show"]
    shown = bounded.answer(words, timeout=PATIENCE, environment=os.environ | mpi.environment, hint=HINT).stdout
    folders = [Path(f) for f in re.findall(r"-L(\S+)", shown)]
    folders += [Path(mpi.cxx).resolve().parent.parent / "lib", Path(mpi.cxx).parent.parent / "lib"]
    for folder in dict.fromkeys(folders):
        for pattern in ("libmpich.so*", "libmpi.so*"):
            for found in sorted(folder.glob(pattern)):
                if found.is_file() and found.stat().st_size > 1 << 20 and _has_tree(found):
                    return found
    return None


def _has_tree(path: Path) -> bool:
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return data.find(b'"algorithm=MPIR_Bcast_intra') >= 0


def built_in(data: bytes) -> dict[str, Any]:
    """Return the selection tree that is compiled into a library. Raises BuildError if there is none."""
    for match in _TREE.finditer(data):
        if b'"algorithm=MPIR_' in match[0]:
            try:
                tree = json.loads(match[0][:-1])
            except (ValueError, RecursionError):
                continue
            if isinstance(tree, dict) and "collective=bcast" in tree:
                return tree
    raise BuildError("the MPI library contains no readable selection tree, so a file cannot tune it")


def name(mpi: Mpi) -> str:
    return f"selection-{mpi.name}.json"


def text(mpi: Mpi, table: Table, words: Mapping[tuple[str, str], str]) -> str:
    """Return the text of a selection file for this library. Raises BuildError if its tree cannot be read."""
    return selection(tree_of(mpi), table, words)


def tree_of(mpi: Mpi) -> dict[str, Any]:
    """Return the selection tree of an installed library."""
    return built_in(_library(mpi))


def selection(tree: Mapping[str, Any], table: Table, words: Mapping[tuple[str, str], str]) -> str:
    """Return the text of a selection file: `tree` with the table's rules. `words`: full names of its algorithms."""
    new = dict(tree)
    for collective in table.collectives:
        key = f"collective={NAMES[collective]}"
        branch = dict(new[key])
        if "comm_type=intra" in branch:
            branch["comm_type=intra"] = _by_ranks(branch["comm_type=intra"], table, collective, words)
        else:
            branch = {"comm_type=intra": _by_ranks(branch, table, collective, words), "comm_type=inter": branch}
        new[key] = branch
    made = json.dumps(new, indent=1) + "\n"
    return made + " \n" if len(made.encode()) % _PAGE == 0 else made


def _by_ranks(default: Any, table: Table, collective: str, words: Mapping[tuple[str, str], str]) -> dict[str, Any]:
    """Return branches by ranks, only with `<=`: one release reads `comm_size<` as that. The first match decides."""
    found: dict[str, Any] = {}
    below = 0
    for ranks in table.ranks(collective):
        if ranks - 1 > below:
            found[f"comm_size<={ranks - 1}"] = default
        found[f"comm_size<={ranks}"] = _by_size(default, table.of(collective, ranks), words)
        below = ranks
    return {**found, "comm_size=any": default}


def _by_size(default: Any, rules: list[Rule], words: Mapping[tuple[str, str], str]) -> Any:
    if rules and rules[0].collective == "barrier":  # no size is defined for it
        return {f"algorithm={words['barrier', rules[0].algorithm]}": {}}
    found: dict[str, Any] = {}
    at = 0
    for rule in sorted(rules, key=lambda r: r.low):
        if rule.low > at:
            found[f"avg_msg_size<={rule.low - 1}"] = default
        found[f"avg_msg_size<={rule.high - 1}"] = {f"algorithm={words[rule.collective, rule.algorithm]}": {}}
        at = rule.high
    return {**found, "avg_msg_size=any": default}

"""Open MPI: select an algorithm per collective with the environment, or with a file of rules (component `tuned`).

The file counts bytes of the whole message for broadcast, reduce and allreduce, and bytes of all ranks together for
allgather, reduce_scatter and alltoall. A rule is valid from its number of ranks, and from its size, up to the next one;
algorithm 0 is the library's own decision. Checked with 4.1.4 and 5.0: both switch at exactly the sizes of a file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from firstlight.commands.tune.setting import HINT, PATIENCE, Setting
from firstlight.commands.tune.table import LIBRARY, Table, ranges
from firstlight.core.errors import BuildError
from firstlight.system.process import bounded
from firstlight.toolchain import Mpi

NAMES = {
    "broadcast": ("bcast", 7), "reduce": ("reduce", 11), "allreduce": ("allreduce", 2), "allgather": ("allgather", 0),
    "reduce_scatter": ("reduce_scatter_block", 13), "alltoall": ("alltoall", 3), "barrier": ("barrier", 6),
}  # fmt: skip
"""The name in parameters and the number in a rules file, by collective."""

_TWO = "two_proc"  # for two ranks only
_FANOUT = {"broadcast": 4, "reduce": 4}  # the library's parameters when an algorithm is forced
_SLOW = frozenset({"linear", "basic_linear", "nonoverlapping", "double_ring"})
"""Simple but slow algorithms: some are the best with two ranks, so they are tried with up to four."""

_LINE = re.compile(r"coll_tuned_(\w+)_algorithm:enumerator:value:(\d+):([\w-]+)")


def settings(mpi: Mpi, collective: str, ranks: int) -> list[Setting]:
    """Return the algorithms of this library that can be forced. Raises FirstlightError if it does not list them."""
    return [
        Setting(collective, _safe(own), number, forced(collective, number))
        for number, own in _algorithms(mpi).get(collective, [])
        if number != "0" and (ranks == 2 or own != _TWO) and (ranks <= 4 or own not in _SLOW)
    ]


def _safe(own: str) -> str:
    return re.sub(r"[^a-z0-9_]", "_", own.lower())


def forced(collective: str, number: str) -> dict[str, str]:
    """Return the environment that forces an algorithm."""
    return {
        "OMPI_MCA_coll_tuned_use_dynamic_rules": "1",
        f"OMPI_MCA_coll_tuned_{NAMES[collective][0]}_algorithm": number,
    }


def environment(file: Path) -> dict[str, str]:
    """Return the variables that make the library read a rules file."""
    return {
        "OMPI_MCA_coll_tuned_use_dynamic_rules": "1",
        "OMPI_MCA_coll_tuned_dynamic_rules_filename": str(file.absolute()),
    }


def _algorithms(mpi: Mpi) -> dict[str, list[tuple[str, str]]]:
    info = Path(mpi.launcher).with_name("ompi_info")
    if not info.exists():
        raise BuildError(f"{mpi.label}: ompi_info, which lists the algorithms, is not next to {mpi.launcher}")
    words = [str(info), "--param", "coll", "tuned", "--level", "9", "--parsable"]
    done = bounded.answer(words, timeout=PATIENCE, environment=os.environ | mpi.environment, hint=HINT)
    if done.returncode != 0:
        raise BuildError(f"{mpi.label}: ompi_info ended with status {done.returncode}; the algorithms are unknown")
    return listed(done.stdout)


def listed(text: str) -> dict[str, list[tuple[str, str]]]:
    """Return (number, name) of every algorithm by collective, from the output of `ompi_info --parsable`."""
    by_name = {own: collective for collective, (own, _) in NAMES.items()}
    found: dict[str, list[tuple[str, str]]] = {}
    for line in text.splitlines():
        match = _LINE.search(line)
        if match and match[1] in by_name:
            found.setdefault(by_name[match[1]], []).append((match[2], match[3]))
    return found


def name(mpi: Mpi) -> str:
    return f"rules-{mpi.name}.conf"


def text(mpi: Mpi, table: Table, words: Mapping[tuple[str, str], str]) -> str:
    """Return the text of a rules file for this library."""
    return rules(table, words)


def rules(table: Table, words: Mapping[tuple[str, str], str]) -> str:
    """Return the text of a rules file. `words`: the number of each (collective, algorithm) in the table."""
    lines = [f"{len(table.collectives)} # collectives"]
    for collective in table.collectives:
        own, number = NAMES[collective]
        blocks = _blocks(table, collective)
        lines += [f"{number} # {own}", f"{len(blocks)} # numbers of ranks"]
        for ranks, some in blocks:
            lines += [f"{ranks} # ranks", f"{len(some)} # sizes"]
            for low, algorithm in some:
                word = "0" if algorithm == LIBRARY else words[collective, algorithm]
                fanout = _FANOUT.get(collective, 0) if algorithm != LIBRARY else 0
                lines.append(f"{low} {word} {fanout} 0 # {algorithm}")
    return "\n".join(lines) + "\n"


def _blocks(table: Table, collective: str) -> list[tuple[int, Sequence[tuple[int, str]]]]:
    """Return the rules by number of ranks; the library decides again from the next number that is not in the table."""
    wanted = table.ranks(collective)
    found: list[tuple[int, Sequence[tuple[int, str]]]] = []
    for ranks in wanted:
        found.append((ranks, ranges(table.of(collective, ranks), ranks, collective)))
        if ranks + 1 not in wanted:
            found.append((ranks + 1, [(0, LIBRARY)]))
    return found

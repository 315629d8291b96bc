"""Files of recorded ranks, and traffic made from them, without MPI."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from firstlight.results.traffic import Kind, Pair, Phase, Rank, Traffic


def content(rank: int, among: int, **other: Any) -> dict[str, Any]:
    """Return what the library writes for one rank that sends 2 messages of 8 bytes to the next."""
    phase = {
        "level": 1,
        "seconds": 1.0,
        "kinds": [["MPI_Send", 2, 16, 0.25], ["MPI_Barrier", 1, 0, 0.25]],
        "pairs": [[rank, (rank + 1) % among, 2, 16]],
    }
    head = {"schema": 1, "rank": rank, "ranks": among, "complete": True, "how": "MPI_Finalize"}
    return {**head, "library": "MPICH Version: 4.0.2", "seconds": 2.0, "folded": False, "phases": [phase], **other}


def write(folder: Path, rank: int, data: object, process: int = 1) -> None:
    text = data if isinstance(data, str) else json.dumps(data)
    (folder / f"rank-{rank:06d}.{process}-00000000.json").write_text(text)


def phase(matrix: dict[tuple[int, int], int], level: int = 1) -> Phase:
    kinds = (Kind("MPI_Send", "point-to-point", len(matrix), sum(matrix.values()), 0.5),)
    return Phase(level, 1.0, kinds, tuple(Pair(a, b, 1, n) for (a, b), n in sorted(matrix.items())))


def traffic(ranks: int, *phases: Phase, **other: Any) -> Traffic:
    times = tuple(Rank(r, 2.0, 1.0, 0.5, True, "MPI_Finalize") for r in range(ranks))
    values = {"status": 0, "mpi": "MPICH 4.0.2", "ranks": ranks, "times": times, "phases": phases}
    return Traffic("x-profile", "0.1.0", ("mpiexec", "./<b>program"), **{**values, **other})

"""Fuzzing of what `profile` reads: the files of the ranks, and its own."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import msgspec

from firstlight.commands.profile import collect
from firstlight.commands.profile import page as pages
from firstlight.results.traffic import Cost, Kind, Pair, Phase, Rank, Size, Traffic
from fuzz.target import Target


def _rank_file() -> bytes:
    content = {
        "schema": 1, "rank": 0, "ranks": 2, "complete": True, "how": "MPI_Finalize", "library": "Open MPI v4.1.4",
        "seconds": 1.5, "folded": False, "node": "0123abcd", "processor_seconds": 1.25, "cpus": [[0, 1], [4, 4]],
        "phases": [{"level": 1, "seconds": 1.5, "kinds": [["MPI_Send", 3, 300, 0.25], ["MPI_Barrier", 2, 0, 0.5]],
                    "pairs": [[0, 1, 3, 300], [0, 0, 1, 8]], "sizes": [[3, 1, 8], [7, 2, 200]]},
                   {"level": 2, "seconds": 0.5, "kinds": [], "pairs": [], "sizes": []}],
    }  # fmt: skip
    return json.dumps(content).encode()


def read_rank(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "rank-000000.1-00000000.json").write_bytes(data)
        found = collect.collect(Path(folder))
        pages.render(Traffic("id", "0.1.0", ("mpiexec", "a"), 0, **found.fields()))


def _profile() -> bytes:
    phase = Phase(
        1,
        1.5,
        (Kind("MPI_Send", "point-to-point", 3, 300, 0.25), Kind("MPI_Barrier", "collective", 2, 0, 0.5, 0.125)),
        (Pair(0, 1, 3, 300), Pair(1, 0, 2, 200)),
        Pair(-1, -1, 1, 8),
        (Size(3, 1, 8), Size(7, 2, 200)),
    )
    ranks = tuple(Rank(k, 1.5, 1.5, 0.75, True, "MPI_Finalize", "a", ((0, 1),), 1.25) for k in (0, 1))
    return msgspec.json.encode(
        Traffic(
            "id",
            "0.1.0",
            ("mpiexec", "a"),
            0,
            "Open MPI 4.1.4",
            2,
            ranks,
            (phase,),
            cost=Cost("a run", 1, ((8, 1e-6), (1024, 2e-6))),
        )
    )


def read_profile(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "profile.json").write_bytes(data)
        traffic = collect.load(Path(folder) / "profile.json")
        pages.render(traffic)
        pages.summary(traffic, None)


WITHOUT_A_MESSAGE = _rank_file().replace(b"[0, 0, 1, 8]", b"[0, 0, 0, 8]")
TARGETS = {
    "rank": Target(lambda: [_rank_file()], read_rank, 100, found=(WITHOUT_A_MESSAGE,)),
    "profile": Target(lambda: [_profile()], read_profile, 60),
}

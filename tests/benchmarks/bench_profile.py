"""Measure the overhead of the profiler: the half round trip of 8 bytes with and without it, interleaved, for each MPI
library.

python tests/benchmarks/bench_profile.py [rounds]. A half round trip is one MPI_Send and one MPI_Recv: it contains
two calls.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from firstlight import ROOT, toolchain
from firstlight.execute.recorder import library
from firstlight.system import machine
from firstlight.toolchain import Mpi


def once(mpi: Mpi, program: Path, preload: Path | None, folder: Path) -> float:
    own = {"LD_PRELOAD": str(preload), "FIRSTLIGHT_PROFILE": str(folder)} if preload else {}
    words = [mpi.launcher, "-n", "2", str(program)]
    environment = {**os.environ, **mpi.environment, **own}
    done = subprocess.run(words, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
    return float(done.stdout)


def main(rounds: int) -> None:
    cache = machine.cache_directory()
    toolbox = toolchain.discover(machine.discover(), cache, embed_mpi=False)
    for mpi in toolbox.mpis:
        with tempfile.TemporaryDirectory() as scratch:
            program, folder = Path(scratch) / "pingpong", Path(scratch) / "ranks"
            folder.mkdir()
            source = ROOT / "tests/native/profiled" / "pingpong.cpp"
            words = [mpi.cxx, "-O2", "-std=c++20", str(source), "-o", str(program)]
            subprocess.run(words, env=os.environ | mpi.environment, check=True)
            preload = library.build(mpi, toolbox.toolchains[0].cxx, cache)
            pairs = [(once(mpi, program, None, folder), once(mpi, program, preload, folder)) for _ in range(rounds)]
        bare, seen = (statistics.median(side) for side in zip(*pairs, strict=True))
        cost = statistics.median(b - a for a, b in pairs) / 2
        print(f"{mpi.label}: {bare:.0f} ns bare, {seen:.0f} ns profiled: {cost:+.0f} ns a call ({rounds} pairs)")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 11)

"""Starting MPI programs inside a batch allocation: by the batch system's own launcher, where a trial proves it able.

A launcher and an MPI library that do not understand each other often start N programs of one rank each, which all end
well. So the trial adds up the ranks.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from firstlight.machine import allocation
from firstlight.mpi_families import of
from firstlight.toolchains import Absent, Mpi
from firstlight.toolchains.host import Host

_TRIAL = """#include <mpi.h>
#include <cstdlib>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int one = 1;
  int size = 0, sum = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return argc == 2 && size == std::atoi(argv[1]) && sum == size ? 0 : 9;
}
"""
_ALONE = "each rank is alone: its processes do not find each other"


def starting(host: Host, library: Mpi, way: str = "") -> tuple[Mpi, list[Absent]]:
    """`library` with its `starter` where we are in an allocation and a trial succeeds, else what stands against it.

    Not remembered: it depends on this very allocation. Takes about two seconds. `way` mpiexec: it is not tried.
    """
    ways = of(library.family).pmi if host.machine.batch == "slurm" else ()
    srun = host.which("srun")
    if not ways or srun is None or way == "mpiexec":
        return library, []
    reasons = []
    with tempfile.TemporaryDirectory(prefix="start-", dir=host.cache_dir) as name:
        folder = Path(name)  # in the cache: also the other nodes must see it
        (folder / "start.cpp").write_text(_TRIAL)
        program = folder / "start"
        built = host.run([library.cxx, "start.cpp", "-o", program], library.environment, folder=folder)
        if not built.ok:
            return library, [_absent(library, built.reason)]
        for way in ways:
            starter = (str(srun), f"--mpi={way}")
            reason = _try(host, library, starter, program)
            if not reason:
                return replace(library, starter=starter), []
            reasons.append(f"--mpi={way}: {reason}")
    return library, [_absent(library, "; ".join(reasons))]


def refused(host: Host, library: Mpi, way: str) -> Absent | None:
    """Why a library is of no use here where srun was asked for by name, None where it is."""
    if way != "srun" or library.starter or host.machine.batch != "slurm":
        return None
    return Absent(library.label, "srun is asked for, and does not start it here", "--launcher mpiexec, or neither")


def _try(host: Host, library: Mpi, starter: Sequence[str], program: Path) -> str:
    """Start two ranks on every node; the reason why that fails, or ""."""
    nodes = host.machine.nodes
    where = [f"--nodes={nodes}", f"--ntasks={2 * nodes}", "--ntasks-per-node=2", "--cpus-per-task=1", "--overcommit"]
    where += allocation.discover().words(nodes)
    quiet = ["--overlap", "--input=none", "--immediate=30", "--kill-on-bad-exit=1", "--cpu-bind=none"]
    outcome = host.run(
        [*starter, *where, *quiet, program, str(2 * nodes)], library.environment, timeout=60, folder=program.parent
    )
    if outcome.ok:
        return ""
    return _ALONE if outcome.code == 9 else outcome.reason


def _absent(library: Mpi, why: str) -> Absent:
    fix = f"nothing to do: its own mpiexec starts it; or use a {library.label} built for this Slurm"
    return Absent(f"{library.label} through srun", why, fix)

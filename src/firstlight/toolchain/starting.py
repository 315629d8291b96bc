"""Start MPI programs inside a batch allocation by the batch system's own launcher, if a trial proves that it works.

A launcher and an MPI library that do not understand each other often start N programs of one rank each, which all
succeed. So the trial adds up the ranks.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from firstlight.system import starters
from firstlight.system.machine import allocation
from firstlight.system.mpi_families import NodeCapacity, of
from firstlight.system.process import guard
from firstlight.system.site.launchers import is_template, template
from firstlight.toolchain import Absent, Mpi
from firstlight.toolchain.host import Host

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
_NO_ROOM = NodeCapacity(0, 0)
"""No processor is bound on it: a trial only tests whether ranks find each other."""
_ALONE = "the processes do not find each other: each rank starts as a separate job"


class _Two(NamedTuple):
    """Two ranks on each node."""

    nodes: int
    ranks: int
    threads: int = 1
    per_node: int = 2


def starting(host: Host, library: Mpi, way: str = "") -> tuple[Mpi, list[Absent]]:
    """Return `library` with its `starter` if a trial in an allocation succeeds, else with the reasons against it.

    The result is not remembered: it depends on this very allocation. A trial lasts about two seconds. `way`: the only
    launcher that is tried, or a command line, which is tried outside of allocations, too; mpiexec: none is tried.
    """
    offered = list(_offered(host, library, way))
    if not offered:
        return library, []
    reasons = []
    with guard.scratch("start-", host.cache_dir) as folder:  # in the cache, because other nodes must also see it
        (folder / "start.cpp").write_text(_TRIAL)
        program = folder / "start"
        built = host.run([library.cxx, "start.cpp", "-o", program], library.environment, folder=folder)
        if not built.ok:
            return library, [_absent(library, offered[0].label, built.reason)]
        for offer in offered:
            reason = _try(host, library, offer, program)
            if not reason:
                return replace(library, starter=offer.starter), []
            reasons.append(f"{offer.description}: {reason}")
    return library, [_absent(library, offered[0].label, "; ".join(reasons))]


class _Offer(NamedTuple):
    """The first words of a command line, the whole line for two ranks per node, and the names of both."""

    starter: tuple[str, ...]
    line: tuple[str, ...]
    label: str
    description: str


def _offered(host: Host, library: Mpi, way: str) -> Iterator[_Offer]:
    """Yield the launchers that may start the library here, best first."""
    family, batch, two = of(library.family), host.machine.batch, _Two(host.machine.nodes, 2 * host.machine.nodes)
    if is_template(way):
        words = template(way)
        found = host.which(words[0])
        if found is not None:
            starter = (str(found), *words[1:])
            yield _Offer(starter, starters.line(starter, two, _NO_ROOM), words[0], way)
        return
    if batch == "slurm" and way in ("", "srun") and (srun := host.which("srun")) is not None:
        for name in family.pmi:
            starter = (str(srun), f"--mpi={name}")
            yield _Offer(starter, (*starter, *_by_srun(host.machine.nodes)), "srun", starter[1])
    for name, one in starters.every().items():
        command = host.which(one.COMMAND)
        if not batch or command is None or (way != name and (way or batch not in one.SYSTEMS)):
            continue
        for starter in one.ways(str(command), family) if starters.is_it(one, command) else ():
            yield _Offer(starter, starters.line(starter, two, _NO_ROOM), one.LABEL, " ".join((name, *starter[1:])))


def refused(host: Host, library: Mpi, way: str) -> Absent | None:
    """Return why a library cannot be used here, or None: nothing starts it, or the requested launcher does not."""
    if not library.launcher and not library.starter:
        why = "no mpiexec is installed for this library, and no launcher here starts its programs"
        return Absent(library.label, why, "run in a job (./fl submit), or set a launcher: --launcher 'srun -n {ranks}'")
    if way in ("", "mpiexec") or library.starter or not (host.machine.batch or is_template(way)):
        return None
    return Absent(
        library.label,
        f"{way} was selected, but cannot start programs of this library here",
        "--launcher mpiexec, or no --launcher",
    )


def _by_srun(nodes: int) -> list[str]:
    where = [f"--nodes={nodes}", f"--ntasks={2 * nodes}", "--ntasks-per-node=2", "--cpus-per-task=1", "--overcommit"]
    where += allocation.discover().words(nodes)
    return [*where, "--overlap", "--input=none", "--immediate=30", "--kill-on-bad-exit=1", "--cpu-bind=none"]


def _try(host: Host, library: Mpi, offer: _Offer, program: Path) -> str:
    """Start two ranks on every node; return the reason for a failure, or ""."""
    words = [*offer.line, str(program), str(2 * host.machine.nodes)]
    outcome = host.run(words, library.environment, timeout=60, folder=program.parent)
    if outcome.ok:
        return ""
    return _ALONE if outcome.code == 9 else outcome.reason


def _absent(library: Mpi, label: str, why: str) -> Absent:
    own = "not required, because mpiexec of the library works; or " if library.launcher else ""
    fix = f"{own}use a {library.label} that was built for this launcher"
    return Absent(f"{library.label} through {label}", why, fix)

"""OpenSHMEM, as Open MPI brings it: its compiler wrapper lies beside the MPI one and tells the flags."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from firstlight.toolchains import RUNTIMES, Absent, Linking, Mpi
from firstlight.toolchains.found import Compiler
from firstlight.toolchains.host import Host
from firstlight.toolchains.wrappers import SWAP

_TRIAL = """#include <mpi.h>
#include <shmem.h>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  shmem_init();
  shmem_putmem(nullptr, nullptr, 0, shmem_my_pe());
  shmem_quiet();
  shmem_finalize();
}
"""

# Open MPI 4 unloads its old InfiniBand component at the end of shmem_finalize while UCX still calls it: a crash after
# right results. Without that component nothing is lost, UCX does the work.
_ENVIRONMENT = {"OMPI_MCA_btl": "^openib"}


def probe(host: Host, mpi: Mpi, compilers: Sequence[Compiler]) -> Linking | Absent:
    """The flags of the library's own OpenSHMEM, proved by a trial, or why there is none."""
    what = f"{RUNTIMES['shmem']} with {mpi.label}"
    if mpi.family != "openmpi":
        return host.absent(what, f"{mpi.label} brings no OpenSHMEM", otherwise="use Open MPI for it")
    cxx = compilers[0].cxx
    wrapper = _wrapper(host, mpi)
    if wrapper is None:
        why = f"no oshcc of {mpi.label} beside {mpi.cxx}"
        fix = "install an Open MPI that was built with OpenSHMEM"
        return host.absent(what, why, apt="openmpi-bin libopenmpi-dev", otherwise=fix)
    compile_flags = shlex.split(host.run([wrapper, "--showme:compile"], mpi.environment).out)
    link_flags = shlex.split(host.run([wrapper, "--showme:link"], mpi.environment).out)
    environment = {**mpi.environment, SWAP[mpi.family][0]: cxx}
    key = f"shmem {compile_flags} {link_flags} {host.identity(mpi.cxx, wrapper, cxx)}"
    if not host.memory.recall(key, bool):
        outcome = host.trial(_TRIAL, ".cpp", [mpi.cxx, *compile_flags], link_flags, environment, run=False)
        if not outcome.ok:
            return host.absent(what, outcome.reason, otherwise=f"repair {wrapper}")
        host.memory.keep(key, True)
    old = mpi.version.split(".")[0] == "4"
    return Linking(tuple(compile_flags), tuple(link_flags), dict(_ENVIRONMENT) if old else {})


def _wrapper(host: Host, mpi: Mpi) -> Path | None:
    """The oshcc in the folder of the MPI wrapper, of the same version: /usr/bin holds that of one library only."""
    folder, suffix = Path(mpi.cxx).parent, Path(mpi.cxx).name.partition(".")[2]
    for name in dict.fromkeys((f"oshcc.{suffix}" if suffix else "oshcc", "oshcc")):
        path = folder / name
        if not path.exists():
            continue
        key = f"oshcc {host.identity(path)}"
        version = host.memory.recall(key, str)
        if version is None:
            version = host.run([path, "--showme:version"], mpi.environment).out
            host.memory.keep(key, version)
        if mpi.version in version.split():
            return path
    return None

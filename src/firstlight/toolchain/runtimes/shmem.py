"""OpenSHMEM of an MPI library: its compiler wrapper, next to the MPI wrapper, prints the flags."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from firstlight.system.mpi_families import every, of
from firstlight.toolchain import RUNTIMES, Absent, Linking, Mpi
from firstlight.toolchain.host import Host
from firstlight.toolchain.probe_result import Compiler

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


def probe(host: Host, mpi: Mpi, compilers: Sequence[Compiler]) -> Linking | Absent:
    """Return the flags of the library's own OpenSHMEM, proved by a trial, or why there is none."""
    what = f"{RUNTIMES['shmem']} with {mpi.label}"
    family = of(mpi.family)
    if not family.shmem_wrapper:
        others = " or ".join(f.label for f in every() if f.shmem_wrapper)
        return host.absent(what, f"{mpi.label} does not include OpenSHMEM", otherwise=f"use {others} for OpenSHMEM")
    cxx = compilers[0].cxx
    wrapper = _wrapper(host, mpi, family.shmem_wrapper)
    if wrapper is None:
        why = f"{mpi.label} has no {family.shmem_wrapper} next to {mpi.cxx}"
        fix = f"install an {family.label} that was built with OpenSHMEM"
        return host.absent(what, why, apt=family.apt, otherwise=fix)
    compile_flags = shlex.split(host.run([wrapper, "--showme:compile"], mpi.environment).out)
    link_flags = shlex.split(host.run([wrapper, "--showme:link"], mpi.environment).out)
    environment = mpi.environment | family.compilers(cxx)
    key = f"shmem {compile_flags} {link_flags} {host.identity(mpi.cxx, wrapper, cxx)}"
    if not host.memory.recall(key, bool):
        outcome = host.trial(_TRIAL, ".cpp", [mpi.cxx, *compile_flags], link_flags, environment, run=False)
        if not outcome.ok:
            return host.absent(what, outcome.reason, otherwise=f"repair {wrapper}")
        host.memory.keep(key, True)
    return Linking(tuple(compile_flags), tuple(link_flags), family.shmem_environment(mpi.version))


def _wrapper(host: Host, mpi: Mpi, own: str) -> Path | None:
    """Return the wrapper of that name and version next to the MPI wrapper: /usr/bin has that of one library only."""
    folder, suffix = Path(mpi.cxx).parent, Path(mpi.cxx).name.partition(".")[2]
    for name in dict.fromkeys((f"{own}.{suffix}" if suffix else own, own)):
        path = folder / name
        if not path.exists():
            continue
        key = f"{own} {host.identity(path)}"
        version = host.memory.recall(key, str)
        if version is None:
            version = host.run([path, "--showme:version"], mpi.environment).out
            host.memory.keep(key, version)
        if mpi.version in version.split():
            return path
    return None

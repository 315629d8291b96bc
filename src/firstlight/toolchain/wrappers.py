"""MPI compiler wrappers: the library and the launcher that belong to one, and whether it works."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import msgspec

from firstlight.system import mpi_families
from firstlight.system.mpi_families import Family, Origin
from firstlight.toolchain import Absent, Mpi
from firstlight.toolchain.host import Host
from firstlight.toolchain.probe_result import Compiler, Found

_CXX = """#include <mpi.h>
int main(int argc, char** argv) { MPI_Init(&argc, &argv); MPI_Barrier(MPI_COMM_WORLD); return MPI_Finalize(); }
"""

_MPI4 = """#include <mpi.h>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Request request = MPI_REQUEST_NULL;
  int flag = 0;
  if (argc > 1) {
    MPI_Neighbor_alltoallw_init(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, MPI_COMM_WORLD,
                                MPI_INFO_NULL, &request);
    MPI_Psend_init(argv, 1, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Precv_init(argv, 1, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Pready(0, request);
    MPI_Parrived(request, 0, &flag);
  }
  return MPI_Finalize();
}
"""
# Detected by its calls: the version in mpi.h is that of the whole standard, and Open MPI 5 has these and reports 3.1.

_F08 = """program trial
  use mpi_f08
  implicit none
  type(MPI_Comm) :: world
  integer :: rank
  call MPI_Init()
  world = MPI_COMM_WORLD
  call MPI_Comm_rank(world, rank)
  call MPI_Finalize()
end program
"""


def probe(host: Host, family: Family) -> Found[Mpi]:
    """Return the family's library from the places that the family searches, or how to install it."""
    why, searches = "", family.searches(host.cache_dir, host.environ)
    if not searches:
        return Found()
    for origin, prefixes in searches:
        found = first_of_family(host, family, candidates(host, family, prefixes), origin)
        if isinstance(found, Mpi):
            return Found((found,))
        why = found
    what = f"system {family.label}" if family.embedded else family.label
    fix = family.fix(host.cache_dir)
    return Found(absent=(host.absent(what, why, apt=family.apt, dnf=family.dnf, otherwise=fix),))


def candidates(host: Host, family: Family, prefixes: Sequence[Path] = ()) -> list[Path]:
    """Return C++ wrappers to try: Debian's side-by-side name, those of `prefixes`, mpicxx on PATH, modules' folders."""
    found = [host.which(f"mpicxx.{family.name}")]
    found += [prefix / "bin" / name for prefix in prefixes for name in family.wrapper_names]
    found += [host.which("mpicxx"), host.which("mpic++")]
    found += [path for folder in _mpi_folders(family.name) for path in [folder / "bin" / "mpicxx"]]
    return [path for path in dict.fromkeys(found) if path is not None and path.exists() and host.shows(path)]


def _mpi_folders(suffix: str) -> list[Path]:
    """Return the folders of MPI libraries that Fedora and openSUSE add to the path by `module load`."""
    lib = Path("/usr/lib64")
    return [lib / suffix, lib / "mpi" / "gcc" / suffix]


def first_of_family(
    host: Host,
    family: Family,
    wrappers: Iterable[Path],
    origin: Origin,
    starters: Sequence[Path] = (),
    compilers: Mapping[str, str] = MappingProxyType({}),
) -> Mpi | str:
    """Return the first wrapper of `family` with a launcher of that family, else why there is none.

    The launcher is the one next to it, or the first of `starters`; `compilers`: the environment in which the wrapper
    calls another compiler than its own.
    """
    reason = f"no compiler wrapper of {family.label} on the search path"
    for wrapper in wrappers:
        environment = family.environment(wrapper.parent.parent, host.environ)
        who = _who(host, wrapper, {**environment, **compilers})
        if who is None or who[0] != family.name:
            continue
        _, dot, suffix = wrapper.name.partition(".")
        beside = [wrapper.parent / f"{name}{dot}{suffix}" for name in ("mpiexec", "mpirun")]
        launcher = _launcher(host, starters or beside, family.name, environment)
        if launcher is None and family.brings_launcher:
            where = "on this machine" if starters else "next to it"
            reason = f"{wrapper} is {family.label} {who[1]} but has no mpiexec {where}"
            continue
        fortran = (wrapper.parent / f"{name}{dot}{suffix}" for name in ("mpifort", "mpif90"))
        return Mpi(
            name=family.name,
            family=family.name,
            label=f"{family.label} {who[1]}",
            version=who[1],
            origin=origin,
            cxx=str(wrapper),
            fortran=next((str(path) for path in fortran if path.exists()), None),
            f08=(),
            launcher=str(launcher or ""),
            environment=environment,
        )
    return reason


def prove_mpi(host: Host, library: Mpi, compilers: Sequence[Compiler]) -> Mpi | Absent:
    """Return `library` with its `f08` and `mpi4` filled in, or Absent if even a C++ program does not link."""
    family = mpi_families.of(library.family)
    cxx = compilers[0].cxx
    environment = library.environment | family.compilers(cxx)
    key = f"mpi {host.identity(library.cxx, library.launcher, cxx)}"
    if not host.memory.recall(key, bool):
        outcome = host.trial(_CXX, ".cpp", [library.cxx], (), environment, run=False)
        if not outcome.ok:
            return Absent(library.label, f"{library.cxx} with {cxx}: {outcome.reason}", f"repair {library.label}")
        host.memory.keep(key, True)
    fortrans = {c.family: c.fortran for c in reversed(compilers) if c.fortran}
    f08 = []
    for name, fortran in sorted(fortrans.items()) if library.fortran else []:
        key = f"f08 {host.identity(library.fortran, fortran)}"
        if not host.memory.recall(key, bool):
            chosen = library.environment | family.compilers(None, fortran)
            if not host.trial(_F08, ".f90", [str(library.fortran)], (), chosen, run=False).ok:
                continue
            host.memory.keep(key, True)
        f08.append(name)
    key = f"mpi4 {host.identity(library.cxx, library.launcher, cxx)}"
    mpi4 = host.memory.recall(key, bool)
    if mpi4 is None:
        mpi4 = host.trial(_MPI4, ".cpp", [library.cxx], (), environment, run=False).ok
        host.memory.keep(key, mpi4)
    return msgspec.structs.replace(library, f08=tuple(f08), mpi4=mpi4)


def _who(host: Host, wrapper: Path, environment: dict[str, str]) -> tuple[str, str] | None:
    key = f"mpi macros {host.identity(wrapper, wrapper.parent.parent / 'include' / 'mpi.h')}"
    known = host.memory.recall(key, tuple[str, str])
    if known is None:
        outcome = host.run([wrapper, "-dM", "-E", "-x", "c++", "-include", "mpi.h", "/dev/null"], environment)
        known = mpi_families.library_of(outcome.out) if outcome.ok else None
        if known is not None:
            host.memory.keep(key, known)
    return known


def _launcher(host: Host, paths: Iterable[Path], family: str, environment: dict[str, str]) -> Path | None:
    """Return the first of these launchers that is of the family, or None."""
    for path in paths:
        if not path.exists():
            continue
        key = f"launcher {host.identity(path)}"
        known = host.memory.recall(key, str)
        if known is None:
            outcome = host.run([path, "--version"], environment)
            known = mpi_families.launcher_of(outcome.out + outcome.err) or ""
            host.memory.keep(key, known)
        if known == family:
            return path
    return None

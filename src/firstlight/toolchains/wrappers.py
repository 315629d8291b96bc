"""MPI compiler wrappers: which library stands behind one, which launcher belongs to it, and whether it works."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from firstlight.toolchains import Absent, Mpi
from firstlight.toolchains.found import Compiler
from firstlight.toolchains.host import Host

LABELS = {"openmpi": "Open MPI", "mpich": "MPICH", "intel": "Intel MPI"}

SWAP = {
    "openmpi": ("OMPI_CXX", "OMPI_FC"),
    "mpich": ("MPICH_CXX", "MPICH_FC"),
    "intel": ("I_MPI_CXX", "I_MPI_FC"),
}
"""Variables that make a family's wrappers call another C++ or Fortran compiler."""

ENVIRONMENT = {"openmpi": {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}}
"""Open MPI refuses to start as root without both; for an ordinary user they mean nothing."""

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
# Asked for by its calls: the version in mpi.h is that of the whole standard, and Open MPI 5 has these and says 3.1.

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


def library_of(macros: str) -> tuple[str, str] | None:
    """(family, version) from the macros that mpi.h defines. Intel MPI is an MPICH too, so it is asked for first."""
    values = dict(re.findall(r'^#define (\w+) "?([^"\n]*)"?\s*$', macros, re.MULTILINE))
    if "I_MPI_VERSION" in values:
        return "intel", values["I_MPI_VERSION"]
    if "OMPI_MAJOR_VERSION" in values:
        parts = [values.get(f"OMPI_{part}_VERSION", "0") for part in ("MAJOR", "MINOR", "RELEASE")]
        return "openmpi", ".".join(parts)
    if "MPICH_VERSION" in values:
        return "mpich", values["MPICH_VERSION"]
    return None


def launcher_of(text: str) -> str | None:
    """The family that `mpiexec --version` names. Open MPI calls itself OpenRTE up to version 4, MPICH says HYDRA."""
    for family, words in (
        ("intel", ("Intel(R) MPI",)),
        ("openmpi", ("Open MPI", "OpenRTE", "PRRTE")),
        ("mpich", ("HYDRA", "MPICH")),
    ):
        if any(word in text for word in words):
            return family
    return None


def candidates(host: Host, suffix: str, prefixes: Sequence[Path] = ()) -> list[Path]:
    """C++ wrappers to look at: Debian's side-by-side name, those of `prefixes`, the path's mpicxx, modules' folders."""
    found = [host.which(f"mpicxx.{suffix}")]
    found += [prefix / "bin" / name for prefix in prefixes for name in ("mpigxx", "mpicxx")]
    found += [host.which("mpicxx"), host.which("mpic++")]
    found += [path for folder in _mpi_folders(suffix) for path in [folder / "bin" / "mpicxx"]]
    return [path for path in dict.fromkeys(found) if path is not None and path.exists()]


def _mpi_folders(suffix: str) -> list[Path]:
    """Where Fedora and openSUSE keep MPI libraries that are not on the path before `module load`."""
    lib = Path("/usr/lib64")
    return [lib / suffix, lib / "mpi" / "gcc" / suffix]


def first_of_family(host: Host, family: str, wrappers: Iterable[Path], origin: str) -> Mpi | str:
    """The first wrapper of `family` with a launcher of that family beside it, else why there is none."""
    reason = f"no compiler wrapper of {LABELS[family]} on the search path"
    for wrapper in wrappers:
        environment = dict(ENVIRONMENT.get(family, {}))
        if family == "intel":
            environment["I_MPI_ROOT"] = host.environ.get("I_MPI_ROOT") or str(wrapper.parent.parent)
        who = _who(host, wrapper, environment)
        if who is None or who[0] != family:
            continue
        _, dot, suffix = wrapper.name.partition(".")
        launcher = _launcher(host, wrapper.parent, dot + suffix, family, environment)
        if launcher is None:
            reason = f"{wrapper} is {LABELS[family]} {who[1]} but has no mpiexec of its own beside it"
            continue
        fortran = (wrapper.parent / f"{name}{dot}{suffix}" for name in ("mpifort", "mpif90"))
        return Mpi(
            name=family,
            family=family,
            label=f"{LABELS[family]} {who[1]}",
            version=who[1],
            origin=origin,
            cxx=str(wrapper),
            fortran=next((str(path) for path in fortran if path.exists()), None),
            f08=(),
            launcher=str(launcher),
            environment=environment,
        )
    return reason


def prove_mpi(host: Host, library: Mpi, compilers: Sequence[Compiler]) -> Mpi | Absent:
    """`library` with its `f08` and `mpi4` filled in, or Absent where even a C++ program does not link."""
    cxx_variable, fc_variable = SWAP[library.family]
    cxx = compilers[0].cxx
    key = f"mpi {host.identity(library.cxx, library.launcher, cxx)}"
    if not host.memory.recall(key, bool):
        outcome = host.trial(_CXX, ".cpp", [library.cxx], (), {**library.environment, cxx_variable: cxx}, run=False)
        if not outcome.ok:
            return Absent(library.label, f"{library.cxx} with {cxx}: {outcome.reason}", f"repair {library.label}")
        host.memory.keep(key, True)
    families = {c.family: c.fortran for c in reversed(compilers) if c.fortran}
    f08 = []
    for family, fortran in sorted(families.items()) if library.fortran else []:
        key = f"f08 {host.identity(library.fortran, fortran)}"
        if not host.memory.recall(key, bool):
            environment = {**library.environment, fc_variable: str(fortran)}
            if not host.trial(_F08, ".f90", [str(library.fortran)], (), environment, run=False).ok:
                continue
            host.memory.keep(key, True)
        f08.append(family)
    key = f"mpi4 {host.identity(library.cxx, library.launcher, cxx)}"
    mpi4 = host.memory.recall(key, bool)
    if mpi4 is None:
        mpi4 = host.trial(_MPI4, ".cpp", [library.cxx], (), {**library.environment, cxx_variable: cxx}, run=False).ok
        host.memory.keep(key, mpi4)
    return msgspec.structs.replace(library, f08=tuple(f08), mpi4=mpi4)


def _who(host: Host, wrapper: Path, environment: dict[str, str]) -> tuple[str, str] | None:
    key = f"mpi macros {host.identity(wrapper, wrapper.parent.parent / 'include' / 'mpi.h')}"
    known = host.memory.recall(key, tuple[str, str])
    if known is None:
        outcome = host.run([wrapper, "-dM", "-E", "-x", "c++", "-include", "mpi.h", "/dev/null"], environment)
        known = library_of(outcome.out) if outcome.ok else None
        if known is not None:
            host.memory.keep(key, known)
    return known


def _launcher(host: Host, folder: Path, suffix: str, family: str, environment: dict[str, str]) -> Path | None:
    for name in (f"mpiexec{suffix}", f"mpirun{suffix}"):
        path = folder / name
        if not path.exists():
            continue
        key = f"launcher {host.identity(path)}"
        known = host.memory.recall(key, str)
        if known is None:
            outcome = host.run([path, "--version"], environment)
            known = launcher_of(outcome.out + outcome.err) or ""
            host.memory.keep(key, known)
        if known == family:
            return path
    return None

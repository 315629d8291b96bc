"""Co-Array Fortran through OpenCoarrays: its `caf` wrapper shows which MPI library it was built with, and the flags."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from firstlight.system.mpi_families import of
from firstlight.toolchain import RUNTIMES, Absent, Linking, Mpi
from firstlight.toolchain.host import Host
from firstlight.toolchain.probe_result import Compiler

_TRIAL = """program trial
  implicit none
  integer, allocatable :: x(:)[:]
  allocate (x(4)[*])
  x(1:2)[1] = this_image()
  sync all
  if (x(1) < 1) error stop 1
end program
"""


def probe(host: Host, mpi: Mpi, compilers: Sequence[Compiler]) -> Linking | Absent:
    """Return the flags of the OpenCoarrays built with this library, proved by a trial, or why there is none."""
    what = f"{RUNTIMES['caf']} with {mpi.label}"
    family = of(mpi.family)
    apt = f"libcoarrays-{family.name}-dev" if family.apt else ""
    gfortran = next((c.fortran for c in compilers if c.family == "gcc" and c.fortran), None)
    if mpi.fortran is None or gfortran is None or "gcc" not in mpi.f08:
        lacking = "Fortran" if mpi.fortran is None else "mpi_f08 for an installed gfortran"
        fix = "use an MPI library with Fortran, and an OpenCoarrays that was built with it"
        packages = f"gfortran lib{family.name}-dev {apt}" if apt else ""
        return host.absent(what, f"{mpi.label} has no {lacking}", apt=packages, otherwise=fix)
    fix = f"install an OpenCoarrays that was built with {mpi.label}, and add its caf to PATH"
    flags = _flags(host, mpi, mpi.fortran)
    if flags is None:
        return host.absent(
            what, f"no OpenCoarrays for {mpi.label} was found: no caf uses this library", apt=apt, otherwise=fix
        )
    compile_flags, link_flags = flags
    libraries = [word for word in link_flags if word.startswith("/")]
    key = f"caf {compile_flags} {link_flags} {host.identity(mpi.fortran, gfortran, *libraries)}"
    if not host.memory.recall(key, bool):
        command = [mpi.fortran, *compile_flags]
        environment = mpi.environment | family.compilers(None, gfortran)
        outcome = host.trial(_TRIAL, ".f90", command, link_flags, environment, run=False)
        if not outcome.ok:
            return host.absent(what, outcome.reason, apt=apt, otherwise=fix)
        host.memory.keep(key, True)
    return Linking(tuple(compile_flags), tuple(link_flags), {}, ("gcc",))


def _flags(host: Host, mpi: Mpi, fortran: str) -> tuple[list[str], list[str]] | None:
    """Return (compile flags, link flags) of the first `caf` that calls the library's own Fortran wrapper, or None."""
    ours = Path(fortran)
    names = (f"caf.{mpi.family}", "caf")
    for caf in dict.fromkeys([*(ours.parent / name for name in names), *(host.which(name) for name in names)]):
        if caf is None or not caf.exists():
            continue
        key = f"caf wrapper {host.identity(caf)}"
        shown = host.memory.recall(key, str)
        if shown is None:
            shown = host.run([caf, "--show", "trial.f90"], mpi.environment).out
            host.memory.keep(key, shown)
        words = shlex.split(shown)
        if words and _same(Path(words[0]), ours) and "trial.f90" in words:
            options = [word for word in words[1:] if word != "trial.f90"]
            linked = [word for word in options if word.startswith(("-l", "-L", "-Wl,")) or word.endswith((".a", ".so"))]
            return [word for word in options if word not in linked], linked
    return None


def _same(other: Path, ours: Path) -> bool:
    """Return whether two Fortran wrappers belong to one installation: same folder, and Debian's same suffix."""
    suffixes = {path.name.partition(".")[2] for path in (other, ours)}
    return len(suffixes) == 1 and other.parent.resolve() == ours.parent.resolve()

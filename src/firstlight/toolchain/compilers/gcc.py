"""GNU compilers: g++ and other versions of it, each with the gfortran of its version."""

from __future__ import annotations

from firstlight.toolchain import Absent
from firstlight.toolchain.compiling import family_compilers, fortran_of
from firstlight.toolchain.host import Host
from firstlight.toolchain.probe_result import Compiler, Found


def probe(host: Host) -> Found[Compiler]:
    good, absent = family_compilers(host, "gcc", "g++", r"g\+\+-[0-9]+")
    if not good and not absent:
        absent.append(host.absent("gcc", "no g++ on the search path", apt="g++", dnf="gcc-c++"))
    return Found(*with_fortran(host, good, absent))


def with_fortran(
    host: Host, compilers: list[Compiler], absent: list[Absent]
) -> tuple[tuple[Compiler, ...], tuple[Absent, ...]]:
    """Add to each compiler the gfortran of its version; report a missing one."""
    joined = []
    for c in compilers:
        major = c.version.split(".")[0]
        fortran = fortran_of(host, c, (f"gfortran-{major}", "gfortran"))
        path, version = fortran or (None, None)
        joined.append(Compiler(c.name, c.family, c.version, c.cxx, path, version))
        if fortran is None:
            what = "gfortran" if c.name == "gcc" else f"gfortran-{major}"
            why = f"no working gfortran {major} was found for g++ {c.version}"
            absent.append(host.absent(what, why, apt=what, dnf="gcc-gfortran"))
    return tuple(joined), tuple(absent)

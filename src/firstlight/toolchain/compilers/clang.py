"""LLVM compilers: clang++ and other versions of it, each with the flang of its version."""

from __future__ import annotations

from firstlight.toolchain.compiling import family_compilers, fortran_of
from firstlight.toolchain.host import Host
from firstlight.toolchain.probe_result import Compiler, Found

RANK = 1  # after gcc: the first toolchain serves as the default of trials


def probe(host: Host) -> Found[Compiler]:
    good, absent = family_compilers(host, "clang", "clang++", r"clang\+\+-[0-9]+")
    if not good and not absent:
        absent.append(
            host.absent("clang", "no clang++ on the search path", apt="clang libomp-dev", dnf="clang libomp-devel")
        )
    joined = []
    for c in good:
        major = c.version.split(".")[0]
        names = (f"flang-new-{major}", f"flang-{major}", "flang-new", "flang")
        path, version = fortran_of(host, c, names) or (None, None)
        joined.append(Compiler(c.name, c.family, c.version, c.cxx, path, version))
    if not any(c.fortran for c in joined):
        version = f" of version {joined[0].version.split('.')[0]}" if joined else ""
        why = f"no working flang{version} on the search path"
        fix = "install LLVM's Fortran compiler in the version of your clang (Debian: clang-19 and flang-19)"
        absent.append(host.absent("flang", why, dnf="flang", otherwise=fix))
    return Found(tuple(joined), tuple(absent))

"""Compilers of vendors, identified by their own output, and $CXX if it is an unknown compiler."""

from __future__ import annotations

from pathlib import Path

from firstlight.toolchain import Absent, vendors
from firstlight.toolchain.compiling import fortran_of, knows_cxx20, version_in, who
from firstlight.toolchain.host import Host
from firstlight.toolchain.probe_result import Compiler, Found

RANK = 2  # the first toolchain serves as the default of trials


def probe(host: Host) -> Found[Compiler]:
    found: list[Compiler] = []
    absent: list[Absent] = []
    for name, vendor in vendors.every().items():
        paths = [path for cxx in vendor.cxx if (path := host.which(cxx)) is not None]
        mine = next(((path, known) for path in paths if (known := who(host, path)) and known[0] == name), None)
        if mine is not None:
            _take(host, Compiler(name, name, mine[1][1], str(mine[0])), vendor.label, found, absent)
    if (own := _unknown(host)) is not None:
        _take(host, own, own.cxx, found, absent)
    return Found(tuple(found), tuple(absent))


def _take(host: Host, compiler: Compiler, label: str, found: list[Compiler], absent: list[Absent]) -> None:
    outcome = knows_cxx20(host, Path(compiler.cxx), vendors.strict(compiler.family))
    if not outcome.ok:
        why = f"{compiler.cxx}: {outcome.reason}"
        absent.append(Absent(f"{label} {compiler.version}", why, "load a version with C++20"))
        return
    vendor = vendors.every().get(compiler.family)
    path, version = (fortran_of(host, compiler, vendor.fortran) if vendor else None) or (None, None)
    found.append(Compiler(compiler.name, compiler.family, compiler.version, compiler.cxx, path, version))


def _unknown(host: Host) -> Compiler | None:
    """Return the compiler that the user's $CXX names, if no file of firstlight identifies it, else None."""
    named = host.environ.get("CXX", "").split()
    path = host.which(named[0]) if len(named) == 1 else None
    if path is None or who(host, path) is not None:
        return None
    outcome = host.run([path, "--version"])
    version = version_in(outcome.out.strip()) if outcome.ok else None
    return Compiler(vendors.OTHER, vendors.OTHER, version or "0", str(path))

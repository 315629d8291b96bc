"""BLAS libraries put to the test: found as a file, linked by name with a run path, and asked for a scalar product."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from firstlight.toolchains import Blas
from firstlight.toolchains.host import Host

_TRIAL = """#include <cstdio>
extern "C" double {prefix}cblas_ddot(int n, const double* x, int incx, const double* y, int incy);
{declaration}
int main() {{
  const double x[3] = {{1, 2, 3}}, y[3] = {{4, 5, 6}};
  if ({prefix}cblas_ddot(3, x, 1, y, 1) != 32) return 1;
  {version}
}}
"""

_STANDARD = re.compile(r"(/usr)?/lib(32|64)?(/\w+-linux-gnu\w*)?")
"""Where linker and loader look by themselves. A compiler's own list is no such proof: it holds $LIBRARY_PATH."""


def library_folders(host: Host) -> list[Path]:
    """Where the linker looks: $LIBRARY_PATH, $LD_LIBRARY_PATH, then the compiler's own folders."""
    own = [Path(p) for name in ("LIBRARY_PATH", "LD_LIBRARY_PATH") for p in host.environ.get(name, "").split(":") if p]
    return [*own, *system_folders(host)]


def system_folders(host: Host) -> list[Path]:
    """The compiler's library folders, as it tells them."""
    key = f"folders {host.identity(host.cxx)}"
    known = host.memory.recall(key, list[str])
    if known is None:
        outcome = host.run([host.cxx, "-print-search-dirs"])
        match = re.search(r"^libraries: =?(.*)$", outcome.out, re.MULTILINE)
        known = list(dict.fromkeys(str(Path(p).resolve()) for p in (match[1] if match else "").split(":") if p))
        if outcome.ok:
            host.memory.keep(key, known)
    return [Path(p) for p in known]


def find_library(folders: Sequence[Path], names: Sequence[str], inside: Sequence[str] = ("",)) -> Path | None:
    """The first file of these names in one of the folders, or in their sub-folders `inside` (Debian's alternatives)."""
    for folder in folders:
        for sub in inside:
            for name in names:
                if (folder / sub / name).exists():
                    return folder / sub / name
    return None


def prove_blas(
    host: Host, name: str, label: str, library: Path, declaration: str, version: str, prefix: str = ""
) -> Blas | str:
    """The library as a Blas, or the reason why it is none. `declaration` and `version` are C++ that prints its version:
    the version is the first dotted number that the trial prints.
    """
    link = [f"-l:{library.name}"]
    if not _STANDARD.fullmatch(str(library.parent.resolve())):
        link = [f"-L{library.parent}", f"-Wl,-rpath,{library.parent}", *link]
    key = f"blas {name} {host.identity(library, host.cxx)}"
    number = host.memory.recall(key, str)
    if number is None:
        source = _TRIAL.format(prefix=prefix, declaration=declaration, version=version)
        outcome = host.trial(source, ".cpp", [host.cxx], link)
        if not outcome.ok:
            return f"{library}: {outcome.reason}"
        match = re.search(r"[0-9]+(?:\.[0-9]+)+", outcome.out)
        number = match[0] if match else ""
        host.memory.keep(key, number)
    return Blas(name, f"{label} {number}".strip(), (), tuple(link), prefix)

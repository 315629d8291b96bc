"""OpenBLAS of the system, or of a module that sets $LIBRARY_PATH, $EBROOTOPENBLAS or $OPENBLAS_ROOT."""

from __future__ import annotations

from pathlib import Path

from firstlight.toolchain import Library, Offer
from firstlight.toolchain.host import Host
from firstlight.toolchain.linking import find_library, library_folders
from firstlight.toolchain.offers import BLAS, Candidate, prove
from firstlight.toolchain.probe_result import Found

OFFERED: tuple[Offer, ...] = (*BLAS, "lapack")
VERSION = (
    'extern "C" char* {prefix}openblas_get_config(void);',
    "std::puts({prefix}openblas_get_config());",
)


def probe(host: Host) -> Found[Library]:
    roots = [host.environ[n] for n in ("EBROOTOPENBLAS", "OPENBLAS_ROOT", "OPENBLAS_DIR") if host.environ.get(n)]
    folders = [*(Path(root) / "lib" for root in roots), *library_folders(host)]
    library = find_library(
        folders, ("libopenblas.so", "libopenblas.so.0"), ("", "openblas-pthread", "openblas-openmp", "openblas-serial")
    )
    why = "no libopenblas.so in the linker's folders"
    if library is not None:
        declaration, version = (text.format(prefix="") for text in VERSION)
        answer, gaps = prove(host, Candidate("openblas", "OpenBLAS", [library], OFFERED, (declaration, version)))
        if isinstance(answer, Library):
            return Found((answer,), tuple(gaps))
        why = answer
    return Found(absent=(host.absent("system OpenBLAS", why, apt="libopenblas-dev", dnf="openblas-devel"),))

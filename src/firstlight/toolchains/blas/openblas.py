"""OpenBLAS of the system, or of a module that sets $LIBRARY_PATH, $EBROOTOPENBLAS or $OPENBLAS_ROOT."""

from __future__ import annotations

from pathlib import Path

from firstlight.toolchains import Blas
from firstlight.toolchains.found import Found
from firstlight.toolchains.host import Host
from firstlight.toolchains.linking import find_library, library_folders, prove_blas

VERSION = (
    'extern "C" char* {prefix}openblas_get_config(void);',
    "std::puts({prefix}openblas_get_config()); return 0;",
)


def probe(host: Host) -> Found[Blas]:
    roots = [host.environ[n] for n in ("EBROOTOPENBLAS", "OPENBLAS_ROOT", "OPENBLAS_DIR") if host.environ.get(n)]
    folders = [*(Path(root) / "lib" for root in roots), *library_folders(host)]
    library = find_library(
        folders, ("libopenblas.so", "libopenblas.so.0"), ("", "openblas-pthread", "openblas-openmp", "openblas-serial")
    )
    why = "no libopenblas.so in the linker's folders"
    if library is not None:
        declaration, version = (text.format(prefix="") for text in VERSION)
        answer = prove_blas(host, "openblas", "OpenBLAS", library, declaration, version)
        if isinstance(answer, Blas):
            return Found((answer,))
        why = answer
    return Found(absent=(host.absent("system OpenBLAS", why, apt="libopenblas-dev", dnf="openblas-devel"),))

"""The reference BLAS and LAPACK of Netlib: slow and correct, the comparison for other libraries."""

from __future__ import annotations

from firstlight.toolchain import Library
from firstlight.toolchain.host import Host
from firstlight.toolchain.linking import find_library, library_folders
from firstlight.toolchain.offers import BLAS, Candidate, prove
from firstlight.toolchain.probe_result import Found

RANK = 2

# Systems let other libraries take its name (Debian's alternatives); those are found under their own.
_OTHERS = ("openblas_get_config", "bli_info_get_version_str", "mkl_get_version_string", "flexiblas_get_version")
_VERSION = (
    "".join(f'extern "C" void {name}() __attribute__((weak));\n' for name in _OTHERS)
    + 'extern "C" void ilaver_(int*, int*, int*) __attribute__((weak));',
    f'if ({" || ".join(_OTHERS)}) {{ std::fputs("error: another library has this name here", stderr); return 1; }}'
    'if (ilaver_) { int v[3]; ilaver_(v, v + 1, v + 2); std::printf("%d.%d.%d", v[0], v[1], v[2]); }',
)


def probe(host: Host) -> Found[Library]:
    folders = library_folders(host)
    blas = find_library(folders, ("libblas.so", "libblas.so.3"), ("blas", ""))
    lapack = find_library(folders, ("liblapack.so", "liblapack.so.3"), ("lapack", ""))
    why = "no libblas.so in the linker's folders"
    if blas is not None:
        names = find_library([blas.parent], ("libcblas.so", "libcblas.so.3"))  # Debian's libblas.so contains them, too
        files = [file for file in (lapack, names, blas) if file is not None]
        candidate = Candidate("netlib", "Netlib LAPACK", files, (*BLAS, "lapack"), _VERSION, reference=True)
        answer, gaps = prove(host, candidate)
        if isinstance(answer, Library):
            return Found((answer,), tuple(gaps))
        why = answer
    fix = {"apt": "libblas-dev liblapack-dev", "dnf": "blas-devel lapack-devel"}
    return Found(absent=(host.absent("reference BLAS and LAPACK", why, **fix),))

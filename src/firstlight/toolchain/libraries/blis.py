"""BLIS of the system (Debian keeps its builds in folders of their own), or of a module."""

from __future__ import annotations

from pathlib import Path

from firstlight.toolchain import Library
from firstlight.toolchain.host import Host
from firstlight.toolchain.linking import find_library, library_folders
from firstlight.toolchain.offers import BLAS, Candidate, prove
from firstlight.toolchain.probe_result import Found


def probe(host: Host) -> Found[Library]:
    roots = [host.environ[name] for name in ("EBROOTBLIS", "BLIS_ROOT") if host.environ.get(name)]
    folders = [*(Path(root) / "lib" for root in roots), *library_folders(host)]
    names = ("libblis.so", "libblis.so.4", "libblis-mt.so", "libblis.so.3")
    library = find_library(folders, names, ("", "blis-openmp", "blis-pthread", "blis-serial"))
    why = "no libblis.so in the linker's folders"
    if library is not None:
        declaration = 'extern "C" const char* bli_info_get_version_str(void);'
        version = (declaration, "std::puts(bli_info_get_version_str());")
        answer, gaps = prove(host, Candidate("blis", "BLIS", [library], BLAS, version))
        if isinstance(answer, Library):
            return Found((answer,), tuple(gaps))
        why = answer
    return Found(absent=(host.absent("BLIS", why, apt="libblis-openmp-dev", dnf="blis-devel"),))

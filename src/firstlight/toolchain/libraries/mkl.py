"""Intel MKL: $MKLROOT, or pip's mkl-devel next to this Python, or in the linker's folders."""

from __future__ import annotations

import sys
from pathlib import Path

from firstlight import typed
from firstlight.toolchain import Library
from firstlight.toolchain.host import Host
from firstlight.toolchain.linking import find_library, library_folders
from firstlight.toolchain.offers import OFFERS, Candidate, prove
from firstlight.toolchain.probe_result import Found


def probe(host: Host) -> Found[Library]:
    root = host.environ.get("MKLROOT")
    folders = [Path(root) / "lib", Path(root) / "lib" / "intel64"] if root else []
    folders += [Path(sys.prefix) / "lib", *library_folders(host)]
    library = find_library(folders, ("libmkl_rt.so", "libmkl_rt.so.3", "libmkl_rt.so.2"))
    why = "no libmkl_rt.so in $MKLROOT, next to this Python or in the linker's folders"
    if library is not None:
        declaration = 'extern "C" void mkl_get_version_string(char*, int);'
        version = (declaration, "char text[200] = {}; mkl_get_version_string(text, 199); std::puts(text);")
        answer, gaps = prove(host, Candidate("mkl", "MKL", [library], OFFERS, version))
        if isinstance(answer, Library):
            return Found((answer,), tuple(gaps))
        why = answer
    fix = f"optional, 1 GB, x86-64 only: {typed(Path(sys.executable))} -m pip install mkl-devel"
    return Found(absent=(host.absent("MKL", why, otherwise=fix),))

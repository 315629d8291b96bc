"""FFTW 3 of the system, or of a module."""

from __future__ import annotations

from pathlib import Path

from firstlight.toolchain import Library
from firstlight.toolchain.host import Host
from firstlight.toolchain.linking import find_library, library_folders
from firstlight.toolchain.offers import Candidate, prove
from firstlight.toolchain.probe_result import Found


def probe(host: Host) -> Found[Library]:
    names = ("EBROOTFFTW", "FFTW_ROOT", "FFTW_DIR", "FFTW_HOME")
    roots = [host.environ[name] for name in names if host.environ.get(name)]
    folders = [*(Path(root) / lib for root in roots for lib in ("lib", "lib64")), *library_folders(host)]
    library = find_library(folders, ("libfftw3.so", "libfftw3.so.3"))
    why = "no libfftw3.so in the linker's folders"
    if library is not None:
        version = ('extern "C" const char fftw_version[];', "std::puts(fftw_version);")
        answer, gaps = prove(host, Candidate("fftw3", "FFTW", [library], ("fft",), version))
        if isinstance(answer, Library):
            return Found((answer,), tuple(gaps))
        why = answer
    return Found(absent=(host.absent("FFTW", why, apt="libfftw3-dev", dnf="fftw-devel"),))

"""Libraries of the system or of a module: found as a file, linked by name with a run path."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from firstlight.toolchain.host import Host

_STANDARD = re.compile(r"(/usr)?/lib(32|64)?(/\w+-linux-gnu\w*)?")
"""Folders that linker and loader always search. A compiler's own list is not a proof: it includes $LIBRARY_PATH."""


def library_folders(host: Host) -> list[Path]:
    """Return the folders that the linker searches: $LIBRARY_PATH, $LD_LIBRARY_PATH, then the compiler's own."""
    own = [Path(p) for name in ("LIBRARY_PATH", "LD_LIBRARY_PATH") for p in host.environ.get(name, "").split(":") if p]
    return [*own, *system_folders(host)]


def system_folders(host: Host) -> list[Path]:
    """Return the library folders that the compiler prints."""
    key = f"folders {host.identity(host.cxx)}"
    known = host.memory.recall(key, list[str])
    if known is None:
        outcome = host.run([host.cxx, "-print-search-dirs"])
        match = re.search(r"^libraries: =?(.*)$", outcome.out, re.MULTILINE)
        known = list(dict.fromkeys(str(Path(p).resolve()) for p in (match[1] if match else "").split(":") if p))
        if outcome.ok:
            host.memory.keep(key, known)
    return [Path(p) for p in known if host.shows(Path(p))]


def find_library(folders: Sequence[Path], names: Sequence[str], inside: Sequence[str] = ("",)) -> Path | None:
    """Return the first file of these names in a folder or in its sub-folders `inside` (Debian's alternatives)."""
    for folder in folders:
        for sub in inside:
            for name in names:
                if (folder / sub / name).exists():
                    return folder / sub / name
    return None


def link_flags(files: Sequence[Path]) -> list[str]:
    """Return flags that link by file name, with a run path for folders that the loader does not search by itself.

    Several files are all linked, in their order: what one needs from the next then comes from that very file.
    """
    folders = dict.fromkeys(f.parent for f in files if not _STANDARD.fullmatch(str(f.parent.resolve())))
    paths = [flag for folder in folders for flag in (f"-L{folder}", f"-Wl,-rpath,{folder}")]
    named = [f"-l:{file.name}" for file in files]
    return [*paths, *named] if len(files) < 2 else [*paths, "-Wl,--no-as-needed", *named]

"""Libraries of the system or of a module: found as a file, linked by name with a run path."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from firstlight.toolchain.host import Host

_STANDARD = re.compile(r"(/usr)?/lib(32|64)?(/\w+-linux-gnu\w*)?")
"""Where linker and loader look by themselves. A compiler's own list does not prove it: it includes $LIBRARY_PATH."""


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
    return [Path(p) for p in known if host.shows(Path(p))]


def find_library(folders: Sequence[Path], names: Sequence[str], inside: Sequence[str] = ("",)) -> Path | None:
    """The first file of these names in one of the folders, or in their sub-folders `inside` (Debian's alternatives)."""
    for folder in folders:
        for sub in inside:
            for name in names:
                if (folder / sub / name).exists():
                    return folder / sub / name
    return None


def link_flags(files: Sequence[Path]) -> list[str]:
    """By file name, with a run path where the loader does not look by itself. Several are linked in their order, all of
    them: what one needs of the next is then taken from that very file.
    """
    folders = dict.fromkeys(f.parent for f in files if not _STANDARD.fullmatch(str(f.parent.resolve())))
    paths = [flag for folder in folders for flag in (f"-L{folder}", f"-Wl,-rpath,{folder}")]
    named = [f"-l:{file.name}" for file in files]
    return [*paths, *named] if len(files) < 2 else [*paths, "-Wl,--no-as-needed", *named]

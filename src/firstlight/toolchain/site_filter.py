"""The compilers and libraries that firstlight uses: all that are installed, unless the site file excludes some."""

from __future__ import annotations

from msgspec.structs import replace

from firstlight.system import site
from firstlight.toolchain import SITE_FLAGS, Absent, Toolbox


def considered(toolbox: Toolbox, read: site.Read) -> Toolbox:
    """Return the toolbox without what the file leaves out, which becomes absent with the line of the file as reason.

    Flags of the file are part of every flag set and of its name: gcc-fast+site.
    """
    if toolbox.emulator:  # what is named is of this machine's own processor
        return toolbox
    compilers, mpi = read.site.compilers, read.site.mpi
    chains = tuple(t for t in toolbox.toolchains if site.chosen(compilers, t.compiler, t.name))
    libraries = tuple(m for m in toolbox.mpis if site.chosen(mpi, m.name))
    out = [
        _out(t.name, site.left_out(read, "compilers", t.compiler, t.name))
        for t in toolbox.toolchains
        if t not in chains
    ]
    out += [_out(m.label, site.left_out(read, "mpi", m.name)) for m in toolbox.mpis if m not in libraries]
    if compilers.flags:
        chains = tuple(replace(t, name=f"{t.name}{SITE_FLAGS}", flags=(*t.flags, *compilers.flags)) for t in chains)
    changed = out or compilers.flags
    return replace(toolbox, toolchains=chains, mpis=libraries, absent=(*toolbox.absent, *out)) if changed else toolbox


def _out(what: str, why: str) -> Absent:
    return Absent(what, why, "change this line, or use FIRSTLIGHT_SITE= ./fl to ignore the file")

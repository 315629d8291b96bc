"""Open MPI of the system: Debian's side-by-side names, or the mpicxx on the path, or a module's."""

from __future__ import annotations

from firstlight.toolchains import Mpi
from firstlight.toolchains.found import Found
from firstlight.toolchains.host import Host
from firstlight.toolchains.wrappers import candidates, first_of_family


def probe(host: Host) -> Found[Mpi]:
    found = first_of_family(host, "openmpi", candidates(host, "openmpi"), "system")
    if isinstance(found, Mpi):
        return Found((found,))
    fix = {"apt": "openmpi-bin libopenmpi-dev", "dnf": "openmpi-devel"}
    return Found(absent=(host.absent("system Open MPI", found, **fix),))

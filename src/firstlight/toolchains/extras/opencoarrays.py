"""OpenCoarrays: coarray Fortran over MPI."""

from __future__ import annotations

from firstlight.toolchains.found import Found
from firstlight.toolchains.host import Host


def probe(host: Host) -> Found[None]:
    if any(host.which(name) for name in ("caf", "caf.openmpi", "caf.mpich")):
        return Found()
    why = "no caf on the search path"
    fix = "install OpenCoarrays, so that caf is on PATH"
    return Found(
        absent=(host.absent("OpenCoarrays", why, apt="libcoarrays-openmpi-dev open-coarrays-bin", otherwise=fix),)
    )

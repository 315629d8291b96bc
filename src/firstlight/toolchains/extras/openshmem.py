"""OpenSHMEM compilers, as Open MPI brings them."""

from __future__ import annotations

from firstlight.toolchains.found import Found
from firstlight.toolchains.host import Host


def probe(host: Host) -> Found[None]:
    if host.which("oshcc") or host.which("oshcc.openmpi"):
        return Found()
    why = "no oshcc on the search path"
    fix = "install an Open MPI with OpenSHMEM, so that oshcc is on PATH"
    return Found(absent=(host.absent("OpenSHMEM", why, apt="openmpi-bin libopenmpi-dev", otherwise=fix),))

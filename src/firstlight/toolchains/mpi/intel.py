"""Intel MPI: $I_MPI_ROOT, or pip's impi-devel beside this Python or in the cache's mpi/intel."""

from __future__ import annotations

import sys
from pathlib import Path

from firstlight.toolchains import Mpi
from firstlight.toolchains.found import Found
from firstlight.toolchains.host import Host
from firstlight.toolchains.wrappers import candidates, first_of_family

RANK = 2


def probe(host: Host) -> Found[Mpi]:
    root = host.environ.get("I_MPI_ROOT")
    if root:
        found = first_of_family(host, "intel", candidates(host, "intel", [Path(root)]), "system")
        if isinstance(found, Mpi):
            return Found((found,))
    wheels = [host.cache_dir / "mpi" / "intel", Path(sys.prefix)]
    found = first_of_family(host, "intel", candidates(host, "intel", wheels), "wheel")
    if isinstance(found, Mpi):
        return Found((found,))
    place = host.cache_dir / "mpi" / "intel"
    fix = f"optional, 330 MB: python3 -m venv '{place}' && '{place}/bin/pip' install impi-devel"
    return Found(absent=(host.absent("Intel MPI", found, otherwise=fix),))

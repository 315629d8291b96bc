"""Slurm, the batch system."""

from __future__ import annotations

from firstlight.toolchains.found import Found
from firstlight.toolchains.host import Host


def probe(host: Host) -> Found[None]:
    if host.which("srun") and host.which("sbatch"):
        return Found()
    why = "no srun and sbatch on the search path"
    fix = "only needed on a cluster: run on a host that can submit jobs"
    return Found(absent=(host.absent("Slurm", why, otherwise=fix),))

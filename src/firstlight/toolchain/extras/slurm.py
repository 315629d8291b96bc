"""Slurm, the batch system."""

from __future__ import annotations

from firstlight.toolchain.host import Host
from firstlight.toolchain.probe_result import Found


def probe(host: Host) -> Found[str]:
    srun, sbatch = host.which("srun"), host.which("sbatch")
    if srun is None or sbatch is None:
        why = "no srun and sbatch on the search path"
        fix = "only required on a cluster: use a host that can submit jobs"
        return Found(absent=(host.absent("Slurm", why, otherwise=fix),))
    version = host.run([srun, "--version"], timeout=10)
    words = version.out.split()
    if not version.ok or len(words) < 2:
        fix = "set SLURM_CONF to the cluster's slurm.conf, or ignore this entry: only job submission requires Slurm"
        return Found(absent=(host.absent("Slurm", f"srun --version: {version.reason}", otherwise=fix),))
    return Found(items=(f"Slurm {words[-1]}",))

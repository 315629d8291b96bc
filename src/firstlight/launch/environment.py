"""The environment of a launched program: allowed variables of the user, threads, and the mark of the launch."""

from __future__ import annotations

import os
from collections.abc import Mapping

from firstlight.mpi_families import every
from firstlight.plan import Placement
from firstlight.process.tree import MARK

NAMES = ("PATH", "HOME", "USER", "TMPDIR", "LD_LIBRARY_PATH")
PREFIXES = (*(prefix for family in every() for prefix in family.variables), "PMIX_", "UCX_", "FI_", "OMP_")
DEVICES = (
    "CUDA_VISIBLE_DEVICES",
    "CUDA_DEVICE_ORDER",
    "ROCR_VISIBLE_DEVICES",
    "HIP_VISIBLE_DEVICES",
    "GPU_DEVICE_ORDINAL",
    "ZE_AFFINITY_MASK",
    "ACC_DEVICE_TYPE",
    "ACC_DEVICE_NUM",
)
"""Which devices a program may use: set by batch systems and users. They may name devices, so they are not recorded."""
BATCH = ("SLURM_", "PBS_", "FLUX_")
"""What launchers learn their nodes from; with the names of hosts, so not recorded."""


def allowed(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables of the user that reach a program. No others do: runs can be compared and hold no secrets."""
    names, prefixes = NAMES + DEVICES, PREFIXES + BATCH
    return {name: value for name, value in environment.items() if name in names or name.startswith(prefixes)}


def compose(placement: Placement, identity: str, extra: Mapping[str, str]) -> dict[str, str]:
    """The whole environment of one launch; `extra` is what its launcher and its MPI library need."""
    environment = allowed(os.environ)
    environment |= {
        "LC_ALL": "C",
        "OMP_NUM_THREADS": str(placement.threads),
        # A BLAS that starts threads of its own would measure something else than its label says.
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "BLIS_NUM_THREADS": "1",
    }
    if "SLURM_JOB_ID" in environment:
        # mpiexec starts its helpers by srun; in a shell from `srun --pty` that waits for ever for the shell to end.
        environment["SLURM_OVERLAP"] = "1"
    return environment | dict(extra) | {MARK: identity}

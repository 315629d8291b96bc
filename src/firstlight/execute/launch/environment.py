"""The environment of a launched program: allowed variables of the user, threads, and the mark of the launch."""

from __future__ import annotations

import os
from collections.abc import Mapping

from firstlight.model.plan import ExternalCommand, Placement
from firstlight.system.mpi_families import every, outside
from firstlight.system.process.tree import MARK

SEARCHED = ("LD_LIBRARY_PATH",)
"""Where programs find their libraries: recorded, for others are another measurement. LD_PRELOAD reaches no program."""
NAMES = ("PATH", "HOME", "USER", "TMPDIR", *SEARCHED)
FABRICS = ("UCX_", "FI_", "PSM2_", "PSM3_", "HFI_", "CXI_", "IBV_", "RDMAV_", "MLX5_")
"""Settings of what lies below an MPI library: they decide how fast it is, and are recorded."""
PREFIXES = (*(prefix for family in every() for prefix in family.variables), "PMIX_MCA_", *FABRICS, "OMP_")
TEAMS = (
    "OMP_THREAD_LIMIT",
    "OMP_DYNAMIC",
    "OMP_MAX_ACTIVE_LEVELS",
    "OMP_NESTED",
    "OMP_NUM_TEAMS",
    "OMP_TEAMS_THREAD_LIMIT",
    "OMP_CANCELLATION",
    "OMP_TOOL",
    "OMP_TOOL_LIBRARIES",
)
"""Variables that reach no program: a figure must not show a team smaller than its placement, or one under a tool."""
DEVICES = (
    "CUDA_",
    "NVIDIA_VISIBLE_DEVICES",
    "NVCOMPILER_ACC_",
    "ROCR_",
    "HIP_",
    "HSA_",
    "GPU_DEVICE_ORDINAL",
    "ZE_",
    "ONEAPI_DEVICE_SELECTOR",
    "SYCL_",
    "LIBOMPTARGET_",
    "ACC_",
)
"""Which devices a program may use, and how: set by batch systems and users. They may name devices or folders, so they
are not recorded."""
BATCH = ("SLURM_", "PBS_", "PALS_", "FLUX_", "LSB_", "LSF_", "JSM_", "PJM_", "ALPS_", "CRAY_", "PMI_", "PMI2_")
"""What launchers learn their nodes from, and the process managers between them and MPI; with the names of hosts, so not
recorded. What in them is of the job that firstlight itself is a rank of goes no further: see `mpi_families.outside`."""


def allowed(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables of the user that reach a program. No others do: runs can be compared and hold no secrets."""
    prefixes = PREFIXES + DEVICES + BATCH
    passed = {n: value for n, value in outside(environment).items() if n in NAMES or n.startswith(prefixes)}
    return {n: value for n, value in passed.items() if n not in TEAMS}


def compose(
    placement: Placement, identity: str, extra: Mapping[str, str], guest: ExternalCommand | None = None
) -> dict[str, str]:
    """The whole environment of one launch; `extra` is what its launcher and its MPI library need.

    What a guest's user gave it goes before all but that; its threads are its own business unless its placement tells.
    """
    environment = allowed(os.environ) | {"LC_ALL": "C"}
    if guest is None or guest.placed:
        environment["OMP_NUM_THREADS"] = str(placement.threads)
    if guest is None:  # a BLAS that starts threads of its own would measure something else than its label says
        environment |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"), "1")
    else:
        environment |= guest.environment
    if "SLURM_JOB_ID" in environment:
        # mpiexec starts its helpers by srun; in a shell from `srun --pty` that waits for ever for the shell to end.
        environment["SLURM_OVERLAP"] = "1"
    return environment | dict(extra) | {MARK: identity}

"""The environment of a launched program: allowed variables of the user, threads, and the mark of the launch."""

from __future__ import annotations

import os
from collections.abc import Mapping

from firstlight.model.plan import ExternalCommand, Placement
from firstlight.system.mpi_families import every, of, outside
from firstlight.system.process.tree import MARK
from firstlight.toolchain import Mpi

SEARCHED = ("LD_LIBRARY_PATH",)
"""Where programs find their libraries: recorded, as others are another measurement. LD_PRELOAD reaches no program."""
NAMES = ("PATH", "HOME", "USER", "TMPDIR", *SEARCHED)
FABRICS = ("UCX_", "FI_", "PSM2_", "PSM3_", "HFI_", "CXI_", "IBV_", "RDMAV_", "MLX5_")
"""Prefixes of settings for the layers below an MPI library: they decide how fast it is, and are recorded."""
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
"""Variables that reach no program: no result may be from a team smaller than its placement, or under a tool."""
DECIDED = ("OMP_NUM_THREADS", "OMP_PLACES", "OMP_PROC_BIND")
"""Variables that placements decide: a user's values reach external commands only."""
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
"""Prefixes of variables, set by batch systems and users, for the devices that a program may use. They may name devices
or folders, so they are not recorded."""
BATCH = ("SLURM_", "PBS_", "PALS_", "FLUX_", "LSB_", "LSF_", "JSM_", "PJM_", "ALPS_", "CRAY_", "PMI_", "PMI2_")
"""Prefixes of variables in which launchers, and process managers between them and MPI, find their nodes. They contain
names of hosts, so they are not recorded. `mpi_families.outside` removes those of the job around firstlight itself."""


def allowed(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the user's variables that reach a program. No others do: runs are comparable and contain no secrets."""
    prefixes = PREFIXES + DEVICES + BATCH
    passed = {n: value for n, value in outside(environment).items() if n in NAMES or n.startswith(prefixes)}
    return {n: value for n, value in passed.items() if n not in TEAMS}


def settings(mpi: Mpi) -> tuple[str, ...]:
    """Return the user's variables that reach the launcher of an MPI library and may make it fail."""
    prefixes = (*of(mpi.family).variables, "PMIX_MCA_", *FABRICS)
    return tuple(sorted(n for n in allowed(os.environ) if n.startswith(prefixes) and n not in mpi.environment))


def compose(
    placement: Placement, identity: str, extra: Mapping[str, str], external: ExternalCommand | None = None
) -> dict[str, str]:
    """Return the whole environment of one launch; `extra` is what its launcher and its MPI library need.

    Variables of an external command override all but `extra`; OMP_NUM_THREADS is set for it only if it is placed.
    """
    kept = allowed(os.environ)
    environment = {n: v for n, v in kept.items() if external is not None or n not in DECIDED} | {"LC_ALL": "C"}
    if external is None or external.placed:
        environment["OMP_NUM_THREADS"] = str(placement.threads)
    if external is None:  # a BLAS that starts threads of its own would measure something else than its label states
        environment |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"), "1")
    else:
        environment |= external.environment
    if "SLURM_JOB_ID" in environment:
        # mpiexec starts its helpers by srun; in a shell from `srun --pty` that waits for ever for the shell to end.
        environment["SLURM_OVERLAP"] = "1"
    return environment | dict(extra) | {MARK: identity}

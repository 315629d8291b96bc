"""Open MPI (mpiexec of 4, prterun of 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from firstlight.system.mpi_families.family import Family, Layout, NodeCapacity, bind_unit


class OpenMpi(Family):
    name, label = "openmpi", "Open MPI"
    launcher_says = ("Open MPI", "OpenRTE", "PRRTE")  # up to version 4 it calls itself OpenRTE
    soname = r"libmpi\.so(?!\.1[23]$).*"
    apt, dnf = "openmpi-bin libopenmpi-dev", "openmpi-devel"
    debian_default = True
    embedded = True
    wrapped = "OMPI"
    skip_cxx = "OMPI_SKIP_MPICXX"
    variables = ("OMPI_", "OPAL_", "PRTE_")
    home_files = tuple(f".{name}/mca-params.conf" for name in ("openmpi", "prte", "pmix"))
    per_rank_env = (
        r"OMPI_(COMM_WORLD|UNIVERSE|APP_CTX|NUM_APP|FIRST|FILE|ARGV|COMMAND|VERSION|RELEASE)\w*|PRTE_(?!MCA_)\w+|"
        r"OMPI_MCA_(ess|ess_\w+|pmix|initial_wdir|shmem_RUNTIME_\w+|mpi_oversubscribe|orte_(hnp_uri|local_daemon_uri|"
        r"parent_uri|jobfam_session_dir|top_session_dir|ess_\w+|app_num|launch|num_nodes|bound_at_launch|"
        r"precondition_transports))|PRTE_MCA_(ess|ess_\w+|prte_(hnp_uri|parent_uri|ess_\w+))"
    )
    placement_env = (
        r"(OMPI|PRTE)_MCA_(rmaps(_\w+)?|ras_(base|simulator)_\w+|hwloc_(base|default|use)_\w+)|"
        r"(OMPI_MCA_orte|PRTE_MCA_prte)_(default_(hostfile|dash_host)|rankfile|set_default_slots)"
    )
    launchers = ("mpiexec", "mpirun", "orterun", "prterun", "oshrun")
    pmi = ("pmix", "pmi2")
    mpi4_since = "5"
    shmem_wrapper = "oshcc"
    conversions_are_functions = True
    fortran_symbols = ("_", "_f08_")  # all of its Fortran functions call PMPI functions
    tuning = "rules"
    ranking = "rankfile"

    def version(self, macros: Mapping[str, str]) -> str | None:
        if "OMPI_MAJOR_VERSION" not in macros:
            return None
        return ".".join(macros.get(f"OMPI_{part}_VERSION", "0") for part in ("MAJOR", "MINOR", "RELEASE"))

    def environment(self, prefix: Path, environ: Mapping[str, str]) -> dict[str, str]:
        """Return both variables without which it refuses to start as root; an ordinary user is not affected."""
        return {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

    def placing(self, spread: Layout, room: NodeCapacity) -> Sequence[str]:
        unit = bind_unit(spread, room)
        # Its slots are cores, unless this option makes them hardware threads; PE counts the same.
        many = ["--use-hwthread-cpus"] if unit == "hwthread" else ["--oversubscribe"] * (spread.per_node > room.cores)
        if spread.nodes > 1:
            wide = f":PE={spread.threads}" if unit and spread.threads > 1 else ""
            return [*many, "--map-by", f"ppr:{spread.per_node}:node{wide}", "--bind-to", unit or "none"]
        if not unit:  # explicit: the default binds, and even a rank with many threads to one core
            return [*many, "--bind-to", "none"]
        return [*many, "--map-by", unit if spread.threads == 1 else f"slot:PE={spread.threads}", "--bind-to", unit]

    def mapped(self, file: str, cpus: Sequence[int]) -> Sequence[str]:
        return ["--rankfile", file]

    # Version 5 starts libfabric for a query: 1 s per launch. Ranks of a node use shared memory with and without it.
    on_one_node: Mapping[str, str] = {"OMPI_MCA_btl": "^ofi", "OMPI_MCA_mtl": "^ofi"}

    def export_options(self, variables: Sequence[str]) -> Sequence[str]:
        """Return the -x options: its launcher exports only named variables to other nodes."""
        return [word for variable in variables for word in ("-x", variable)]

    shm_patterns = ("/dev/shm/vader_segment.*", "/dev/shm/sm_segment.*", "/dev/shm/osc_sm.*", "/dev/shm/osc_rdma.*")

    def temporary(self, folder: str) -> dict[str, str]:
        return {"OMPI_MCA_orte_tmpdir_base": folder, "PRTE_MCA_prte_tmpdir_base": folder}

    def eager_limit(self, version: str) -> str:
        """Return the variable of the component for shared memory, which was called vader before version 5."""
        return f"OMPI_MCA_btl_{'vader' if version.split('.')[0] in ('3', '4') else 'sm'}_eager_limit"

    def shmem_environment(self, version: str) -> dict[str, str]:
        """Return variables that exclude the old InfiniBand component of version 4, without loss: UCX does the work.
        Version 4 unloads it at the end of shmem_finalize while UCX still calls it: a crash after correct results.
        """
        return {"OMPI_MCA_btl": "^openib"} if version.split(".")[0] == "4" else {}


FAMILY = OpenMpi()

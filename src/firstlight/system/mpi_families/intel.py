"""Intel MPI (its own hydra): $I_MPI_ROOT, or pip's impi-devel in this Python's folder or in the cache's mpi/intel."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from firstlight import typed
from firstlight.system.mpi_families.family import Family, Layout, NodeCapacity, Origin, bind_unit


class Intel(Family):
    name, label, rank = "intel", "Intel MPI", 2
    base = "mpich"
    launcher_says = ("Intel(R) MPI",)
    wrapped = "I_MPI"
    wrapper_names = ("mpigxx", "mpicxx")
    variables = ("I_MPI_",)
    per_rank_env = r"I_MPI_(INFO|HYDRA_JOB|MPIRUN)\w*"
    placement_env = r"I_MPI_(PIN(_\w+)?|PERHOST|HYDRA_HOSTS?_\w+|JOB_RESPECT_PROCESS_PLACEMENT|PROCESS_PLACEMENT\w*)"
    pmi = ("pmi2", "pmix")
    signal_message = r"KILLED BY SIGNAL: (\d{1,2})"
    fortran_symbols = ("_f08_",)
    shm_patterns = (
        "/dev/shm/Intel_MPI_*",
        "/dev/shm/mpich_shar_tmp*",
        "/dev/shm/mpich_shm_*",
        "/tmp/hydra_hwloc_xmlfile_*",
    )

    def version(self, macros: Mapping[str, str]) -> str | None:
        return macros.get("I_MPI_VERSION")

    def searches(self, cache: Path, environ: Mapping[str, str]) -> list[tuple[Origin, list[Path]]]:
        root = environ.get("I_MPI_ROOT")
        own: list[tuple[Origin, list[Path]]] = [("system", [Path(root)])] if root else []
        return [*own, ("wheel", [cache / "mpi" / self.name, Path(sys.prefix)])]

    def fix(self, cache: Path) -> str:
        place = typed(cache / "mpi" / self.name)
        pip = typed(cache / "mpi" / self.name / "bin" / "pip")
        return f"optional, 330 MB: python3 -m venv {place} && {pip} install impi-devel"

    def environment(self, prefix: Path, environ: Mapping[str, str]) -> dict[str, str]:
        return {"I_MPI_ROOT": environ.get("I_MPI_ROOT") or str(prefix)}

    def placing(self, spread: Layout, room: NodeCapacity) -> Sequence[str]:
        return ["-ppn", str(spread.per_node)] if spread.nodes > 1 else []

    def pinning(self, spread: Layout, room: NodeCapacity) -> dict[str, str]:
        # On several nodes it uses the batch system's layout instead of -ppn, unless this variable is 0.
        layout = {"I_MPI_JOB_RESPECT_PROCESS_PLACEMENT": "0"} if spread.nodes > 1 else {}
        unit = bind_unit(spread, room)
        if not unit:
            return {"I_MPI_PIN": "0"} | layout
        # Sizes of domains count hardware threads, unless cells are cores.
        cell = {"I_MPI_PIN_CELL": "core" if unit == "core" else "unit"} if room.threads > room.cores else {}
        domain = "core" if spread.threads == 1 and unit == "core" else f"{spread.threads}:compact"
        return {"I_MPI_PIN": "1", "I_MPI_PIN_DOMAIN": domain} | cell | layout


FAMILY = Intel()

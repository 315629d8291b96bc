"""HPE Cray MPICH: $CRAY_MPICH_DIR of its module. It includes no mpiexec: srun, PALS or aprun start its programs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from firstlight.system.mpi_families.family import Origin
from firstlight.system.mpi_families.mpich import Mpich


class Cray(Mpich):
    name, label, rank = "cray", "Cray MPICH", 3
    base = "mpich"
    launcher_says = ()
    brings_launcher = False
    soname = r"libmpi_(cray|gnu|intel|nvidia|amd|aocc)(_\d+)?\.so.*"
    apt = dnf = ""
    embedded = False
    pmi = ("cray_shasta", "pmi2", "pmix")

    def version(self, macros: Mapping[str, str]) -> str | None:
        return macros.get("CRAY_MPICH_VERSION")

    def searches(self, cache: Path, environ: Mapping[str, str]) -> list[tuple[Origin, list[Path]]]:
        prefix = environ.get("CRAY_MPICH_DIR") or environ.get("CRAY_MPICH_PREFIX")
        return [("system", [Path(prefix)])] if prefix else []  # no module of it is loaded: it is not missed

    def fix(self, cache: Path) -> str:
        return "module load cray-mpich, together with a programming environment that loads a compiler"


FAMILY = Cray()

"""MPICH (hydra's mpiexec)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from firstlight.mpi_families.family import Family, Spread, fits


class Mpich(Family):
    name, label, rank = "mpich", "MPICH", 1
    launcher_says = ("HYDRA", "MPICH")
    soname = r"libmpich\.so.*|libmpi\.so\.1[23]"
    apt, dnf = "mpich libmpich-dev", "mpich-devel"
    embedded = True
    wrapped = "MPICH"
    skip_cxx = "MPICH_SKIP_MPICXX"
    variables = ("MPICH_", "MPIR_", "HYDRA_")
    pmi = ("pmi2", "pmix")
    # Hydra returns the bare signal number as its status, so only its message tells a signal from an exit status.
    signal_message = r"EXIT STRING: .*\(signal (\d{1,2})\)"
    fortran_symbols = ("_f08_",)  # those that take no buffer; the others, and mpif.h, call MPI functions
    mpi4_since = "4"
    tuning = "selection"

    def version(self, macros: Mapping[str, str]) -> str | None:
        return macros.get("MPICH_VERSION")

    def placing(self, spread: Spread, cores: int) -> Sequence[str]:
        words = ["-ppn", str(spread.per_node)] if spread.nodes > 1 else []
        if fits(spread, cores):
            words += ["-bind-to", "core" if spread.threads == 1 else f"core:{spread.threads}"]
        return words


FAMILY = Mpich()

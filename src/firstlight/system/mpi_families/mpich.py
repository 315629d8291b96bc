"""MPICH (hydra's mpiexec)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from firstlight.core.errors import UsageError
from firstlight.system.mpi_families.family import Family, Layout, NodeCapacity, bind_unit


class Mpich(Family):
    name, label, rank = "mpich", "MPICH", 1
    launcher_says: tuple[str, ...] = ("HYDRA", "MPICH")
    soname = r"libmpich\.so.*|libmpi\.so\.1[23]"
    apt, dnf = "mpich libmpich-dev", "mpich-devel"
    embedded = True
    wrapped = "MPICH"
    skip_cxx = "MPICH_SKIP_MPICXX"
    variables = ("MPICH_", "MPIR_", "HYDRA_")
    home_files = (".mpiexec.hydra.conf",)
    per_rank_env = "MPIR_CVAR_CH3_INTERFACE_HOSTNAME"  # the node of that rank
    placement_env = r"HYDRA_(HOST_FILE|BINDING|MAPPING|MEMBIND|TOPOLIB|USER_PROVIDED_BINDING)"
    pmi: tuple[str, ...] = ("pmi2", "pmix")
    emulated = MappingProxyType({"MPIR_CVAR_CH4_CMA_ENABLE": "0"})  # process_vm_readv
    telling = ("-print-all-exitcodes",)
    signal_message = r"EXIT STRING: .*\(signal (\d{1,2})\)"
    fortran_symbols = ("_f08_",)  # those that take no buffer; the others, and mpif.h, call MPI functions
    mpi4_since = "4"
    tuning = "selection"
    ranking = "hosts"
    shm_patterns = ("/dev/shm/mpich_shar_tmp*", "/dev/shm/mpich_shm_*", "/tmp/hydra_hwloc_xmlfile_*")

    def version(self, macros: Mapping[str, str]) -> str | None:
        return macros.get("MPICH_VERSION")

    def signals(self, printed: str) -> list[int]:
        """Return the signals in the ranks' own waitpid statuses. Hydra's status and message are the bitwise or of all:
        after an abort (6) Hydra kills other ranks (9), and would report a SIGTERM (15).
        """
        listed = re.search(r"Exit codes: ((?:\[[^]\n]*\] [-\d,]+\s+)+)", printed)
        if listed is None:
            return super().signals(printed)
        statuses = [int(word) for word in re.findall(r"-?\d+", re.sub(r"\[[^]]*\]", " ", listed[1]))]
        return [status & 127 for status in statuses if status > 0 and status & 127]

    def placing(self, spread: Layout, room: NodeCapacity) -> Sequence[str]:
        words = ["-ppn", str(spread.per_node)] if spread.nodes > 1 else []
        if unit := bind_unit(spread, room):
            words += ["-bind-to", unit if spread.threads == 1 else f"{unit}:{spread.threads}"]
        return words

    def mapped(self, file: str, cpus: Sequence[int]) -> Sequence[str]:
        """Return options that bind ranks on one node. Several nodes need srun: Hydra fills hosts one after another."""
        if not cpus:
            raise UsageError("Hydra cannot place individual ranks on several nodes; use srun with the host file")
        return ["-bind-to", f"user:{','.join(map(str, cpus))}"]


FAMILY = Mpich()

"""The interface of a family's file. Its defaults are those of most libraries."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from firstlight.core.errors import UsageError

Origin = Literal["system", "embedded", "wheel"]
"""The origin of a library: the system or a module, pip's since there was none, or pip's at the user's request."""


class Layout(Protocol):
    """A placement: ranks over nodes, and the threads of each rank."""

    @property
    def nodes(self) -> int: ...
    @property
    def ranks(self) -> int: ...
    @property
    def threads(self) -> int: ...
    @property
    def per_node(self) -> int: ...


class NodeCapacity(NamedTuple):
    """The capacity of a node for ranks: whole cores, and hardware threads on all of them together."""

    cores: int
    threads: int


BindUnit = Literal["core", "hwthread", ""]


def bind_unit(spread: Layout, room: NodeCapacity) -> BindUnit:
    """Return what every thread of every rank is bound to on its node, alone: a core, else a hardware thread.

    The result is "" if there are not enough of these either; then nothing is bound.
    """
    wanted = spread.per_node * spread.threads
    return "core" if wanted <= room.cores else "hwthread" if wanted <= room.threads else ""


class Family:
    """One MPI family. `name` and `label` as in openmpi and Open MPI; Debian's names of wrappers end with the name."""

    name: str
    label: str
    rank: int = 0
    """Its position in lists of families: the lowest comes first."""
    base: str = ""
    """The family that it is made from, whose binary interface it has."""

    # -- how it is distinguished from others

    launcher_says: tuple[str, ...] = ()
    """Words of which `mpiexec --version` prints at least one."""
    soname: str = ""
    """A regular expression for the shared library that programs load; only one of the families that share it has it."""

    def version(self, macros: Mapping[str, str]) -> str | None:
        """Return the version from the macros of mpi.h; None if they are of another family."""
        raise NotImplementedError

    # -- where it is, and what to do where it is not

    apt: str = ""
    """Debian's packages of it, if there are any; packages built with it have names that contain the family's name."""
    dnf: str = ""
    """Fedora's packages of it."""
    debian_default: bool = False
    """Whether Debian builds its solver libraries with it."""
    embedded: bool = False
    """Whether pip's package of its name is used on systems without MPI."""

    def searches(self, cache: Path, environ: Mapping[str, str]) -> list[tuple[Origin, list[Path]]]:
        """Return (origin, folders whose bin may contain its wrappers) in the order of search; each also covers PATH.
        Empty if this machine has nothing of it, and its absence is not reported.
        """
        return [("system", [])]

    def fix(self, cache: Path) -> str:
        """Return the fix to show if the library is missing and no package manager is known."""
        return ""

    # -- how programs are compiled and started

    wrapped: str = ""
    """OMPI, if OMPI_CXX and OMPI_FC choose the compilers behind the wrappers."""
    wrapper_names: tuple[str, ...] = ("mpicxx",)
    """C++ wrappers, the preferred first."""
    skip_cxx: str = ""
    """The macro that excludes the old C++ interface from mpi.h."""
    variables: tuple[str, ...] = ()
    """Prefixes of its own environment variables; those that a user sets reach the launched programs."""
    home_files: tuple[str, ...] = ()
    """Its configuration files in the user's home folder, relative to it: they are recorded with the variables."""
    per_rank_env: str = ""
    """A regular expression for those of them that its launcher sets for a rank: they are valid for that rank alone."""
    placement_env: str = ""
    """A regular expression for those of them that choose nodes or place ranks, as firstlight itself does."""
    launchers: tuple[str, ...] = ("mpiexec", "mpirun")
    """Names of its launchers."""
    brings_launcher: bool = True
    """Whether it includes a launcher; otherwise a launcher of the batch system starts its programs, in a job."""
    pmi: tuple[str, ...] = ()
    """Interfaces through which a batch system's launcher may start it (values of srun's --mpi), best first."""
    telling: tuple[str, ...] = ()
    """Options of mpiexec that make it report how its ranks ended."""
    signal_message: str = ""
    """A regular expression with the signal that ended a rank, in the output of its launcher. The launcher's status
    counts as well, by the convention of shells: 128 + signal."""

    def signals(self, printed: str) -> list[int]:
        """Return the signals that ended ranks, as its launcher reports them."""
        return [int(number) for number in re.findall(self.signal_message, printed)] if self.signal_message else []

    def environment(self, prefix: Path, environ: Mapping[str, str]) -> dict[str, str]:
        """Return the variables that the wrappers and the launcher of an installation in `prefix` need."""
        return {}

    def compilers(self, cxx: str | None, fortran: str | None = None) -> dict[str, str]:
        """Return the variables that make the wrappers call these compilers."""
        chosen = {"CXX": cxx, "FC": fortran, "F90": fortran}
        return {f"{self.wrapped}_{name}": path for name, path in chosen.items() if path is not None}

    def placing(self, spread: Layout, room: NodeCapacity) -> Sequence[str]:
        """Return options of mpiexec, after `-n RANKS`, that place and bind ranks on the usable part of a node.
        Ranks that do not fit are not bound, and must run all the same.
        """
        return []

    def pinning(self, spread: Layout, room: NodeCapacity) -> dict[str, str]:
        """Return variables that bind ranks, if there are no options for it."""
        return {}

    on_one_node: Mapping[str, str] = {}
    """Variables that skip the search of pip's library for networks if all ranks are on one node, which uses none."""

    emulated: Mapping[str, str] = {}
    """Variables that keep it from system calls that an emulator does not have."""

    def export_options(self, variables: Sequence[str]) -> Sequence[str]:
        """Return options of mpiexec that export variables of its environment to the ranks, if that needs any."""
        return []

    # -- what it leaves behind

    shm_patterns: tuple[str, ...] = ()
    """Patterns of the files that its programs make outside of the temporary folder; killed programs leave them."""

    def temporary(self, folder: str) -> dict[str, str]:
        """Return variables that make it keep its files in this folder, in addition to TMPDIR, for any user settings."""
        return {}

    # -- what it brings

    mpi4_since: str = ""
    """The first version with the calls of MPI 4."""
    shmem_wrapper: str = ""
    """The compiler wrapper of the OpenSHMEM that comes with it."""

    def eager_limit(self, version: str) -> str:
        """Return the variable that sets the largest message that is sent within a node without waiting; "": unknown."""
        return ""

    def shmem_environment(self, version: str) -> dict[str, str]:
        """Return the variables that OpenSHMEM programs of this version need."""
        return {}

    conversions_are_functions: bool = False
    """Whether MPI_Comm_f2c and its like are functions of the library: else they are macros."""
    fortran_symbols: tuple[str, ...] = ()
    """Suffixes of those Fortran symbols (mpi_send + suffix) that do not call the C functions MPI_*."""
    ranking: str = ""
    """The file of commands/map/formats by which its launcher places ranks; "": none is known."""

    def mapped(self, file: str, cpus: Sequence[int]) -> Sequence[str]:
        """Return options of mpiexec that place ranks as that file defines. `cpus`: of each rank, all on one node; empty
        for several nodes. Raises UsageError if it has no option for this.
        """
        raise UsageError(f"firstlight cannot pass a rank map to {self.label}; use the written files")

    tuning: str = ""
    """The file of commands/tune/formats that chooses its algorithms of collectives; "": none does."""

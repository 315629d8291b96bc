"""What a file of this folder may say of its family. What it does not say is as most libraries have it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from firstlight.core.errors import UsageError

Origin = Literal["system", "embedded", "wheel"]
"""Where a library comes from: the system or a module, pip's as there was none, pip's by the user's wish."""


class Layout(Protocol):
    """Ranks over nodes, and the threads of each: a placement."""

    @property
    def nodes(self) -> int: ...
    @property
    def ranks(self) -> int: ...
    @property
    def threads(self) -> int: ...
    @property
    def per_node(self) -> int: ...


class NodeCapacity(NamedTuple):
    """What a node has for ranks: whole cores, and hardware threads on all of them together."""

    cores: int
    threads: int


BindUnit = Literal["core", "hwthread", ""]


def bind_unit(spread: Layout, room: NodeCapacity) -> BindUnit:
    """What every thread of every rank gets for itself on its node, and is bound to: a core, else a hardware thread.

    "" where there are not enough of these either; then nothing is bound.
    """
    wanted = spread.per_node * spread.threads
    return "core" if wanted <= room.cores else "hwthread" if wanted <= room.threads else ""


class Family:
    """One MPI family. `name` and `label` as in openmpi and Open MPI; Debian's names of wrappers end with the name."""

    name: str
    label: str
    rank: int = 0
    """Its place in lists of families: a low one comes first."""
    base: str = ""
    """The family that it is made from, whose binary interface it has."""

    # -- how it is distinguished from others

    launcher_says: tuple[str, ...] = ()
    """What `mpiexec --version` prints: one of these words."""
    soname: str = ""
    """A regular expression for the shared library that programs load; of families with one interface, one has it."""

    def version(self, macros: Mapping[str, str]) -> str | None:
        """The version, from the macros of mpi.h; None where they are of another family."""
        raise NotImplementedError

    # -- where it is, and what to do where it is not

    apt: str = ""
    """Debian's packages of it, if there are any: these, and those of what is built with it, are named by its name."""
    dnf: str = ""
    """Fedora's."""
    debian_default: bool = False
    """Whether Debian builds its solver libraries with it."""
    embedded: bool = False
    """Whether pip's package of its name serves systems without MPI."""

    def searches(self, cache: Path, environ: Mapping[str, str]) -> list[tuple[Origin, list[Path]]]:
        """(origin, folders in whose bin its wrappers may lie) in the order to look; the search path is always seen.
        Empty where this machine has nothing of it, and it is not missed."""
        return [("system", [])]

    def fix(self, cache: Path) -> str:
        """What to do where the library is missing and no package manager is known."""
        return ""

    # -- how programs are compiled and started

    wrapped: str = ""
    """OMPI, where OMPI_CXX and OMPI_FC choose the compilers behind the wrappers."""
    wrapper_names: tuple[str, ...] = ("mpicxx",)
    """C++ wrappers, the preferred first."""
    skip_cxx: str = ""
    """The macro that leaves the old C++ interface out of mpi.h."""
    variables: tuple[str, ...] = ()
    """What the names of its own environment variables begin with: a user's reach the programs that are launched."""
    per_rank_env: str = ""
    """A regular expression for those of them that its launcher sets for a rank: they hold for that rank alone."""
    launchers: tuple[str, ...] = ("mpiexec", "mpirun")
    """Names of its launchers."""
    brings_launcher: bool = True
    """Whether there is one beside its wrappers; else what a batch system has starts its programs, in a job."""
    pmi: tuple[str, ...] = ()
    """Interfaces through which a batch system's launcher may start it (values of srun's --mpi), best first."""
    telling: tuple[str, ...] = ()
    """Options of mpiexec that make it tell how its ranks ended."""
    signal_message: str = ""
    """A regular expression with the signal that ended a rank, in what its launcher prints. The status of the launcher
    counts beside it, as shells have it: 128 + signal."""

    def signals(self, printed: str) -> list[int]:
        """The signals that ended ranks, as its launcher tells them."""
        return [int(number) for number in re.findall(self.signal_message, printed)] if self.signal_message else []

    def environment(self, prefix: Path, environ: Mapping[str, str]) -> dict[str, str]:
        """What the wrappers and the launcher of an installation in `prefix` need, in an environment."""
        return {}

    def compilers(self, cxx: str | None, fortran: str | None = None) -> dict[str, str]:
        """The environment in which the wrappers call these compilers."""
        chosen = {"CXX": cxx, "FC": fortran, "F90": fortran}
        return {f"{self.wrapped}_{name}": path for name, path in chosen.items() if path is not None}

    def placing(self, spread: Layout, room: NodeCapacity) -> Sequence[str]:
        """Options of mpiexec, after `-n RANKS`, that put and bind ranks on what may be used of a node.
        What does not fit is not bound, and must run all the same.
        """
        return []

    def pinning(self, spread: Layout, room: NodeCapacity) -> dict[str, str]:
        """Binding by environment, where there are no options for it."""
        return {}

    on_one_node: Mapping[str, str] = {}
    """What spares pip's library its search for networks where all ranks are on one node: none would be used there."""

    emulated: Mapping[str, str] = {}
    """What keeps it from system calls that an emulator does not have."""

    def export_options(self, variables: Sequence[str]) -> Sequence[str]:
        """Options of mpiexec that carry variables of its environment to the ranks, where that needs any."""
        return []

    # -- what it leaves behind

    shm_patterns: tuple[str, ...] = ()
    """Patterns of the files that its programs make outside of the temporary folder: what was killed leaves them."""

    def temporary(self, folder: str) -> dict[str, str]:
        """What makes it keep its files in this folder, besides TMPDIR, whatever the user had chosen."""
        return {}

    # -- what it brings

    mpi4_since: str = ""
    """The first version with the calls of MPI 4."""
    shmem_wrapper: str = ""
    """The compiler wrapper of the OpenSHMEM that comes with it."""

    def shmem_environment(self, version: str) -> dict[str, str]:
        """What OpenSHMEM programs of this version need."""
        return {}

    conversions_are_functions: bool = False
    """Whether MPI_Comm_f2c and its like are functions of the library: else they are macros."""
    fortran_symbols: tuple[str, ...] = ()
    """Ends of those Fortran symbols (mpi_send + end) that do not call the C functions MPI_*."""
    ranking: str = ""
    """The file of firstlight/mapping/formats by which its launcher places ranks; "": none is known."""

    def mapped(self, file: str, cpus: Sequence[int]) -> Sequence[str]:
        """Options of mpiexec by which ranks stand where that file says. `cpus`: of each rank, all on one node; empty
        where there are several. Raises UsageError where it has none for this."""
        raise UsageError(
            f"firstlight does not know how to give {self.label} a rank map; see the files that were written"
        )

    tuning: str = ""
    """The file of firstlight/tune/formats that chooses its algorithms of collectives; "": none does."""

"""Toolchains: the compilers, flag sets, MPI and numerical libraries of this machine; discovered, never configured."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import msgspec

from firstlight.system import site
from firstlight.system.machine import Machine
from firstlight.system.mpi_families import Origin

FlagSet = Literal["base", "native", "fast"]
SITE_FLAGS = "+site"
"""Suffix of the name of a toolchain whose flag set includes flags of the site file."""


class Absent(msgspec.Struct, frozen=True):
    """Something that could be available but is not. `fix`: one command or sentence for the user."""

    what: str
    why: str
    fix: str


class Toolchain(msgspec.Struct, frozen=True):
    """A C++ compiler with one flag set, and the matching Fortran compiler. `name` is `<compiler>-<flag set>`."""

    name: str  # gcc-fast
    compiler: str  # gcc; gcc-13 where a second version of a family is present
    flag_set: FlagSet
    version: str
    cxx: str  # absolute path
    flags: tuple[str, ...]
    openmp: tuple[str, ...]  # compile and link flags; empty where the compiler has no OpenMP
    fortran: str | None = None
    fortran_version: str | None = None
    strict: tuple[str, ...] = ()  # what keeps arithmetic as it is written, for judges and harness
    binutils: dict[str, str] = {}  # of a cross compiler: where its ar, ld, ... are; empty: those of this machine serve


RUNTIMES = {"caf": "Co-Array Fortran", "hypre": "hypre", "petsc": "PETSc", "shmem": "OpenSHMEM"}
"""Capabilities that an MPI library may bring as its `extras`, and their names."""


class Linking(msgspec.Struct, frozen=True):
    """The requirements for the use of a runtime or a solver library on top of an MPI library."""

    compile_flags: tuple[str, ...]  # for the variant's own source file
    link_flags: tuple[str, ...]
    environment: dict[str, str]  # of its launches
    compilers: tuple[str, ...] = ()  # families (gcc, clang) that it works with; empty: all


class Mpi(msgspec.Struct, frozen=True):
    """One MPI library with its wrappers and launcher. `name` is unique in a run: the name of the family or of a
    setting.
    """

    name: str
    family: str  # a file of mpi_families
    label: str  # Open MPI 4.1.4
    version: str
    origin: Origin
    cxx: str  # wrapper, absolute path
    fortran: str | None  # wrapper, None where there is none
    f08: tuple[str, ...]  # Fortran compiler families (gcc, clang) whose mpi_f08 module is usable
    launcher: str  # mpiexec, absolute path; "" where the library brings none: then it has a starter
    environment: dict[str, str]  # needed to build or launch with it
    mpi4: bool = False  # persistent neighbourhood collectives and partitioned messages, whatever version it claims
    extras: dict[str, Linking] = {}  # what works on top of it, by capability: shmem, caf, hypre, petsc
    starter: tuple[str, ...] = ()  # the batch system's own launcher that starts it here: srun --mpi=pmi2; (): mpiexec
    setting: str = ""  # the name of the library that this one is, with another environment; "": none but itself


Offer = Literal["blas1", "blas2", "blas3", "lapack", "fft", "sparse"]
"""What a numerical library may offer: BLAS by CBLAS names, LAPACK as Fortran calls it, FFT by the interface of FFTW,
products of sparse matrices by that of MKL or by Eigen's."""


class Library(msgspec.Struct, frozen=True):
    """A numerical library. Trial programs with known results proved its functions."""

    name: str  # openblas, blis, mkl, fftw3, eigen
    label: str  # OpenBLAS 0.3.21
    compile_flags: tuple[str, ...]
    link_flags: tuple[str, ...]
    prefix: str = ""  # symbol prefix: "scipy_" in the scipy-openblas wheel
    offers: tuple[Offer, ...] = ("blas1",)  # which is all that was requested once
    integer_bits: Literal[32] = 32  # of its interface: a trial with others behind a reference went well
    reference: bool = False  # slow by design: other libraries are checked against it


class Cuda(msgspec.Struct, frozen=True):
    """NVIDIA's compiler with a supported host compiler. Its programs start without a GPU, and report this."""

    label: str  # nvcc 13.0.88
    nvcc: str  # absolute path
    host: str  # C++ compiler, absolute path
    architecture: str  # sm_90: of the GPU here, or nvcc's oldest; intermediate code for later ones is in it
    link_flags: tuple[str, ...]


OFFLOADING = {"acc": "OpenACC", "target": "OpenMP on devices"}
"""Capabilities that are directives for devices, and their names."""


class Offload(msgspec.Struct, frozen=True):
    """Directives for devices with one compiler. Its programs start without a device, but refuse to run."""

    capability: str  # target: OpenMP; acc: OpenACC
    compiler: str  # gcc, clang: as a toolchain names it
    device: str  # nvptx sm_75: what code is made for; "": for the host only
    flags: tuple[str, ...]  # to compile and to link
    link_flags: tuple[str, ...] = ()
    ran: bool = False  # a trial ran on a device here; else it was compiled, not run


class Toolbox(msgspec.Struct, frozen=True):
    """Everything that was found, and everything that was searched for and not found."""

    toolchains: tuple[Toolchain, ...]
    mpis: tuple[Mpi, ...]
    libraries: tuple[Library, ...] = msgspec.field(name="blas")  # in records by the name of the first kind
    absent: tuple[Absent, ...]
    batch: tuple[str, ...] = ()  # batch systems that jobs can be submitted to from here: Slurm 22.05.8
    cuda: Cuda | None = None
    offloads: tuple[Offload, ...] = ()
    emulator: tuple[str, ...] = ()  # the words before a program for another processor

    def mpi(self, name: str | None) -> Mpi | None:
        return next((m for m in self.mpis if m.name == name), None)

    def offload(self, capability: str, compiler: str) -> Offload | None:
        """Return how that compiler offers that capability, or None."""
        return next((o for o in self.offloads if (o.capability, o.compiler) == (capability, compiler)), None)


def played(machine: Machine, cache_dir: Path) -> Machine:
    """Return the machine that programs see: this one, or the emulated processor that the user requested.

    Raises UsageError for one that the site file does not define, FirstlightError if its programs do not start.
    """
    from firstlight.toolchain.cross_compile import play

    site.load()
    target = site.target()
    return machine if target is None else play(machine, target[1], cache_dir)


def discover(
    machine: Machine, cache_dir: Path, *, embed_mpi: bool = True, say: Callable[[str], None] | None = None
) -> Toolbox:
    """Probe compilers, MPI libraries and numerical ones; what works is proved by a trial and remembered in `cache_dir`.

    If the system has no MPI and `embed_mpi` is true, pip's MPICH and Open MPI are installed below `cache_dir`, once;
    `say` receives a message if that lasts long. `absent` lists what is not usable, with the reason. Raises
    FirstlightError if `cache_dir` cannot be written.

    First this process enters the environment of the requested modules. What the site file excludes is absent.
    """
    from firstlight.toolchain.discovery import survey
    from firstlight.toolchain.site_filter import considered  # the probes are loaded only on demand

    site.load()
    return considered(survey(machine, cache_dir, embed_mpi=embed_mpi, say=say or (lambda _: None)), site.current())

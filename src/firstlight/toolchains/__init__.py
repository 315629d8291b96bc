"""Toolchains: which compilers, flag sets, MPI libraries and BLAS are here. Discovered, one probe a file, never configured."""

from __future__ import annotations

import msgspec


class Absent(msgspec.Struct, frozen=True):
    """Something that could be here and is not. `fix` is one command or sentence for the user."""

    what: str
    why: str
    fix: str


class Toolchain(msgspec.Struct, frozen=True):
    """A C++ compiler with one flag set, and the Fortran compiler that goes with it. `name` is `<compiler>-<flag set>`."""

    name: str  # gcc-fast
    compiler: str  # gcc; gcc-13 where a second version of a family is present
    flag_set: str  # base, native, fast
    version: str
    cxx: str  # absolute path
    flags: tuple[str, ...]
    openmp: tuple[str, ...]  # compile and link flags; empty where the compiler has no OpenMP
    fortran: str | None = None
    fortran_version: str | None = None


class Mpi(msgspec.Struct, frozen=True):
    """One MPI library with its wrappers and launcher. `name` is unique in a run: openmpi, mpich, intel."""

    name: str
    family: str  # openmpi, mpich, intel
    label: str  # Open MPI 4.1.4
    version: str
    origin: str  # "system" or "embedded" or "wheel"
    cxx: str  # wrapper, absolute path
    fortran: str | None  # wrapper, None where there is none
    f08: tuple[str, ...]  # Fortran compiler families (gcc, clang) whose mpi_f08 module is usable
    launcher: str  # mpiexec, absolute path
    environment: dict[str, str]  # needed to build or launch with it


class Blas(msgspec.Struct, frozen=True):
    """One BLAS library with a CBLAS interface."""

    name: str  # openblas, blis, mkl
    label: str  # OpenBLAS 0.3.21
    compile_flags: tuple[str, ...]
    link_flags: tuple[str, ...]
    prefix: str = ""  # symbol prefix: "scipy_" in the scipy-openblas wheel


class Toolbox(msgspec.Struct, frozen=True):
    """Everything found, and everything looked for and not found."""

    toolchains: tuple[Toolchain, ...]
    mpis: tuple[Mpi, ...]
    blas: tuple[Blas, ...]
    absent: tuple[Absent, ...]

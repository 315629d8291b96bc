"""An invented small machine and its tools: 2 cores, L1 32 KiB and L2 512 KiB each, L3 32 MiB shared; a roofline."""

from __future__ import annotations

import msgspec

from firstlight.system.machine import Cache, Machine
from firstlight.toolchain import Absent, Library, Mpi, Toolbox, Toolchain

KIB, MIB, GIB = 1024, 1024**2, 1024**3
TOOLCHAINS = tuple(f"{c}-{f}" for c in ("gcc", "clang") for f in ("base", "native", "fast"))
MPIS = ("openmpi", "mpich")


def machine(**changes: object) -> Machine:
    caches = [
        Cache(level, kind, size, 64, shared)
        for level, kind, size, groups in (
            (1, "data", 32 * KIB, ((0,), (1,))),
            (2, "unified", 512 * KIB, ((0,), (1,))),
            (3, "unified", 32 * MIB, ((0, 1),)),
        )
        for shared in groups
    ]
    base = Machine(
        name="node-5f3a9c",
        processor="Example EPYC 7003",
        architecture="x86_64",
        microarchitecture="zen3",
        sockets=1,
        cores=2,
        cpus=(0, 1),
        threads_per_core=1,
        numa=((0, 1),),
        caches=tuple(caches),
        memory=24 * GIB,
        memory_available=20 * GIB,
        system="Example Linux 12",
        kernel="6.18.0",
        virtual="kvm",
        governor="powersave",
        turbo=True,
        huge_pages="madvise",
        load=0.3,
        counters="not permitted (perf_event_paranoid is 4)",
        limits={"memlock": "8388608", "nofile": "1024"},
        warnings=("virtual machine: neighbours may disturb the measurement",),
    )
    return msgspec.structs.replace(base, **changes)


def toolbox() -> Toolbox:
    flags = {
        "base": ("-O2",),
        "native": ("-O3", "-march=native"),
        "fast": ("-Ofast", "-march=native"),
    }
    version = {"gcc": "12.2.0", "clang": "19.1.7"}
    fortran = {"gcc": ("/usr/bin/gfortran", "12.2.0"), "clang": (None, None)}
    chains = [
        Toolchain(
            name=name,
            compiler=name.split("-")[0],
            flag_set=name.split("-")[1],
            version=version[name.split("-")[0]],
            cxx="/usr/bin/" + {"gcc": "g++", "clang": "clang++"}[name.split("-")[0]],
            flags=flags[name.split("-")[1]],
            openmp=("-fopenmp",),
            fortran=fortran[name.split("-")[0]][0],
            fortran_version=fortran[name.split("-")[0]][1],
        )
        for name in TOOLCHAINS
    ]
    mpis = (
        Mpi("openmpi", "openmpi", "Open MPI 4.1.4", "4.1.4", "system", "/usr/bin/mpicxx.openmpi", None, (),
            "/usr/bin/mpiexec.openmpi", {}),
        Mpi("mpich", "mpich", "MPICH 4.0.2", "4.0.2", "system", "/usr/bin/mpicxx.mpich", None, (),
            "/usr/bin/mpiexec.mpich", {}),
    )  # fmt: skip
    libraries = (Library("openblas", "OpenBLAS 0.3.21", (), ("-lopenblas",)),)
    absent = (Absent("Intel oneAPI (icpx)", "no icpx in PATH", "install the oneAPI C++ compiler"),)
    return Toolbox(tuple(chains), mpis, libraries, absent)


def mpich_alone() -> Toolbox:
    return Toolbox((), (Mpi("mpich", "mpich", "MPICH 4", "4", "system", "", None, (), "", {}),), (), ())


def load_rate(working_set: float, threads: int) -> float:
    """Return the bytes per second that `threads` cores load from the memory of `working_set` bytes."""
    for size, rate in ((32 * KIB, 140e9), (512 * KIB, 62e9)):
        if working_set <= size * threads:
            return rate * threads
    return 31e9 * threads if working_set <= 32 * MIB else (14.2e9 if threads == 1 else 21e9)

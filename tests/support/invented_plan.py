"""A machine, a toolbox and workloads that do not exist, for plans."""

from __future__ import annotations

from pathlib import Path

from firstlight.model.catalogue import Selection, Sizes, Variant, Workload
from firstlight.model.plan import Plan
from firstlight.system.machine import Cache, Machine
from firstlight.toolchain import Library, Mpi, Toolbox, Toolchain

KIB, MIB, GIB = 2**10, 2**20, 2**30


def machine(*caches: tuple[int, int], cpus: int = 4, available: int = 8 * GIB) -> Machine:
    return Machine(
        name="m",
        processor="p",
        architecture="x86_64",
        microarchitecture="zen3",
        sockets=1,
        cores=cpus,
        cpus=tuple(range(cpus)),
        threads_per_core=1,
        numa=(tuple(range(cpus)),),
        caches=tuple(Cache(level, "data", size, 64, (0,)) for level, size in caches),
        memory=2 * available,
        memory_available=available,
        system="s",
        kernel="k",
        virtual=None,
        governor=None,
        turbo=None,
        huge_pages=None,
        load=0.0,
        counters="none",
        limits={},
    )


MACHINE = machine((1, 32 * KIB), (2, 512 * KIB), (3, 32 * MIB))


def toolchain(name: str, openmp: bool = True, fortran: str | None = "/usr/bin/gfortran") -> Toolchain:
    compiler, _, flag_set = name.rpartition("-")
    return Toolchain(name, compiler, flag_set, "1", "/usr/bin/c++", (), ("-fopenmp",) if openmp else (), fortran)


def mpi(name: str, f08: tuple[str, ...] = ("gcc",), mpi4: bool = False) -> Mpi:
    return Mpi(name, name, name, "1", "system", "mpicxx", "mpif90", f08, "mpiexec", {}, mpi4)


TOOLBOX = Toolbox(
    toolchains=(
        toolchain("clang-base", fortran=None),
        toolchain("clang-native", fortran=None),
        toolchain("gcc-base"),
        toolchain("gcc-native"),
    ),
    mpis=(mpi("openmpi"), mpi("mpich", f08=(), mpi4=True)),
    libraries=(Library("openblas", "OpenBLAS", (), ()), Library("blis", "BLIS", (), ())),
    absent=(),
)


def workload(
    *selections: Selection, variants: dict[str, tuple[str, ...]], sensitive: bool = True, sizes: Sizes | None = None
) -> dict[str, Workload]:
    made = tuple(
        Variant(name, Path(f"{name}.cpp"), needs, name.startswith("broken_")) for name, needs in variants.items()
    )
    w = Workload(
        name="w",
        folder=Path("w"),
        title="t",
        question="q",
        chapter="node",
        toolchain_sensitive=sensitive,
        suites={"quick": list(selections)},
        variants=made,
        sizes=sizes,
        provides=(),
        bounded_by=(),
        rows=(),
        plots=(),
    )
    return {"w": w}


def keys(planned: Plan) -> list[str]:
    return [cell.program.key for cell in planned.cells]

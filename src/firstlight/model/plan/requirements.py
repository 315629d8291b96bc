"""Requirements: the programs that a variant becomes on this machine, and what is missing for the others."""

from __future__ import annotations

from collections.abc import Sequence

from firstlight.model.catalogue import Variant, Workload, of_library, why
from firstlight.model.plan.types import Program
from firstlight.system.mpi_families import every
from firstlight.toolchain import OFFLOADING, RUNTIMES, Absent, Library, Mpi, Toolbox, Toolchain


def family(compiler: str) -> str:
    """Return the compiler's family: gcc for gcc-13."""
    return compiler.partition("-")[0]


def library_names(variant: Variant, toolbox: Toolbox) -> dict[str, Library]:
    """Return the libraries that offer what a variant needs, by its name with each: lapack_openblas."""
    wanted = set(of_library(variant.needs))
    able = [library for library in toolbox.libraries if wanted and wanted <= set(library.offers)]
    return {f"{variant.name}_{library.name}": library for library in able}


def variant_names(variant: Variant, toolbox: Toolbox) -> list[str]:
    """Return the names of a variant with each library that fits; without any, its own name."""
    return list(library_names(variant, toolbox)) or [variant.name]


def lacking_here(what: str, variant: Variant, toolbox: Toolbox) -> Absent | None:
    """Return what no toolchain of this machine can provide, or None. `what` is what is then absent."""
    wanted = of_library(variant.needs)
    if wanted and not library_names(variant, toolbox):
        together = why(wanted[0]) if len(wanted) == 1 else " and ".join(map(why, wanted)) + ", in one library"
        return Absent(what, f"requires {together}", f"install {together}")
    if "cuda" in variant.needs and not toolbox.cuda:
        return _lacks(what, "cuda")
    return None


def lacking_compiler(what: str, variant: Variant, toolchain: Toolchain, toolbox: Toolbox) -> list[Absent]:
    """Return what the compiler lacks: OpenMP, Fortran of its version, directives for devices, flags for it."""
    what = f"{what} with {toolchain.name}"
    missing = [_lacks(what, n) for n in ("openmp", "fortran") if n in variant.needs and not getattr(toolchain, n)]
    offloading = (n for n in OFFLOADING if n in variant.needs)
    missing += [_lacks(what, n) for n in offloading if toolbox.offload(n, toolchain.compiler) is None]
    if variant.flags and family(toolchain.compiler) not in variant.flags:
        known = " and ".join(sorted(variant.flags))
        missing.append(
            Absent(what, f"workload.toml has flags only for {known}", "add flags for this compiler to workload.toml")
        )
    return missing


def lacking_mpi(what: str, variant: Variant, toolchain: Toolchain, mpi: Mpi) -> Absent | None:
    """Return what the MPI library lacks with this compiler, or None."""
    what = f"{what} with {toolchain.name} and {mpi.name}"
    if "mpi4" in variant.needs and not mpi.mpi4:
        reason = f"requires {why('mpi4')}, which {mpi.label} lacks"
        able = " or ".join(f"{known.label} {known.mpi4_since}" for known in every() if known.mpi4_since)
        return Absent(what, reason, f"install {able}, or newer")
    if "fortran" in variant.needs and family(toolchain.compiler) not in mpi.f08:
        reason = f"{mpi.label} has no mpi_f08 module that this Fortran compiler can read"
        return Absent(what, reason, "install an MPI library built with this Fortran compiler")
    for need in sorted(RUNTIMES.keys() & set(variant.needs)):
        extra = mpi.extras.get(need)
        if extra is None:
            reason = f"requires {why(need)}; none that works with {mpi.label} was found"
        elif extra.compilers and family(toolchain.compiler) not in extra.compilers:
            reason = f"requires {why(need)}, which works with {' or '.join(extra.compilers)} only"
        else:
            continue
        return Absent(what, reason, "`./fl doctor` shows what is missing")
    return None


def programs(
    workload: Workload, name: str, variant: Variant, toolchain: Toolchain, toolbox: Toolbox, mpis: Sequence[Mpi]
) -> tuple[list[Program], list[Absent]]:
    """Return the programs of a variant with one name and toolchain, one per MPI library, and what is missing."""
    what = f"{workload.name}.{name}"
    if lacks := lacking_here(what, variant, toolbox):
        return [], [lacks]
    if missing := lacking_compiler(what, variant, toolchain, toolbox):
        return [], missing
    if "mpi" not in variant.needs:
        return [Program(workload.name, name, toolchain.name)], []
    if not mpis:
        return [], [_lacks(what, "mpi")]
    answers = [(mpi, lacking_mpi(what, variant, toolchain, mpi)) for mpi in mpis]
    found = [Program(workload.name, name, toolchain.name, mpi.name) for mpi, lacks in answers if not lacks]
    return found, [lacks for _, lacks in answers if lacks]


def _lacks(what: str, capability: str) -> Absent:
    return Absent(what, f"requires {why(capability)}", f"install {why(capability)}")

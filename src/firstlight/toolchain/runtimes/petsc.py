"""PETSc, the solver library, of real numbers in double precision: $PETSC_DIR (with $PETSC_ARCH), or /usr/lib/petsc."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from firstlight.toolchain import Absent, Linking, Mpi
from firstlight.toolchain.host import Host
from firstlight.toolchain.linking import find_library
from firstlight.toolchain.peers import Place, prove_peer
from firstlight.toolchain.probe_result import Compiler

_SOURCE = (
    "#include <petscksp.h>\n"
    "#if defined(PETSC_USE_COMPLEX) || !defined(PETSC_USE_REAL_DOUBLE)\n"
    "#error a PETSc of real numbers in double precision is needed\n"
    "#endif",
    "KSP s; if (PetscInitializeNoArguments() || KSPCreate(MPI_COMM_WORLD, &s)) return 1; "
    "if (KSPDestroy(&s) || PetscFinalize()) return 1;",
)


def probe(host: Host, mpi: Mpi, compilers: Sequence[Compiler]) -> Linking | Absent:
    """Return the flags of the PETSc built with this library, or why there is none."""
    own, arch = host.environ.get("PETSC_DIR"), host.environ.get("PETSC_ARCH", "")
    roots = [Path(own)] if own else []
    places = []
    for root in [*roots, Path("/usr/lib/petsc")]:
        folders = list(dict.fromkeys([root / arch, root]))
        library = find_library(
            [folder / "lib" for folder in folders], ["libpetsc.so", "libpetsc_real.so", "libpetsc.a"]
        )
        headers = [folder / "include" for folder in folders if (folder / "include").is_dir()]
        places += [Place(headers, library)] if library and headers else []
    fix = ("libpetsc-real-dev", f"build PETSc with {mpi.label} and set PETSC_DIR (and PETSC_ARCH) to its folder")
    return prove_peer(host, mpi, compilers, "PETSc", places, _SOURCE, fix)

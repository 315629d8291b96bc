"""hypre, the solver library with BoomerAMG: $HYPRE_DIR, or the system's."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from firstlight.toolchain import Absent, Linking, Mpi
from firstlight.toolchain.host import Host
from firstlight.toolchain.linking import find_library, system_folders
from firstlight.toolchain.peers import Place, prove_peer
from firstlight.toolchain.probe_result import Compiler

_SOURCE = (
    "#include <HYPRE.h>\n#include <HYPRE_parcsr_ls.h>",
    "HYPRE_Solver s; HYPRE_Init(); "
    "HYPRE_ParCSRPCGCreate(MPI_COMM_WORLD, &s); HYPRE_ParCSRPCGDestroy(s); HYPRE_Finalize();",
)


def probe(host: Host, mpi: Mpi, compilers: Sequence[Compiler]) -> Linking | Absent:
    """Return the flags of the hypre built with this library, or why there is none."""
    places = []
    own = host.environ.get("HYPRE_DIR")
    if own:
        library = find_library([Path(own) / "lib", Path(own) / "lib64"], ["libHYPRE.so", "libHYPRE.a"])
        places += [Place([Path(own) / "include"], library)] if library else []
    header = next((f for f in (Path("/usr/include/hypre"), Path("/usr/include")) if (f / "HYPRE.h").exists()), None)
    library = find_library(system_folders(host), ["libHYPRE.so"]) if header else None
    places += [Place([header], library, standard=True)] if header and library else []
    fix = ("libhypre-dev", f"build hypre with {mpi.label} and set HYPRE_DIR to its folder")
    return prove_peer(host, mpi, compilers, "hypre", places, _SOURCE, fix)

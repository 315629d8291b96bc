"""Solver libraries over MPI (hypre, PETSc): each belongs to the MPI that it was built with, as a trial proves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from firstlight.system.mpi_families import of
from firstlight.toolchain import Absent, Linking, Mpi
from firstlight.toolchain.host import Host
from firstlight.toolchain.probe_result import Compiler

# A library of another MPI often links, and brings its own MPI along: two in one process, with handles that mean nothing
# to each other. So the trial looks at what is loaded before it calls anything.
_TRIAL = """#include <link.h>
#include <mpi.h>
#include <cstdio>
#include <cstring>
{includes}
static int count(dl_phdr_info* info, size_t, void* libraries) {{
  const char* slash = std::strrchr(info->dlpi_name, '/');
  const char* name = slash ? slash + 1 : info->dlpi_name;
  if (std::strncmp(name, "libmpi.so", 9) && std::strncmp(name, "libmpich.so", 11)) return 0;
  std::fprintf(stderr, "%s%s", *static_cast<int*>(libraries) ? " and " : "the program loads ", name);
  ++*static_cast<int*>(libraries);
  return 0;
}}
int main(int argc, char** argv) {{
  int libraries = 0;
  dl_iterate_phdr(count, &libraries);
  if (libraries != 1) return {status};
  MPI_Init(&argc, &argv);
  {calls}
  return MPI_Finalize();
}}
"""


REFUSED = 1
"""Exit status of a compiler or linker that fails; after any other (killed, too slow) a repetition may succeed."""
TWO_LIBRARIES = 78
"""Exit status of a trial with another number of MPI libraries than one. After any other the caller's variables or
limits may be the cause of a failure, which is therefore not remembered."""


class Place:
    """A possible place of a library: header folders and the file to link."""

    def __init__(self, includes: Sequence[Path], library: Path, standard: bool = False) -> None:
        self.library = library
        self.includes = tuple(includes)
        self.compile_flags = tuple(f"-I{folder}" for folder in includes)
        run_path = () if standard else (f"-L{library.parent}", f"-Wl,-rpath,{library.parent}")
        self.link_flags = (*run_path, f"-l{library.name.removeprefix('lib').partition('.')[0]}")


def prove_peer(
    host: Host,
    mpi: Mpi,
    compilers: Sequence[Compiler],
    label: str,
    places: Sequence[Place],
    source: tuple[str, str],
    fix: tuple[str, str],
) -> Linking | Absent:
    """Return the first place whose library works with `mpi`. `source`: includes and calls of the trial.

    `fix`: Debian's packages, and a sentence for every other system.
    """
    what = f"{label} with {mpi.label}"
    family = of(mpi.family)
    apt = fix[0] if family.debian_default and mpi.origin == "system" else ""
    includes, calls = source
    cxx = compilers[0].cxx
    reason = f"no {label} here"
    for place in places:
        key = f"peer {label} {place.compile_flags} {place.link_flags} "
        key += host.identity(mpi.cxx, cxx, place.library, *place.includes)
        answer = host.memory.recall(key, str)  # "" where it works, else why not
        if answer is None:
            environment = mpi.environment | family.compilers(cxx)
            command = [mpi.cxx, *place.compile_flags]
            text = _TRIAL.format(includes=includes, calls=calls, status=TWO_LIBRARIES)
            outcome = host.trial(text, ".cpp", command, place.link_flags, environment)
            answer = "" if outcome.ok else f"{place.library}: {outcome.reason}"
            refused = outcome.code == (TWO_LIBRARIES if outcome.ran else REFUSED)
            if outcome.ok or (refused and "No space left" not in outcome.err):
                host.memory.keep(key, answer)
        if not answer:
            return Linking(place.compile_flags, place.link_flags, {})
        reason = answer
    return host.absent(what, reason, apt=apt, otherwise=fix[1])

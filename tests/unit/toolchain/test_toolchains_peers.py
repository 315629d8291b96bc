"""Solver libraries over MPI: taken where a trial runs with one MPI library in it, else absent with the reason."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import native
from firstlight.system.machine import linux
from firstlight.toolchain import Absent, Linking, Mpi
from firstlight.toolchain.host import Host
from firstlight.toolchain.memory import Memory
from firstlight.toolchain.peers import Place, prove_peer
from firstlight.toolchain.probe_result import Compiler
from firstlight.toolchain.runtimes import hypre, petsc

COMPILERS = [Compiler("gcc", "gcc", "12.2.0", str(shutil.which("g++")))]
WORDS = {"hypre": "hypre", "petsc": "PETSc"}


def host_of(tmp_path: Path, **environ: str) -> Host:
    (tmp_path / "path").mkdir(exist_ok=True)
    machine = linux.describe(Path("/"), tmp_path)
    return Host(machine, tmp_path, {"PATH": str(tmp_path / "path"), **environ}, Memory(tmp_path / "memory"))


def wrapper(tmp_path: Path, program: str) -> Mpi:
    """Return an Open MPI whose C++ wrapper records its arguments and writes this shell script as the trial."""
    cxx = tmp_path / "mpicxx.openmpi"
    cxx.write_text(
        f"""#!/bin/sh
echo "$*" >> '{tmp_path}/asked'
while [ "$1" != -o ]; do shift; done
printf '#!/bin/sh\\n{program}\\n' > "$2"
{shutil.which("chmod")} +x "$2"
"""
    )
    cxx.chmod(0o755)
    return Mpi("openmpi", "openmpi", "Open MPI 4.1.4", "4.1.4", "system", str(cxx), None, (), "/launcher", {})


def library(folder: Path, name: str) -> Path:
    (folder / "include").mkdir(parents=True)
    (folder / "lib").mkdir()
    (folder / "lib" / name).touch()
    return folder / "lib" / name


def test_a_hypre_of_the_users_own_comes_first_and_is_tried_once(tmp_path: Path) -> None:
    where = library(tmp_path / "own", "libHYPRE.so").parent
    host, mpi = host_of(tmp_path, HYPRE_DIR=str(tmp_path / "own")), wrapper(tmp_path, "exit 0")
    found = hypre.probe(host, mpi, COMPILERS)
    run_path = ("-L" + str(where), f"-Wl,-rpath,{where}", "-lHYPRE")
    assert found == Linking((f"-I{tmp_path}/own/include",), run_path, {})
    assert hypre.probe(host, mpi, COMPILERS) == found
    assert len((tmp_path / "asked").read_text().splitlines()) == 1


def test_petsc_has_headers_in_two_folders(tmp_path: Path) -> None:
    (tmp_path / "own" / "include").mkdir(parents=True)
    library(tmp_path / "own" / "opt", "libpetsc.so")
    host = host_of(tmp_path, PETSC_DIR=str(tmp_path / "own"), PETSC_ARCH="opt")
    found = petsc.probe(host, wrapper(tmp_path, "exit 0"), COMPILERS)
    assert isinstance(found, Linking)
    assert found.compile_flags == (f"-I{tmp_path}/own/opt/include", f"-I{tmp_path}/own/include")
    assert found.link_flags[-1] == "-lpetsc"


def test_a_library_of_another_mpi_is_absent_with_the_reason_until_it_changes(tmp_path: Path) -> None:
    host = host_of(tmp_path)
    mpi = wrapper(tmp_path, "echo the program loads libmpich.so.12 and libmpi.so.40 >&2; exit 78")
    place = Place([], library(tmp_path / "other", "libHYPRE.so"))
    for tried, change in ((1, False), (1, False), (2, True)):
        if change:
            place.library.write_text("another build")
        gap = prove_peer(host, mpi, COMPILERS, "hypre", [place], ("", ""), ("libhypre-dev", "build hypre"))
        assert isinstance(gap, Absent) and gap.what == "hypre with Open MPI 4.1.4" and gap.fix == "build hypre"
        assert gap.why.endswith("libHYPRE.so: the program loads libmpich.so.12 and libmpi.so.40")
        assert len((tmp_path / "asked").read_text().splitlines()) == tried


def test_a_trial_that_could_not_answer_is_repeated(tmp_path: Path) -> None:
    host, mpi = host_of(tmp_path), wrapper(tmp_path, "kill -9 $$")
    place = Place([], library(tmp_path / "other", "libHYPRE.so"))
    for tried in (1, 2):
        gap = prove_peer(host, mpi, COMPILERS, "hypre", [place], ("", ""), ("libhypre-dev", "build hypre"))
        assert isinstance(gap, Absent)
        assert len((tmp_path / "asked").read_text().splitlines()) == tried


@pytest.mark.parametrize(("status", "remembered"), [(1, False), (139, False), (78, True)])
def test_how_a_trial_s_program_ends_is_remembered_only_if_it_counted_mpi_libraries(
    status: int, remembered: bool, tmp_path: Path
) -> None:
    """Its failure may be due to a variable of the caller, such as OMPI_MCA_pml, or to a limit."""
    host, mpi = host_of(tmp_path), wrapper(tmp_path, f"exit {status}")
    place = Place([], library(tmp_path / "other", "libHYPRE.so"))
    for _ in range(2):
        gap = prove_peer(host, mpi, COMPILERS, "hypre", [place], ("", ""), ("libhypre-dev", "build hypre"))
        assert isinstance(gap, Absent)
    assert len((tmp_path / "asked").read_text().splitlines()) == (1 if remembered else 2)


def test_what_is_nowhere_is_absent(tmp_path: Path) -> None:
    gap = prove_peer(host_of(tmp_path), wrapper(tmp_path, "exit 0"), COMPILERS, "hypre", [], ("", ""), ("", "build it"))
    assert gap == Absent("hypre with Open MPI 4.1.4", "no hypre here", "build it")


@pytest.mark.native
@pytest.mark.full
def test_each_mpi_library_here_has_each_peer_or_a_reason() -> None:
    box = native.toolbox()
    absent = {gap.what: gap.why for gap in box.absent}
    for mpi in box.mpis:
        for name, words in WORDS.items():
            assert (name in mpi.extras) != (f"{words} with {mpi.label}" in absent), (mpi.label, name)

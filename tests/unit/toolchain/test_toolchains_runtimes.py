"""Runtimes on top of MPI: flags come from the runtime's own wrapper, are proved, and are never those of another MPI."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

import native
from firstlight.execute.launch import command, launch
from firstlight.model.plan import Cell, Placement, Program
from firstlight.system.machine import linux
from firstlight.toolchain import RUNTIMES, Absent, Linking, Mpi, Toolbox
from firstlight.toolchain.discovery import _runtimes
from firstlight.toolchain.host import Host
from firstlight.toolchain.memory import Memory
from firstlight.toolchain.probe_result import Compiler
from firstlight.toolchain.runtimes import caf, shmem
from surveys import GXX, needs_gcc, script

COMPILERS = [Compiler("gcc", "gcc", "12.2.0", str(GXX), "/usr/bin/gfortran", "12.2.0")]


@pytest.fixture
def host(tmp_path: Path) -> Host:
    """Return a host whose search path is one empty folder, without a package manager."""
    machine = linux.describe(Path("/"), tmp_path)
    (tmp_path / "path").mkdir()
    return Host(machine, tmp_path, {"PATH": str(tmp_path / "path")}, Memory(tmp_path / "memory"))


def openmpi(folder: Path, suffix: str = ".openmpi", version: str = "4.1.4") -> Mpi:
    """Return an Open MPI whose wrappers record their arguments and refuse those without -lruntime."""
    answers = '*-lruntime*) : > trial.out ;; *) echo "error: undefined"; exit 1 ;;'
    note = f'echo "$*" >> "{folder}/asked"; case "$*" in {answers} esac'
    cxx, fortran = script(folder / f"mpicxx{suffix}", note), script(folder / f"mpifort{suffix}", note)
    label = f"Open MPI {version}"
    return Mpi("openmpi", "openmpi", label, version, "system", str(cxx), str(fortran), ("gcc",), "/l", {"MARK": "1"})


def oshcc(path: Path, version: str = "4.1.4", link: str = "-L/there -lruntime") -> None:
    named = f"*version) echo 'oshcc: Open SHMEM {version} (Language: C)' ;;"
    script(path, f"case \"$1\" in {named} *compile) echo -I/there ;; *link) echo '{link}' ;; esac")


def trials(folder: Path) -> list[str]:
    return (folder / "asked").read_text().splitlines() if (folder / "asked").exists() else []


def test_openshmem_is_linked_as_its_own_wrapper_says(host: Host, tmp_path: Path) -> None:
    mpi = openmpi(tmp_path / "bin")
    oshcc(tmp_path / "bin" / "oshcc")
    found = shmem.probe(host, mpi, COMPILERS)
    assert found == Linking(("-I/there",), ("-L/there", "-lruntime"), {"OMPI_MCA_btl": "^openib"})
    (trial,) = trials(tmp_path / "bin")
    assert trial.startswith("-I/there -o ") and trial.endswith("trial.cpp -L/there -lruntime")
    assert shmem.probe(host, mpi, COMPILERS) == found
    assert len(trials(tmp_path / "bin")) == 1, "a trial that went well is remembered"


def test_the_workaround_is_for_open_mpi_4_only(host: Host, tmp_path: Path) -> None:
    oshcc(tmp_path / "bin" / "oshcc", "5.0.3")
    found = shmem.probe(host, openmpi(tmp_path / "bin", version="5.0.3"), COMPILERS)
    assert isinstance(found, Linking) and found.environment == {}


def test_an_openshmem_that_does_not_link_is_absent_with_its_words_and_tried_again(host: Host, tmp_path: Path) -> None:
    mpi = openmpi(tmp_path / "bin")
    oshcc(tmp_path / "bin" / "oshcc.openmpi", link="-lnothing")
    for _ in range(2):
        gap = shmem.probe(host, mpi, COMPILERS)
        assert isinstance(gap, Absent) and gap.what == "OpenSHMEM with Open MPI 4.1.4"
        assert gap.why == "error: undefined" and gap.fix
    assert len(trials(tmp_path / "bin")) == 2


def test_the_openshmem_of_another_version_is_not_taken(host: Host, tmp_path: Path) -> None:
    oshcc(tmp_path / "bin" / "oshcc", version="5.0.3")
    gap = shmem.probe(host, openmpi(tmp_path / "bin"), COMPILERS)
    assert isinstance(gap, Absent) and gap.why.startswith("Open MPI 4.1.4 has no oshcc next to ")
    assert trials(tmp_path / "bin") == []


def test_libraries_that_bring_no_openshmem_say_so(host: Host, tmp_path: Path) -> None:
    mpich = msgspec.structs.replace(openmpi(tmp_path / "bin"), family="mpich", label="MPICH 4.0.2")
    gap = shmem.probe(host, mpich, COMPILERS)
    assert gap == Absent(
        "OpenSHMEM with MPICH 4.0.2", "MPICH 4.0.2 does not include OpenSHMEM", "use Open MPI for OpenSHMEM"
    )


def test_coarrays_are_linked_as_caf_says(host: Host, tmp_path: Path) -> None:
    mpi = openmpi(tmp_path / "bin")
    script(tmp_path / "path" / "caf", f'echo {mpi.fortran} -I/mods -fcoarray=lib "$2" -lruntime /lib/libcaf.a')
    found = caf.probe(host, mpi, COMPILERS)
    assert found == Linking(("-I/mods", "-fcoarray=lib"), ("-lruntime", "/lib/libcaf.a"), {}, ("gcc",))
    (trial,) = trials(tmp_path / "bin")
    assert trial.startswith("-I/mods -fcoarray=lib -o ") and trial.endswith("trial.f90 -lruntime /lib/libcaf.a")
    assert caf.probe(host, mpi, COMPILERS) == found and len(trials(tmp_path / "bin")) == 1


@pytest.mark.parametrize("other", ["bin/mpifort.mpich", "elsewhere/mpifort.openmpi"])
def test_coarrays_of_another_mpi_library_are_not_taken(host: Host, tmp_path: Path, other: str) -> None:
    script(tmp_path / "path" / "caf", f'echo {tmp_path / other} -fcoarray=lib "$2" -lruntime')
    gap = caf.probe(host, openmpi(tmp_path / "bin"), COMPILERS)
    assert isinstance(gap, Absent) and "no caf uses this library" in gap.why
    assert gap.fix == "install an OpenCoarrays that was built with Open MPI 4.1.4, and add its caf to PATH"
    assert trials(tmp_path / "bin") == []


def test_the_package_with_coarrays_is_named_where_there_is_a_package_manager(host: Host, tmp_path: Path) -> None:
    script(tmp_path / "path" / "apt-get", "exit 0")
    gap = caf.probe(host, openmpi(tmp_path / "bin"), COMPILERS)
    assert isinstance(gap, Absent) and gap.fix.endswith("; as root: apt install libcoarrays-openmpi-dev")


def test_coarrays_that_do_not_link_are_absent(host: Host, tmp_path: Path) -> None:
    mpi = openmpi(tmp_path / "bin")
    script(tmp_path / "bin" / "caf", f'echo {mpi.fortran} -fcoarray=lib "$2" -lnothing')
    gap = caf.probe(host, mpi, COMPILERS)
    assert isinstance(gap, Absent) and gap.why == "error: undefined"


def test_without_fortran_there_are_no_coarrays(host: Host, tmp_path: Path) -> None:
    wheel = msgspec.structs.replace(openmpi(tmp_path / "bin"), fortran=None, f08=())
    gap = caf.probe(host, wheel, COMPILERS)
    assert isinstance(gap, Absent) and gap.why == "Open MPI 4.1.4 has no Fortran"


def test_every_runtime_has_a_name() -> None:
    assert set(_runtimes()) == set(RUNTIMES)


@needs_gcc
@pytest.mark.native
@pytest.mark.full
def test_each_library_here_has_a_runtime_or_a_reason() -> None:
    box = native.toolbox()
    absent = {gap.what for gap in box.absent}
    for mpi in box.mpis:
        for name, words in RUNTIMES.items():
            assert (name in mpi.extras) != (f"{words} with {mpi.label}" in absent), (mpi.label, name)
    if Path("/usr/bin/oshcc").exists():
        assert all("shmem" in mpi.extras for mpi in box.mpis if mpi.cxx == "/usr/bin/mpicxx.openmpi")


def test_a_library_written_before_there_were_runtimes_can_be_read(tmp_path: Path) -> None:
    old = msgspec.to_builtins(openmpi(tmp_path))
    del old["extras"], old["mpi4"]
    assert msgspec.convert(old, Mpi).extras == {}


@pytest.mark.parametrize(("variant", "mark"), [("shmem_put", "^openib"), ("broken_shmem_x", "^openib"), ("put", "")])
def test_the_environment_of_a_runtime_reaches_its_programs_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variant: str, mark: str
) -> None:
    """The launcher passes its environment to the ranks; this one prints what it was given."""
    monkeypatch.delenv("OMPI_MCA_btl", raising=False)
    launcher = script(tmp_path / "mpiexec", 'printf %s "$OMPI_MCA_btl"')
    extras = {"shmem": Linking((), (), {"OMPI_MCA_btl": "^openib"})}
    library = msgspec.structs.replace(openmpi(tmp_path), launcher=str(launcher), extras=extras)
    cell = Cell("c", Program("halo", variant, "gcc-base", "openmpi"), Placement(1, 2, 1), ())
    box = Toolbox((), (library,), (), ())
    ready = command(cell, tmp_path, box, output=tmp_path / "r", machine=native.here)
    outcome = launch(ready, 20, f"runtimes-{tmp_path.name}")
    assert outcome.stdout == mark

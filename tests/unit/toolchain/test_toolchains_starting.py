"""Starting through the batch system's launcher: only what a trial proves, and the reason for what it does not."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

import synthetic_machine
from firstlight.system import mpi_families
from firstlight.toolchain import Mpi
from firstlight.toolchain.host import Host
from firstlight.toolchain.memory import Memory
from firstlight.toolchain.probe_result import Found
from firstlight.toolchain.starting import refused, starting
from firstlight.toolchain.wrappers import probe
from surveys import script


def host(tmp_path: Path, srun: str | None, batch: str = "slurm") -> Host:
    bin = tmp_path / "bin"
    bin.mkdir()
    if srun is not None:
        script(bin / "srun", f'echo "$@" >>{tmp_path}/asked; {srun}')
    machine = replace(synthetic_machine.machine(), batch=batch, nodes=2)
    return Host(machine, tmp_path, {"PATH": f"{bin}:/usr/bin:/bin"}, Memory(tmp_path / "memory.json"))


def library(tmp_path: Path, wrapper: str = "touch start") -> Mpi:
    """Return a library whose wrapper compiles nothing: the stand-in srun decides how the trial ends."""
    place = script(tmp_path / "mpicxx", wrapper)
    return Mpi("mpich", "mpich", "MPICH 4", "4", "system", str(place), None, (), "/x/mpiexec", {})


def test_the_first_way_that_is_proved_is_taken(tmp_path: Path) -> None:
    found, absent = starting(host(tmp_path, 'case "$1" in *pmix) exit 0;; esac; exit 9'), library(tmp_path))
    assert found.starter == (str(tmp_path / "bin" / "srun"), "--mpi=pmix")
    assert absent == []
    options = (tmp_path / "asked").read_text()
    assert "--nodes=2 --ntasks=4 --ntasks-per-node=2" in options and "--mpi=pmi2" in options
    assert list(tmp_path.glob("start-*")) == []


def test_ranks_that_are_alone_are_no_proof(tmp_path: Path) -> None:
    found, (absent,) = starting(host(tmp_path, "exit 9"), library(tmp_path))
    assert found.starter == ()
    assert absent.what == "MPICH 4 through srun"
    assert absent.why.count("the processes do not find each other") == 2
    assert "mpiexec" in absent.fix


def test_the_words_of_srun_are_the_reason(tmp_path: Path) -> None:
    _, (absent,) = starting(host(tmp_path, "echo 'srun: error: no such plugin' >&2; exit 1"), library(tmp_path))
    assert "--mpi=pmi2: srun: error: no such plugin" in absent.why


def test_a_wrapper_that_does_not_compile_is_told(tmp_path: Path) -> None:
    _, (absent,) = starting(host(tmp_path, "exit 0"), library(tmp_path, "echo 'error: no mpi.h' >&2; exit 1"))
    assert absent.why == "error: no mpi.h"


@pytest.mark.parametrize(("srun", "batch"), [(None, "slurm"), ("exit 0", ""), ("exit 0", "pbs")])
def test_outside_of_a_slurm_allocation_nothing_is_tried(tmp_path: Path, srun: str | None, batch: str) -> None:
    mine, here = library(tmp_path), host(tmp_path, srun, batch)
    here.path = (tmp_path / "bin",)  # without an srun that this system may have
    assert starting(here, mine) == (mine, [])
    assert not (tmp_path / "asked").exists()


def test_who_asks_for_a_launcher_gets_that_or_nothing(tmp_path: Path) -> None:
    here, mine = host(tmp_path, "exit 9"), library(tmp_path)
    assert starting(here, mine, "mpiexec") == (mine, []) and not (tmp_path / "asked").exists()
    assert refused(here, mine, "mpiexec") is None and refused(here, mine, "") is None
    assert (gap := refused(here, mine, "srun")) and gap.what == "MPICH 4" and "srun was selected" in gap.why
    assert refused(here, replace(mine, starter=("/bin/srun", "--mpi=pmix")), "srun") is None
    here.machine = replace(here.machine, batch="")
    assert refused(here, mine, "srun") is None  # outside of an allocation there is nothing to start


CRAY = """\
#define MPICH_VERSION "3.4a2"
#define CRAY_MPICH_VERSION 8.1.29
"""
"""Lines of its mpi.h. Programs that query their library print the second one (tests of ADIOS2, of a bandwidth test)."""


def cray(tmp_path: Path, here: Host) -> Mpi:
    """Cray MPICH as a module brings it: a folder of its own with wrappers, and no mpiexec in it."""
    bin = tmp_path / "mpich" / "8.1.29" / "ofi" / "gnu" / "12.3" / "bin"
    bin.mkdir(parents=True)
    script(bin / "mpicxx", f"case \"$*\" in *-dM*) cat <<'END'\n{CRAY}END\n;; *) touch start;; esac")
    here.environ = {**here.environ, "CRAY_MPICH_DIR": str(bin.parent)}
    found = probe(here, mpi_families.of("cray"))
    assert not found.absent
    (library,) = found.items
    assert (library.name, library.label, library.launcher) == ("cray", "Cray MPICH 8.1.29", "")
    return library


def test_cray_s_library_is_started_by_what_the_system_has(tmp_path: Path) -> None:
    here = host(tmp_path, 'case "$1" in --mpi=cray_shasta) exit 0;; esac; exit 9')
    found, absent = starting(here, cray(tmp_path, here))
    assert found.starter == (str(tmp_path / "bin" / "srun"), "--mpi=cray_shasta") and not absent
    assert refused(here, found, "") is None


def test_where_nothing_starts_it_cray_s_library_is_absent(tmp_path: Path) -> None:
    here = host(tmp_path, "exit 9")
    library, (gap,) = starting(here, cray(tmp_path, here))
    assert gap.fix == "use a Cray MPICH 8.1.29 that was built for this launcher"
    useless = refused(here, library, "")
    assert useless is not None and "no mpiexec is installed" in useless.why and "./fl submit" in useless.fix


def test_elsewhere_nobody_misses_cray_s_library(tmp_path: Path) -> None:
    assert probe(host(tmp_path, None), mpi_families.of("cray")) == Found()

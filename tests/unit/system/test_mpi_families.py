"""Each MPI family is defined completely by one file."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.core.errors import UsageError
from firstlight.execute.launch import launcher
from firstlight.execute.launch.invocation import Here
from firstlight.execute.recorder import recording
from firstlight.model.plan import Placement
from firstlight.system import mpi_families
from firstlight.toolchain import Mpi

NEW = """
from firstlight.system.mpi_families.family import Family

class Invented(Family):
    name, label, base, rank = "invented", "Invented MPI", "mpich", 9
    launcher_says = ("Invented launcher",)
    wrapped = "INVENTED"
    variables = ("INVENTED_",)
    signal_message = r"killed by (\\d+)"

    def version(self, macros):
        return macros.get("INVENTED_VERSION")

    def placing(self, spread, room):
        return ["--each", str(spread.per_node)]

    def export_options(self, variables):
        return [f"--send={variable}" for variable in variables]

FAMILY = Invented()
"""


@pytest.fixture
def invented(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Mpi]:
    """Invent a library of a family that consists of one more file."""
    (tmp_path / "invented.py").write_text(NEW)
    monkeypatch.setattr(mpi_families, "__path__", [*mpi_families.__path__, str(tmp_path)])
    mpi_families.every.cache_clear()
    yield Mpi("invented", "invented", "Invented MPI 1", "1", "system", "/x/mpicxx", None, (), "/x/mpiexec", {"A": "1"})
    mpi_families.every.cache_clear()


def test_a_new_family_is_one_file(invented: Mpi) -> None:
    macros = '#define MPICH_VERSION "4.0"\n#define INVENTED_VERSION "7.1"\n'
    assert mpi_families.library_of(macros) == ("invented", "7.1")
    assert mpi_families.launcher_of("Invented launcher, made from HYDRA") == "invented"
    assert mpi_families.of("invented").compilers("/g++", "/gfortran") == {
        "INVENTED_CXX": "/g++", "INVENTED_FC": "/gfortran", "INVENTED_F90": "/gfortran",
    }  # fmt: skip
    started = launcher.find("invented")
    way = started.invocation(invented, Placement(2, 8, 1), Here(mpi_families.NodeCapacity(2, 2)))
    assert way.prefix == ("/x/mpiexec", "-n", "8", "--each", "4") and way.environment["A"] == "1"
    assert started.signal_of(3, "killed by 11") == 11 and started.signal_of(139, "") == 11
    assert recording.words(["mpiexec", "./a"], invented)[:2] == ["mpiexec", "--send=LD_PRELOAD"]
    assert "invented" in [family.name for family in mpi_families.interchangeable("mpich")]
    assert not mpi_families.of("invented").tuning


def test_families_share_libraries_with_those_of_their_interface_only() -> None:
    alike = {f.name: {other.name for other in mpi_families.interchangeable(f.name)} for f in mpi_families.every()}
    assert alike["openmpi"] == {"openmpi"} and alike["mpich"] >= {"mpich", "intel", "cray"}
    assert all(alike[other] == others for others in alike.values() for other in others)
    assert mpi_families.interchangeable("intel")[0].name == "intel"


@pytest.mark.parametrize(
    ("file", "family"),
    [
        ("libmpi.so.40", "openmpi"),
        ("libmpi.so", "openmpi"),
        ("libmpi.so.12", "mpich"),
        ("libmpich.so.12", "mpich"),
        ("libmpi_gnu_123.so.12", "cray"),
        ("libmpi_cray.so.12", "cray"),
        ("libmpi_cxx.so.40", None),
        ("libmpifort.so.12", None),
    ],
)
def test_the_shared_library_tells_the_family(file: str, family: str | None) -> None:
    assert mpi_families.with_library(file) == family


def test_a_family_that_is_not_known_says_which_file_is_missing() -> None:
    with pytest.raises(UsageError, match="add src/firstlight/system/mpi_families/nosuch"):
        mpi_families.of("nosuch")


@given(st.integers(1, 4), st.integers(1, 16), st.integers(1, 8), st.integers(0, 16), st.integers(1, 4))
def test_what_does_not_fit_is_not_bound(nodes: int, ranks: int, threads: int, cores: int, smt: int) -> None:
    place, room = Placement(nodes, ranks * nodes, threads), mpi_families.NodeCapacity(cores, cores * smt)
    unit = mpi_families.bind_unit(place, room)
    assert unit == ("core" if ranks * threads <= cores else "hwthread" if ranks * threads <= cores * smt else "")
    for family in mpi_families.every():
        words = [*family.placing(place, room), *family.pinning(place, room).values()]
        bound = {"core", "hwthread"} & set(words) or any(
            word.startswith(("core:", "hwthread:", f"{threads}:")) for word in words
        )
        assert bool(bound) == bool(unit), (family.name, words)


@pytest.mark.skipif(shutil.which("mpiexec.hydra") is None, reason="MPICH's launcher is not installed")
@pytest.mark.parametrize("indexes", ["2*8:1*2", "8*2:1*1"], ids=["n and n + 8", "2 n and 2 n + 1"])
@pytest.mark.parametrize(("ranks", "threads"), [(2, 1), (8, 1), (16, 1), (4, 2), (2, 4), (2, 8)])
def test_ranks_get_cores_of_their_own_on_an_invented_machine(indexes: str, ranks: int, threads: int) -> None:
    """There are two sockets of four cores with two threads, as hwloc invents them for the launcher, which prints the
    binding.
    """
    room, family = mpi_families.NodeCapacity(8, 16), mpi_families.of("mpich")
    output = subprocess.run(
        ["mpiexec.hydra", "-n", str(ranks), *family.placing(Placement(1, ranks, threads), room), "sleep", "0.1"],
        env={"PATH": os.environ["PATH"], "HYDRA_TOPO_DEBUG": "1",
             "HWLOC_SYNTHETIC": f"pack:2 core:4 pu:2(indexes={indexes})"},
        capture_output=True, text=True, check=True, timeout=60,
        restore_signals=False,  # its launcher may write to a rank that has ended: no reason to die
    ).stdout  # fmt: skip
    sets = [
        {k for k, bit in enumerate(line.split()[-1]) if bit == "1"} for line in output.splitlines() if "binding" in line
    ]
    assert len(sets) == ranks and sum(map(len, sets)) == len(set().union(*sets))  # no two ranks share a hardware thread
    core = (lambda cpu: cpu % 8) if indexes.startswith("2*8") else (lambda cpu: cpu // 2)
    used = [{core(cpu) for cpu in some} for some in sets]
    if ranks * threads <= 8:
        assert all(len(some) == threads for some in used) and sum(map(len, used)) == len(set().union(*used))
    else:
        assert all(len(some) == threads for some in sets)

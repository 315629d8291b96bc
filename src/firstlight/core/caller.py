"""Caller: the environment in which firstlight was started, without variables that would change what is measured.

`fl` runs this file as a program before firstlight's packages are installed: `caller.py COMMAND...` starts the command
without these variables. Therefore this module imports only the standard library.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, MutableMapping

_FLAGS = "CFLAGS|CXXFLAGS|CPPFLAGS|CCFLAGS|FFLAGS|FCFLAGS|F77FLAGS|F90FLAGS|FPPFLAGS|LDFLAGS|LIBS"
_COMPILERS = "CC|CXX|CPP|FC|F77|F90|F95|F08"

DROPPED = re.compile(
    "|".join(
        (
            # Makefiles, configure scripts and CMake read these. CXX stays: it names the user's compiler (docs/site.md).
            _FLAGS,
            "ARFLAGS|ASFLAGS|ASMFLAGS|OBJCFLAGS|OBJCXXFLAGS|ISPCFLAGS|LDLIBS|LOADLIBES|TARGET_ARCH|TARGET_MACH",
            "CC|CPP|FC|F77|F90|F95|AR|AS|LD|NM|RANLIB|STRIP|OBJCOPY|OBJDUMP|READELF|ASM|ISPC|CONFIG_SITE|DESTDIR|VPATH",
            r"MAKE|MAKEFLAGS|MFLAGS|GNUMAKEFLAGS|MAKEFILES|MAKELEVEL|MAKEOVERRIDES",
            r"CMAKE_\w+|CTEST_\w+|CPACK_\w+|VERBOSE|\w+_DIR_CMAKE|Threads_(ROOT|DIR)",
            r"NINJA\w*|CLICOLOR|CLICOLOR_FORCE",
            # GCC and the GNU linker read these.
            r"GCC_\w+|COMPILER_PATH|COLLECT_\w+|DEPENDENCIES_OUTPUT|SUNPRO_DEPENDENCIES",
            r"LD_RUN_PATH|LDEMULATION|GNUTARGET|LPATH",
            # clang, the compilers of Intel, NVIDIA, AMD and Fujitsu, and compiler caches in front of them read these.
            r"CCC_\w+|CC_(PRINT|LOG)_\w+|CLANG_\w+|SDKROOT|\w+_DEPLOYMENT_TARGET",
            r"_*INTEL_(PRE|POST)_\w+|(ICC|ICPC|ICX|ICPX|DPCPP|IFORT|IFX)CFG|CL|_CL_|LINK",
            r"NVCC_\w+|NVCCFLAGS|CUDAFLAGS|CUDACXX|CUDAHOSTCXX|CUDAARCHS|HIPCC_\w+|HIPFLAGS|HIPCXX|HIPHOSTCXX",
            r"(FCC|fcc|FRT|frt)_ENV",
            r"CCACHE_(COMPILER|COMPILERTYPE|PREFIX|PREFIX_CPP|PATH)",
            # The compiler wrappers of MPI libraries read these.
            rf"(OMPI|OSHMEM|OPAL|ORTE|MPICH|I_MPI|MV2|MVP|MPT)_({_COMPILERS}|{_FLAGS})(_PROFILE)?",
            r"MPI(CC|CXX|FC|F77|F90|F08)_\w+|(OMPI|MPICH)_(LINK|COMPILE)\w*",
            # Python, pip, virtualenv and uv: these choose what is installed, and where. The source of packages stays.
            r"PYTHON(?!PATH$)\w+|VIRTUALENV_\w+|SETUPTOOLS_\w+|DISTUTILS_\w+",
            r"PIP_(?!(\w*INDEX\w*|FIND_LINKS|CERT|CLIENT_CERT|PROXY|\w*TIMEOUT|RETRIES|TRUSTED_HOST|CONFIG_FILE|CACHE_DIR|"
            r"NO_CACHE_DIR|KEYRING_PROVIDER|USE_FEATURE|USE_DEPRECATED|DISABLE_PIP_VERSION_CHECK)$)\w+",
            r"UV_(?!(\w*INDEX\w*|FIND_LINKS|OFFLINE|NATIVE_TLS|SYSTEM_CERTS|\w*TIMEOUT|HTTP_\w+|INSECURE_HOST|CONFIG_FILE|"
            r"CACHE_DIR|NO_CACHE|KEYRING_PROVIDER|CONCURRENT_\w+|LINK_MODE)$)\w+",
            # git: these choose another repository, index or configuration than that of the current folder.
            r"GIT_(DIR|WORK_TREE|COMMON_DIR|INDEX_\w+|OBJECT_DIRECTORY|ALTERNATE_\w+|NAMESPACE|CEILING_DIRECTORIES|"
            r"DISCOVERY_\w+|CONFIG\w*|EXEC_PATH|TEMPLATE_DIR|EXTERNAL_DIFF|\w*PATHSPECS|GRAFT_FILE|REPLACE_REF_BASE|"
            r"SHALLOW_FILE|PREFIX|OPTIONAL_LOCKS|ATTR_\w+|NO_REPLACE_OBJECTS|DEFAULT_\w+|REDIRECT_\w+|TRACE\w*)",
        )
    )
)
"""Variables that compilers, linkers, CMake, Ninja, make, pip, uv, Python and git read, and that change what they build
or install. firstlight and its child processes run without them. The commands of `profile` and `map --try` receive them,
and a command of `bench` those that `--env` names."""

SEARCHED = ("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH")
"""Search paths of compilers for headers and libraries; environment modules set them for the libraries of a site."""
STEERING = (*SEARCHED, "CRAY_CPU_TARGET", "CRAY_ACCEL_TARGET", "CRAYPE_LINK_TYPE")
"""Variables of environment modules that affect compilers. They are part of the key of everything that is built, and
of `run.json`."""

_ignored: dict[str, str] = {}


def clean(environment: MutableMapping[str, str]) -> None:
    """Drop the variables from the environment of this process; `original` restores them."""
    found = {name: value for name, value in environment.items() if DROPPED.fullmatch(name)}
    for name in found:
        del environment[name]
    _ignored.update(found)


def ignored() -> tuple[str, ...]:
    """Return the names of the variables that `clean` dropped."""
    return tuple(sorted(_ignored))


def original(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for a user's own command, including the dropped variables."""
    return {**_ignored, **environment}


def steering(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the variables that also decide which headers and libraries a compiler finds, as parts of a key."""
    return tuple(f"{name}={environment[name]}" for name in STEERING if environment.get(name))


if __name__ == "__main__":
    clean(os.environ)
    try:
        os.execvp(sys.argv[1], sys.argv[1:])
    except OSError as error:
        sys.exit(f"fl: cannot start {sys.argv[1]}: {error.strerror}")

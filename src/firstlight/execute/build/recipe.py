"""Recipe: all that a program is made of, decided here and executed by CMake; and the key of the result."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import msgspec

from firstlight.core.errors import BuildError
from firstlight.execute.build import kernels
from firstlight.model.catalogue import Variant, Workload, of_library
from firstlight.model.plan import Program, family, library_names
from firstlight.system.machine import kind, parse
from firstlight.toolchain import OFFLOADING, Cuda, Library, Mpi, Toolbox, Toolchain
from firstlight.toolchain.cmake import rules, run
from firstlight.toolchain.host import facts
from firstlight.toolchain.sources import Sources, digest, uses


def harness_flags(toolchain: Toolchain) -> str:
    """Return the flags of the harness and of every workload's judge: never the flags under test."""
    return " ".join(("-O2", *toolchain.strict))


LOG_SUFFIX = ".said"
"""Suffix of the file next to a foreign object that stores the output of its compiler."""


SCHEDULES = "  SCHEDULES"
"""The end of a call of CMake's function if the program runs schedules of collectives."""


class Foreign(msgspec.Struct, frozen=True):
    """An object that another compiler makes of `source`. `warnings` are for strict builds: they change no bytes."""

    object: str  # below the tree; the compiler's output is in the file of this name and LOG_SUFFIX
    source: Path
    command: tuple[str, ...]  # without the source, -o, the folders of headers
    warnings: tuple[str, ...]


class Recipe(msgspec.Struct, frozen=True):
    """One executable in CMake's words.

    `flags` compile and link all of it, `compile_flags` only compile, `own_flags` are for the variant's own file.
    """

    name: str  # of the file
    folder: str  # below bin/ of the tree
    workload: str
    header: Path  # whose init, cost and check are compiled with harness_flags
    sources: tuple[Path, ...]  # the variant's own first
    foreign: Foreign | None
    own_flags: tuple[str, ...]
    compile_flags: tuple[str, ...]
    flags: tuple[str, ...]
    link: tuple[str, ...]
    definitions: dict[str, str]
    library: str  # its name with its version, "" for none: its headers may be part of the program

    @property
    def target(self) -> str:
        """The name of the CMake target: unique among the flag sets that share a tree."""
        return f"{self.name}+{self.folder}"

    @property
    def files(self) -> tuple[Path, ...]:
        """Return what it is compiled from, without headers that these include."""
        return (*self.sources, self.header)

    def written(self, strict: bool, schedules: bool, judge: Path | None) -> str:
        """Return the call of CMake's function that makes the target; with `schedules` it runs those of collectives.
        `judge`: the object that is made already; None if it is made with the target.
        """
        parts: dict[str, tuple[str, ...]] = {
            "NAME": (self.name,),
            "FOLDER": (self.folder,),
            "WORKLOAD": (self.workload,),
            "HEADER": (str(self.header),),
            "SOURCES": tuple(str(s) for s in self.sources if self.foreign is None or s != self.foreign.source),
            "OWN_FLAGS": self.own_flags,
            "COMPILE_FLAGS": self.compile_flags,
            "FLAGS": self.flags,
            "LINK": self.link,
            "DEFINITIONS": tuple(f"{key}={value}" for key, value in self.definitions.items()),
        }
        if judge is not None:
            parts |= {"JUDGE": (str(judge),)}
        if self.foreign is not None:
            parts |= {"OBJECT": (self.foreign.object,), "OBJECT_SOURCE": (str(self.foreign.source),)}
            parts |= {"OBJECT_COMMAND": self.foreign.command + (self.foreign.warnings if strict else ())}
        arguments = "".join(f"  {key} {' '.join(map(_quoted, some))}\n" for key, some in parts.items() if some)
        return f"fl_program({self.target}\n{arguments}{SCHEDULES if schedules else ''})\n"


def recipe(
    program: Program,
    workload: Workload,
    toolbox: Toolbox,
    toolchain: Toolchain,
    mpi: Mpi | None,
    environment: Mapping[str, str],
) -> Recipe:
    """Return what `program` is made of; `environment` is that of the MPI library's wrappers.

    Raises BuildError if a wrapper does not report its flags, or if no library here offers what the program needs.
    """
    variant = workload.variant(program.variant)
    needs = variant.needs
    flags = [*toolchain.flags, *variant.flags.get(family(toolchain.compiler), ())]
    definitions = {"FL_VARIANT_NAME": f'"{program.variant}"', "FL_FLAGS": f'"{" ".join(flags)}"'}
    files, own, compiled, link = [variant.source], list[str](), list[str](), list[str]()
    foreign: Foreign | None = None
    if "openmp" in needs:
        flags += toolchain.openmp
    for offload in (toolbox.offload(need, toolchain.compiler) for need in needs if need in OFFLOADING):
        if offload is not None:
            flags += offload.flags
            link += offload.link_flags
            definitions["FL_OFFLOAD"] = f'"{offload.device}"'
    if "fortran" in needs:
        files.append(workload.folder / "c_abi.cpp")  # its C side; the C++ compiler links, as for every other variant
        if mpi is not None and mpi.fortran is not None:
            link += _wrapper_flags(mpi.fortran, tuple(sorted(environment.items())), ("-l", "-L", "-Wl,"))
    for extra in (mpi.extras[need] for need in needs if mpi is not None and need in mpi.extras):
        own += extra.compile_flags  # -fcoarray is a Fortran flag, and the C side of a variant calls plain procedures
        link += extra.link_flags
    library: Library | None = None
    if of_library(needs):
        library = library_names(variant, toolbox).get(program.variant)
        if library is None:
            raise BuildError(
                f"{program.target}: no library on this machine provides the required functions; see ./fl doctor"
            )
        compiled += library.compile_flags
        link += library.link_flags
        definitions["FL_SYMBOL_PREFIX"] = library.prefix
    if "cuda" in needs and toolbox.cuda is not None:
        threads = toolchain.openmp if "openmp" in needs else ()
        foreign = _cuda_object(program, variant, toolbox.cuda, mpi, environment, threads)
        link += toolbox.cuda.link_flags
    return Recipe(
        name=program.target,
        folder=toolchain.name,
        workload=workload.name,
        header=workload.folder / f"{workload.name}.hpp",
        sources=tuple(files),
        foreign=foreign,
        own_flags=tuple(own),
        compile_flags=tuple(compiled),
        flags=tuple(flags),
        link=tuple(link),
        definitions=definitions,
        library=library.label if library is not None else "",
    )


def tools(toolchain: Toolchain, mpi: Mpi | None) -> tuple[str, ...]:
    """Return what identifies the C++ compiler and the MPI library: their versions, and their files as they are now.

    A compiler may call the assembler and the linker that are on PATH, such as those of a module.
    """
    on_path = (facts(path) for name in ("as", "ld") if (path := shutil.which(name)))
    compiler = toolchain.version, facts(toolchain.cxx), *on_path
    return compiler if mpi is None else (*compiler, mpi.label, facts(mpi.cxx))


def key(made: Recipe, sources: Sources, toolchain: Toolchain, mpi: Mpi | None, cuda: Cuda | None, sanitize: str) -> str:
    """Return a hash of all that changes the executable's bytes, and of nothing else: equal builds share one entry."""
    files = sources.closure(made.files)
    compiler: tuple[object, ...] = (*tools(toolchain, mpi), harness_flags(toolchain), sanitize)
    if made.sources[0].suffix == ".f90":
        fortran = mpi.fortran if mpi else toolchain.fortran
        compiler += (facts(fortran) if fortran else "", toolchain.fortran_version)
    if made.foreign is not None and cuda is not None:
        compiler += (cuda.label, facts(cuda.nvcc), made.foreign.command)
    # `native` means another thing on another processor; login and compute nodes may share one cache.
    processor = _instructions() if any("native" in flag for flag in made.flags) else ""
    words = (made.name, made.own_flags, made.compile_flags, made.flags, made.link, sorted(made.definitions.items()))
    contents = sources.digest(files), sources.digest(sources.linked(files)), sources.digest(rules())
    return digest([repr((kind(), compiler, made.library, processor, words, contents)).encode()])[:24]


def runs_schedules(made: Recipe, sources: Sources) -> bool:
    """Return whether it includes what runs schedules of collectives."""
    return uses(sources.closure(made.files), "collectives")


def _cuda_object(
    program: Program,
    variant: Variant,
    cuda: Cuda,
    mpi: Mpi | None,
    environment: Mapping[str, str],
    threads: Sequence[str],
) -> Foreign:
    """Return the object that nvcc compiles and the C++ compiler links. Its flags are its own: those under test are for
    the processor, and nvcc does not accept every host compiler. `threads`: flags for the file's OpenMP directives.
    """
    flags = ("-O3", f"-arch={cuda.architecture}")
    macros = {"VARIANT_NAME": program.variant, "FLAGS": " ".join(flags), "COMPILER": cuda.label}
    words: tuple[str, ...] = (cuda.nvcc, "-c", "-std=c++20", "-ccbin", cuda.host, *flags, *kernels.FLAGS)
    words += ("-Xcompiler=-Wall",)
    words += tuple(f"-Xcompiler={flag}" for flag in threads)
    if mpi is not None:
        words += _wrapper_flags(mpi.cxx, tuple(sorted(environment.items())), ("-I", "-D"))
        words += ("-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX")  # as everywhere: bindings that MPI no longer has
    words += tuple(f'-DFL_{name}="{value}"' for name, value in macros.items())
    return Foreign(f"cuda/{program.target}.o", variant.source, words, ("-Werror", "all-warnings"))


def _quoted(word: str) -> str:
    """Quote an argument that CMake uses unchanged. Raises BuildError for what its lists cannot contain."""
    if ";" in word or "\n" in word or "]==]" in word:
        raise BuildError(f"CMake does not accept {word!r}; rename the folder or correct the flag")
    return f"[==[{word}]==]"


@cache
def _wrapper_flags(
    wrapper: str, environment: tuple[tuple[str, str], ...], beginnings: tuple[str, ...]
) -> tuple[str, ...]:
    """Return what an MPI library's wrapper adds, for compilers without it: nvcc, which does not know the headers, or
    the C++ wrapper, which does not know what the Fortran wrapper links.
    """
    code, output = run([wrapper, "-show"], dict(environment))
    if code != 0:
        raise BuildError(f"{wrapper} -show failed: {output.strip().splitlines()[-1:]}; check the MPI installation")
    return tuple(token for token in shlex.split(output) if token.startswith(beginnings))


def _instructions() -> str:
    return parse.instructions(Path("/proc/cpuinfo").read_text(errors="replace"))

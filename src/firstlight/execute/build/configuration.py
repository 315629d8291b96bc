"""Configurations: a compiler, perhaps with an MPI library, and the CMake tree that builds its programs."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from firstlight import ROOT
from firstlight.execute.build.parts import Parts, parts
from firstlight.execute.build.recipe import harness_flags, tools
from firstlight.model.plan import family
from firstlight.system import mpi_families
from firstlight.system.machine import kind
from firstlight.toolchain import Mpi, Toolchain
from firstlight.toolchain.cmake import Tree
from firstlight.toolchain.host import facts
from firstlight.toolchain.sources import digest

BINUTILS = {"ar": "CMAKE_AR", "ranlib": "CMAKE_RANLIB", "ld": "FL_LD", "objcopy": "FL_OBJCOPY"}
"""Tools of a compiler, as CMake's cache calls them."""
MANIFEST = "manifest.cmake"
"""A file in a tree: a call of CMake's fl_program() for every program requested of the tree so far."""


class Options(msgspec.Struct, frozen=True):
    """How to build beyond the toolchain: `strict` makes warnings errors, `sanitize` is a list for -fsanitize."""

    strict: bool = False
    sanitize: str = ""

    @classmethod
    def usual(cls) -> Options:
        """Return strict options if FIRSTLIGHT_STRICT is set: tests share programs with firstlights they start."""
        return cls(strict=bool(os.environ.get("FIRSTLIGHT_STRICT")))


class Configuration(msgspec.Struct, frozen=True):
    """What the programs of a build tree share: a compiler, perhaps with an MPI library.

    The flags under test differ from program to program.
    """

    toolchain: Toolchain  # one of the compiler's
    mpi: Mpi | None
    options: Options
    emulator: tuple[str, ...] = ()  # the words before its programs

    @property
    def environment(self) -> dict[str, str]:
        extra: dict[str, str] = {}
        if self.mpi is not None:
            wrapped = mpi_families.of(self.mpi.family).compilers(self.toolchain.cxx, self.toolchain.fortran)
            extra = self.mpi.environment | wrapped
        return os.environ | extra

    @property
    def fortran(self) -> str | None:
        if self.mpi is None:
            return self.toolchain.fortran
        return self.mpi.fortran if family(self.toolchain.compiler) in self.mpi.f08 and self.toolchain.fortran else None

    @property
    def definitions(self) -> dict[str, str]:
        """Return the CMake definitions of this kind of build."""
        values = {
            "CMAKE_CXX_COMPILER": self.mpi.cxx if self.mpi else self.toolchain.cxx,
            "FL_HARNESS_FLAGS": harness_flags(self.toolchain),
            "FL_WITH_MPI": "ON" if self.mpi else "OFF",
            "FL_WITH_FORTRAN": "ON" if self.fortran else "OFF",
            "FL_STRICT": "ON" if self.options.strict else "OFF",
            "FL_SANITIZE": self.options.sanitize,
        }
        return values | self.binutils | ({"CMAKE_Fortran_COMPILER": self.fortran} if self.fortran else {})

    @property
    def binutils(self) -> dict[str, str]:
        """Return paths of a cross compiler's binutils by CMake variable; empty natively, where CMake finds them."""
        tools = self.toolchain.binutils
        return {BINUTILS[tool]: path for tool, path in tools.items() if tool in BINUTILS}

    @property
    def name(self) -> str:
        return self.toolchain.compiler + (f"+{self.mpi.name}" if self.mpi else "")

    @property
    def label(self) -> str:
        return self.toolchain.compiler + (f" with {self.mpi.name}" if self.mpi else "")

    def tree(self, cache: Path) -> Tree:
        """Return the tree that it is built in."""
        fortran = facts(self.fortran) if self.fortran else ""
        compilers = (*tools(self.toolchain, self.mpi), self.toolchain.fortran_version, fortran)
        signature = digest([repr((kind(), compilers, sorted(self.definitions.items()), str(ROOT))).encode()])[:12]
        folder = cache / "build" / f"{self.name}-{signature}"
        manifest = {"FL_MANIFEST": str(folder / MANIFEST)}
        return Tree(folder, self.definitions | manifest, self.environment)

    def parts(self, cache: Path) -> Parts:
        """Return what its programs share with those of the same compiler and another MPI library, or none."""
        without = Configuration(msgspec.structs.replace(self.toolchain, fortran=None), None, self.options)
        compiler = (*tools(self.toolchain, None), harness_flags(self.toolchain), self.options)
        return parts(without.tree(cache), compiler, cache)

"""The result of a probe; probes are discovered by listing their folder."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from types import ModuleType
from typing import Generic, TypeVar

import msgspec

from firstlight.toolchain import Absent
from firstlight.toolchain.host import Host

T = TypeVar("T")


class Found(msgspec.Struct, Generic[T], frozen=True):
    """Usable things, best first, and what was looked for and is not usable."""

    items: tuple[T, ...] = ()
    absent: tuple[Absent, ...] = ()


class Compiler(msgspec.Struct, frozen=True):
    """A C++20 compiler before flag sets are tried, with the Fortran compiler of its version."""

    name: str  # gcc, gcc-13
    family: str  # gcc, clang
    version: str
    cxx: str
    fortran: str | None = None
    fortran_version: str | None = None
    binutils: dict[str, str] = {}


def probes(package: ModuleType) -> list[Callable[[Host], Found[T]]]:
    """Return the `probe` function of every file in `package`, by (RANK, name): a low RANK comes first."""
    modules = [importlib.import_module(f"{package.__name__}.{m.name}") for m in pkgutil.iter_modules(package.__path__)]
    modules.sort(key=lambda module: (getattr(module, "RANK", 0), module.__name__))
    return [module.probe for module in modules]

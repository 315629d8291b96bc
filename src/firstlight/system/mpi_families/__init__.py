"""MPI families: all that is specific to one (Open MPI, MPICH, Intel MPI) is in one file, which registers it.

A file defines `FAMILY`, of a subclass of `Family`. No other part of firstlight names a family.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
import re
from collections.abc import Mapping

from firstlight.core.errors import UsageError
from firstlight.system.mpi_families.family import Family, Layout, NodeCapacity, Origin, bind_unit

__all__ = [
    "Family",
    "Layout",
    "NodeCapacity",
    "Origin",
    "bind_unit",
    "every",
    "interchangeable",
    "launcher_of",
    "library_of",
    "of",
    "outside",
    "placing",
    "with_library",
]


@functools.cache
def every() -> tuple[Family, ...]:
    """Return all families, in the order in which libraries are listed."""
    modules = [importlib.import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__)]
    found: list[Family] = [module.FAMILY for module in modules if hasattr(module, "FAMILY")]
    return tuple(sorted(found, key=lambda family: (family.rank, family.name)))


def of(name: str) -> Family:
    """Return the family of this name. Raises UsageError if no file defines it."""
    found = next((family for family in every() if family.name == name), None)
    if found is None:
        raise UsageError(f"no MPI family {name!r} is known: add src/firstlight/system/mpi_families/{name}.py")
    return found


def interchangeable(name: str) -> tuple[Family, ...]:
    """Return the family, then those with the same binary interface: a library built for one serves the others."""
    family = of(name)
    return (family, *(other for other in every() if other is not family and _root(other) == _root(family)))


def library_of(macros: str) -> tuple[str, str] | None:
    """Return (family, version) from the macros that mpi.h defines; None if no family has them."""
    values = dict(re.findall(r'^#define (\w+) "?([^"\n]*)"?\s*$', macros, re.MULTILINE))
    return next(((f.name, version) for f in _derived_first() if (version := f.version(values))), None)


def launcher_of(text: str) -> str | None:
    """Return the family that `mpiexec --version` names; None if it names none."""
    return next((f.name for f in _derived_first() if any(word in text for word in f.launcher_says)), None)


def with_library(file: str) -> str | None:
    """Return the family whose programs load a shared library of this name, libmpi.so.40; None if there is none."""
    return next((f.name for f in every() if f.soname and re.fullmatch(f.soname, file)), None)


_RANK = (
    r"PMI2?_(RANK|SIZE|ID|FD|PORT|JOBID|KVS\w*|SPAWNED|APPNUM|UNIVERSE_SIZE|PROCESS_MAPPING|SHARED_SECRET|LOCAL_\w+|"
    r"CONTROL_\w+)|PMIX_(?!MCA_)\w+|PALS_(RANKID|LOCAL_\w+|NODEID|APID|APINFO|SPOOL_DIR)|JSM_NAMESPACE_\w+|"
    r"FLUX_TASK_\w+"
)
"""Variables of process managers that inform a rank of its number, its job, and the address of its manager."""


def outside(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without the variables that make a program a rank of the job around it, and without those
    that place ranks (`placing`).

    mpiexec, srun or another launcher may start firstlight itself (one rank of it, in a batch script). firstlight starts
    separate jobs, whose launchers set such variables anew. With the old ones a launcher, or a program that is one
    process, would contact the outer job's manager, wait for the outer job's ranks, or end its step.
    """
    pattern = re.compile("|".join([_RANK, *(family.per_rank_env for family in every() if family.per_rank_env)]))
    dropped = placing(environment)
    return {n: value for n, value in environment.items() if n not in dropped and not pattern.fullmatch(n)}


def placing(environment: Mapping[str, str]) -> frozenset[str]:
    """Return the variables that choose nodes, or place and bind ranks. Left over in a shell, they contradict the
    placement that firstlight measures: its launchers then refuse to start, or start ranks elsewhere.
    """
    pattern = re.compile("|".join(family.placement_env for family in every() if family.placement_env))
    return frozenset(filter(pattern.fullmatch, environment))


def _root(family: Family) -> str:
    return family.base or family.name


def _derived_first() -> list[Family]:
    """Return the families that are made from another one first: they also match the other one's tests."""
    return sorted(every(), key=lambda family: not family.base)

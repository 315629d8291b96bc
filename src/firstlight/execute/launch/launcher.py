"""Launchers: each is a file of this folder (direct, srun), or the mpiexec of an MPI family."""

from __future__ import annotations

import os
import re
from importlib import import_module
from importlib.util import find_spec

from firstlight.core.errors import UsageError
from firstlight.execute.launch.invocation import Here, Launcher
from firstlight.execute.launch.mpiexec import Mpiexec
from firstlight.system.machine import Machine, allocation, cores
from firstlight.system.mpi_families import NodeCapacity, every


def find(name: str) -> Launcher:
    """Return the launcher of an MPI family, "direct" without MPI, or that of a batch system ("srun").

    Raises UsageError if there is none of that name.
    """
    family = next((family for family in every() if family.name == name), None)
    if family is not None:
        return Mpiexec(family)
    path = f"firstlight.execute.launch.{name}"
    module = import_module(path) if re.fullmatch(r"[a-z][a-z0-9_]*", name) and find_spec(path) else None
    if module is None or not hasattr(module, "invocation"):
        raise UsageError(f"no launcher {name!r}; an MPI family is a file in src/firstlight/system/mpi_families")
    launcher: Launcher = module  # a module with the functions of the protocol
    return launcher


def here(machine: Machine) -> Here:
    """Return what this process may use of the machine now: a batch system may allow fewer CPUs than before."""
    cpus = frozenset(os.sched_getaffinity(0))
    some = cores.among(machine, cpus)
    whole, threads = len(some), len(cpus)
    allowed = allocation.discover().cpus if machine.nodes > 1 else None
    if allowed is not None and allowed < threads:  # programs on several nodes are placed by the smallest of them
        whole, threads = max(1, whole * allowed // threads), allowed
    # Where all cores are alike, the system's own order of them is as good, and the word can be compared.
    places = ",".join("{" + ",".join(map(str, core)) + "}" for core in some) if machine.kinds else "cores"
    return Here(NodeCapacity(max(1, min(machine.cores, whole)), threads), cores.serial(machine, sorted(cpus)), places)

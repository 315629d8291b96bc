"""Cores: the meaning of `all` cores of a node, the core that serial programs run on, and the kinds of cores.

This module alone decides it: plans, rows, ceilings, drawings, findings and launchers use it. `all` is one thread on
each core, whatever hardware threads the core has; `all-threads` is one on each hardware thread.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from firstlight.core.errors import UsageError
from firstlight.system.machine import Machine

ALL, HALF, ALL_THREADS, GPUS = "all", "half", "all-threads", "gpus"
WORD = r"(?:all-threads|all-[1-9]\d{0,6}|all|half|[1-9]\d{0,9})"
"""A regular expression for a number of ranks or threads on a node, as suites, rows and users write it."""


MOST_KINDS = 6
"""Kinds of cores that are listed by name: no processor has more."""


def amount(word: int | str, machine: Machine) -> int:
    """Return the number of ranks or threads on a node: `all`, `half`, `all-2` of its cores, `all-threads`, a number.

    The result may be below 1 (`all-2` of two cores). Raises UsageError for any other word.
    """
    if isinstance(word, int):
        return word
    if not re.fullmatch(WORD, word):
        raise UsageError(
            f"{word!r} is not a number of ranks or threads; write a number, all, half, all-1 or all-threads"
        )
    if word == ALL_THREADS:
        return len(machine.cpus)
    return share(word, machine.cores)


def ranks(word: int | str, machine: Machine) -> int:
    """Return the number of ranks on a node: as `amount`, but `gpus` is one rank for each GPU of the node."""
    return len(machine.gpus) if word == GPUS else amount(word, machine)


def share(word: str, of: int) -> int:
    """Return how many of so many cores or nodes `all`, `half`, `all-2` or a number is."""
    if word == HALF:
        return of // 2
    if word.startswith(ALL):
        return of - int(word[len(ALL) + 1 :] or 0)
    return int(word)


def most(machine: Machine) -> int:
    """Return the largest number of threads in a sweep over thread counts: one per core.

    With only one core it is one per hardware thread: otherwise nothing could run in parallel.
    """
    return machine.cores if machine.cores > 1 else len(machine.cpus)


def crowded(threads: int, machine: Machine, nodes: int = 1) -> bool:
    """Return whether so many threads of all ranks have to share the hardware threads of their nodes."""
    return threads > nodes * len(machine.cpus)


def runner(threads: int, machine: Machine, nodes: int = 1) -> str:
    """Return what each of so many threads of all ranks has: `core`, `hardware thread`, `thread` if they share these."""
    if threads <= nodes * machine.cores:
        return "core"
    return "thread" if crowded(threads, machine, nodes) else "hardware thread"


def of_core(machine: Machine) -> dict[int, int]:
    """Return the core's number, from 0, of each usable CPU; each CPU is its own core if a record lists no siblings."""
    cores = machine.siblings or tuple((cpu,) for cpu in machine.cpus)
    return {cpu: k for k, core in enumerate(cores) for cpu in core}


def among(machine: Machine, cpus: Collection[int]) -> list[tuple[int, ...]]:
    """Return the cores that contain these CPUs, with only these CPUs; the fastest kind first, then by number."""
    cpus = frozenset(cpus)
    cores = machine.siblings or tuple((cpu,) for cpu in machine.cpus)
    known = {cpu for core in cores for cpu in core}
    mine = [tuple(cpu for cpu in core if cpu in cpus) for core in cores]
    mine += [(cpu,) for cpu in sorted(cpus) if cpu not in known]
    ranks = {cpu: k for k, kind in enumerate(machine.kinds) for cpu in kind.cpus}
    return sorted((core for core in mine if core), key=lambda core: ranks.get(core[0], len(machine.kinds)))


def serial(machine: Machine, cpus: Sequence[int] | None = None) -> int | None:
    """Return the CPU for programs of one thread, of those that may be used now: on the second core of the fastest kind.

    The first CPU of a machine serves most interrupts. Returns None if there is no CPU.
    """
    cores = among(machine, machine.cpus if cpus is None else cpus)
    if not cores:
        return None
    first = kind(machine, cores[0])
    fastest = [core for core in cores[:2] if kind(machine, core) == first]
    return fastest[min(1, len(fastest) - 1)][0]


def kinds(machine: Machine) -> str:
    """Return `6 performance cores and 8 efficiency cores`; "" if all are of one kind."""
    core = of_core(machine)
    each = [(k.name, len({core[cpu] for cpu in k.cpus if cpu in core})) for k in machine.kinds[:MOST_KINDS]]
    return " and ".join(f"{n} {_plural(name) if n != 1 else name}" for name, n in each)


def _plural(name: str) -> str:
    """Return the plural: `performance cores`, `cores of capacity 1024`."""
    return name.replace("core", "cores", 1)


def kind(machine: Machine, cpus: Collection[int]) -> str:
    """Return the name of a core with these CPUs: `performance core`; "" if all cores are of one kind, or if the
    CPUs are of several kinds.
    """
    found = {k.name for k in machine.kinds for cpu in k.cpus if cpu in cpus}
    return found.pop() if len(found) == 1 else ""

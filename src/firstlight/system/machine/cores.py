"""Cores: what `all` cores of a node are, which is the one that serial programs run on, and of which kind it is.

The one place that decides it: plans, rows, ceilings, drawings, findings and launchers ask here. `all` is one thread on
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
    """How many ranks or threads on a node a word means: `all`, `half`, `all-2` of its cores, `all-threads`, a number.

    May be below 1 (`all-2` of two cores). Raises UsageError for any other word.
    """
    if isinstance(word, int):
        return word
    if not re.fullmatch(WORD, word):
        raise UsageError(f"{word!r} is not a number of ranks or threads; write all, half, all-1, all-threads or 4")
    if word == ALL_THREADS:
        return len(machine.cpus)
    return share(word, machine.cores)


def ranks(word: int | str, machine: Machine) -> int:
    """How many ranks on a node a word means: as `amount`, and `gpus` is one for each GPU of it."""
    return len(machine.gpus) if word == GPUS else amount(word, machine)


def share(word: str, of: int) -> int:
    """`all`, `half`, `all-2` or a number, of so many cores or nodes."""
    if word == HALF:
        return of // 2
    if word.startswith(ALL):
        return of - int(word[len(ALL) + 1 :] or 0)
    return int(word)


def most(machine: Machine) -> int:
    """The largest number of threads that a sweep over thread counts goes to: a core each.

    Where there is only one core, its hardware threads: else nothing at all could run side by side.
    """
    return machine.cores if machine.cores > 1 else len(machine.cpus)


def crowded(threads: int, machine: Machine, nodes: int = 1) -> bool:
    """Whether so many threads of all ranks have to share the hardware threads of their nodes."""
    return threads > nodes * len(machine.cpus)


def runner(threads: int, machine: Machine, nodes: int = 1) -> str:
    """What each of so many threads of all ranks has: a `core`, a `hardware thread`; `thread` where they share these."""
    if threads <= nodes * machine.cores:
        return "core"
    return "thread" if crowded(threads, machine, nodes) else "hardware thread"


def of_core(machine: Machine) -> dict[int, int]:
    """By usable CPU the number of its core, from 0; each CPU is a core of its own where a record does not tell."""
    cores = machine.siblings or tuple((cpu,) for cpu in machine.cpus)
    return {cpu: k for k, core in enumerate(cores) for cpu in core}


def among(machine: Machine, cpus: Collection[int]) -> list[tuple[int, ...]]:
    """The cores that some CPUs belong to, with those of their CPUs; cores of the fastest kind first, then by number."""
    cpus = frozenset(cpus)
    cores = machine.siblings or tuple((cpu,) for cpu in machine.cpus)
    known = {cpu for core in cores for cpu in core}
    mine = [tuple(cpu for cpu in core if cpu in cpus) for core in cores]
    mine += [(cpu,) for cpu in sorted(cpus) if cpu not in known]
    ranks = {cpu: k for k, kind in enumerate(machine.kinds) for cpu in kind.cpus}
    return sorted((core for core in mine if core), key=lambda core: ranks.get(core[0], len(machine.kinds)))


def serial(machine: Machine, cpus: Sequence[int] | None = None) -> int | None:
    """The CPU that programs of one thread run on, of those that may be used now: the second core of the fastest kind.

    The first CPU of a machine serves most interrupts. None where there is no CPU.
    """
    cores = among(machine, machine.cpus if cpus is None else cpus)
    if not cores:
        return None
    first = kind(machine, cores[0])
    fastest = [core for core in cores[:2] if kind(machine, core) == first]
    return fastest[min(1, len(fastest) - 1)][0]


def kinds(machine: Machine) -> str:
    """`6 performance cores and 8 efficiency cores`; "" where all are of one kind."""
    core = of_core(machine)
    each = [(k.name, len({core[cpu] for cpu in k.cpus if cpu in core})) for k in machine.kinds[:MOST_KINDS]]
    return " and ".join(f"{n} {_plural(name) if n != 1 else name}" for name, n in each)


def _plural(name: str) -> str:
    """`performance cores`, `cores of capacity 1024`"""
    return name.replace("core", "cores", 1)


def kind(machine: Machine, cpus: Collection[int]) -> str:
    """What a core is called that has these CPUs: `performance core`; "" where all cores are of one kind, and where the
    CPUs are of several kinds."""
    found = {k.name for k in machine.kinds for cpu in k.cpus if cpu in cpus}
    return found.pop() if len(found) == 1 else ""

"""The batch allocation that this process runs in: its batch system, its nodes, and the CPUs allowed on each.

The variables that a batch system sets for a job describe it. Damaged or foreign values count as missing; no function
here raises.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from firstlight.system.machine import parse
from firstlight.system.process import bounded

MOST_NODES = 1 << 16
"""No allocation has more nodes than this: a larger count is damaged text."""
MOST_BYTES = 1 << 24
"""Bytes of a node file that are read: it has one line for each process."""


class Allocation(msgspec.Struct, frozen=True):
    """`system`: slurm, pbs, flux, lsf, or "" outside of an allocation. `cpus`: allowed on the smallest node, None:
    unknown.

    `hosts` are the names of the nodes: never recorded, only taken out of what is printed. `job` is the batch system's
    own name of the job. `confined`: to some nodes of the job, by ONLY.
    """

    system: str = ""
    nodes: int = 1
    cpus: int | None = None
    even: bool = True  # whether every node allows as many
    hosts: tuple[str, ...] = ()
    job: str = ""
    warning: str = ""
    confined: bool = False

    def words(self, nodes: int) -> list[str]:
        """Return the srun options that keep a step to the first of its nodes; none if it owns the whole allocation."""
        return [f"--nodelist={','.join(self.hosts[:nodes])}"] if self.confined else []


ONLY = "FIRSTLIGHT_NODES"
"""The variable with a list of hosts of the job that this firstlight uses alone, because others run alongside it."""

Ask = Callable[[str, str, str], str]
"""A function that runs a command of three words and returns its output, "" if the command fails."""


def discover(environment: Mapping[str, str] | None = None, ask: Ask | None = None) -> Allocation:
    """Return the innermost allocation: a Flux instance may run inside a Slurm job, not the other way round."""
    given = os.environ if environment is None else environment
    answers = (_flux(given, ask or (lambda *words: bounded.output(words))), _slurm(given), _pbs(given), _lsf(given))
    return next((found for found in answers if found is not None), Allocation())


def _slurm(given: Mapping[str, str]) -> Allocation | None:
    job, hosts = given.get("SLURM_JOB_ID", ""), host_list(given.get("SLURM_JOB_NODELIST"))
    nodes = _count(given.get("SLURM_JOB_NUM_NODES") or given.get("SLURM_NNODES"))
    if not re.fullmatch(r"[0-9]{1,20}", job) or nodes is None:
        return None
    if not given.get("SLURMD_NODENAME"):
        # `salloc` without an interactive step: the shell holds an allocation but is outside of it.
        advice = "this shell has a Slurm allocation but is outside its nodes; use ./fl submit or srun --pty"
        return Allocation(warning=advice, hosts=hosts)
    counts = slurm_counts(given.get("SLURM_JOB_CPUS_PER_NODE"))
    cpus, even = min(counts, default=None), len(set(counts)) < 2
    if only := tuple(host for host in host_list(given.get(ONLY)) if host in hosts):
        return Allocation("slurm", len(only), cpus, even, only, job, confined=True)
    return Allocation("slurm", nodes, cpus, even, hosts, job)


def _pbs(given: Mapping[str, str]) -> Allocation | None:
    job, place = given.get("PBS_JOBID", ""), given.get("PBS_NODEFILE", "")
    if not job or not place:
        return None
    try:
        with Path(place).open("rb") as file:
            text = file.read(MOST_BYTES).decode(errors="replace")
    except (OSError, ValueError):  # ValueError: no name of a file
        return None  # the variables were copied to another machine
    hosts = node_file(text)
    # The file has a line for each process that was requested, which does not show the CPUs that are allowed.
    return Allocation("pbs", len(hosts), None, True, hosts, job) if hosts else None


def _flux(given: Mapping[str, str], ask: Ask) -> Allocation | None:
    """Return the Flux allocation or None: with one broker per node, the size of the instance is its number of nodes."""
    if not given.get("FLUX_URI"):
        return None
    nodes = _count(ask("flux", "getattr", "size"))
    if nodes is None:
        return None
    job = ask("flux", "getattr", "jobid").strip()
    if not job:
        return None  # the system's own instance, to which jobs are submitted: no allocation
    return Allocation("flux", nodes, None, True, host_list(ask("flux", "getattr", "hostlist")), job)


def _lsf(given: Mapping[str, str]) -> Allocation | None:
    """Return the LSF allocation or None, from `LSB_MCPU_HOSTS`: each host and its slots. If jsrun starts the ranks, the
    first host only runs the script and is left out: it has one slot, and every other host has more.
    """
    job, words = given.get("LSB_JOBID", ""), given.get("LSB_MCPU_HOSTS", "").split()
    slots = {host: parse.number(count) for host, count in zip(words[::2], words[1::2], strict=False)}
    if not re.fullmatch(r"[0-9]{1,20}", job) or len(words) % 2 or not all(slots.values()) or len(slots) > MOST_NODES:
        return None
    counts = [count for count in slots.values() if count]
    batch = len(counts) > 1 and counts[0] == 1 and min(counts[1:]) > 1
    hosts, counts = tuple(slots)[batch:], counts[batch:]
    return Allocation("lsf", len(hosts), min(counts), len(set(counts)) < 2, hosts, job) if hosts else None


def _count(text: str | None) -> int | None:
    found = parse.number(text)
    return found if found and found <= MOST_NODES else None


def slurm_counts(text: str | None) -> tuple[int, ...]:
    """Return the different numbers in `72(x2),36`, in that order; empty if any part is damaged."""
    found = []
    for part in (text or "").strip().split(","):
        match = re.fullmatch(r"([0-9]{1,6})(?:\(x[0-9]{1,6}\))?", part, re.ASCII)
        if match is None or not 0 < int(match[1]) < parse.MOST_CPUS:
            return ()
        found.append(int(match[1]))
    return tuple(dict.fromkeys(found))


def node_file(text: str | None) -> tuple[str, ...]:
    """Return the hosts of a PBS node file, each once."""
    lines = (line.split() for line in (text or "").splitlines())
    return tuple(dict.fromkeys(words[0] for words in lines if words))[:MOST_NODES]


def host_list(text: str | None) -> tuple[str, ...]:
    """Expand `gpu[01-03,7],login1`, the notation of Slurm and Flux, to at most MOST_NODES names."""
    names: dict[str, None] = {}
    for part in re.findall(r"(?:[^,\[\]]|\[[^\[\]]*\])+", (text or "").strip()):
        for name in _expand(part):
            if len(names) >= MOST_NODES:
                return tuple(names)
            names[name] = None
    return tuple(names)


def _expand(part: str) -> list[str]:
    """Expand one name with brackets: `rack[1-2]n[08-10]`."""
    names = [""]
    for text, inside in re.findall(r"([^\[\]]*)(?:\[([^\[\]]*)\])?", part):
        choices = _numbers(inside) if inside else [""]
        every = (f"{name}{text}{number}" for name in names for number in choices)
        names = list(itertools.islice(every, MOST_NODES))
    return [name for name in names if name]


def _numbers(inside: str) -> list[str]:
    """Expand `01-03,7` to 01, 02, 03, 7: each range keeps the width of its first number."""
    found: list[str] = []
    for part in inside.split(","):
        match = re.fullmatch(r"([0-9]{1,12})(?:-([0-9]{1,12}))?", part, re.ASCII)
        if match is None:
            continue
        first, last = int(match[1]), int(match[2] or match[1])
        found += [f"{k:0{len(match[1])}d}" for k in range(first, min(last, first + MOST_NODES) + 1)]
    return found[:MOST_NODES]

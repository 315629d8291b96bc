"""The `./fl run` command lines for all nodes and for pairs of nodes; their programs are built before."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

import msgspec
from msgspec.structs import replace

from firstlight import runner
from firstlight.analysis.roles import missing, players
from firstlight.core.errors import UsageError
from firstlight.core.roles import PLAIN_MESSAGE
from firstlight.model import catalogue
from firstlight.model.plan.settings import parse
from firstlight.runner import RunRequest
from firstlight.runner.progress import Progress
from firstlight.system.machine import allocation
from firstlight.system.machine.allocation import ONLY, Allocation

CHAPTER = "node"
"""The chapter that is measured on a node if no workload is named."""
BETWEEN = "2x1x1"
SIZES = (8, 1 << 20)
"""Bytes of the messages between two nodes: for the least latency, and for the bandwidth of the link."""
PAIR_SECONDS = 20.0
"""Maximum time in seconds for the launches of a pair."""
ROUND_SECONDS = 60.0
"""Total time in seconds of a round of pairs, as a job's time limit counts it."""


class Commands(msgspec.Struct, frozen=True):
    """Words of `./fl run` for a node, and for a pair: none, and why, where no messages can be measured."""

    nodes: tuple[str, ...]
    pairs: tuple[str, ...] = ()
    no_pairs: str = ""


def current_allocation(environment: Mapping[str, str] | None = None) -> Allocation:
    """Return the allocation whose nodes are measured. Raises UsageError, in one line, if there is none."""
    found = allocation.discover(environment)
    if found.system not in ("", "slurm"):
        raise UsageError(f"--each-node is not available under {found.system}: it requires Slurm's srun")
    if found.nodes < 2 or found.confined or len(found.hosts) != found.nodes:
        here = found.warning or "this is not a Slurm allocation of at least two nodes"
        raise UsageError(f"--each-node: {here}; ./fl submit --nodes K --each-node makes one")
    return found


def make(order: RunRequest, words: Sequence[str], pairs: bool, here: Allocation, progress: Progress) -> Commands:
    """Build all that the nodes will launch, once, and return their commands. `words`: options of the user."""
    order = replace(order, names=order.names or (CHAPTER,))
    options = (f"--{order.suite}", *words)
    with _keeping_to(here.hosts[:1]):
        prepared = runner.prepare(order, progress)
        runner.make(runner.forecast_run(prepared, order).programs, prepared.toolbox, prepared.workloads, progress)
    commands = Commands((*order.names, *map(str, order.settings), *options))
    if not pairs:
        return replace(commands, no_pairs="not requested")
    with _keeping_to(here.hosts[:2]):
        return _with_pairs(commands, order, progress)


def _with_pairs(commands: Commands, order: RunRequest, progress: Progress) -> Commands:
    workloads = catalogue.load(catalogue.roots())
    if why := missing(workloads, PLAIN_MESSAGE):
        return replace(commands, no_pairs=why)
    player = players(workloads, PLAIN_MESSAGE)[0]
    role, name = player.role, f"{player.workload.name}.{player.role.variants[0]}"
    sizes = ",".join(str(max(1, size // role.bytes_per_element)) for size in SIZES)
    settings = [f"{key}={value}" for key, value in role.where.items()] + [f"{role.size}={sizes}"]
    _, toolbox = runner.discover(progress)
    able = [
        m.name for m in toolbox.mpis if m.starter and m.name in _matching(order.mpis, [x.name for x in toolbox.mpis])
    ]
    if not able:
        return replace(
            commands,
            no_pairs="the batch system's launcher supports no MPI library of this machine; ./fl doctor in a "
            "job shows why",
        )
    seconds = PAIR_SECONDS if order.budget is None else min(PAIR_SECONDS, order.budget)

    names, given = parse((name, *settings))
    between = RunRequest(
        names,
        order.suite,
        seconds,
        order.toolchains,
        (able[0],),
        order.launches,
        order.results,
        order.timeout,
        (BETWEEN,),
        settings=given,
    )
    words = [name, *settings, f"--{order.suite}", "--placement", BETWEEN, "--mpi", able[0], "--budget", f"{seconds:g}s"]
    words += [word for toolchain in order.toolchains if toolchain != "*" for word in ("--toolchain", toolchain)]
    words += ["--launches", str(order.launches)]
    words += ["--timeout", f"{order.timeout:g}s"] if order.timeout is not None else []
    prepared = runner.prepare(between, progress)
    runner.make(runner.forecast_run(prepared, between).programs, prepared.toolbox, prepared.workloads, progress)
    return replace(commands, pairs=tuple(words))


def _matching(patterns: Sequence[str], names: Sequence[str]) -> set[str]:
    return {name for name in names if any(fnmatchcase(name, pattern) for pattern in patterns)}


@contextlib.contextmanager
def _keeping_to(hosts: Sequence[str]) -> Iterator[None]:
    """Restrict plans and trials to these nodes while the block runs."""
    before = os.environ.get(ONLY)
    os.environ[ONLY] = ",".join(hosts)
    try:
        yield
    finally:
        if before is None:
            del os.environ[ONLY]
        else:
            os.environ[ONLY] = before

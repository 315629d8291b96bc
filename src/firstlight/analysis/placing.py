"""Placing: the real location of the ranks of a launch, as each rank recorded it, in terms that can be compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from msgspec.structs import replace

from firstlight.analysis import Judgement
from firstlight.model.plan import Placement
from firstlight.results.record import Binding, Launch
from firstlight.system.machine import Machine, cores


class Arrangement(NamedTuple):
    """How ranks were placed, without the numbers of nodes and processors, which are alike.

    `order`: how the ranks follow each other over the nodes; `binding`: which processors each may use.
    """

    order: str
    binding: str

    @property
    def unbound(self) -> bool:
        return self.binding == UNBOUND


class Placed(NamedTuple):
    """One arrangement that occurred: its placement and MPI library, the number of launches, and their workloads.

    `launch` is the first of them.
    """

    placement: Placement
    mpi: str | None
    arrangement: Arrangement
    launch: Launch
    launches: int
    workloads: tuple[str, ...]


UNBOUND = "unbound"
SEVERAL = "cores of several kinds"
SHARED = "several ranks on the same processors"
SAME_CORE = "several ranks on hardware threads of one core"


def placed(judgement: Judgement) -> list[Placed]:
    """Return every arrangement that occurred, by placement and MPI library, the most frequent of each pair first."""
    cells = {c.id: c for c in judgement.run.cells}
    machine = judgement.run.machine
    known: dict[tuple[tuple[Binding, ...], int], Arrangement] = {}  # launches of a cell are bound alike
    seen: dict[tuple[Placement, str | None, Arrangement], list[Launch]] = {}
    for record in judgement.records:
        cell = cells.get(record.start.cell)
        if cell is None or record.launch is None or not record.launch.binding:
            continue
        bound = tuple(record.launch.binding), cell.placement.threads
        if bound not in known:
            known[bound] = arrangement(bound[0], machine, bound[1])
        place = replace(cell.placement, gpu=None)  # on processors all GPUs are alike
        seen.setdefault((place, cell.program.mpi, known[bound]), []).append(record.launch)
    found = [
        Placed(placement, mpi, how, some[0], len(some), tuple(dict.fromkeys(x.workload for x in some)))
        for (placement, mpi, how), some in seen.items()
    ]
    return sorted(found, key=lambda p: (_size(p.placement), p.mpi or "", -p.launches))


def of_one_core(judgement: Judgement) -> str:
    """Return the kind of core on which launches on one core ran, as they recorded it: `performance core`.

    "" if all cores are alike or nothing ran on one; "cores of several kinds" if launches differ.
    """
    machine, cells = judgement.run.machine, {c.id: c for c in judgement.run.cells}
    if not machine.kinds:
        return ""
    found: set[str] = set()
    for record in judgement.records:
        cell, launch = cells.get(record.start.cell), record.launch
        alone = cell is not None and cell.placement.ranks * cell.placement.threads == 1
        if alone and launch is not None and launch.binding:
            found.add(cores.kind(machine, launch.binding[0].cpus) or SEVERAL)
    return SEVERAL if len(found) > 1 else found.pop() if found else ""


def _size(p: Placement) -> tuple[int, int, int]:
    return p.nodes, p.ranks, p.threads


def arrangement(binding: Sequence[Binding], machine: Machine, threads: int = 1) -> Arrangement:
    """Return how these ranks, each with `threads` threads, were placed on nodes like this machine."""
    ranks = sorted(binding, key=lambda b: b.rank)
    return Arrangement(order([b.node for b in ranks]), _bound(ranks, machine, threads))


def order(nodes: Sequence[int]) -> str:
    """Return `all on one node`, `node by node` (0 0 1 1), `alternately over the nodes` (0 1 0 1), or the nodes."""
    if len(set(nodes)) < 2:
        return "all on one node"
    changes = sum(a != b for a, b in pairwise(nodes))
    if changes == len(set(nodes)) - 1:
        counts = [list(nodes).count(n) for n in dict.fromkeys(nodes)]
        even = len(set(counts)) == 1
        return "node by node" if even else f"node by node, {', '.join(map(str, counts[:8]))} ranks"
    first = list(dict.fromkeys(nodes))
    if all(n == first[k % len(first)] for k, n in enumerate(nodes)):
        return "alternately over the nodes"
    shown = " ".join(map(str, nodes[:16])) + (" …" if len(nodes) > 16 else "")
    return f"on nodes {shown}"


def _bound(ranks: Sequence[Binding], machine: Machine, threads: int) -> str:
    cpus, core = len(machine.cpus), cores.of_core(machine)
    wide = len(ranks) > 1 or machine.cores > threads  # one process with a thread for every core is where it should be
    if cpus > 1 and wide and all(len(b.cpus) >= cpus for b in ranks):
        return UNBOUND
    used: set[tuple[int, int]] = set()  # by node and core
    taken: set[tuple[int, int]] = set()
    same_core = False
    for b in ranks:
        mine = {(b.node, c) for c in b.cpus}
        if taken & mine:
            return SHARED
        taken |= mine
        its = {(b.node, core.get(c, c)) for c in b.cpus}
        same_core = same_core or not its.isdisjoint(used)
        used |= its
    if same_core:
        return SAME_CORE
    return _sizes(ranks, machine, core)


def _sizes(ranks: Sequence[Binding], machine: Machine, core: Mapping[int, int]) -> str:
    """Return `one core each` if ranks have all hardware threads of their cores; else count processors."""
    whole = Counter(core.values())
    noun, nouns = "processor", "processors"
    counts = {len(b.cpus) for b in ranks}
    if machine.threads_per_core > 1 and all(
        Counter(core.get(c, -1) for c in b.cpus) == {k: whole[k] for k in {core.get(c, -1) for c in b.cpus}}
        for b in ranks
    ):
        noun, nouns = "core", "cores"
        counts = {len({core[c] for c in b.cpus}) for b in ranks}
    sizes = sorted(counts)
    each = " each" * (len(ranks) > 1)
    if sizes == [1]:
        return f"one {noun}{each}"
    return f"{sizes[0] if len(sizes) == 1 else f'{sizes[0]} to {sizes[-1]}'} {nouns}{each}"

"""The slots for ranks: those of a named network, or those of the allocation of this process."""

from __future__ import annotations

from pathlib import Path

import msgspec

from firstlight.core.errors import UsageError
from firstlight.system.machine import Machine
from firstlight.system.machine.allocation import Allocation

HERE = "allocation"


class Slots(msgspec.Struct, frozen=True):
    """`topology`, `per_node`, `inside` as firstlight-map accepts them. `hosts`: names of the nodes in order, where
    they are known. `cpus`: the first CPU of each place of a node. `one`: the network's nodes are the cores of one node.
    """

    topology: str
    per_node: int = 1
    inside: str = ""
    hosts: tuple[str, ...] = ()
    cpus: tuple[int, ...] = ()
    one: bool = False
    notes: tuple[str, ...] = ()

    def words(self) -> list[str]:
        inside = ["--inside", self.inside] if self.inside else []
        return ["--topology", self.topology, "--per-node", str(self.per_node), *inside]


class Slot(msgspec.Struct, frozen=True):
    """Where a rank is: node (its position among the nodes), place in it, and their names where they are known."""

    node: int
    place: int
    host: str | None = None
    cpu: int | None = None


def of_ranks(places: tuple[int, ...], slots: Slots) -> list[Slot]:
    """Return the slot of each rank from its number."""
    found = []
    for slot in places:
        node, place = (0, slot) if slots.one else divmod(slot, slots.per_node)
        host = slots.hosts[node] if node < len(slots.hosts) else None
        found.append(Slot(node, place, host, slots.cpus[place] if place < len(slots.cpus) else None))
    return found


def names_in(file: Path) -> tuple[str, ...]:
    """Read the names of nodes, one per line. Raises UsageError."""
    try:
        return tuple(line.strip() for line in file.read_text().splitlines() if line.strip())
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {file}: {getattr(error, 'strerror', None) or error}") from error


def here(machine: Machine, allocation: Allocation, per_node: int | None) -> Slots:
    """Return the cores of this node, or the nodes of the allocation behind one switch. Raises UsageError if too few."""
    levels, cpus = levels_of(machine)
    inside = "tree:" + "x".join(map(str, levels))
    if allocation.nodes > 1:
        if per_node is not None and per_node != len(cpus):
            inside = ""
        note = (
            f"the wiring of the {allocation.nodes} nodes is unknown: all are assumed equally far apart; if you know "
            f"the network, name it, such as --topology torus:8x8x8"
        )
        speed = "links inside a node are assumed to be 4 times as fast as links between nodes"
        notes = (note, *([speed] if inside else []))
        return Slots(
            f"tree:{allocation.nodes}", per_node or len(cpus), inside, allocation.hosts, tuple(cpus), notes=notes
        )
    if per_node is not None and per_node > len(cpus):
        raise UsageError(f"this node has {len(cpus)} cores, fewer than --ranks-per-node {per_node}")
    return Slots(inside, 1, "", ("localhost",), tuple(cpus), one=True)


def levels_of(machine: Machine) -> tuple[list[int], list[int]]:
    """Return the sizes of the levels (cores per cache, caches per NUMA node, NUMA nodes per socket, sockets), and the
    first CPU of each core in that order. Levels of 1 are left out; levels that do not nest evenly become one.
    """
    siblings = machine.siblings or tuple((cpu,) for cpu in machine.cpus)
    firsts = [core[0] for core in siblings]
    last = max((c.level for c in machine.caches), default=0)
    shared = [frozenset(c.shared_by) for c in machine.caches if c.level == last]
    numa = [frozenset(n) for n in machine.numa]

    def place(groups: list[frozenset[int]], cpu: int) -> int:
        return next((k for k, g in enumerate(groups) if cpu in g), 0)

    keyed = sorted(firsts, key=lambda cpu: (place(numa, cpu), place(shared, cpu), cpu))
    of_cache: dict[tuple[int, int], int] = {}
    for cpu in keyed:
        key = place(numa, cpu), place(shared, cpu)
        of_cache[key] = of_cache.get(key, 0) + 1
    of_numa: dict[int, int] = {}
    for n, _ in of_cache:
        of_numa[n] = of_numa.get(n, 0) + 1
    even = len(set(of_cache.values())) == 1 and len(set(of_numa.values())) == 1
    if not even:
        return [len(keyed)], keyed
    nodes = len(of_numa)
    sockets = machine.sockets if machine.sockets and nodes % machine.sockets == 0 else 1
    levels = [next(iter(of_cache.values())), next(iter(of_numa.values())), nodes // sockets, sockets]
    return [n for n in levels if n > 1] or [1], keyed

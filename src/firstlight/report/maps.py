"""Maps: which processors the ranks of each placement could use, as they recorded it, one small drawing per way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from firstlight.analysis import Judgement, formatting
from firstlight.analysis.placing import SAME_CORE, SHARED, UNBOUND, Placed, placed
from firstlight.core.units import count
from firstlight.report import wording
from firstlight.report.boxes import Box, Picture, runs, spans
from firstlight.results.record import Binding
from firstlight.system.machine import Machine, cores

MOST = 12  # drawings; the others are counted
_MOST_CPUS = 1024  # of a node
_MOST_NODES = 3  # drawn of one placement: nodes that look alike share a drawing
_SIDE = {8: 46.0, 32: 26.0, _MOST_CPUS: 11.0}  # of a box, by how many processors there are at most
_ROW, _GAP, _LINE = 32, 3, 18


class Map(msgspec.Struct, frozen=True):
    """`strange`: ranks without processors of their own though there are enough, or more of them than processors."""

    title: str
    note: str
    strange: bool
    picture: Picture


def maps(judgement: Judgement) -> tuple[list[Map], int]:
    """Return a drawing for each arrangement, with libraries that share it together, and the number of further ones."""
    together: dict[object, list[Placed]] = {}
    for p in placed(judgement):
        key = (p.placement.nodes, p.placement.ranks, p.placement.threads, p.mpi is None, p.launch.binding)
        together.setdefault(key, []).append(p)
    some = list(together.values())
    return [_map(judgement, same) for same in some[:MOST]], max(0, len(some) - MOST)


def _map(judgement: Judgement, same: Sequence[Placed]) -> Map:
    run, first = judgement.run, same[0]
    p = first.placement
    mpis = list(dict.fromkeys(wording.mpi_name(run, s.mpi) if s.mpi else "no MPI" for s in same))
    crowded = cores.crowded(p.ranks * p.threads, run.machine, p.nodes)
    picture = _picture(run.machine, first.launch.binding, first.arrangement.unbound)
    workloads = sorted({w for s in same for w in s.workloads})
    launches = count(sum(s.launches for s in same), "launch", "launches")
    notes = [
        "more ranks and threads than processors" if crowded else "",
        first.arrangement.order if p.nodes > 1 or first.launch.nodes > 1 else "",
        first.arrangement.binding,
        f"{launches} of {formatting.listing(workloads[:4])}"
        + (f" and {len(workloads) - 4} more" * (len(workloads) > 4)),
    ]
    alone = p.ranks * p.threads == 1
    some_on_one = first.arrangement.binding == SAME_CORE and p.ranks * p.threads <= p.nodes * run.machine.cores
    strange = crowded or some_on_one or (first.arrangement.binding in (UNBOUND, SHARED) and not alone)
    return Map(
        title=f"{formatting.where(p) or '1 core'} · {formatting.listing(mpis)}",
        note="; ".join(n for n in notes if n),
        strange=strange,
        picture=picture,
    )


def _picture(machine: Machine, binding: Iterable[Binding], unbound: bool) -> Picture:
    """Draw the nodes below each other, those that look alike once with their number."""
    nodes: dict[int, list[Binding]] = {}
    for b in sorted(binding, key=lambda b: b.rank):
        nodes.setdefault(b.node, []).append(b)
    alike: dict[object, list[int]] = {}
    for node, ranks in nodes.items():
        alike.setdefault(tuple(b.cpus for b in ranks), []).append(node)
    boxes: list[Box] = []
    y, widest, lines = 0.0, 0.0, []
    for same in list(alike.values())[:_MOST_NODES]:
        ranks = nodes[same[0]]
        name = "" if len(nodes) == 1 else _nodes(same)
        if name:
            boxes.append(Box(0, y, 1, _LINE, "label", name, top=True))
            y += _LINE
        inner, width, height = _node(machine, ranks, y, unbound)
        boxes += inner
        y, widest = y + height + 2 * _GAP, max(widest, width)
        lines.append(f"{name}: {_note(ranks)}" if name else _note(ranks))
    if len(alike) > _MOST_NODES:
        boxes.append(Box(0, y, 1, _LINE, "label", f"and {len(alike) - _MOST_NODES} other kinds of nodes", top=True))
        y += _LINE
    widest = max(widest, 7.0 * max((len(b.label) for b in boxes if b.style == "label"), default=0))
    return Picture(widest, max(y - 2 * _GAP, 1.0), tuple(boxes), 1.0, "; ".join(lines))


def _nodes(same: Sequence[int]) -> str:
    shown = f"node {same[0]}"
    return shown if len(same) == 1 else f"{shown} and {count(len(same) - 1, 'identical node')}"


def _node(machine: Machine, ranks: Sequence[Binding], top: float, unbound: bool) -> tuple[list[Box], float, float]:
    """Draw one node: a box per processor with the ranks that may use it, and a bar below for unbound ranks."""
    core = cores.of_core(machine)  # hardware threads of a core stand side by side
    every = sorted({*machine.cpus, *(c for b in ranks for c in b.cpus)}, key=lambda c: (core.get(c, c), c))[:_MOST_CPUS]
    free = [b.rank for b in ranks] if unbound else []
    on: dict[int, list[int]] = {c: [] for c in every}
    for b in ranks:
        for c in b.cpus if b.rank not in free else ():
            if c in on:
                on[c].append(b.rank)
    side = next(s for most, s in _SIDE.items() if len(every) <= most)
    columns = 8 if side > 40 else 16 if side > 20 else 64
    boxes = []
    for k, c in enumerate(every):
        x, y = (k % columns) * (side + _GAP), top + (k // columns) * (min(side, _ROW) + _GAP)
        style = "cpu shared" if len(on[c]) > 1 else "cpu bound" if on[c] else "cpu"
        wide = side > 40
        second = f"rank {' '.join(map(str, on[c][:3]))}" if on[c] and wide and len(on[c]) < 2 else ""
        second = " ".join(map(str, on[c][:4])) if len(on[c]) > 1 and wide else second
        label = str(c) if wide else str(on[c][0]) if on[c] and side > 20 else ""
        boxes.append(Box(x, y, side, min(side, _ROW), style, label, second))
    rows = -(-len(every) // columns)
    width = min(len(every), columns) * (side + _GAP) - _GAP
    height = rows * (min(side, _ROW) + _GAP) - _GAP
    if free:
        width = max(width, 150.0)
        boxes.append(Box(0, top + height + _GAP, width, _LINE + 4, "free", f"{_ranks(free)}: on any processor"))
        height += _GAP + _LINE + 4
    return boxes, width, height


def _note(ranks: Sequence[Binding]) -> str:
    shown = [f"rank {b.rank} on {spans(b.cpus)}" for b in ranks[:8]]
    return ", ".join(shown) + (f" and {len(ranks) - 8} more" if len(ranks) > 8 else "")


def _ranks(ranks: Sequence[int]) -> str:
    return ("rank " if len(ranks) == 1 else "ranks ") + runs(ranks)

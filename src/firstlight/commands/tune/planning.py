"""Planning: create the cells that measure a library's own algorithms and ours alongside its default choice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

import msgspec

from firstlight.analysis.roles import Player
from firstlight.commands.tune import formats
from firstlight.commands.tune.setting import Setting, applied
from firstlight.core.errors import UsageError
from firstlight.core.roles import Role
from firstlight.model.catalogue import Value
from firstlight.model.plan import EFFORT, Cell, Placement, Program
from firstlight.model.plan.arguments import compose
from firstlight.toolchain import Absent, Mpi, Toolbox

Target = Literal["rules", "preload"]
RULES: Final = "rules"
PRELOAD: Final = "preload"
"""The targets of tuning: a file that the library reads, or the table of the library to preload."""


class Place(msgspec.Struct, frozen=True):
    """Where and with which library is tuned: the program that calls the library, the library, the placement."""

    program: Program
    mpi: Mpi
    placement: Placement


class Planned(msgspec.Struct, frozen=True):
    """`settings`: by the name of the library that they became, the library's name and what was set."""

    cells: tuple[Cell, ...]
    mpis: tuple[Mpi, ...]
    settings: dict[str, tuple[str, Setting]]
    absent: tuple[Absent, ...]


def places(cells: Sequence[Cell], toolbox: Toolbox, player: Player) -> list[Place]:
    """Return the places of the cells that are planned for the library's own calls.

    Raises UsageError if none of them has two ranks or more.
    """
    mpis = {m.name: m for m in toolbox.mpis}
    found = {
        (c.program, c.placement): Place(c.program, mpis[c.program.mpi], c.placement)
        for c in cells
        if c.program.target == player.library and c.program.mpi is not None and c.placement.ranks > 1
    }
    if not found:
        raise UsageError("collectives require two ranks or more; add --placement 1x2x1, or more CPUs")
    return list(found.values())


def first(
    player: Player,
    where: Sequence[Place],
    collectives: Sequence[str],
    sizes: Sequence[int],
    ours: dict[str, list[str]],
    targets: Sequence[Target],
) -> Planned:
    """Return the cells of the first measurement. `ours`: the variants of the workload by collective."""
    cells: list[Cell] = []
    mpis: dict[str, Mpi] = {}
    settings: dict[str, tuple[str, Setting]] = {}
    absent: list[Absent] = []
    for place in where:
        for collective in collectives:
            cells.append(cell(player.role, place.program, place.placement, collective, sizes))
            if RULES in targets:
                for setting in _own(place, collective, absent):
                    other = applied(place.mpi, setting)
                    mpis[other.name] = other
                    settings[other.name] = (place.mpi.name, setting)
                    program = msgspec.structs.replace(place.program, mpi=other.name)
                    cells.append(cell(player.role, program, place.placement, collective, sizes))
            if PRELOAD in targets:
                for variant in ours.get(collective, []):
                    program = msgspec.structs.replace(place.program, variant=variant)
                    cells.append(cell(player.role, program, place.placement, collective, sizes))
    return Planned(tuple(cells), tuple(mpis.values()), settings, tuple(dict.fromkeys(absent)))


def _own(place: Place, collective: str, absent: list[Absent]) -> Sequence[Setting]:
    own = formats.find(place.mpi)
    if own is None:
        why = "firstlight cannot set the algorithms of this library"
        absent.append(Absent(f"rules for {place.mpi.label}", why, "use --for preload"))
        return ()
    return own.settings(place.mpi, collective, place.placement.ranks)


def cell(role: Role, program: Program, placement: Placement, collective: str, sizes: Sequence[int]) -> Cell:
    """Return a cell with one collective over all sizes, in bytes, in one launch; a barrier has no size."""
    elements = [size // role.bytes_per_element for size in sizes]
    parts = [program.target, program.toolchain, program.mpi or "", f"{placement.nodes}n{placement.ranks}", collective]
    values: dict[str, list[Value]] = {
        role.operation: [collective],
        role.size: [0] if collective == "barrier" else [*elements],
        **{name: [one] for name, one in role.where.items()},
    }
    return Cell(".".join(parts), program, placement, compose(values) + EFFORT["quick"].arguments)

"""Memory: compute the message buffers of a process, with R4's two-tier model and with a plain design.

A process has a slow buffer of 2 KiB for each process that it has contacted, and a fast one of 1 MiB for each that
has sent it 15 messages, for 1024 at most. A process without any contact has one bit for every other process.
Plain: 145 B in 256 slots for each of four interfaces and every process. (R4, communication of the K computer;
80,000 processes: 11.6 GB.)

MPI prescribes no route for collective operations. The model assumes hypercubes and binomial trees: a member of a
group of g contacts ceil(log2 g) others, in an alltoall g - 1. Partners of different groups, and those of messages,
count as different ones, so the figures are upper bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from firstlight.commands.patterns.generator import Phase, Shown, show
from firstlight.core.errors import UsageError

SLOW, FAST, MOST_FAST = 2048, 1 << 20, 1024
"""Bytes of a slow buffer, bytes of a fast buffer, and the largest number of fast buffers of a process."""
OFTEN = 15
"""Number of messages that make a sender hot."""
PLAIN = 145 * 256 * 4
"""Bytes of buffers that a process has for each process in the plain design."""
COUNTS = (1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 82_944)
"""Numbers of processes; 82,944 is the K computer."""


class Need(msgspec.Struct, frozen=True):
    """The process that needs most buffers: the number of its partners, that of hot ones, and the bytes."""

    processes: int
    contacted: int
    hot: int
    bytes: int
    plain: int


def model(processes: int, contacted: int, hot: int) -> int:
    """Return the bytes of buffers: M = base + 2 KiB x contacted + 1 MiB x min(hot, 1024)."""
    return 8 * -(-processes // 64) + SLOW * contacted + FAST * min(hot, MOST_FAST)


def need(shown: Shown) -> Need:
    """Return an upper bound of the buffers of a process in a pattern with its number of processes."""
    contacted, hot = shown.contacted, shown.often
    groups: dict[tuple[object, ...], int] = {}  # messages of a run from each partner
    for number, phase in enumerate(p for p in shown.phases if p.together is not None):
        key = _partners(phase, number)
        groups[key] = groups.get(key, 0) + phase.repetitions * shown.iterations
    for (partners, *_), messages in groups.items():
        assert isinstance(partners, int)
        contacted += partners
        hot += partners if messages >= OFTEN else 0
    others = shown.processes - 1
    contacted, hot = min(contacted, others), min(hot, others)
    return Need(
        shown.processes, contacted, hot, model(shown.processes, contacted, hot), PLAIN * max(1, shown.processes)
    )


def _partners(phase: Phase, number: int) -> tuple[object, ...]:
    """Return the number of partners of a member of the largest group, and a key for groups with the same partners."""
    assert phase.together is not None
    members = phase.together.members[1]
    if phase.together.collective == "alltoall":
        return members - 1, "alltoall", number
    return (members - 1).bit_length(), "tree", 0 if phase.together.groups == 1 else number + 1


def curve(built: Path, name: str, given: Sequence[str] = (), counts: Sequence[int] = COUNTS) -> tuple[Need, ...]:
    """Return the need of each number of processes that the pattern supports. Raises its UsageError if there is none."""
    found: list[Need] = []
    refusal: UsageError | None = None
    for processes in counts:
        try:
            found.append(need(show(built, name, processes, given)))
        except UsageError as error:
            refusal = error
    if not found and refusal is not None:
        raise refusal
    return tuple(found)

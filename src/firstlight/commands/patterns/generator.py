"""Patterns: generate the communication of applications for any number of processes, without running them.

native/patterns defines the patterns; the program firstlight-simulate prints them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from firstlight.execute.network import program
from firstlight.results.traffic import Pair
from firstlight.results.traffic import Phase as Recorded


class Parameter(msgspec.Struct, frozen=True):
    """A size: a number from `least` to `most`, or one of `words`. `value`: the default."""

    name: str
    value: str
    means: str
    least: int
    most: int
    words: tuple[str, ...]


class Pattern(msgspec.Struct, frozen=True):
    """A known pattern, and the applications that it represents."""

    pattern: str
    title: str
    applications: str
    source: str
    parameters: tuple[Parameter, ...]


class Together(msgspec.Struct, frozen=True):
    """A collective operation in each of `groups`: minimum and maximum number of members, and of bytes.

    The bytes are the size of the message (broadcast, reduce, allreduce), of a rank's block, or of one rank's data for
    another rank (alltoall).
    """

    collective: str
    groups: int
    members: tuple[int, int]
    bytes: tuple[int, int]


class Phase(msgspec.Struct, frozen=True):
    """Messages of all ranks in one repetition. `own`: bytes that ranks send to themselves, included in `bytes`."""

    name: str
    repetitions: int
    messages: int
    bytes: int
    own: int
    shortest: int
    longest: int
    symmetric: bool
    together: Together | None


class Shown(msgspec.Struct, frozen=True):
    """A pattern for a number of processes. `partners`: the ranks to which a rank sends (minimum, median, maximum).
    `contacted`: the maximum number of ranks with which a rank exchanges messages. `often`: the maximum number of
    ranks that send a rank 15 messages per run.
    """

    pattern: str
    title: str
    applications: str
    source: str
    processes: int
    iterations: int
    parameters: dict[str, str]
    shape: tuple[int, ...]
    phases: tuple[Phase, ...]
    partners: tuple[int, int, int]
    contacted: int
    often: int

    @property
    def messages(self) -> int:
        """Return the number of messages of one iteration that name their peer."""
        return sum(p.messages * p.repetitions for p in self.phases)

    @property
    def bytes(self) -> int:
        return sum(p.bytes * p.repetitions for p in self.phases)


class _Pairs(msgspec.Struct, frozen=True):
    name: str
    repetitions: int
    pairs: tuple[Pair, ...]


def known(built: Path) -> tuple[Pattern, ...]:
    """Return every known pattern."""
    return tuple(program.decode(line, Pattern) for line in program.ask(built, ["patterns"]))


def show(built: Path, name: str, processes: int, given: Sequence[str] = ()) -> Shown:
    """Return a pattern for so many processes. Raises UsageError if it does not support this number or the values."""
    (line,) = program.ask(built, program.pattern_words(name, processes, given))
    return program.decode(line, Shown)


def matrix(built: Path, name: str, processes: int, given: Sequence[str] = (), iterations: int = 1) -> Recorded:
    """Return the messages that name their peer, by pair, summed over iterations, in the profiler's format."""
    sums: dict[tuple[int, int], tuple[int, int]] = {}
    for line in program.ask(built, program.pattern_words(name, processes, given, "pairs")):
        phase = program.decode(line, _Pairs)
        times = phase.repetitions * iterations
        for p in phase.pairs:
            messages, size = sums.get((p.source, p.target), (0, 0))
            sums[p.source, p.target] = messages + times * p.messages, size + times * p.bytes
    return Recorded(1, 0.0, (), tuple(Pair(a, b, n, size) for (a, b), (n, size) in sorted(sums.items())))

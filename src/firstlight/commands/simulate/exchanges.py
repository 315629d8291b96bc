"""Exchanges: a step in which processes have messages for neighbours, as a schedule from what its workload declares.

A figure in the role `exchange` tells by its cost how many phases follow one another (`messages`), and how many bytes
all processes send (`message_bytes`) and read or write in all (`bytes`); by its role how many messages a process has in
each phase, all alike, whether it makes them one after the other, and how often it copies their words itself. What
travels in no message is copied within the process. Processes share the partners r + 1, r - 1, r + 2, ...: on one node
all are equally far from each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from firstlight.analysis import Judgement
from firstlight.analysis.loggops import Fitted
from firstlight.analysis.roles import RoleFigure, between_processes
from firstlight.commands.simulate.steps import Asks, Model
from firstlight.core.roles import EXCHANGE
from firstlight.execute.network.prediction import Prediction
from firstlight.model.catalogue import Workload


class Exchange(msgspec.Struct, frozen=True):
    """One step of each process. `work`: bytes that it copies in a phase, half before its messages, half after them."""

    ranks: int
    phases: int
    messages: int
    bytes: int
    in_turn: bool = False
    work: float = 0.0

    @property
    def title(self) -> str:
        return ""

    def predicted(self, fitted: Fitted, model: Model, asks: Asks) -> Prediction:
        """By the same evaluator as collectives, on a network where all are equally far from each other."""
        text = self.goal(fitted if model.copying else None)
        return asks.schedule(text, f"flat:{self.ranks}", fitted.at(self.bytes))

    @property
    def partners(self) -> list[int]:
        """How far the receiver of each message is; its own sender is as far the other way."""
        others = range(1, self.ranks)
        return [(1, -1)[k % 2] * others[k // 2 % len(others)] for k in range(self.messages)]

    def goal(self, fitted: Fitted | None) -> str:
        """The schedule as text; without parameters nothing is copied."""
        copying = 0.0 if fitted is None else 1e9 * self.work * fitted.copied(max(self.work, 1.0)) / 2
        lines = [f"num_ranks {self.ranks}"]
        for rank in range(self.ranks):
            lines += [f"rank {rank} {{", *self._rank(rank, round(copying)), "}"]
        return "\n".join(lines) + "\n"

    def _rank(self, rank: int, copying: int) -> Iterator[str]:
        after: list[str] = []
        for phase in range(self.phases):
            yield f"b{phase}: calc {copying}"
            yield from (f"b{phase} requires {label}" for label in after)
            after = []
            ready = f"b{phase}"
            for k, away in enumerate(self.partners):
                names = (f"s{phase}_{k}", f"r{phase}_{k}")
                tag = phase * self.messages + k
                yield f"{names[0]}: send {self.bytes}b to {(rank + away) % self.ranks} tag {tag}"
                yield f"{names[1]}: recv {self.bytes}b from {(rank - away) % self.ranks} tag {tag}"
                yield f"{names[0]} requires {ready}"
                if self.in_turn and k:
                    yield f"{names[0]} requires r{phase}_{k - 1}"
                after += names
            yield f"e{phase}: calc {copying}"
            yield from (f"e{phase} requires {label}" for label in after)
            after = [f"e{phase}"]


def measured(
    judgement: Judgement, workloads: Mapping[str, Workload], mpi: str | None
) -> tuple[list[tuple[RoleFigure, Exchange]], list[str]]:
    """What was measured of each program and placement with what it stands for, and what cannot be, with the reason."""
    found: list[tuple[RoleFigure, Exchange]] = []
    some, missing = between_processes(judgement, workloads, EXCHANGE, mpi, lambda p: p.program)
    for p in some:
        place, cost, role = p.identity.placement, p.figure.cost, p.role
        phases = round(cost.get("messages", 0))
        if phases < 1 or not cost.get("message_bytes"):
            missing.append(f"{p.program}: nothing travels between its {place.ranks} processes")
            continue
        sent = cost["message_bytes"] / place.ranks
        within = max(cost.get("bytes", 0.0) / 2 / place.ranks - sent, 0.0)
        found.append(
            (
                p,
                Exchange(
                    place.ranks,
                    phases,
                    role.messages,
                    round(sent / phases / role.messages),
                    role.in_turn,
                    (role.copies * sent + within) / phases,
                ),
            )
        )
    return found, missing

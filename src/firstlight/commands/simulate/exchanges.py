"""Exchanges: write an exchange of messages between neighbours as a schedule, from what its workload declares.

The cost of a figure in the role `exchange` contains the number of consecutive phases (`messages`), and the bytes that
all processes send (`message_bytes`) and read or write in total (`bytes`). The role contains the number of messages of a
process in each phase, all alike, whether they are sent one after the other, and how often a process copies their words.
Bytes that no message transfers are copied within the process. The partners are r + 1, r - 1, r + 2, ...: on one node
all processes are equally far from each other.
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
        """Predict the step with the evaluator of collectives; all processes are equally far from each other."""
        text = self.goal(fitted if model.copying else None)
        return asks.schedule(text, f"flat:{self.ranks}", fitted.at(self.bytes))

    @property
    def partners(self) -> list[int]:
        """Return the distance to each receiver; the sender to this process is as far in the other direction."""
        others = range(1, self.ranks)
        return [(1, -1)[k % 2] * others[k // 2 % len(others)] for k in range(self.messages)]

    def goal(self, fitted: Fitted | None) -> str:
        """Return the schedule in the GOAL language; without parameters it contains no copies."""
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
    """Return the measured figures with their exchanges, and the reason for each that cannot be predicted."""
    found: list[tuple[RoleFigure, Exchange]] = []
    some, missing = between_processes(judgement, workloads, EXCHANGE, mpi, lambda p: p.program)
    for p in some:
        place, cost, role = p.identity.placement, p.figure.cost, p.role
        phases = round(cost.get("messages", 0))
        if phases < 1 or not cost.get("message_bytes"):
            missing.append(f"{p.program}: its {place.ranks} processes exchange no messages")
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

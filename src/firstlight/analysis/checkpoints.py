"""Checkpoints: the best interval between them and the efficiency of a run with failures, with one level and with two.

Failures arrive as a Poisson process. They may also strike during a checkpoint and during a restart. All times are in
seconds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from firstlight.analysis import Judgement
from firstlight.analysis.roles import RoleFigure, played, players
from firstlight.analysis.verdict import Identity
from firstlight.core.roles import CHECKPOINT_TIME, LOCAL_CHECKPOINT_TIME, LOCAL_RESTART_TIME, RESTART_TIME
from firstlight.model.catalogue import Workload

YEAR = 365.0 * 86400
NODE_MTBF = 5 * YEAR
"""The mean time between failures of a node that is assumed where a user names none."""
SURVIVED = 0.85
"""The assumed share of failures that a local checkpoint survives, because they disable one node or only the program."""
_MOST_SEGMENTS = 4096
_GOLDEN = (math.sqrt(5) - 1) / 2


class Costs(NamedTuple):
    """The seconds that the program waits for a checkpoint, and those of a restart from it."""

    checkpoint: float
    restart: float


class Interval(NamedTuple):
    """The best interval, which is the work between two checkpoints, and the share of the time that is work."""

    seconds: float
    efficiency: float


class TwoLevels(NamedTuple):
    """The best pattern of two levels: `segments` intervals between global checkpoints, the last one of which is global.

    `efficiency`: the share of the time that is work.
    """

    seconds: float
    segments: int
    efficiency: float


def job_mtbf(node: float, nodes: int) -> float:
    """Return the mean time between failures of a job on so many nodes, each with this mean time."""
    return node / nodes


def young(checkpoint: float, mtbf: float) -> float:
    """Return the interval of J. W. Young, Comm. ACM 17 (1974) 530: the first order in checkpoint / mtbf."""
    return math.sqrt(2 * checkpoint * mtbf)


def daly(checkpoint: float, mtbf: float) -> float:
    """Return the interval of J. T. Daly, Future Gener. Comput. Syst. 22 (2006) 303, equation 37: a higher order."""
    if checkpoint >= 2 * mtbf:
        return mtbf
    part = checkpoint / (2 * mtbf)
    return young(checkpoint, mtbf) * (1 + math.sqrt(part) / 3 + part / 9) - checkpoint


def expected(interval: float, costs: Costs, mtbf: float) -> float:
    """Return the expected time per unit of work, exact for exponential failures; infinite if it exceeds a float."""
    lost = (interval + costs.checkpoint) / mtbf
    if lost + costs.restart / mtbf > 700:
        return math.inf
    return mtbf * math.exp(costs.restart / mtbf) * math.expm1(lost) / interval


def one_level(costs: Costs, mtbf: float) -> Interval:
    """Return Daly's interval with its efficiency."""
    seconds = daly(costs.checkpoint, mtbf)
    return Interval(seconds, 1 / expected(seconds, costs, mtbf))


def expected_of_two(interval: float, segments: int, local: Costs, whole: Costs, mtbf: float, survived: float) -> float:
    """Return the expected time per unit of work with two levels of checkpoints, exact for exponential failures.

    A pattern has `segments` intervals of work. Each ends with a local checkpoint, the last one with a global one, which
    also leaves a local copy. The share `survived` of the failures leaves the local checkpoints readable: the run goes
    on from the newest one. The other failures destroy them, and the run goes on from the last global checkpoint. A
    restart and the segment after it succeed together, or a failure in them requires another restart. After a global
    restart no local copy exists until the next checkpoint.

    The two-level scheme and its Markov chain are those of N. H. Vaidya, A case for two-level distributed recovery
    schemes, SIGMETRICS 1995. A. Moody et al., SC 2010 (SCR), use the same levels. With one segment and no local
    recovery this is Daly's formula.
    """
    worst = max(local.checkpoint, whole.checkpoint) + max(local.restart, whole.restart)
    if (interval + worst) / mtbf > 700:
        return math.inf

    def attempt(length: float) -> tuple[float, float]:
        """Return the expected time until success or failure, and the probability of success."""
        success = math.exp(-length / mtbf)
        return -mtbf * math.expm1(-length / mtbf), success

    # The time from the start of a segment to the end of the pattern is time + back * (time after a global restart).
    time, back, second = 0.0, 0.0, (0.0, 0.0)
    for number in reversed(range(segments)):
        second = (time, back)
        length = interval + (whole if number == segments - 1 else local).checkpoint
        spent, success = attempt(local.restart + length)
        stays = success + (1 - success) * (1 - survived)
        again = (
            (spent + success * time) / stays,
            (success * back + (1 - success) * (1 - survived)) / stays,
        )
        spent, success = attempt(length)
        failed = 1 - success
        time = spent + success * time + failed * survived * again[0]
        back = success * back + failed * (survived * again[1] + 1 - survived)
    first = interval + (whole if segments == 1 else local).checkpoint
    spent, success = attempt(whole.restart + first)
    # After a global restart: another one after each failure, then the second segment.
    left = success * (1 - second[1])
    if left <= 0:
        return math.inf
    restarted = (spent + success * second[0]) / left
    return (time + back * restarted) / (segments * interval)


def two_levels(local: Costs, whole: Costs, mtbf: float, survived: float) -> TwoLevels:
    """Return the best interval and number of segments, by a search over both.

    The number of segments doubles as long as that helps; then it is bisected.
    """

    def best(segments: int) -> tuple[float, float]:
        def time(seconds: float) -> float:
            return expected_of_two(seconds, segments, local, whole, mtbf, survived)

        cheap, dear = sorted((max(local.checkpoint, 1e-6), max(whole.checkpoint, 1e-6)))
        seconds = _least(time, 0.05 * young(cheap, mtbf), max(20 * young(dear, mtbf), 4 * mtbf))
        return time(seconds), seconds

    known = {1: best(1)}
    most = 1
    while most < _MOST_SEGMENTS:
        known[2 * most] = best(2 * most)
        most *= 2
        if known[most][0] > known[most // 2][0]:
            break
    low, high = max(1, most // 4), most
    while high - low > 2:
        left, right = low + (high - low) // 3, high - (high - low) // 3
        for n in (left, right):
            known.setdefault(n, best(n))
        low, high = (low, right) if known[left][0] <= known[right][0] else (left, high)
    known.setdefault(low + 1, best(low + 1))
    segments = min(known, key=lambda n: known[n])
    return TwoLevels(known[segments][1], segments, 1 / known[segments][0])


def _least(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function with one minimum has it, by golden-section search over the logarithm."""
    a, b = math.log(low), math.log(high)
    x, y = b - _GOLDEN * (b - a), a + _GOLDEN * (b - a)
    fx, fy = function(math.exp(x)), function(math.exp(y))
    while b - a > 1e-9:
        if fx <= fy:
            b, y, fy = y, x, fx
            x = b - _GOLDEN * (b - a)
            fx = function(math.exp(x))
        else:
            a, x, fx = x, y, fy
            y = a + _GOLDEN * (b - a)
            fy = function(math.exp(y))
    return math.exp((a + b) / 2)


# --- of a run --------------------------------------------------------------------------------------


class Level(msgspec.Struct, frozen=True):
    """The seconds of a checkpoint and of a restart, the bytes of the state, and the program that measured them.

    If the user set the seconds, `program` is empty and `bytes` is 0.
    """

    checkpoint: float
    restart: float
    program: str = ""
    bytes: float = 0.0

    @property
    def costs(self) -> Costs:
        return Costs(self.checkpoint, self.restart)


class AtNodes(msgspec.Struct, frozen=True):
    """The best checkpoint interval on a number of nodes, with one level and with two. `mtbf`: of the job, in seconds.

    `global_every`: one of this number of checkpoints is global, the others are local. `local`: the interval between
    local checkpoints.
    """

    nodes: int
    mtbf: float
    young: float
    interval: float
    efficiency: float
    local: float | None = None
    global_every: int | None = None
    efficiency_of_two: float | None = None


class Plan(msgspec.Struct, frozen=True):
    """Intervals and efficiencies by number of nodes. `survived`: the share of failures that local checkpoints
    survive.
    """

    whole: Level
    local: Level | None
    node_mtbf: float
    survived: float
    rows: tuple[AtNodes, ...]


def plan(whole: Level, local: Level | None, node_mtbf: float, nodes: Sequence[int]) -> Plan:
    """Return the best intervals on each number of nodes; each node fails once in `node_mtbf` seconds on average."""
    rows = []
    for n in nodes:
        mtbf = job_mtbf(node_mtbf, n)
        one = one_level(whole.costs, mtbf)
        row = AtNodes(n, mtbf, young(whole.checkpoint, mtbf), one.seconds, one.efficiency)
        if local is not None:
            two = two_levels(local.costs, whole.costs, mtbf, SURVIVED)
            row = msgspec.structs.replace(
                row, local=two.seconds, global_every=two.segments, efficiency_of_two=two.efficiency
            )
        rows.append(row)
    return Plan(whole, local, node_mtbf, SURVIVED, tuple(rows))


def measured(judgement: Judgement, workloads: Mapping[str, Workload]) -> tuple[Level | None, Level | None]:
    """Return the measured costs of a checkpoint that survives any node, and of one in the nodes; None if not measured.

    Of the largest measured state, the program with the shortest checkpoint counts. Both are of the same state.
    """
    whole = _levels(judgement, workloads, CHECKPOINT_TIME, RESTART_TIME)
    local = _levels(judgement, workloads, LOCAL_CHECKPOINT_TIME, LOCAL_RESTART_TIME)
    best = min(whole, key=lambda level: (-level.bytes, *_cheapest(level)), default=None)
    alike = [level for level in local if best is not None and level.bytes == best.bytes]
    return best, min(alike, key=_cheapest, default=None)


def _cheapest(level: Level) -> tuple[float, str]:
    return level.checkpoint, level.program


def _levels(judgement: Judgement, workloads: Mapping[str, Workload], saves: str, restarts: str) -> list[Level]:
    """Return the costs of each program and case that has both figures."""

    def figures(role: str) -> list[RoleFigure]:
        return list(played(judgement.figures, players(workloads, role), judgement.run.machine))

    def key(p: RoleFigure) -> Identity:
        return msgspec.structs.replace(p.identity, metric="")

    restart = {key(p): p.seconds() for p in figures(restarts)}
    return [
        Level(seconds, again, p.program, p.size or 0.0)
        for p in figures(saves)
        if (seconds := p.seconds()) and (again := restart.get(key(p))) is not None
    ]

"""Checkpoints: published formulas to all digits, the same expectations by simulated failures, and plans of a run."""

from __future__ import annotations

import json
import math
import random
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from test_roles import HERE, judgement

import shipped
from commands import Captured
from firstlight.analysis import checkpoints
from firstlight.analysis.checkpoints import (
    NODE_MTBF,
    Costs,
    Level,
    daly,
    expected,
    expected_of_two,
    job_mtbf,
    one_level,
    two_levels,
    young,
)
from firstlight.analysis.roles import players
from firstlight.analysis.verdict import Estimate, Identity, Verified
from firstlight.commands.explain import command
from firstlight.core.errors import OK, UsageError
from firstlight.core.roles import CHECKPOINT_TIME, LOCAL_CHECKPOINT_TIME, LOCAL_RESTART_TIME, RESTART_TIME
from firstlight.model.plan import Placement
from firstlight.report import checkpoints as page


@pytest.mark.parametrize(
    ("checkpoint", "mtbf", "restart", "first", "higher", "efficiency"),
    [
        (60, 86_400, 300, "3219.94", "3180.06", "0.959855"),
        (300, 86_400, 600, "7200.00", "7001.39", "0.912606"),
        (600, 14_400, 600, "4156.92", "3766.54", "0.708273"),
        (1, 30, 2, "7.74597", "7.09364", "0.714286"),
    ],
)
def test_the_table_of_the_specification(
    checkpoint: float, mtbf: float, restart: float, first: str, higher: str, efficiency: str
) -> None:
    def digits(value: float, like: str) -> str:
        return f"{value:.{len(like.partition('.')[2])}f}"

    assert digits(young(checkpoint, mtbf), first) == first
    assert digits(daly(checkpoint, mtbf), higher) == higher
    assert digits(one_level(Costs(checkpoint, restart), mtbf).efficiency, efficiency) == efficiency


@pytest.mark.parametrize(("nodes", "efficiency"), [(1000, 0.9360), (10_000, 0.7869), (82_944, 0.3925)])
def test_large_machines_need_two_levels(nodes: int, efficiency: float) -> None:
    mtbf = job_mtbf(NODE_MTBF, nodes)
    assert one_level(Costs(300, 600), mtbf).efficiency == pytest.approx(efficiency, abs=5e-5)
    assert two_levels(Costs(15, 30), Costs(300, 600), mtbf, 0.85).efficiency > efficiency
    assert nodes != 1000 or mtbf == 157_680


class Failures:
    """Exponential failures, each of which destroys local checkpoints or not."""

    def __init__(self, mtbf: float, survived: float, seed: int) -> None:
        self.draw, self.mtbf, self.survived = random.Random(seed), mtbf, survived
        self.left = self.draw.expovariate(1 / mtbf)
        self.time = 0.0

    def runs(self, seconds: float) -> bool:
        """Let time pass until `seconds` are over or a failure strikes; return whether none did."""
        if self.left >= seconds:
            self.time, self.left = self.time + seconds, self.left - seconds
            return True
        self.time, self.left = self.time + self.left, self.draw.expovariate(1 / self.mtbf)
        return False

    def local(self) -> bool:
        return self.draw.random() < self.survived


def simulated(interval: float, segments: int, local: Costs, whole: Costs, failures: Failures, patterns: int) -> float:
    """Return the time per unit of work of this many patterns of checkpoints."""
    for _ in range(patterns):
        done, restart = 0, 0.0
        after_global = False
        while done < segments:
            length = interval + (whole if done == segments - 1 else local).checkpoint
            if failures.runs(restart + length):
                done, restart, after_global = done + 1, 0.0, False
            elif after_global or not failures.local():
                done, restart, after_global = 0, whole.restart, True
            else:
                restart = local.restart
    return failures.time / (patterns * segments * interval)


def test_the_expected_time_is_that_of_simulated_failures() -> None:
    """4000 runs of 100 intervals of the second row of the table, within 1 %; the published value is 1.0958."""
    costs, mtbf = Costs(300, 600), 86_400
    interval = daly(300, mtbf)
    found = fmean(
        simulated(interval, 1, costs, costs, Failures(mtbf, 0, seed), 100) for seed in range(400)
    )  # fewer runs than published: the standard error is 0.1 %
    assert found == pytest.approx(expected(interval, costs, mtbf), rel=0.01)
    assert expected(interval, costs, mtbf) == pytest.approx(1.0958, abs=5e-5)


@pytest.mark.parametrize(
    ("interval", "segments", "local", "whole", "mtbf", "survived"),
    [
        (400, 5, Costs(15, 30), Costs(300, 600), 3000, 0.85),
        (100, 1, Costs(5, 5), Costs(20, 30), 500, 0.5),
        (50, 12, Costs(2, 3), Costs(60, 20), 400, 0.95),
        (200, 3, Costs(10, 10), Costs(40, 100), 300, 0.0),
    ],
)
def test_two_levels_are_those_of_simulated_failures(
    interval: float, segments: int, local: Costs, whole: Costs, mtbf: float, survived: float
) -> None:
    found = simulated(interval, segments, local, whole, Failures(mtbf, survived, 7), 60_000 // segments)
    assert found == pytest.approx(expected_of_two(interval, segments, local, whole, mtbf, survived), rel=0.01)


@given(st.floats(0.1, 1e4), st.floats(0.01, 100), st.floats(0, 1e3), st.floats(1, 1e6), st.floats(0, 1))
def test_two_levels_with_one_segment_and_no_local_recovery_are_daly_s(
    interval: float, checkpoint: float, restart: float, mtbf: float, survived: float
) -> None:
    costs = Costs(checkpoint, restart)
    if (interval + checkpoint + restart) / mtbf > 300:
        return
    one = expected(interval, costs, mtbf)
    assert expected_of_two(interval, 1, Costs(1, 1), costs, mtbf, 0) == pytest.approx(one, rel=1e-9)
    assert expected_of_two(interval, 1, costs, costs, mtbf, survived) == pytest.approx(one, rel=1e-9)


@given(st.floats(0.01, 1e3), st.floats(1.0, 1e3), st.floats(1.0, 1e5))
def test_no_other_interval_is_much_better(checkpoint: float, restart: float, share: float) -> None:
    """Daly's optimum is an approximation: no interval is 2 % better where a checkpoint is short of the MTBF."""
    mtbf = 2 * checkpoint * max(share, 4)
    best = one_level(Costs(checkpoint, restart), mtbf)
    for factor in (0.3, 0.7, 0.9, 1.1, 1.4, 3):
        time = expected(factor * best.seconds, Costs(checkpoint, restart), mtbf)
        assert best.efficiency == 0 or time * best.efficiency >= 0.98


def test_two_levels_find_the_best_pattern() -> None:
    local, whole, mtbf = Costs(10, 20), Costs(200, 400), 4000.0
    best = two_levels(local, whole, mtbf, 0.85)
    grid = [
        expected_of_two(best.seconds * factor, n, local, whole, mtbf, 0.85)
        for factor in (0.5, 0.8, 0.95, 1.05, 1.2, 2)
        for n in {1, max(1, best.segments - 2), best.segments, best.segments + 2, 3 * best.segments}
    ]
    assert 1 / best.efficiency <= min(grid)
    assert two_levels(whole, whole, mtbf, 0.85).segments == 1, (
        "a local checkpoint as long as a global one saves nothing"
    )
    assert two_levels(local, whole, mtbf, 0).segments == 1, "a local checkpoint that survives nothing saves nothing"


def test_a_job_that_never_gets_on_is_no_error() -> None:
    assert daly(100, 10) == 10 and expected(10, Costs(100, 1e4), 10) == math.inf
    assert one_level(Costs(100, 1e4), 10).efficiency == 0
    assert two_levels(Costs(100, 1e4), Costs(100, 1e4), 10, 0.85).efficiency == 0


# --- of a run --------------------------------------------------------------------------------------

WORKLOADS = shipped.workloads()
(SAVES, *_) = players(WORKLOADS, CHECKPOINT_TIME)


def figures(variant: str, cells: int, saved: float, restarted: float, ranks: int = 2) -> list[Verified]:
    """Return two times in milliseconds, of a workload that plays the roles."""
    role = {r.role: r for r in SAVES.workload.roles}
    local = variant in role[LOCAL_CHECKPOINT_TIME].variants
    names = (LOCAL_CHECKPOINT_TIME, LOCAL_RESTART_TIME) if local else (CHECKPOINT_TIME, RESTART_TIME)
    found = []
    for name, value in zip(names, (saved, restarted), strict=True):
        identity = Identity(
            SAVES.workload.name, variant, "gcc-base", "openmpi", Placement(1, ranks, 1),
            (("changed", 100), ("n", cells), ("target", "results")), role[name].metric,
        )  # fmt: skip
        found.append(Verified(identity, "ms", "lower", Estimate(value, None, None, (value,)), 0.0, {}, None, 0.0))
    return found


def test_the_largest_state_counts_and_of_its_programs_the_fastest() -> None:
    (whole, local) = (
        next(r for r in SAVES.workload.roles if r.role == name).variants
        for name in (CHECKPOINT_TIME, LOCAL_CHECKPOINT_TIME)
    )
    some = [
        *figures(whole[0], 64, 1, 1), *figures(whole[0], 256, 300, 100), *figures(whole[1], 256, 200, 150),
        *figures(local[0], 256, 20, 30), *figures(local[0], 300, 1, 1),
    ]  # fmt: skip
    assert checkpoints.measured(judgement([]), WORKLOADS) == (None, None)
    found = checkpoints.measured(judgement(some), WORKLOADS)
    assert found[0] == Level(0.2, 0.15, f"{SAVES.workload.name}.{whole[1]}", 8 * 256**3)
    assert found[1] == Level(0.02, 0.03, f"{SAVES.workload.name}.{local[0]}", 8 * 256**3)
    lost = [replace(f, oversubscribed=True) for f in some]
    assert checkpoints.measured(judgement(lost), WORKLOADS) == (None, None) and HERE.cores > 0


def test_the_page_has_the_numbers_of_the_plan() -> None:
    whole, local = Level(300, 600, "w.v", 2.0**40), Level(15, 30, "w.u", 2.0**40)
    plan = checkpoints.plan(whole, local, NODE_MTBF, (1000, 82_944))
    text = "\n".join(page.lines(plan))
    assert (
        "1000 nodes: 94 % of the time is useful work" in text and "82944 nodes: 39 % of the time is useful work" in text
    )
    assert "300 s, and 600 s for a restart, 1 TiB with w.v" in text and "survive 85 % of failures" in text
    assert page.table(plan)[0][:4] == ("1,000", "43 h 48 min", "2 h 39 min", "94 %")
    assert plan.rows[1].efficiency_of_two is not None and plan.rows[1].efficiency_of_two > 0.6
    assert "no gain" in "\n".join(page.lines(checkpoints.plan(whole, whole, NODE_MTBF, (1000,))))
    alone = checkpoints.plan(whole, None, NODE_MTBF, (1,))
    assert page.table(alone)[0][4:] == ("–", "–", "–") and "two levels" not in "\n".join(page.lines(alone))
    assert len({len(line) for line in page.text_table(plan)}) == 1


def test_explain_shows_the_intervals_of_this_machine(capsys: Captured) -> None:
    name, role = SAVES.workload.name, next(r for r in SAVES.workload.roles if r.role == CHECKPOINT_TIME)
    assert command.saves_checkpoints(WORKLOADS, (name,)) and not command.saves_checkpoints(WORKLOADS, (name, "time"))
    assert not command.saves_checkpoints(WORKLOADS, ("dot",)) and not command.saves_checkpoints(WORKLOADS, ("none",))
    some = judgement(figures(role.variants[0], 256, 300_000, 600_000))
    assert command.intervals(some, WORKLOADS, False) == OK
    output = capsys.readouterr().out
    assert f"from run {some.run.id}" in output and f"{role.variants[0]}" in output
    (row,) = [line.split() for line in output.splitlines() if line.strip().startswith("1,000 ")]
    assert row[1:] == ["43", "h", "48", "min", "2", "h", "39", "min", "94", "%", "–", "–", "–"]
    command.intervals(some, WORKLOADS, True)
    found = json.loads(capsys.readouterr().out)
    assert found["whole"]["checkpoint"] == 300 and found["local"] is None and len(found["rows"]) == 6
    with pytest.raises(UsageError, match=r"no verified time of a checkpoint; `.*fl.* run .*` measures it"):
        command.intervals(judgement([]), WORKLOADS, False)

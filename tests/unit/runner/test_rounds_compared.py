"""Rounds of a user's commands: what is compared is launched equally often."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import invented_plan
import synthetic
from firstlight.model.catalogue import Row, Workload
from firstlight.model.plan import ExternalCommand
from firstlight.runner import agenda
from firstlight.runner.agenda import Rank
from firstlight.runner.costs import Costs, key
from firstlight.runner.rounds import BUDGET, COMPLETE, Rounds
from firstlight.toolchain import Mpi
from invented_rounds import Bench, priced, steady
from launch_samples import NO_TOOLS


def commands(bench: Bench, cases: dict[str, str]) -> dict[str, str]:
    """Make the cells of the bench external commands; return the comparison of each cell."""
    replace = msgspec.structs.replace
    bench.cells = [
        replace(c, arguments=(f"n={cases[c.id]}",), external=ExternalCommand((c.id,), "/")) for c in bench.cells
    ]
    return agenda.comparisons(bench.cells, choosing(), NO_TOOLS)


def choosing() -> dict[str, Workload]:
    """Return a workload whose rows choose among the commands of a case."""
    rows = tuple(Row(f"row {n}", "rate", n, {"n": n}, choose="variant", headline=True) for n in (1, 2, 3))
    made = invented_plan.workload(variants={f"v{k}": () for k in range(8)})
    return {"w": msgspec.structs.replace(made["w"], rows=rows)}


def compared(bench: Bench, cases: dict[str, str], budget: float, prices: dict[str, float], **changes: Any) -> Rounds:
    """Launch the commands of these cases with this budget."""
    present, earlier = changes.pop("present", []), changes.pop("earlier", {})
    names, known = commands(bench, cases), Costs({}, earlier)
    wanted = dict.fromkeys(names, Rank.FRONT)
    run, launch = bench.run(**changes), priced(bench, prices)
    return Rounds(
        run, bench.cells, launch, present, budget, bench.notes, lambda: bench.now, wanted, known, comparisons=names
    )


@pytest.mark.parametrize("count", [1, 2, 7])
@pytest.mark.parametrize("budget", [10.5, 55.0])
@pytest.mark.parametrize("known", [False, True])
def test_compared_commands_share_a_budget_that_is_too_short(count: int, budget: float, known: bool) -> None:
    bench = Bench(count, steady)
    names = commands(bench, {c.id: "1" for c in bench.cells})
    assert len(set(names.values())) == 1
    earlier = {key(c): 1.0 for c in bench.cells} if known else {}
    rounds = compared(bench, {c.id: "1" for c in bench.cells}, budget, {}, launches=60, earlier=earlier)
    assert rounds.go() == BUDGET
    counts = Counter(name for name, _ in bench.seen)
    assert len(counts) == count and max(counts.values()) - min(counts.values()) <= 1
    assert sum(counts.values()) > budget - count and bench.now <= budget + 1
    assert rounds.unfinished() == list(names)


@pytest.mark.parametrize(
    ("budget", "price", "begun"), [(1.0, 2.0, 3), (1.0, 20.0, 3), (1.0, 25.0, 1), (200.0, 120.0, 3), (200.0, 150.0, 1)]
)
def test_what_is_compared_with_a_long_launch_is_begun_late(budget: float, price: float, begun: int) -> None:
    """The first launch exceeds the budget, or leaves too little of it: the others follow, up to a limit."""
    bench = Bench(3, steady)
    rounds = compared(bench, {c.id: "1" for c in bench.cells}, budget, {c.id: price for c in bench.cells})
    assert rounds.go() == BUDGET
    assert bench.counts() == [1] * begun and len(rounds.unfinished()) == 3


@pytest.mark.parametrize(("budget", "begun"), [(20.0, 2), (40.0, 4)])
def test_a_library_and_its_settings_start_together(budget: float, begun: int) -> None:
    """Two cases of a library with and without a file, 12 launches of 1 s per case: 20 s are enough for one case."""
    bench = Bench(4, steady)
    tuned = Mpi("mpich-tuned", "mpich", "MPICH", "4", "system", "", None, (), "", {}, setting="mpich")
    replace, mpis = msgspec.structs.replace, ("mpich", "mpich-tuned")
    bench.cells = [
        replace(c, program=replace(c.program, variant="v", mpi=mpis[k % 2]), arguments=(f"case={k // 2}",))
        for k, c in enumerate(bench.cells)
    ]
    names = agenda.comparisons(bench.cells, {}, replace(NO_TOOLS, mpis=(tuned,)))
    assert [names[c.id] == names["c0"] for c in bench.cells] == [True, True, False, False]
    ranks = agenda.ranks(bench.cells, choosing(), synthetic.machine(), bases={"mpich-tuned": "mpich"})
    known = Costs({}, {key(c): 1.0 for c in bench.cells})
    launch = priced(bench, {})
    rounds = Rounds(
        bench.run(), bench.cells, launch, [], budget, bench.notes, lambda: bench.now, ranks, known, comparisons=names
    )
    assert rounds.go() == (BUDGET if begun < 4 else COMPLETE)
    assert bench.counts() == [6] * begun


def test_a_case_whose_commands_do_not_all_fit_is_not_begun() -> None:
    """Cases 1 and 2 have two commands each: 12 launches of 1 s per case; 20 s are enough for one case."""
    bench = Bench(4, steady)
    rounds = compared(bench, {"c0": "1", "c1": "1", "c2": "2", "c3": "2"}, 20, {})
    assert rounds.go() == BUDGET
    counts = Counter(name for name, _ in bench.seen)
    assert sorted(counts) in (["c0", "c1"], ["c2", "c3"]) and set(counts.values()) == {6}
    assert len(rounds.unfinished()) == 2


def test_a_dear_command_is_launched_as_often_as_the_cheap_one() -> None:
    bench = Bench(2, steady)
    rounds = compared(bench, {"c0": "1", "c1": "1"}, 33, {"c0": 10.0})
    assert rounds.go() == BUDGET
    assert Counter(name for name, _ in bench.seen) == {"c0": 3, "c1": 3} and len(rounds.unfinished()) == 2


def test_a_comparison_that_has_its_launches_is_finished() -> None:
    bench = Bench(3, steady)
    rounds = compared(bench, {"c0": "1", "c1": "1", "c2": "1"}, 1000, {})
    assert rounds.go() == COMPLETE and rounds.unfinished() == []


def test_what_fails_or_refuses_leaves_no_comparison_unfinished() -> None:
    bench = Bench(3, steady)
    bench.bad = {"c0": "wrong", "c1": "refused"}
    rounds = compared(bench, {"c0": "1", "c1": "1", "c2": "1"}, 1000, {})
    assert rounds.go() == COMPLETE and rounds.unfinished() == []


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("123"), st.floats(0.1, 20)), min_size=2, max_size=8),
    st.floats(1, 150),
    st.integers(1, 12),
)
def test_no_command_of_a_case_is_ever_two_launches_ahead_of_another(
    some: list[tuple[str, float]], budget: float, launches: int
) -> None:
    bench = Bench(len(some), steady)
    cases = {c.id: case for c, (case, _) in zip(bench.cells, some, strict=True)}
    prices = {c.id: price for c, (_, price) in zip(bench.cells, some, strict=True)}
    rounds = compared(bench, cases, budget, prices, launches=launches)
    rounds.go()
    counts = Counter(name for name, _ in bench.seen)
    for case in set(cases.values()):
        mine = [counts[name] for name in cases if cases[name] == case]
        if min(mine) < launches:
            assert max(mine) - min(mine) <= 1, (counts, cases)


def test_the_cells_of_a_user_s_commands_are_all_wanted_first() -> None:
    bench = Bench(4, steady)
    names = commands(bench, {"c0": "1", "c1": "1", "c2": "2", "c3": "2"})
    assert names["c0"] == names["c1"] != names["c2"] == names["c3"]
    assert set(agenda.ranks(bench.cells, choosing(), synthetic.run().run.machine).values()) == {Rank.FRONT}

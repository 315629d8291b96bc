"""Rounds: a virtual clock and invented launches show when launching stops, and that every cell gets its share."""

from __future__ import annotations

import itertools
from collections import Counter

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstlight.model.plan import Cell, Placement
from firstlight.results.record import LaunchRecord
from firstlight.runner.agenda import Rank
from firstlight.runner.cell_progress import Tally, varying
from firstlight.runner.costs import Costs, key
from firstlight.runner.rounds import BUDGET, COMPLETE, Rounds
from invented_rounds import Bench, noisy, priced, steady


def test_narrow_cells_stop_after_six_launches_and_wide_ones_go_on() -> None:
    bench = Bench(3, lambda name, k: noisy(name, k) if name == "c1" else steady(name, k))
    rounds = bench.rounds(1000)
    assert rounds.go() == COMPLETE
    assert bench.counts() == [6, 6, 30]
    assert rounds.wide() == ["c1"]
    assert bench.notes.notes == []
    assert "w.v" in bench.notes.state.last and "Gflop/s" in bench.notes.state.last


@pytest.mark.parametrize(("budget", "begun"), [(8, 1), (11.5, 1), (20, 3), (24, 3), (26, 4)])
def test_a_cell_is_begun_only_where_its_turn_can_come_six_times(budget: float, begun: int) -> None:
    bench = Bench(4, steady)
    rounds = bench.rounds(budget)
    assert rounds.go() == (COMPLETE if begun == 4 else BUDGET)
    assert bench.counts() == [6] * begun
    assert len(rounds.wide()) == 4 - begun
    assert bench.now <= budget


def test_a_budget_too_small_for_any_cell_gets_one_launch_and_no_more() -> None:
    bench = Bench(4, steady)
    assert bench.rounds(2.5).go() == BUDGET
    assert bench.counts() == [1]


def test_a_budget_is_not_spent_on_the_ceiling_of_nothing() -> None:
    """The cell that was requested lasts longer than expected, and cannot have its launches: a resumed run has them."""
    bench = Bench(2, steady)
    ranks = {"c0": Rank.FRONT, "c1": Rank.CEILING}
    known = Costs({}, {key(cell): seconds for cell, seconds in zip(bench.cells, (1.0, 0.1), strict=True)})
    launch = priced(bench, {"c0": 3.0, "c1": 0.1})

    def rounds(budget: float, present: list[LaunchRecord]) -> Rounds:
        return Rounds(bench.run(), bench.cells, launch, present, budget, bench.notes, lambda: bench.now, ranks, known)

    assert rounds(11.0, []).go() == BUDGET
    assert Counter(name for name, _ in bench.seen) == {"c0": 1}
    present = [launch(bench.cells[0], 0)]
    assert rounds(20.0, present).go() == COMPLETE
    assert {name for name, _ in bench.seen} == {"c0", "c1"}


def test_a_run_that_goes_on_for_less_than_a_cell_wants_goes_on_with_one_that_is_begun() -> None:
    bench = Bench(4, steady)
    present = [bench.launch(cell, 0) for cell in bench.cells]
    assert bench.rounds(2.5, present, launches=1000).go() == BUDGET
    assert bench.counts() == [1, 1, 1, 3]


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("compared", [False, True])
def test_a_run_that_is_resumed_for_less_than_a_launch_gets_one_each_time(count: int, compared: bool) -> None:
    """A resumed run behaves like a fresh one, so short stretches finish however long a launch lasts."""
    bench = Bench(count, steady)
    names = {c.id: "1" for c in bench.cells} if compared else {}
    present = [bench.launch(bench.cells[0], 0)]
    for launches in range(2, 2 * count + 1):
        run = bench.run(launches=2)
        rounds = Rounds(
            run, bench.cells, bench.launch, present, 0.1, bench.notes, clock=lambda: bench.now, comparisons=names
        )
        taken = [record for tally in rounds.tallies.values() for record in tally.records]
        state = rounds.go()
        present = [record for tally in rounds.tallies.values() for record in tally.records]
        assert len(present) > len(taken) and (compared or len(present) == launches)
        if len(present) == 2 * count:
            break
    assert state == COMPLETE and bench.counts() == [2] * count


def test_wrong_cells_are_launched_twice_and_lost_ones_given_up() -> None:
    bench = Bench(3, steady)
    bench.bad = {"c0": "wrong", "c1": "lost"}
    rounds = bench.rounds(1000)
    assert rounds.go() == COMPLETE
    assert Counter(name for name, _ in bench.seen) == {"c0": 2, "c1": 2, "c2": 6}
    assert bench.notes.notes == ["stopped after 2 lost launches: c1: killed"]
    assert "v0" not in bench.notes.state.last


def test_a_program_that_refuses_is_not_asked_again() -> None:
    bench = Bench(2, steady)
    bench.bad = {"c0": "refused"}
    assert bench.rounds(1000).go() == COMPLETE
    assert bench.counts() == [1, 6]
    assert bench.notes.notes == ["refused: c0: it needs pairs"]


def test_a_loss_now_and_then_does_not_end_a_cell() -> None:
    bench = Bench(1, steady)
    losses = itertools.cycle(["", "lost"])

    def launch(cell: Cell, number: int) -> LaunchRecord:
        bench.bad = {"c0": next(losses)}
        return bench.launch(cell, number)

    rounds = Rounds(bench.run(), bench.cells, launch, [], 1000, bench.notes, clock=lambda: bench.now)
    assert rounds.go() == COMPLETE
    assert bench.counts() == [11]  # six good ones


def test_fewer_launches_than_an_interval_needs_are_just_as_many() -> None:
    bench = Bench(2, steady)
    assert bench.rounds(1000, launches=3).go() == COMPLETE
    assert bench.counts() == [3, 3]


@settings(max_examples=20, deadline=None)
@given(count=st.integers(1, 5), stopped=st.integers(1, 29), seed=st.integers(0, 9))
@pytest.mark.full
def test_a_run_that_is_resumed_launches_what_the_whole_run_would_have(count: int, stopped: int, seed: int) -> None:
    """Stop after any launch, go on from the records: the same launches in the same rounds."""
    whole = Bench(count, steady)
    whole.rounds(10**6, seed=seed).go()

    first = Bench(count, steady)
    kept: list[LaunchRecord] = []

    def launch(cell: Cell, number: int) -> LaunchRecord:
        if len(kept) == stopped:
            raise KeyboardInterrupt
        kept.append(first.launch(cell, number))
        return kept[-1]

    try:
        Rounds(first.run(seed=seed), first.cells, launch, [], 10**6, first.notes, clock=lambda: first.now).go()
    except KeyboardInterrupt:
        assert first.rounds(10**6, kept, seed=seed).go() == COMPLETE
    assert Counter(first.seen) == Counter(whole.seen)


def test_what_turns_out_too_dear_is_left_and_the_others_are_completed() -> None:
    """Nine cells of 1 s and one of 20 s that looks like them: it is found out by its first launch."""
    bench = Bench(10, steady)
    rounds = Rounds(
        bench.run(), bench.cells, priced(bench, {"c3": 20.0}), [], 100, bench.notes, clock=lambda: bench.now
    )
    assert rounds.go() == BUDGET
    counts = Counter(name for name, _ in bench.seen)
    assert counts.pop("c3") == 1
    assert set(counts.values()) == {6} and len(counts) == 9
    assert rounds.wide() == ["c3"]


@pytest.mark.parametrize("slower", [1.0, 1.3])
def test_what_is_wanted_most_does_not_wait_for_the_rest(slower: float) -> None:
    """The most expensive cell is the one shown; the machine may become slower than in the first round."""
    bench = Bench(10, steady)
    wanted = {cell.id: Rank.FRONT if cell.id == "c3" else Rank.REST for cell in bench.cells}

    def launch(cell: Cell, number: int) -> LaunchRecord:
        bench.seconds = (3.0 if cell.id == "c3" else 1.0) * (1.0 if number == 0 else slower)
        return bench.launch(cell, number)

    rounds = Rounds(bench.run(), bench.cells, launch, [], 70, bench.notes, clock=lambda: bench.now, ranks=wanted)
    assert rounds.go() == BUDGET
    counts = Counter(name for name, _ in bench.seen)
    assert [name for name, _ in bench.seen[:6]] == ["c3"] * 6
    assert counts.pop("c3") == 6 and set(counts.values()) == {6}
    assert bench.now <= 70


def test_stages_are_launched_one_after_another_and_their_cells_side_by_side() -> None:
    bench = Bench(6, steady)
    wanted = {f"c{k}": Rank.FRONT if k < 3 else Rank.CHAPTER for k in range(6)}
    rounds = Rounds(bench.run(), bench.cells, bench.launch, [], 43, bench.notes, clock=lambda: bench.now, ranks=wanted)
    assert rounds.go() == COMPLETE
    names = [name for name, _ in bench.seen]
    assert sorted(names[:6]) == [c.id for c in bench.cells]  # each row once, then again
    rounds_of = [names[k : k + 3] for k in range(6, 36, 3)]
    assert all(sorted(r) == ["c0", "c1", "c2"] for r in rounds_of[:5])
    assert all(sorted(r) == ["c3", "c4", "c5"] for r in rounds_of[5:])
    assert len({tuple(r) for r in rounds_of}) > 4  # in a new order each time


def test_rows_are_opened_by_what_is_quick_and_by_one_core_first() -> None:
    bench = Bench(6, steady)
    wide = msgspec.structs.replace
    bench.cells = [wide(c, placement=Placement(threads=2)) if c.id in ("c0", "c4") else c for c in bench.cells]
    costs = Costs({})
    for cell, seconds in zip(bench.cells, (0.1, 1.4, 1.2, 1.3, 0.5, 1.1), strict=True):
        costs.take(cell, seconds)
    rounds = Rounds(
        bench.run(), bench.cells, bench.launch, [], 40, bench.notes, clock=lambda: bench.now,
        ranks=dict.fromkeys((c.id for c in bench.cells), Rank.CHAPTER), costs=costs,
    )  # fmt: skip
    rounds.go()
    assert [name for name, _ in bench.seen[:6]] == ["c5", "c2", "c3", "c1", "c0", "c4"]


def test_where_there_is_ample_time_everything_is_launched_side_by_side() -> None:
    bench = Bench(6, steady)
    wanted = {f"c{k}": Rank(k) for k in range(6)}
    rounds = Rounds(bench.run(), bench.cells, bench.launch, [], 400, bench.notes, clock=lambda: bench.now, ranks=wanted)
    assert rounds.go() == COMPLETE
    names = [name for name, _ in bench.seen]
    assert all(sorted(names[k : k + 6]) == [c.id for c in bench.cells] for k in range(0, 36, 6))


def test_a_run_that_goes_on_with_little_time_completes_what_is_wanted_most() -> None:
    bench = Bench(10, steady)
    kept: list[LaunchRecord] = []

    def launch(cell: Cell, number: int) -> LaunchRecord:
        if len(kept) == 50:
            raise KeyboardInterrupt
        kept.append(bench.launch(cell, number))
        return kept[-1]

    with pytest.raises(KeyboardInterrupt):
        Rounds(bench.run(), bench.cells, launch, [], 1000, bench.notes, clock=lambda: bench.now).go()
    wanted = {c.id: Rank.FRONT if c.id in ("c3", "c7") else Rank.REST for c in bench.cells}
    rounds = Rounds(
        bench.run(), bench.cells, bench.launch, kept, 3.5, bench.notes, clock=lambda: bench.now, ranks=wanted
    )
    assert rounds.go() == BUDGET
    counts = Counter(name for name, _ in bench.seen)
    assert counts["c3"] == counts["c7"] == 6
    assert bench.counts() == [5] * 7 + [6] * 3


def test_progress_names_the_parameters_that_vary_in_this_run() -> None:
    bench = Bench(2, steady)
    bench.cells = [
        msgspec.structs.replace(cell, arguments=(f"n={k + 1}", "m=4", "--samples", "5"))
        for k, cell in enumerate(bench.cells)
    ]
    assert varying(bench.cells) == {"w": frozenset({"n"})}
    star = msgspec.structs.replace(bench.cells[0], arguments=("n=1", "kernel=*", "problem=M"))
    assert varying([star]) == {"w": frozenset({"kernel"})}
    assert varying([star, *bench.cells]) == {"w": frozenset({"n", "m", "kernel", "problem"})}
    tally = Tally(bench.run(), bench.cells[0])
    tally.take(bench.launch(bench.cells[0], 0))
    assert "n = 1" in tally.last() and "n = 1" in tally.last({"n"}) and "n = 1" not in tally.last({"m"})


def test_what_is_missing_is_told_in_time() -> None:
    bench = Bench(4, steady, seconds=10.0)
    rounds = bench.rounds(95)
    assert rounds.go() == BUDGET
    assert bench.counts() == [1, 1, 1, 6]  # each was taken for shorter, and gets a figure
    assert rounds.missing() == pytest.approx(3 * 5 * 10.0)

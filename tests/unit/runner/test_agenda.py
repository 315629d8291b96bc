"""The agenda spends a budget on the real catalogue, with launches of invented times."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Mapping
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import shipped
import synthetic
import synthetic_machine
from firstlight.model.catalogue import Workload
from firstlight.model.plan import EFFORT, Cell, Placement, Program, plan
from firstlight.model.plan.runtime_estimate import launch_seconds
from firstlight.results.description import Description, Metric
from firstlight.results.record import Case, Check, Exit, Launch, LaunchRecord, Sample, Start
from firstlight.runner import agenda
from firstlight.runner.agenda import Item, Rank, RowCells
from firstlight.runner.costs import Costs
from firstlight.runner.forecast import forecast, in_short, left_out, summary
from firstlight.runner.progress import Progress
from firstlight.runner.rounds import Rounds
from firstlight.system.machine import Machine
from firstlight.toolchain import Library

GIB = 1024**3
SHIPPED = shipped.workloads()
TOOLBOX = synthetic_machine.toolbox()
DESCRIPTION = Description(
    "w", "", "", (), (Metric("rate", "Gflop/s", "flops", "rate", 1e-9, "higher"),), "", "a", "eps"
)


@cache
def machine(cores: int) -> Machine:
    """Return a machine with a last-level cache of 32 MiB for every eight cores."""
    small = synthetic_machine.machine()
    cpus = tuple(range(cores))
    last = tuple(replace(small.caches[-1], shared_by=cpus[k : k + 8]) for k in range(0, cores, 8))
    memory = 12 * GIB * cores
    return replace(
        small, cores=cores, cpus=cpus, caches=(*small.caches[:-1], *last), memory=memory, memory_available=memory
    )


@cache
def planned(suite: str, cores: int, names: tuple[str, ...] = ()) -> tuple[Cell, ...]:
    return plan(suite, SHIPPED, names, TOOLBOX, machine(cores)).cells


@cache
def answerable(suite: str, cores: int) -> list[RowCells]:
    return agenda.rows(planned(suite, cores), SHIPPED, machine(cores))


def ended(cell: Cell, launch: int, number: int, time: float, seconds: float = 1.0) -> LaunchRecord:
    p, at = cell.program, cell.placement
    return LaunchRecord(
        start=Start("run", cell.id, launch, number, time, (), 0.0),
        launch=Launch(1, p.workload, p.variant, "", "", "", at.ranks, at.nodes, (), "", 1e-9),
        cases=(Case(0, {"n": 1}, at.threads, {"flops": 1e9}, 8, 1),),
        samples=(Sample(0, 0, 1.0, 1.0, 1.0, 1.0),),
        checks=(Check(0, "after", True, 0.0, 1.0, "a"),),
        counters=(),
        complete=True,
        exit=Exit(True, 0, "", seconds, 0.0, "", ""),
    )


class World:
    """Represent a machine on which a launch lasts as long as its arguments state, times an unknown factor."""

    def __init__(self, suite: str, cores: int, seed: int, spread: float, names: tuple[str, ...] = ()) -> None:
        self.suite, self.cores, self.now, self.spread, self.names = suite, cores, 0.0, spread, names
        self.cells = planned(suite, cores, names)
        self.rng = random.Random(seed)
        names = {c.program.workload for c in self.cells} | {c.program.target for c in self.cells}
        self.factors = {name: math.exp(spread * self.rng.gauss(0, 0.5)) for name in sorted(names)}
        self.records: list[LaunchRecord] = []
        self.longest = 0.0

    def launch(self, cell: Cell, number: int) -> LaunchRecord:
        p = cell.program
        factor = self.factors[p.workload] * self.factors[p.target] * self.rng.uniform(0.97, 1.03)
        seconds = factor * launch_seconds(cell, SHIPPED[p.workload])
        self.longest = max(self.longest, seconds)
        self.now += seconds
        record = ended(cell, len(self.records), number, self.now, seconds)
        self.records.append(record)
        return record

    def go(self, budget: float, earlier: Mapping[str, float] | None = None) -> Rounds:
        cells, here = self.cells, machine(self.cores)
        known = Costs(SHIPPED, earlier)
        run = replace(
            synthetic.run().run,
            cells=cells,
            descriptions={c.program.target: DESCRIPTION for c in cells},
            launches=6,
            seed=1,
        )
        named = agenda.named(SHIPPED, self.names)
        wanted = agenda.ranks(
            cells, SHIPPED, here, agenda.candidate_preference(SHIPPED, TOOLBOX), known.of, wanted=named
        )
        present = list(self.records)
        rounds = Rounds(
            run, cells, self.launch, present, budget, Progress(), clock=lambda: self.now, ranks=wanted, costs=known
        )
        rounds.go()
        return rounds

    def counts(self) -> Counter[str]:
        return Counter(r.start.cell for r in self.records)


def rows_of(world: World) -> tuple[int, int]:
    """Return rows that can be shown with an interval, and rows with at least one launch."""
    counts = world.counts()
    found = answerable(world.suite, world.cores)
    sure = sum(any(counts[name] >= 6 for name in row.cells) for row in found)
    return sure, sum(any(counts[name] for name in row.cells) for row in found)


@settings(max_examples=8, deadline=None)
@given(
    suite=st.sampled_from(["quick", "standard"]),
    cores=st.sampled_from([2, 64]),
    budget=st.sampled_from([60.0, 90.0, 140.0, 600.0]),
    seed=st.integers(0, 999),
    spread=st.sampled_from([0.0, 0.3, 1.0]),
)
@pytest.mark.full
def test_rows_that_are_begun_get_their_intervals(
    suite: str, cores: int, budget: float, seed: int, spread: float
) -> None:
    world = World(suite, cores, seed, spread)
    world.go(budget)
    sure, touched = rows_of(world)
    left = 0.05 + 0.45 * spread  # rows are opened before it is known how far off their expectation is
    assert touched - sure <= (0 if spread == 0 else left * touched)
    if spread < 1:
        assert sure == len(answerable(suite, cores)) or budget < (100 if (suite, cores) == ("quick", 2) else 400)
    assert world.now <= budget * (1 + agenda.SLACK) + 0.05 * world.longest
    begun = world.counts()
    unfinished = [name for name, n in begun.items() if n < 6]
    assert len(unfinished) <= 1 + left * len(begun)


@pytest.mark.parametrize("cores", [2, 64])
def test_a_minute_answers_the_front_page_of_the_standard_suite(cores: int) -> None:
    world = World("standard", cores, 1, 0.0)
    world.go(60.0)
    counts = world.counts()
    front = [row for row in answerable("standard", cores) if row.row.headline]
    answered = [row for row in front if any(counts[name] >= 6 for name in row.cells)]
    assert len(front) > 10 and len(answered) >= (len(front) if cores == 2 else len(front) - 4)


def test_a_run_that_goes_on_begins_what_was_left_out() -> None:
    world = World("standard", 2, 3, 0.3)
    world.go(60.0)
    first = {name for name, n in world.counts().items() if n >= 6}
    start = world.now
    world.go(360.0)
    now = {name for name, n in world.counts().items() if n >= 6}
    assert first < now and len(now) > 2 * len(first)
    assert world.now - start <= 360 + world.longest


def test_with_enough_time_everything_is_measured() -> None:
    world = World("standard", 2, 3, 0.3)
    rounds = world.go(4 * 3600.0)
    assert set(world.counts()) == {c.id for c in world.cells} and min(world.counts().values()) == 6
    assert rounds.wide() == []


def test_what_an_earlier_run_measured_is_known_before_the_first_launch() -> None:
    world = World("quick", 2, 5, 1.0)
    known = world.go(140.0).costs.measured
    again = World("quick", 2, 5, 1.0)
    again.go(60.0, known)
    assert all(n == 6 for n in again.counts().values())
    assert again.now > 50


SELECTIONS = [
    ("fft", "ocean_nlom"), ("lu",), ("dot",), ("hartree_fock",), ("collectives",), ("dirac",), ("spmv", "cg"),
    ("himeno", "fdtd2d"), ("matmul",), ("pingpong",), ("cfd",), ("stream",), ("dot.simd",), ("sparse",),
]  # fmt: skip


@pytest.mark.parametrize("names", SELECTIONS, ids=" ".join)
@pytest.mark.full
def test_what_is_named_comes_before_what_measures_its_ceilings(names: tuple[str, ...]) -> None:
    named = agenda.named(SHIPPED, names)
    for budget in (8.0, 70.0, 1e5):
        world = World("standard", 2, 1, 0.0, names)
        rounds = world.go(budget)
        of = {c.id: c for c in world.cells}
        selected = [of[r.start.cell].program.workload in named for r in world.records]
        assert selected[0]
        rows = agenda.rows(world.cells, SHIPPED, machine(2), named)
        assert rows and {r.workload for r in rows} <= named
        aside = sum(r.exit.seconds for r, own in zip(world.records, selected, strict=True) if not own)
        unbegun = [t.cell for t in rounds.tallies.values() if not t.records]
        waiting = [c for c in unbegun if any(c.id in row.cells for row in rows)]
        assert all(6 * rounds.costs.of(c) * agenda.UNSURE > aside for c in waiting)  # the time was too short for it
        assert budget < 1e5 or all(t.records for t in rounds.tallies.values())


@pytest.mark.parametrize(("names", "giving"), [(("dot", "stream"), {"stream", "peak"}), (("stream",), set())])
def test_a_cell_of_no_row_comes_last_if_workloads_are_named(names: tuple[str, ...], giving: set[str]) -> None:
    """This includes a cell of a named workload: `stream op=load` is the ceiling of dot, and no row shows it."""
    cells, named = planned("quick", 2, names), agenda.named(SHIPPED, names)
    ranks = agenda.ranks(cells, SHIPPED, machine(2), wanted=named)
    shown = {name for row in agenda.rows(cells, SHIPPED, machine(2), named) for name in row.cells}
    assert all(ranks[c.id] >= Rank.CEILING for c in cells if c.id not in shown)
    assert {c.program.workload for c in cells if ranks[c.id] is Rank.CEILING} == giving


def test_a_whole_suite_measures_ceilings_with_its_rows() -> None:
    ranks = agenda.ranks(planned("quick", 2), SHIPPED, machine(2), wanted=agenda.named(SHIPPED, ()))
    assert Rank.CEILING not in ranks.values()


def test_a_ceiling_alone_answers_nothing() -> None:
    """If no named cell fits six times, a named cell is launched anyway, and no ceiling is."""
    items = [item("dear", Rank.FRONT, 50.0), item("ceiling", Rank.CEILING, 1.0, "v")]
    assert agenda.chosen(items, 10.0) == []
    assert [i.cell.id for i in agenda.chosen(items, 10.0, answering=True)] == ["ceiling"]
    assert [i.cell.id for i in agenda.chosen(items, 70.0)] == ["dear", "ceiling"]
    assert [i.cell.id for i in agenda.first(items)] == ["dear"]


@pytest.mark.parametrize("variant", ["blas1", "blas3", "lapack"])
def test_a_reference_library_opens_no_row(variant: str) -> None:
    """A reference library comes last whatever its launch time and name are: it is slow by design."""
    libraries = [Library(n, n, (), (), reference=n == "netlib") for n in ("netlib", "openblas", "zlib")]
    late = agenda.candidate_preference(SHIPPED, replace(TOOLBOX, libraries=tuple(libraries)))
    named = [Program("lu", f"{variant}_{library.name}", "gcc-native") for library in libraries]
    others = [Program("lu", "blocked", t) for t in ("gcc-native", "gcc-base", "clang-fast")]
    assert max([*named, *others], key=late).variant == f"{variant}_netlib"
    assert sum(late(p)[0] for p in (*named, *others)) == 1


def item(name: str, rank: int, need: float, workload: str = "w", begun: bool = False) -> Item:
    return Item(Cell(name, Program(workload, name, "gcc-base"), Placement(), ("n=1",)), Rank(rank), 1, need, begun)


ITEMS = st.lists(st.tuples(st.integers(0, 7), st.floats(0.01, 50), st.sampled_from("uvw"), st.booleans()), max_size=20)


@given(ITEMS, st.floats(0, 200))
def test_what_is_chosen_fits_and_is_what_is_wanted_most(some: list[tuple[int, float, str, bool]], room: float) -> None:
    items = [item(f"c{k}", rank, need, workload, begun) for k, (rank, need, workload, begun) in enumerate(some)]
    taken = agenda.chosen(items, room, answering=True)
    assert sum(i.need for i in taken) <= room * (1 + 1e-9)
    for left in (i for i in items if i not in taken):
        before = [i for i in taken if (not i.begun, i.rank) <= (not left.begun, left.rank)]
        assert sum(i.need for i in before) + left.need > room * (1 - 1e-9)


@given(ITEMS, st.floats(1, 2000))
def test_a_stage_leaves_no_more_wanted_cell_behind(some: list[tuple[int, float, str, bool]], room: float) -> None:
    items = [item(f"c{k}", rank, need, workload, begun) for k, (rank, need, workload, begun) in enumerate(some)]
    stage = agenda.stage(items, room, everything=False)
    assert bool(stage) == bool(items)
    if opening := [i for i in items if i.rank in agenda.OPENING and not i.begun]:
        assert stage == opening
        return
    stages = {agenda.STAGE_OF[i.rank] for i in stage}
    assert len(stages) <= 1
    assert all(agenda.STAGE_OF[i.rank] >= max(stages) for i in items if i not in stage)
    if stages == {agenda.STAGE_OF[Rank.REST]}:
        (workload,) = {i.cell.program.workload for i in stage}
        assert all(i in stage for i in items if i.cell.program.workload == workload)


def test_the_outlook_says_how_long_and_what_is_left_out_with_its_command() -> None:
    items = [i._replace(sure=True, seconds=i.seconds * agenda.UNSURE / agenda.STEADY)
             for i in (item("c0", 0, 8.0), item("c1", 7, 8.0, "v"), item("c2", 7, 400.0, "v"))]  # fmt: skip
    row = SHIPPED["dot"].rows[0]
    ahead = forecast(items, [], [RowCells("w", row, frozenset({"c0"})), RowCells("v", row, frozenset({"c2"}))], 30)
    assert summary(ahead) == "plan: 2 of 3 cells, about 20 s of the 30 s; figures for 1 of 2 headlines, 1 of 2 rows"
    assert left_out(ahead, "standard") == ["not in this budget: v, 1 of 2 cells: ./fl run v --standard --budget 10m"]
    assert in_short(ahead) == "not in this budget: v (1 of 2 cells); --budget 10m would suffice for all cells"


@pytest.mark.parametrize(
    ("seconds", "sure", "answers"),
    [
        ((8.0, 8.0), (False, False), "1 to 2 of 2 rows, because some programs have never run on this machine"),
        ((8.0, 8.0), (True, True), "2 of 2 headlines, 2 of 2 rows"),
        ((2.0, 2.0), (False, False), "2 of 2 headlines, 2 of 2 rows"),
        ((8.0, 15.0), (True, False), "1 to 2 of 2 rows, because some programs have never run on this machine"),
        ((15.0, 15.0), (False, False), "0 to 2 of 2 rows, because some programs have never run on this machine"),
        ((15.0, 90.0), (True, True), "1 of 2 headlines, 1 of 2 rows"),
        ((90.0, 90.0), (True, True), "0 of 2 headlines, 0 of 2 rows"),
    ],
)
def test_the_outlook_gives_a_range_where_launches_were_never_timed(
    seconds: tuple[float, ...], sure: tuple[bool, ...], answers: str
) -> None:
    some = [item(f"c{k}", 0, s)._replace(sure=known) for k, (s, known) in enumerate(zip(seconds, sure, strict=True))]
    row = SHIPPED["dot"].rows[0]
    ahead = forecast(some, [], [RowCells("w", row, frozenset({i.cell.id})) for i in some], 40)
    assert summary(ahead).endswith(f"figures for {answers}")


@pytest.mark.parametrize("suite", ["quick", "standard"])
def test_the_default_budget_of_a_suite_answers_every_row(suite: str) -> None:
    cells = planned(suite, 2)
    known = Costs(SHIPPED)
    wanted = agenda.ranks(cells, SHIPPED, machine(2), agenda.candidate_preference(SHIPPED, TOOLBOX), known.of)
    items = [Item(c, wanted[c.id], 6, known.of(c)) for c in cells]
    ahead = forecast(items, [], answerable(suite, 2), EFFORT[suite].budget)
    assert ahead.rows[0] == ahead.rows[1] > 15 and ahead.headlines[0] == ahead.headlines[1]
    assert ahead.needed < 4 * ahead.room  # the rest is not far
    if suite == "quick":
        assert ahead.missing == ()


def test_a_row_s_cases_are_cells_of_their_own_where_the_rest_is_long() -> None:
    workload: Workload = SHIPPED["latency"]
    cells = [c for c in planned("standard", 2) if (c.program.workload, c.program.variant) == (workload.name, "chase")]
    assert [sum("," in word for word in c.arguments) for c in cells] == [0, 1]


def test_each_row_is_launched_once_before_anything_is_launched_again() -> None:
    """Two workloads; of one, of which no row is shown first, launches take five times what is expected."""
    cells = [
        Cell(f"{w}{k}", Program(w, f"v{k}", "gcc-native"), Placement(), (f"n={k}",))
        for w in ("known", "new")
        for k in range(10)
    ]
    wanted = {c.id: (Rank.FRONT if c.program.workload == "known" else Rank.CHAPTER) if k % 10 < 4 else Rank.REST
              for k, c in enumerate(cells)}  # fmt: skip
    now, seen = 0.0, list[str]()

    def launch(cell: Cell, number: int) -> LaunchRecord:
        nonlocal now
        now += 5.0 if cell.program.workload == "new" else 1.0
        seen.append(cell.id)
        return ended(cell, len(seen), number, now)

    run = replace(
        synthetic.run().run, cells=tuple(cells), descriptions={c.program.target: DESCRIPTION for c in cells}, launches=6
    )
    rounds = Rounds(run, cells, launch, [], 130.0, Progress(), clock=lambda: now, ranks=wanted)
    rounds.go()
    rows = [name for name, rank in wanted.items() if rank < Rank.REST]
    assert sorted(seen[:8]) == sorted(rows)
    counts = Counter(seen)
    assert [counts[f"known{k}"] for k in range(4)] == [6] * 4
    assert [n for name, n in counts.items() if name.startswith("new")].count(6) == 3  # 90 of the 106 s that are left
    assert not any(name.startswith("new") for name in counts if name not in rows)  # found too dear, not begun
    assert now <= 130.0 * (1 + agenda.SLACK)


def test_settings_and_what_they_are_compared_with_come_first() -> None:
    """If the budget of a tuning is too short for all, whole comparisons are left out."""
    workload = next(w for w in SHIPPED.values() if any(r.library for r in w.roles))
    library = next(r.library for r in workload.roles if r.library)
    ours = next(v.name for v in workload.variants if not v.broken and v.name != library)
    cells = [
        Cell(name, Program(workload.name, variant, "gcc-native", mpi), Placement(ranks=2), ())
        for name, variant, mpi in (("a", library, "openmpi-x"), ("b", ours, "openmpi"), ("c", library, "openmpi"))
    ]
    wanted = agenda.ranks(cells, {workload.name: workload}, machine(2), bases={"openmpi-x": "openmpi"})
    assert set(wanted.values()) == {Rank.FRONT}

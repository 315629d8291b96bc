"""Drawings of noise and overhead show the time lost, and a finding names all processors slower than fewer."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable

import pytest
from msgspec.structs import replace

import chart_tree
import shipped
import synthetic
import synthetic_machine
from firstlight import ROOT
from firstlight.analysis import Finding, Judgement
from firstlight.analysis.figures import judge
from firstlight.analysis.findings import all_processors_lose
from firstlight.core import heritage
from firstlight.model.catalogue import Plot, Workload, load
from firstlight.model.plan import Cell, Placement, Program
from firstlight.report import html, observed, plots
from firstlight.report.frame import Drawing
from firstlight.results.description import Metric
from firstlight.results.record import Build, LaunchRecord, Series
from report_samples import view_of
from synthetic_figures import Point
from synthetic_workloads import description
from synthetic_workloads import workload as declared

detours = shipped.module("noise", "detours")

EXCHANGE = Metric("exchange", "us", "operations", "time", 1e6, "lower")
RATE = Metric("rate", "Gflop/s", "flops", "rate", 1e-9, "higher")
QUANTUM = Metric("quantum", "us", "operations", "time", 1e6, "lower")
NOISE = tuple(
    Metric(name, unit, name, "value", scale, "lower")
    for name, unit, scale in (
        ("noise", "%", 100.0),
        ("together", "%", 100.0),
        ("stolen", "%", 100.0),
        ("detours", "1/s", 1.0),
        ("longest", "us", 1e6),
    )
)
MACHINE = synthetic_machine.machine(cores=4, cpus=(0, 1, 2, 3))
Edit = Callable[[LaunchRecord, int], LaunchRecord]


def judged(
    workload: str,
    metrics: tuple[Metric, ...],
    cells: Iterable[tuple[str, str | None, Placement, list[Point]]],
    drawn: tuple[Plot, ...] = (),
    edit: Edit = lambda record, number: record,
    launches: int = 7,
) -> tuple[Judgement, dict[str, Workload]]:
    """Return a run on 4 processors: (variant, MPI, placement, points) per cell; 1 % noise."""
    base = synthetic.run(1, 1, only=["latency"], on=MACHINE)
    rng = random.Random(5)
    made, records, clock = [], [], synthetic.STARTED
    for variant, mpi, place, points in cells:
        name = f"{workload}.{variant}-{mpi}-{place.nodes}x{place.ranks}x{place.threads}"
        made.append((Cell(name, Program(workload, variant, "gcc-native", mpi), place, ()), points))
    for number in range(launches):
        for cell, points in made:
            record = synthetic.launch(cell, number, rng, time=clock, disturbed=0.0, points=points)
            records.append(edit(record, number))
            clock += 3
    described = {
        c.program.target: replace(
            description("latency", "chase"),
            workload=workload,
            variant=c.program.variant,
            metrics=metrics,
        )
        for c, _ in made
    }
    programs = {c.program: None for c, _ in made}
    run = replace(
        base.run, cells=tuple(c for c, _ in made), builds=tuple(Build(p, True, 1.0) for p in programs),
        descriptions=described, finished=clock,
    )  # fmt: skip
    known = {
        workload: replace(
            declared("latency"), folder=shipped.folder(workload), name=workload, rows=(), plots=drawn, bounded_by=()
        )
    }
    return judge(run, records, known), known


def drawings(judgement: Judgement, workloads: dict[str, Workload]) -> list[Drawing]:
    view = view_of(judgement, workloads)
    found = [d for w in workloads.values() for d in plots.draw(view, w)]
    html.render(judgement, workloads, heritage.load())  # and the page shows them
    assert all(chart_tree.words(chart_tree.tree(d)) for d in found)
    return found


# --- detours --------------------------------------------------------------------------------------

LENGTHS = (2.0, 3.0, 5.0, 400.0)


def detouring(record: LaunchRecord, number: int) -> LaunchRecord:
    """Return launches that all have the same four detours on thread 1 in a window of 10 ms, and none on thread 0."""
    values = {"stolen": (0.041, 0.041, 0.041), "detours": (400.0, 400.0, 400.0), "longest": (4e-4, 4e-4, 4e-4)}
    series = [("at", (0.0, 1000.0, 2000.0, 3000.0)), ("length", LENGTHS), ("thread", (1.0,) * 4)]
    return replace(
        record,
        samples=tuple(replace(s, values=values, wall=0.01) for s in record.samples),
        series=tuple(Series(0, f"detour_{name}", "us", 0, points) for name, points in series),
    )


def seen(edit: Edit = detouring) -> list[Drawing]:
    points = [Point({"looks": 100}, 2, {"operations": 100.0}, 0.0, 1e-4)]
    plot = Plot("detours", "looks", "stolen", "variant")
    return drawings(
        *judged("noise", (QUANTUM, *NOISE), [("omp_selfish", None, Placement(1, 1, 2), points)], (plot,), edit)
    )


def test_the_title_tells_what_was_taken() -> None:
    distribution, time = seen()
    assert distribution.title == (
        "OS noise uses 4.10 % (4.10 – 4.10) of the worst of 2 processors: 400 detours per second in the median launch, "
        "median length 4.00 us, the longest 400 us"
    )
    assert time.title == ("One window of 10.0 ms: 4 detours, 410 us in total; the longest, 400 us, after 3.00 ms")


def test_the_distribution_counts_the_longer_ones_a_second_and_processor() -> None:
    distribution, time = seen()
    (line,) = distribution.data
    assert dict(zip(line["x"], line["y"], strict=True)) == {
        400.0: pytest.approx(7 / (7 * 0.01 * 2)),
        5.0: pytest.approx(100),
        3.0: pytest.approx(150),
        2.0: pytest.approx(200),
    }
    assert [t["name"] for t in time.data] == ["thread 1"] and time.data[0]["x"] == [0, 1, 2, 3]
    assert time.rows == [("thread 1", "4", "410 us", "4.10 %", "400 us")]


def test_a_window_with_more_detours_than_are_kept_says_so() -> None:
    def many(record: LaunchRecord, number: int) -> LaunchRecord:
        made = detouring(record, number)
        return replace(made, series=tuple(replace(s, values=s.values * (detours.KEPT // 4)) for s in made.series))

    _, time = seen(many)
    assert time.title.startswith(f"One window of 10.0 ms: the longest {detours.KEPT} detours, ")


def test_a_quiet_machine_has_no_detours_to_draw() -> None:
    def quiet(record: LaunchRecord, number: int) -> LaunchRecord:
        zero = dict.fromkeys(("stolen", "detours", "longest"), (0.0, 0.0, 0.0))
        series = tuple(Series(0, f"detour_{name}", "us", 0, ()) for name in ("at", "length", "thread"))
        return replace(record, samples=tuple(replace(s, values=zero) for s in record.samples), series=series)

    (distribution,) = seen(quiet)
    assert distribution.title == "OS noise uses 0 % (0 – 0) of the worst of 2 processors: no detour was detected"


@pytest.mark.parametrize("bad", [0.0, -1.0, 1e300, 1e-300])
def test_foreign_detours_never_raise(bad: float) -> None:
    def foreign(record: LaunchRecord, number: int) -> LaunchRecord:
        spoiled = [replace(s, values=(bad, *s.values[1:])) for s in detouring(record, number).series]
        return replace(detouring(record, number), series=tuple(spoiled[number % 3 :]))

    assert seen(foreign)


def test_what_cannot_be_a_detour_is_none() -> None:
    columns = {"detour_at": (-1.0, 1.0, 1.0, 1.0), "detour_length": (1.0, 0.0, 1e300, 2.0), "detour_thread": (0.0,) * 4}
    assert detours.detours(observed.Window(1.0, {3: columns})) == [detours.Detour(1.0, 2.0, (3, 0))]


# --- quanta ---------------------------------------------------------------------------------------


def working(noise: float, together: float) -> Edit:
    """Return quanta of 1000 us of which every tenth lasts twice as long; with waiting for an MPI program."""

    def edit(record: LaunchRecord, number: int) -> LaunchRecord:
        waits = bool(record.launch and record.launch.mpi)
        values = {"noise": (noise,) * 3} | ({"together": (together,) * 3} if waits else {})
        quanta = tuple(1000.0 if k % 10 else 2000.0 for k in range(20))
        series = [Series(0, "quanta", "us", 0, quanta)]
        series += [Series(0, "cycles", "us", 0, tuple(x + 5 for x in quanta))] if waits else []
        return replace(record, samples=tuple(replace(s, values=values) for s in record.samples), series=tuple(series))

    return edit


def quanta(edit: Edit) -> list[Drawing]:
    points = [Point({"work": w}, 1, {"operations": 20.0}, 0.0, 0.02) for w in (800_000,)]
    cells = [
        ("fixed_work", None, Placement(), points),
        ("mpi_fixed_work", "openmpi", Placement(1, 4, 1), points),
    ]
    plot = Plot("quanta", "work", "noise", "variant")
    return drawings(*judged("noise", (QUANTUM, *NOISE), cells, (plot,), edit))


def test_waiting_amplifies_what_each_loses() -> None:
    (drawing,) = quanta(working(0.1, 0.3))
    assert drawing.title == (
        "A quantum of 1.00 ms is 10.0 % longer on average (1 processor), the worst 2.0 times as long; 4 "
        "processes that wait for each other lose 30.0 %, 3.0 × the loss of the worst process alone"
    )
    alone, waiting, cycles = drawing.data
    assert [round(y) for y in alone["y"] if y] == [90, 10]
    assert cycles["line"]["dash"] == "dot" and cycles["name"].endswith("until all have finished")
    assert waiting["line"]["color"] == cycles["line"]["color"]


def test_equal_quanta_are_one_column() -> None:
    def equal(record: LaunchRecord, number: int) -> LaunchRecord:
        made = working(0.0, 0.0)(record, number)
        return replace(made, series=tuple(replace(s, values=(1000.0,) * 5) for s in made.series))

    (drawing,) = quanta(equal)
    assert [y for y in drawing.data[0]["y"] if y] == [100]
    assert "is 0 % longer on average (1 processor), the worst 1.0 times as long" in drawing.title


# --- overhead and the finding ---------------------------------------------------------------------


def exchanging(seconds: dict[tuple[int, int], float]) -> list:  # type: ignore[type-arg]
    """By (ranks, threads) the seconds of an exchange at n = 2; ten times that at n = 512."""
    return [
        ("mpi_omp_spinning", "openmpi", Placement(1, ranks, threads),
         [Point({"n": n}, threads, {"operations": 1.0, "flow": 16.0 * n}, 0.0, s * f)
          for n, f in ((2, 1), (512, 10))])
        for (ranks, threads), s in seconds.items()
    ]  # fmt: skip


SWEEP = {(2, 1): 1e-6, (2, 2): 2.5e-6, (2, 4): 4e-3, (3, 1): 2e-6, (4, 1): 3e-6}


def overhead(seconds: dict[tuple[int, int], float]) -> list[Drawing]:
    plot = Plot("overhead", "n", "exchange", "mpi", subject="an exchange")
    return drawings(*judged("halo", (EXCHANGE,), exchanging(seconds), (plot,)))


def test_the_title_follows_the_load_at_one_number_of_ranks() -> None:
    (drawing,) = overhead(SWEEP)
    assert drawing.title.startswith("Open MPI: at n = 2 an exchange lasts 1.0")
    assert (
        "us with idle processors left (2 ranks), 2.5 × that with all processors busy (2 ranks, 2 threads)"
        in drawing.title
    )
    assert drawing.title.endswith("× that with more threads than processors (2 ranks, 4 threads)")


def test_crowded_lines_are_marked_and_every_line_is_in_the_table() -> None:
    (drawing,) = overhead(SWEEP)
    looks = {t["name"]: (t["line"]["dash"], t["marker"]["symbol"].endswith("-open")) for t in drawing.data}
    assert looks == {
        "2 ranks": ("solid", False), "3 ranks": ("solid", False),
        "2 ranks, 2 threads": ("dash", False), "4 ranks": ("dash", False),
        "2 ranks, 4 threads, oversubscribed": ("dot", True),
    }  # fmt: skip
    assert len(drawing.rows) == 10 and sum("oversubscribed" in row[-1] for row in drawing.rows) == 2


def test_one_placement_is_no_experiment() -> None:
    assert overhead({(2, 1): 1e-6}) == []


def found(metric: Metric, cells: list) -> list[Finding]:  # type: ignore[type-arg]
    judgement, workloads = judged("halo", (metric,), cells)
    return all_processors_lose.find(judgement, workloads | {"noise": load([ROOT / "workloads"])["noise"]})


def flops(seconds: dict[tuple[int, int], float], variant: str) -> list:  # type: ignore[type-arg]
    return [
        (variant, "openmpi" if variant.startswith("mpi") else None, Placement(1, ranks, threads),
         [Point({"n": 9}, threads, {"flops": 1e9}, 0.0, s)])
        for (ranks, threads), s in seconds.items()
    ]  # fmt: skip


def test_a_job_that_is_slower_on_all_processors_is_found() -> None:
    (finding,) = found(RATE, flops({(3, 1): 0.010, (4, 1): 0.014}, "mpi_fem"))
    assert finding.sentence == (
        "all 4 cores of a node are slower than 3: halo.mpi_fem is 1.4 x better with 3 ranks than with "
        "4 ranks; leave one core to the system"
    )
    assert finding.command == "./fl run halo.mpi_fem noise --mpi openmpi" and len(finding.evidence) == 2


def wide(threads: dict[int, float], ranks: int = 1) -> list:  # type: ignore[type-arg]
    """halo.mpi_omp_spinning on two nodes of 4 processors, so many ranks a node."""
    return [
        (v, mpi, Placement(2, 2 * ranks, p.threads), points)
        for v, mpi, p, points in exchanging({(ranks, t): s for t, s in threads.items()})
    ]


def test_as_many_ranks_with_fewer_threads_that_do_the_same_work_are_compared() -> None:
    (finding,) = found(EXCHANGE, wide({1: 1e-6, 2: 1.5e-6, 3: 2e-6, 4: 4e-6}))
    assert finding.sentence.startswith("all 4 cores of a node are slower than 3: halo.mpi_omp_spinning, n = ")
    assert "is 2.0 x better with 2 nodes, 2 ranks, 3 threads than with 2 nodes, 2 ranks, 4 threads" in finding.sentence


@pytest.mark.parametrize(
    ("cells", "why"),
    [
        (wide({3: 2e-6, 4: 2e-6}), "equal"),
        (wide({1: 1e-6, 4: 4e-6}), "with one thread there is no barrier"),
        (wide({1: 1e-6, 2: 4e-6}, ranks=2), "with one thread there is no barrier"),
        (exchanging({(1, 3): 1e-6, (1, 4): 2e-6}), "one rank exchanges with itself"),
        (exchanging({(3, 1): 1e-6, (4, 1): 2e-6}), "four ranks have more to exchange than three"),
    ],
)
def test_exchanges_of_other_work_are_not_compared(cells: list, why: str) -> None:  # type: ignore[type-arg]
    assert found(EXCHANGE, cells) == [], why


@pytest.mark.parametrize(
    ("cells", "why"),
    [
        (flops({(3, 1): 0.010, (4, 1): 0.0076}, "mpi_fem"), "all four are faster"),
        (flops({(3, 1): 0.010, (4, 1): 0.0103}, "mpi_fem"), "3 % are none"),
        (flops({(1, 3): 1e-6, (1, 4): 1.4e-6}, "omp_dot"), "so short a step is ruled by starting threads"),
        (flops({(2, 1): 0.010, (4, 1): 0.014}, "mpi_fem"), "half of them are not all but one"),
        (flops({(4, 1): 0.010, (4, 2): 0.014}, "mpi_omp_fem"), "oversubscribed figures are never compared"),
    ],
)
def test_what_is_no_loss_is_not_found(cells: list, why: str) -> None:  # type: ignore[type-arg]
    assert found(RATE, cells) == [], why

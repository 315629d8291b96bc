"""Energy of launches from counters and gauges, the figures that follow from it, and the advice."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import synthetic
from energy_samples import RANGE, TWO, metered
from firstlight.analysis import Judgement, ranking, thrift
from firstlight.analysis.energy import Measured, coverage, measured, with_energy
from firstlight.analysis.figures import judge
from firstlight.analysis.verdict import Verified
from firstlight.commands.nodes import comparison
from firstlight.core.heritage import Heritage
from firstlight.core.units import quantity
from firstlight.report import energy as pages
from firstlight.report import html, terminal
from firstlight.report.frame import View
from firstlight.report.palette import Palette
from firstlight.report.plots.thrift import thrift as drawn
from firstlight.results.record import Case, LaunchRecord, Span
from firstlight.results.store import audit, lines
from firstlight.system.energy import NOTHING, Counter, Energy, Meter
from synthetic import Scene

GAUGE = Meter("site command", "the node", 0.1)
SCENE = synthetic.run(1, 8, only=["dot", "stream"], failed_build=False)


def record(*spans: Span, power: tuple[tuple[float, float], ...] = ()) -> LaunchRecord:
    first = SCENE.records[0]
    return replace(first, spans=spans, exit=replace(first.exit, power=power))


def span(before: tuple[int | None, ...], after: tuple[int | None, ...], seconds: float = 1.0) -> Span:
    return Span(0, 5.0, 5.0 + seconds, seconds, (before,), (after,))


def joules(found: Measured | str) -> float:
    assert isinstance(found, Measured), found
    return found.joules


def test_two_sockets_are_added_and_the_error_is_that_of_one_update() -> None:
    found = measured(TWO, record(span((100, 200), (60_000_100, 40_000_200))), 0)
    assert isinstance(found, Measured)
    assert found.joules == pytest.approx(100) and found.watts == pytest.approx(100)
    assert found.error == pytest.approx(100 * 1e-3 + 2e-6)


def test_a_counter_begins_at_zero_again_in_the_middle() -> None:
    assert joules(measured(TWO, record(span((RANGE - 10_000_000, 0), (20_000_000, 5_000_000))), 0)) == pytest.approx(35)


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        ((7, 9), (7, 9), "the counters did not change"),
        ((10, 500_000_000), (20, 400_000_000), "the counter package-1 decreased"),
        ((10, RANGE + 9), (20, 5), "the counter package-1 decreased"),
        ((10, None), (20, 30), "the counter package-1 could not be read"),
        ((10, 20), (20, None), "the counter package-1 could not be read"),
        ((10,), (20,), "the launches read different counters"),
    ],
)
def test_what_a_broken_counter_shows_is_no_energy(
    before: tuple[int | None, ...], after: tuple[int | None, ...], why: str
) -> None:
    assert measured(TWO, record(span(before, after)), 0) == why


def test_a_counter_without_a_range_that_goes_back_is_broken() -> None:
    node = Meter("pm_counters", "the whole node", 0.1, (Counter("node", 1.0),))
    assert measured(node, record(span((900,), (100,), 5)), 0) == "the counter node decreased"
    assert joules(measured(node, record(span((900,), (2400,), 5)), 0)) == pytest.approx(1500)


def test_a_launch_shorter_than_ten_updates_has_no_energy() -> None:
    short = record(span((0, 0), (900_000, 0), 0.009))
    assert "shorter than 10 counter updates" in str(measured(TWO, short, 0))
    assert joules(measured(TWO, record(span((0, 0), (1_100_000, 0), 0.011)), 0)) == pytest.approx(1.1)
    assert measured(TWO, record(), 0) == ""


def test_many_executions_shorter_than_five_updates_have_no_energy() -> None:
    def launch(seconds: float) -> LaunchRecord:
        return record(*(replace(span((k, 0), (k + 9_000, 0), seconds), began=5.0 + k, ended=5.0 + k + seconds)
                        for k in range(50)))  # fmt: skip

    assert measured(TWO, launch(0.004), 0) == "the executions are shorter than 5 counter updates"
    found = measured(TWO, launch(0.006), 0)
    assert isinstance(found, Measured) and found.error < 0.2 * found.joules


def test_samples_that_fill_little_of_their_span_have_no_energy() -> None:
    loose = replace(span((0, 0), (50_000_000, 50_000_000)), wall=0.5)
    assert "cover less than 90%" in str(measured(TWO, record(loose), 0)).replace(" %", "%")
    tight = replace(loose, wall=0.95)
    assert joules(measured(TWO, record(tight), 0)) == pytest.approx(95)


def test_nodes_are_added() -> None:
    two = replace(
        span((0, 0), (60_000_000, 40_000_000)), before=((0, 0), (5, 5)), after=((60_000_000, 40_000_000),) * 2
    )
    assert joules(measured(TWO, record(two), 0)) == pytest.approx(200, abs=1e-4)


@given(
    st.lists(st.tuples(st.integers(1, 10**9), st.integers(1, 10**9)), min_size=1, max_size=6),
    st.tuples(st.integers(0, RANGE - 1), st.integers(0, RANGE - 1)),
)
def test_any_wrapping_counters_yield_the_energy_that_was_used(
    used: list[tuple[int, int]], start: tuple[int, int]
) -> None:
    """Each span uses so many microjoules of each socket; counters wrap at their range, at most once in a span."""
    at, spans = list(start), []
    for k, amounts in enumerate(used):
        before = tuple(at)
        at = [(count + amount) % RANGE for count, amount in zip(at, amounts, strict=True)]
        spans.append(Span(0, 2.0 * k, 2.0 * k + 1, 1.0, (before,), (tuple(at),)))
    assert joules(measured(TWO, record(*spans), 0)) == pytest.approx(1e-6 * sum(map(sum, used)), rel=1e-9)


def gauged(watts: list[float], began: float = 0.0, step: float = 0.1) -> tuple[tuple[float, float], ...]:
    return tuple((began + k * step, power) for k, power in enumerate(watts))


def test_a_gauge_is_integrated_over_the_samples_alone() -> None:
    ramp = gauged([100.0 * k for k in range(31)])  # 1000 W/s from the time 0
    found = measured(GAUGE, record(Span(0, 1.05, 2.55, 1.5, ((),), ((),)), power=ramp), 0)
    assert joules(found) == pytest.approx(1000 * (2.55**2 - 1.05**2) / 2, rel=1e-9)


@pytest.mark.parametrize(
    ("power", "why"),
    [
        ((), "fewer than 10 power readings"),
        (gauged([50.0] * 9, 1.1), "fewer than 10 power readings"),
        (gauged([50.0] * 12, 1.3), "not read throughout all samples"),
        (gauged([50.0] * 12, 0.9), "not read throughout all samples"),
        (gauged([50.0] * 30)[::-1], "not in chronological order"),
    ],
)
def test_a_gauge_that_was_not_read_in_time_is_no_energy(power: tuple[tuple[float, float], ...], why: str) -> None:
    assert why in str(measured(GAUGE, record(Span(0, 1.0, 3.0, 2.0, ((),), ((),)), power=power), 0))


def test_the_gauge_of_one_node_is_not_that_of_two() -> None:
    one = record(Span(0, 0.0, 2.9, 2.9, ((),), ((),)), power=gauged([50.0] * 30))
    assert isinstance(measured(GAUGE, one, 0), Measured) and one.launch is not None
    assert "on one node only" in str(measured(GAUGE, replace(one, launch=replace(one.launch, nodes=2)), 0))


times = st.floats(0, 1e12)
counts = st.none() | st.integers(0, 2**62 - 1)


@given(
    st.lists(st.tuples(times, times, times, st.tuples(counts, counts), st.tuples(counts, counts)), max_size=3),
    st.lists(st.tuples(times, times), max_size=20),
    st.sampled_from([TWO, GAUGE]),
)
def test_any_record_has_a_finite_energy_or_a_reason(
    spans: list[tuple[float, float, float, tuple[int | None, ...], tuple[int | None, ...]]],
    power: list[tuple[float, float]],
    meter: Meter,
) -> None:
    some = [Span(0, began, ended, wall, (before,), (after,)) for began, ended, wall, before, after in spans]
    found = measured(meter, record(*some, power=tuple(power)), 0)
    assert isinstance(found, str) or (math.isfinite(found.joules) and found.joules >= 0 <= found.error)


def watts_of(record: LaunchRecord, case: Case) -> float:
    """Return an invented power: flags that compute more need more, and two threads need three times as much."""
    return 100 * relative(record.start.cell if case.threads == 1 else f"{record.start.cell}, 2 threads")


def relative(choice: str) -> float:
    return (2.0 if "fast" in choice else 1.0) * (3.0 if "2 threads" in choice else 1.0)


@pytest.fixture(scope="module")
def scene() -> Scene:
    return metered(SCENE, watts_of)


@pytest.fixture(scope="module")
def judged(scene: Scene) -> Judgement:
    return judge(*scene)


def figures(judged: Judgement, metric: str) -> dict[object, Verified]:
    return {
        replace(f.identity, metric=""): f
        for f in judged.figures
        if isinstance(f, Verified) and f.identity.metric == metric
    }


def test_figures_of_energy_follow_from_those_of_time(judged: Judgement) -> None:
    power, rate, efficiency = (figures(judged, name) for name in ("power", "rate", "rate_per_watt"))
    assert efficiency.keys() == rate.keys() and rate.keys() <= power.keys()
    for who, f in efficiency.items():
        watts = 200.0 if "fast" in f.identity.toolchain else 100.0
        assert power[who].estimate.median == pytest.approx(watts, rel=1e-6)
        assert f.estimate.median == pytest.approx(rate[who].estimate.median / watts, rel=1e-6)
        assert (f.unit, f.better, f.ceiling, f.observed) == ("Gflop/s/W", "higher", None, True)
    assert quantity(0.0189, "Gflop/s/W") == "18.9 Mflop/s/W"


def test_the_energy_of_a_launch_is_power_times_the_time_of_its_samples(scene: Scene, judged: Judgement) -> None:
    some = figures(judged, "energy")
    assert some and {f.unit for f in some.values()} == {"J"}
    launch = scene.records[0]
    walls = sum(s.wall for s in launch.samples if s.case == 0)
    found = measured(TWO, launch, 0)
    assert isinstance(found, Measured) and found.joules == pytest.approx(found.watts * walls)


def test_a_time_becomes_joules() -> None:
    scene = metered(synthetic.run(1, 8, only=["latency"], failed_build=False), lambda record, case: 50.0)
    judged = judge(*scene)
    times, work = figures(judged, "latency"), figures(judged, "latency_energy")
    assert times and times.keys() == work.keys()
    for who, f in work.items():
        assert f.estimate.median == pytest.approx(50 * times[who].estimate.median, rel=1e-6)
        assert (f.unit, f.better) == ("nJ", "lower") and times[who].unit == "ns"


@pytest.mark.parametrize(("part", "of_host"), [("node", True), ("processors", True), ("devices", False)])
@pytest.mark.parametrize("device", ["", "CUDA"])
def test_a_meter_measures_only_what_computes(scene: Scene, part: str, of_host: bool, device: str) -> None:
    meter = replace(TWO, part=part)
    described = {name: replace(d, device=device) for name, d in scene.run.descriptions.items()}
    run = replace(scene.run, energy=Energy(meter, 40.0), descriptions=described)
    measured_here = part == "node" or of_host == (device == "")
    names = {m.name for d in with_energy(run).descriptions.values() for m in d.metrics}
    assert ("power" in names) == measured_here
    assert (coverage(run, scene.records).cases > 0) == measured_here


def test_energy_decides_neither_ceilings_nor_verdicts_nor_other_figures(judged: Judgement) -> None:
    without = judge(*SCENE)
    names = {f.identity for f in without.figures}
    assert [f for f in judged.figures if f.identity in names] == list(without.figures)
    assert judged.limits == without.limits and len(judged.figures) > len(without.figures)


def test_launches_without_energy_leave_no_figure_or_fewer_values(scene: Scene) -> None:
    none = [replace(r, spans=()) for r in scene.records]
    assert not figures(judge(scene.run, none, scene.workloads), "power")
    half = [r if r.start.launch % 2 else replace(r, spans=()) for r in scene.records]
    some = figures(judge(scene.run, half, scene.workloads), "power")
    assert some and {len(f.estimate.launches) for f in some.values()} == {4}


def test_wrong_results_have_no_energy(scene: Scene) -> None:
    wrong = [replace(r, checks=tuple(replace(c, ok=False) for c in r.checks)) for r in scene.records]
    judged = judge(scene.run, wrong, scene.workloads)
    assert not figures(judged, "power") and not figures(judged, "rate")


def test_where_the_fastest_is_not_the_thriftiest_both_are_named(judged: Judgement) -> None:
    some = thrift.conflicts(judged)
    assert some and some == sorted(some, key=lambda one: -one.saved)
    for one in some:
        speeds, thrifts = [p.speed for p in one.pairs], [p.thrift for p in one.pairs]
        assert one.fastest.speed is ranking.best(speeds) and one.thriftiest.thrift is ranking.best(thrifts)
        assert one.saved > 1.05 and one.fastest is not one.thriftiest
    found = [f for f in judged.findings if f.rule == "thrift"]
    assert found and re.search(r"is fastest with .*, 2 threads; .*, 1 core needs 2\.0 x less energy", found[0].sentence)
    assert not [f for f in judge(*SCENE).findings if f.rule == "thrift"]


def test_where_the_fastest_is_the_thriftiest_nothing_is_advised(scene: Scene) -> None:
    even = judge(*metered(SCENE, lambda record, case: 80.0))
    assert figures(even, "power") and thrift.conflicts(even) == []
    assert drawn(View(even, scene.workloads, Heritage(()), Palette(even.run))) == []


def test_time_against_energy_is_drawn_relative_to_the_fastest(scene: Scene, judged: Judgement) -> None:
    (drawing,) = drawn(View(judged, scene.workloads, Heritage(()), Palette(judged.run)))
    one = thrift.conflicts(judged)[0]
    points = {trace["name"]: (trace["x"][0], trace["y"][0]) for trace in drawing.data}
    assert points[one.fastest.label] == (1.0, 1.0)
    time, used = points[one.thriftiest.label]
    assert time > 1 and used == pytest.approx(1 / one.saved) and used == min(y for _, y in points.values())
    for pair in one.pairs:  # energy is power multiplied by time, whatever the figures are
        x, y = points[pair.label]
        assert y == pytest.approx(x * relative(pair.label) / relative(one.fastest.label), rel=1e-3)


def test_both_pages_show_the_meter_and_the_idle_power(scene: Scene, judged: Judgement) -> None:
    page = html.render(judged, scene.workloads, Heritage(()))
    shown = "Energy of 2 processor packages, measured with powercap, updated every 1.00 ms; idle 40.0 W"
    assert f"{shown}; median error of a launch 2.0 %." in page
    assert 'id="plot-thrift"' in page and "idle 40.0 W" in " ".join(terminal.summary(judged, scene.workloads).split())


def test_without_a_counter_the_page_has_one_line_and_no_warning() -> None:
    judged = judge(replace(SCENE.run, energy=Energy(why=NOTHING)), SCENE.records, SCENE.workloads)
    page = html.render(judged, SCENE.workloads, Heritage(()))
    assert page.count("nergy is not available: no energy counter is visible") == 1
    assert not any("energy" in text for text in judged.run.machine.warnings) and "plot-thrift" not in page
    assert "energy" not in terminal.summary(judged, SCENE.workloads)
    assert pages.sentence(judge(*SCENE)) == ""


def test_launches_that_were_too_short_are_counted(scene: Scene) -> None:
    slow = replace(scene.run, energy=Energy(replace(TWO, update=1.0), 40.0))
    judged = judge(slow, scene.records, scene.workloads)
    cases = sum(len(r.cases) for r in scene.records)
    assert not figures(judged, "power")
    assert f"{cases} of {cases} measured cases have no energy figure: the samples are shorter" in pages.sentence(judged)


def test_the_hungry_node_is_named() -> None:
    scene = synthetic.run(1, 8, only=["dot"], failed_build=False)

    def of(k: int) -> Judgement:
        return judge(*metered(scene, lambda record, case: (150.0 if k == 3 else 100.0) * (1 + 0.002 * k)))

    runs = [comparison.NodesResult(f"r{k}", (k,), of(k), scene.workloads) for k in range(8)]
    found = comparison.nodes_of("power", [f"node-{k}" for k in range(8)], runs)
    (line,) = [line for line in found.lines if line.title.startswith("power, ")]
    assert line.spread is not None and line.spread.named == (3,)
    (outlier,) = found.outliers
    assert outlier.hosts == ("node-3",) and outlier.worse
    assert any(text.startswith("power, ") and "151 W" in text for text in outlier.evidence)


def test_spans_survive_the_record_and_contradictions_are_found() -> None:
    line = span((1, None), (2, 3))
    assert lines.decode(lines.encode(line)[:-1]) == line
    assert list(audit._span(line)) == []
    assert "before it starts" in next(audit._span(replace(line, ended=4.0)))
    assert "last longer" in next(audit._span(replace(line, wall=2.0)))
    assert "different counters" in next(audit._span(replace(line, after=((1,),))))


@pytest.mark.parametrize("value", [math.inf, -1.0])
def test_no_reading_is_impossible(value: float) -> None:
    raw = lines.encode(replace(SCENE.records[0].exit, power=((1.0, value),)))[:-1]
    assert isinstance(lines.decode(raw), str)

"""Figures: every launch counts, nothing unverified gets a number, and silly records fail instead of raising."""

from __future__ import annotations

import random
from dataclasses import dataclass
from statistics import median

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import synthetic
import synthetic_figures
import synthetic_machine
import synthetic_workloads
from firstlight.analysis import Judgement
from firstlight.analysis.figures import judge
from firstlight.analysis.verdict import Failed, Figure, Unverified, Verified
from firstlight.model.plan import Cell, Placement, Program
from firstlight.results.record import Device, Devices, LaunchRecord
from synthetic_figures import Point


def of(
    j: Judgement, target: str, toolchain: str = "gcc-native", mpi: str | None = None, **parameters: object
) -> Figure:
    (found,) = [
        f
        for f in j.figures
        if f"{f.identity.workload}.{f.identity.variant}" == target
        and f.identity.toolchain == toolchain
        and f.identity.mpi == mpi
        and parameters.items() <= dict(f.identity.parameters).items()
    ]
    return found


@dataclass
class Small:
    """Represent dot alone, with one cell that tests change."""

    scene: synthetic.Scene

    def change(self, cell: str, edit: object, launches: range = range(100)) -> Small:
        records = tuple(
            edit(r) if r.start.cell == cell and r.start.launch in launches else r  # type: ignore[operator]
            for r in self.scene.records
        )
        return Small(self.scene._replace(records=records))

    def judged(self) -> Judgement:
        return judge(*self.scene)


CELL = "dot.simd-gcc-native"


@pytest.fixture(scope="module")
def small() -> Small:
    return Small(synthetic.run(3, 7, only=["dot"], failed_build=False))


def test_median_over_launches_of_the_median_sample(small: Small) -> None:
    figure = of(small.judged(), "dot.simd", n=1000)
    assert isinstance(figure, Verified)
    records = [r for r in small.scene.records if r.start.cell == CELL]
    values = []
    for r in records:
        case = next(c for c in r.cases if c.parameters == {"n": 1000})
        wall = median(s.wall for s in r.samples if s.case == case.case)
        values.append(1e-9 * 2000 * case.steps / wall)
    assert figure.estimate.launches == pytest.approx(values)
    assert figure.estimate.median == pytest.approx(median(values))
    assert figure.estimate.low == pytest.approx(min(values))
    assert (figure.unit, figure.better, figure.working_set) == ("Gflop/s", "higher", 16000)


def test_a_time_is_per_quantity() -> None:
    j = synthetic.judgement(1, 6, only=["latency"], noise=0.0)
    figure = of(j, "latency.chase", bytes=synthetic_figures.CHASES[-1])
    assert isinstance(figure, Verified)
    assert figure.estimate.median == pytest.approx(98)
    assert figure.better == "lower"


def test_no_interval_from_fewer_than_six() -> None:
    figure = of(synthetic.judgement(1, 5, only=["dot"]), "dot.simd", n=100)
    assert isinstance(figure, Verified)
    assert figure.estimate.low is figure.estimate.high is None


def test_one_failed_check_in_one_launch_fails_the_figure(small: Small) -> None:
    def edit(r: LaunchRecord) -> LaunchRecord:
        checks = tuple(
            replace(c, ok=False, error=None, what="element 3 of rank 0: expected 1, found nan") if c.case == 2 else c
            for c in r.checks
        )
        return replace(r, checks=checks, exit=replace(r.exit, status=1))

    j = small.change(CELL, edit, range(4, 5)).judged()
    figure = of(j, "dot.simd", n=10_000)
    assert isinstance(figure, Failed)
    assert figure.reason == "element 3 of rank 0: expected 1, found nan (not finite, allowed 1e-16)"
    elsewhere = of(j, "dot.simd", n=1000)  # a program that is wrong anywhere is trusted nowhere
    assert isinstance(elsewhere, Failed) and elsewhere.reason.startswith("wrong in another case (n = 10000): element 3")


def test_what_a_program_refuses_to_run_is_no_failure(small: Small) -> None:
    def edit(r: LaunchRecord) -> LaunchRecord:
        ended = replace(r.exit, ok=False, status=2, reason="rejected its arguments (status 2): it needs pairs")
        return replace(r, cases=(), samples=(), checks=(), launch=None, complete=False, exit=ended)

    j = small.change(CELL, edit).judged()
    figure = of(j, "dot.simd", n=1000)
    assert isinstance(figure, Unverified) and figure.reason == "it needs pairs"
    assert not any(CELL in sentence for sentence in j.lost)


def test_kahan_under_fast_math_has_no_number(small: Small) -> None:
    figure = of(small.judged(), "dot.kahan", "clang-fast", n=100)
    assert isinstance(figure, Failed)
    assert "(error 2.5e-10, allowed 1e-16)" in figure.reason
    assert not hasattr(figure, "estimate")


def test_without_checks_unverified(small: Small) -> None:
    def unchecked(r: LaunchRecord) -> LaunchRecord:
        return replace(r, checks=())

    figure = of(small.change(CELL, unchecked).judged(), "dot.simd", n=100)
    assert isinstance(figure, Unverified) and figure.reason == "no result was checked"
    figure = of(small.change(CELL, unchecked, range(2)).judged(), "dot.simd", n=100)
    assert isinstance(figure, Unverified) and figure.reason == "2 of 7 launches did not check the result"


def test_a_program_that_verifies_nothing_is_unverified(small: Small) -> None:
    run = small.scene.run
    marked = replace(run.descriptions["dot.simd"], verified="")
    run = replace(run, descriptions=run.descriptions | {"dot.simd": marked})
    assert isinstance(of(Small(small.scene._replace(run=run)).judged(), "dot.simd", n=100), Unverified)


def test_what_is_unverified_by_design_has_no_number_whatever_its_checks_say(small: Small) -> None:
    run = small.scene.run
    marked = replace(run.descriptions["dot.simd"], unverified="half of it is left out")
    figure = of(
        judge(*small.scene._replace(run=replace(run, descriptions=run.descriptions | {"dot.simd": marked}))),
        "dot.simd",
        n=1000,
    )
    assert isinstance(figure, Unverified)
    assert figure.reason == "by design: half of it is left out"


def test_lost_launches_hide_nothing(small: Small) -> None:
    j = small.change(CELL, synthetic.lost, range(1)).judged()
    figure = of(j, "dot.simd", n=1000)
    assert isinstance(figure, Verified) and len(figure.estimate.launches) == 6
    assert j.lost == (f"{CELL}, launch 0: rank 1 hung: killed after 60 s",)
    assert {type(f) for f in j.figures if f.identity.variant == "serial"} == {Verified}


def test_all_launches_lost_fails_with_the_reason(small: Small) -> None:
    j = small.change(CELL, synthetic.lost).judged()
    figure = of(j, "dot.simd", n=100)
    assert isinstance(figure, Failed)
    assert (figure.cause, figure.reason) == ("lost", "all 7 launches were lost: rank 1 hung: killed after 60 s")
    assert len(j.lost) == 7
    assert isinstance(of(j, "dot.serial", n=100), Verified)


def test_a_cell_that_died_before_its_first_case_is_listed(small: Small) -> None:
    def silent(r: LaunchRecord) -> LaunchRecord:
        return replace(synthetic.lost(r, "killed by signal 11", -11), cases=(), samples=(), checks=(), launch=None)

    j = small.change(CELL, silent).judged()
    for n in synthetic_figures.LENGTHS:
        figure = of(j, "dot.simd", n=n)
        assert isinstance(figure, Failed) and "killed by signal 11" in figure.reason


def test_incomplete_records_are_unverified(small: Small) -> None:
    j = small.change(CELL, lambda r: replace(r, complete=False)).judged()
    figure = of(j, "dot.simd", n=100)
    assert isinstance(figure, Unverified) and figure.reason == "the record is incomplete"


def test_what_was_never_launched_has_no_figures_unless_it_should_have_been(small: Small) -> None:
    records = tuple(r for r in small.scene.records if r.start.cell != CELL)
    figure = of(judge(replace(small.scene.run, state="complete"), records, small.scene.workloads), "dot.simd", n=100)
    assert isinstance(figure, Unverified) and figure.reason == "never launched"
    for state in ("budget", "interrupted", "running"):
        found = judge(replace(small.scene.run, state=state), records, small.scene.workloads).figures
        assert not [f for f in found if f.identity.variant == "simd" and f.identity.toolchain == "gcc-native"]


def test_ranks_that_did_not_find_each_other_are_lost() -> None:
    """The classic of a foreign launcher: two singletons instead of two ranks."""
    scene = synthetic.run(1, 6, only=["pingpong"])
    records = tuple(replace(r, launch=replace(r.launch, ranks=1)) if r.launch else r for r in scene.records)
    j = judge(scene.run, records, scene.workloads)
    assert {type(f) for f in j.figures} == {Failed}
    assert "started as 2 ranks, but each process saw 1" in j.lost[0]


def test_a_failed_build_is_a_failed_figure() -> None:
    (figure,) = [f for f in synthetic.judgement(1, 1, only=["dot"]).figures if f.identity.variant == "fortran_loop"]
    assert isinstance(figure, Failed)
    assert figure.cause == "build" and "module 'omp_lib' not found" in figure.reason


def test_oversubscribed_is_marked() -> None:
    j = synthetic.judgement(1, 6, only=["pingpong", "dot"], on=synthetic_machine.machine(cpus=(0,), cores=1))
    over = {f.identity.workload: f.oversubscribed for f in j.figures if isinstance(f, Verified)}
    assert over == {"pingpong": True, "dot": False}


def test_threads_swept_inside_a_launch_are_placements() -> None:
    j = synthetic.judgement(1, 6, only=["peak"])
    assert {f.identity.placement for f in j.figures} == {Placement(1, 1, 1), Placement(1, 1, 2)}


def test_share_of_disturbed_samples(small: Small) -> None:
    def disturb(r: LaunchRecord) -> LaunchRecord:
        return replace(r, samples=tuple(replace(s, cpu=0.5 if s.sample == 0 else 1.0) for s in r.samples))

    figure = of(small.change(CELL, disturb).judged(), "dot.simd", n=100)
    assert isinstance(figure, Verified) and figure.diverged == pytest.approx(0.2)


def test_no_figure_without_cost(small: Small) -> None:
    def free(r: LaunchRecord) -> LaunchRecord:
        return replace(r, cases=tuple(replace(c, cost={"flops": 0.0, "bytes": 16.0}) for c in r.cases))

    j = small.change(CELL, free).judged()
    assert not [f for f in j.figures if f.identity.variant == "simd" and f.identity.toolchain == "gcc-native"]


def test_launches_that_disagree_about_the_work_fail(small: Small) -> None:
    def more(r: LaunchRecord) -> LaunchRecord:
        return replace(r, cases=tuple(replace(c, cost={k: 2 * v for k, v in c.cost.items()}) for c in r.cases))

    figure = of(small.change(CELL, more, range(3, 4)).judged(), "dot.simd", n=100)
    assert isinstance(figure, Failed) and "different amounts of work" in figure.reason


LITTLE = synthetic.run(1, 6, only=["stream", "pingpong"])
odd = st.sampled_from([0.0, -1.0, 1e-320, 1e308, -1e308, 1.0, 1e9])
texts = st.sampled_from([0, -1, 8, 10**400, 1e308, "x" * 1000, "<b>"])
whole = st.sampled_from([0, -1, 1, 2**62, 10**30])


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(odd, odd, odd, whole, st.integers(-2, 2)), min_size=1, max_size=7), odd, texts, st.booleans())
@pytest.mark.full
def test_foreign_values_never_raise(
    launches: list[tuple[float, float, float, int, int]], cost: float, parameter: int | float | str, checked: bool
) -> None:
    """A directory from another user may contain any numbers: figures of it have positive numbers or none."""
    scene = LITTLE
    program = Program("pingpong", "mpi_blocking", "gcc-native", "openmpi")
    cell = Cell("foreign", program, Placement(ranks=2), ("bytes=8", "--threads", "x,9"))
    point = Point(
        {"bytes": parameter, "n": parameter}, 1, {"messages": cost, "bytes": cost, "message_bytes": 8.0}, 16.0, 1e-6
    )
    records = []
    for k, (wall, cpu, working_set, steps, threads) in enumerate(launches):
        r = synthetic.launch(cell, k, random.Random(1), points=[point])
        case = replace(r.cases[0], steps=steps, working_set=working_set, threads=threads)
        samples = tuple(replace(s, wall=wall, cpu=cpu) for s in r.samples)
        records.append(replace(r, cases=(case,), samples=samples, checks=r.checks if checked else ()))
    run = replace(scene.run, cells=(*scene.run.cells, cell))
    j = judge(run, (*scene.records, *records), scene.workloads)
    for f in j.figures:
        if isinstance(f, Verified):
            assert f.estimate.median > 0
            assert f.of_ceiling is None or f.of_ceiling > 0


def test_every_case_and_metric_has_one_figure() -> None:
    j = synthetic.judgement()
    assert len({f.identity for f in j.figures}) == len(j.figures)
    expected = sum(len(r.cases) * len(synthetic_workloads.METRICS[r.start.cell.split(".")[0]]) for r in j.records) / 8
    assert len([f for f in j.figures if f.identity.variant != "fortran_loop"]) == expected


def on_devices(*places: str, address: str = "0000:17:00.0") -> object:
    """Edit a launch: its ranks observed these places, all at one address."""

    def edit(record: LaunchRecord) -> LaunchRecord:
        devices = tuple(Device(k, place, "NVIDIA H200", address) for k, place in enumerate(places))
        return replace(record, devices=tuple(Devices(case.case, devices) for case in record.cases))

    return edit


def test_a_case_that_left_its_device_fails_even_where_its_checks_are_silent(small: Small) -> None:
    assert isinstance(of(small.change(CELL, on_devices("device")).judged(), "dot.simd", n=1000), Verified)
    for place in ("host", "nowhere"):
        figure = of(small.change(CELL, on_devices(place), range(1)).judged(), "dot.simd", n=1000)
        assert isinstance(figure, Failed) and "did not run on a device" in figure.reason


def test_ranks_that_share_a_gpu_are_neither_ranked_nor_compared(small: Small) -> None:
    figure = of(small.change(CELL, on_devices("device", "device")).judged(), "dot.simd", n=1000)
    assert isinstance(figure, Verified) and figure.oversubscribed
    findings = small.change(CELL, on_devices("device", "device")).judged().findings
    assert any("on fewer GPUs than ranks" in finding.sentence for finding in findings)


def test_directives_that_observe_nothing_give_no_figure(small: Small) -> None:
    """A user's variant omits the observation: it is unknown whether it ran on a device."""
    run = small.scene.run
    (cell,) = (c for c in run.cells if c.id == CELL)
    moved = replace(cell, program=replace(cell.program, variant="target"))
    description = replace(run.descriptions["dot.simd"], variant="target")
    for device, kind in (("", Unverified), ("OpenMP", Verified)):
        described = run.descriptions | {"dot.target": replace(description, device=device)}
        scene = small.scene._replace(run=replace(run, cells=(moved,), descriptions=described))
        figure = of(judge(*scene), "dot.target", n=1000)
        assert isinstance(figure, kind)
        assert isinstance(figure, Verified) or "does not check where its steps run" in figure.reason

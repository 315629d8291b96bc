"""Many kernels in one program: cases of one launch, each with a cost and a check of its own."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import native
import synthetic
from firstlight.analysis.figures import expected, judge
from firstlight.analysis.verdict import Failed, Verified
from firstlight.model.catalogue import Selection
from firstlight.model.plan import Cell, Placement, Program, plan
from firstlight.model.plan.planner import _without
from firstlight.results.description import Description, Metric, Parameter
from firstlight.results.record import LaunchRecord
from firstlight.runner.cell_progress import Tally
from invented_plan import MACHINE, TOOLBOX, workload
from own import program

SHORT = ("--samples", "2", "--sample-seconds", "1e-5")
ALL = ["copy", "scale", "add", "triad", "product", "reverse", "difference", "positive", "prefix", "sum", "dot", "norm"]


@pytest.mark.native
def test_a_star_stands_for_every_kernel_of_the_program(tmp_path: Path) -> None:
    output = native.verified(program("dozen", "serial"), Placement(), tmp_path, "kernel=*", "n=10,100")
    cases = [c["parameters"] for c in output.of("case")]
    assert [(c["kernel"], c["n"]) for c in cases] == [(kernel, n) for kernel in ALL for n in (10, 100)]
    assert len(output.of("check")) == 3 * len(cases)
    triad = cases.index({"kernel": "triad", "n": 100})
    assert output.of("case")[triad]["cost"] == {"flops": 200, "bytes": 2400}


@pytest.mark.native
def test_each_kernel_is_checked_on_its_own(tmp_path: Path) -> None:
    output = native.run(program("dozen", "broken_some"), Placement(), ("kernel=*", "n=10"), tmp_path)
    ok = {output.of("case")[c["case"]]["parameters"]["kernel"]: c["ok"] for c in output.of("check")}
    assert output.status == 1 and ok == {"copy": False, "add": True, "dot": False, "prefix": False}


@pytest.mark.native
def test_a_program_tells_the_kernels_that_it_has() -> None:
    description = msgspec.json.decode(program("dozen", "few").describe, type=Description)
    (choice,) = (p for p in description.parameters if p.name == "kernel")
    assert description.kernels == ("dot", "norm", "prefix") and choice.options == ("prefix", "dot", "norm")
    full = msgspec.json.decode(program("dozen", "serial").describe, type=Description)
    assert full.kernels == tuple(ALL)


@pytest.mark.native
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["kernel=add"], "dozen.few has no kernel add; its kernels are prefix, dot, norm"),
        (["n=10"], "dozen.few has no kernel copy; its kernels are prefix, dot, norm"),
        (["kernel=cube"], "kernel must be one of copy|scale|add"),
        (["kernel=c*"], "no kernel of dozen.few matches c*; --describe lists them"),
        (["loop=*"], 'dozen has no parameter "loop"'),
    ],
)
def test_a_kernel_that_is_not_there_is_refused_in_one_line(words: list[str], message: str) -> None:
    done = native.direct(program("dozen", "few"), *words, *SHORT)
    assert (done.returncode, done.stdout) == (2, "") and message in done.stderr and len(done.stderr.splitlines()) == 1


@pytest.mark.native
def test_a_kernel_that_is_not_there_leaves_the_others(tmp_path: Path) -> None:
    output = native.verified(program("dozen", "few"), Placement(), tmp_path, "kernel=copy,dot,add", "n=10")
    assert [(c["case"], c["parameters"]["kernel"]) for c in output.of("case")] == [(1, "dot")]
    assert [(c["case"], c["why"].partition(";")[0]) for c in output.of("refused")] == [
        (0, "dozen.few has no kernel copy"),
        (2, "dozen.few has no kernel add"),
    ]


@pytest.mark.native
def test_a_pattern_selects_some(tmp_path: Path) -> None:
    output = native.verified(program("dozen", "few"), Placement(), tmp_path, "kernel=*o*", "n=10")
    assert [c["parameters"]["kernel"] for c in output.of("case")] == ["dot", "norm"]


@pytest.mark.native
def test_a_kernel_that_the_workload_does_not_declare_does_not_start() -> None:
    built = program("dozen", "stranger")
    assert built.executable is None
    assert "stranger defines the kernel cube, which dozen does not declare" in built.error


# --- the plan -------------------------------------------------------------------------------------


def test_a_pattern_is_planned_before_the_program_is_built() -> None:
    every = Selection(["serial"], ["gcc-base"], {"kernel": ["*"], "dt": [0.1, 1e-3]})
    some = Selection(["serial"], ["gcc-base"], {"kernel": ["copy"], "dt": [0.1]})
    planned = plan("quick", workload(every, some, variants={"serial": ()}), [], TOOLBOX, MACHINE)
    (cell,) = planned.cells  # what the pattern covers is not measured twice
    assert cell.arguments[:2] == ("kernel=*", "dt=0.1,0.001")


@given(st.lists(st.sampled_from(["copy", "add", "c*", "*", "dot"]), min_size=1, unique=True), st.data())
def test_nothing_is_lost_between_cells(first: list[str], data: st.DataObject) -> None:
    second = data.draw(st.lists(st.sampled_from(["copy", "add", "c*", "*", "dot"]), min_size=1, unique=True))
    left = _without({"kernel": [*second]}, [{"kernel": [*first]}])
    kept = left["kernel"] if left else []
    for value in second:
        assert value in kept or value in first or "*" in first or ("c*" in first and value == "copy")


# --- the judge ------------------------------------------------------------------------------------


def test_the_expected_cases_are_those_of_the_program() -> None:
    choice = Parameter("kernel", "", "copy", "which", kind="choice", options=("copy", "cube", "1e3"))
    description = Description("w", "v", "t", (choice,), (), "", "", "")
    cell = Cell("c", Program("w", "v", "gcc-base"), Placement(), ("kernel=c*,1e3", "dt=0.5,2", "n=1e2"))
    cases = {s.parameters for s in expected(cell, description)}
    assert cases == {(("dt", dt), ("kernel", k), ("n", 100)) for dt in (0.5, 2) for k in ("copy", "cube", "1e3")}
    assert {dict(s.parameters)["kernel"] for s in expected(cell, None)} == {"c*", 1000.0}


@pytest.mark.parametrize("kernels", [(), ("a", "b")])
def test_a_wrong_kernel_discredits_itself_alone(kernels: tuple[str, ...]) -> None:
    """Another case of the same kernel is in doubt, another kernel is not; a program of one kernel is as a whole."""
    scene = synthetic.run(3, 7, only=["dot"])
    first = scene.records[0].cases[0].parameters["n"]
    sizes = sorted({c.parameters["n"] for c in scene.records[0].cases}, key=str)
    kernel = {n: "ab"[k % 2] for k, n in enumerate(sizes)}

    def many(record: LaunchRecord) -> LaunchRecord:
        wrong = {c.case for c in record.cases if c.parameters["n"] == first}
        cases = tuple(replace(c, parameters=c.parameters | {"kernel": kernel[c.parameters["n"]]}) for c in record.cases)
        checks = tuple(replace(c, ok=c.ok and c.case not in wrong) for c in record.checks)
        return replace(record, cases=cases, checks=checks, exit=replace(record.exit, status=1))

    descriptions = {k: replace(d, kernels=kernels) for k, d in scene.run.descriptions.items()}
    judged = judge(replace(scene.run, descriptions=descriptions), [many(r) for r in scene.records], scene.workloads)
    figures = [f for f in judged.figures if f.identity.parameters and f.identity.variant != "kahan"]
    right = {dict(f.identity.parameters)["kernel"] for f in figures if isinstance(f, Verified)}
    wrong = {dict(f.identity.parameters)["kernel"] for f in figures if isinstance(f, Failed) and f.cause == "check"}
    assert kernel[first] in wrong
    assert (right, wrong) == (({"a", "b"} - {kernel[first]}, {kernel[first]}) if kernels else (set(), {"a", "b"}))


def test_the_first_metric_that_a_case_has_decides_its_launches() -> None:
    """A copy has no flops: its bandwidth must become sure, too."""
    scene = synthetic.run(3, 7, only=["dot"])
    record = next(r for r in scene.records if r.cases)
    cell = next(c for c in scene.run.cells if c.id == record.start.cell)
    bare = record.cases[0]
    cost = {name: amount for name, amount in bare.cost.items() if name != "flops"} | {"bytes": 8.0}
    cases = (replace(bare, cost=cost), *record.cases[1:])
    bandwidth = Metric("bandwidth", "GB/s", "bytes", "rate", 1e-9, "higher")
    descriptions = {k: replace(d, metrics=(*d.metrics, bandwidth)) for k, d in scene.run.descriptions.items()}
    assert descriptions[cell.program.target].metrics[0].quantity == "flops"
    tally = Tally(replace(scene.run, descriptions=descriptions), cell)
    tally.take(replace(record, cases=cases))
    assert len(tally.estimates) == len(record.cases) > 1

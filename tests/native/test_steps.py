"""Steps that are whole runs, phases of a step, and real parameters: from the harness to the figure."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import native
import synthetic
from firstlight.analysis import Judgement, formatting
from firstlight.analysis.figures import judge
from firstlight.analysis.verdict import Failed, Verified
from firstlight.core.errors import UsageError
from firstlight.model.catalogue import load
from firstlight.model.plan import Placement
from firstlight.model.plan.selectors import same_value
from firstlight.results.description import Description, Metric
from firstlight.results.record import Case, LaunchRecord, Line
from firstlight.results.store import lines
from own import program

HEAD = 'title = "t"\nquestion = "q"\n[[suites.quick]]\nvariants = ["*"]\n'
SHORT = ("--samples", "2", "--sample-seconds", "1e-4")


def described(variant: str) -> Description:
    return msgspec.json.decode(program("relaxed", variant).describe, type=Description)


# --- a step that is a whole run -------------------------------------------------------------------


@pytest.mark.native
@pytest.mark.parametrize("variant", ["serial", "looped"])
def test_every_step_begins_from_the_restored_state(variant: str, tmp_path: Path) -> None:
    output = native.verified(program("relaxed", variant), Placement(), tmp_path, "n=16", "runs=1,7", "--steps", "3")
    assert [s["values"]["resets"] for s in output.of("sample")] == [[0, 0, 0]] * 4  # one for each step
    assert {c["when"] for c in output.of("check")} == {"before", "between", "after"}


@pytest.mark.native
def test_a_reset_is_neither_timed_nor_counted(tmp_path: Path) -> None:
    words = ("n=4", "runs=1", "pause=0.2", "--steps", "2")
    output = native.verified(program("relaxed", "serial"), Placement(), tmp_path, *words)
    assert min(s["wall"] for s in output.of("sample")) < 0.2  # two resets take 0.4
    for counted in output.of("counters"):  # a machine may have none
        assert counted["steps"] == 2 and counted.get("instructions", 0) < 1e7


@pytest.mark.native
@pytest.mark.parametrize("variant", ["broken_short", "broken_continued"])
def test_a_run_that_is_not_the_whole_one_is_rejected(variant: str, tmp_path: Path) -> None:
    output = native.run(program("relaxed", variant), Placement(), ("n=16", "runs=5"), tmp_path)
    assert output.status == 1 and not all(c["ok"] for c in output.of("check"))


# --- phases ---------------------------------------------------------------------------------------


@pytest.mark.native
def test_phases_and_the_rest_add_up_to_the_step(tmp_path: Path) -> None:
    output = native.verified(program("relaxed", "serial"), Placement(), tmp_path, "n=16", "runs=4", "--steps", "2")
    for line in output.lines:
        msgspec.convert(line, Line)
    for sample in output.of("sample"):
        spent = {name: three[2] for name, three in sample["values"].items() if name.startswith("phase_")}
        assert spent.keys() == {"phase_update", "phase_norm", "phase_other"}  # in the halo it never was
        assert 2 * sum(spent.values()) == pytest.approx(sample["wall"], rel=1e-9)
        assert sample["values"]["update"] == sample["values"]["phase_update"]
        assert spent["phase_norm"] >= 4e-4  # the inner phase stops the outer one
    assert output.of("case")[0]["cost"] == {
        "flops": 16 * 21, "operations": 1, "update.flops": 16 * 20, "update.operations": 1, "halo.operations": 1
    }  # fmt: skip


@pytest.mark.native
def test_phases_are_spread_over_the_ranks(tmp_path: Path) -> None:
    output = native.verified(program("relaxed", "mpi_uneven"), Placement(ranks=3), tmp_path, "n=16")
    for sample in output.of("sample"):
        least, middle, most = sample["values"]["phase_halo"]
        assert least == 0 and middle >= 1e-3 and most >= 2e-3 and "phase_norm" not in sample["values"]


@pytest.mark.native
def test_marks_of_other_threads_count_nothing(tmp_path: Path) -> None:
    output = native.verified(program("relaxed", "other_thread"), Placement(), tmp_path, "n=16")
    assert all({n for n in s["values"] if n.startswith("phase_")} == {"phase_other"} for s in output.of("sample"))


@pytest.mark.native
def test_a_phase_that_is_not_declared_ends_the_launch() -> None:
    done = native.direct(program("relaxed", "stray"), "n=16", *SHORT)
    assert done.returncode == 3 and "a step marks a phase that about.phases lacks" in done.stderr


@pytest.mark.native
def test_a_program_tells_its_phases_and_its_numbers() -> None:
    description = described("serial")
    assert description.phases == ("update", "halo", "norm") and not description.kernels
    assert [m.phase for m in description.metrics] == ["", "update", "halo", ""]
    r = next(p for p in description.parameters if p.name == "r")
    assert (r.kind, r.default, r.least, r.most, r.unit) == ("real", "0.25", 1e-12, 0.5, "h^2")
    assert {p.kind for p in description.parameters} == {"integer", "real"}


RATE = Metric("solver_rate", "Gflop/s", "flops", "rate", 1e-9, "higher", "solver")
Change = Callable[[LaunchRecord], LaunchRecord]


def timed(seconds: Callable[[float], float], share: float = 0.5, metric: Metric = RATE) -> Judgement:
    """dot, of which a phase `solver` does `share` of the work in `seconds(time of a step)`."""
    scene = synthetic.run(3, 7, only=["dot"])

    def phased(record: LaunchRecord) -> LaunchRecord:
        steps = {c.case: c.steps for c in record.cases}
        samples = []
        for s in record.samples:
            x = seconds(s.wall / steps[s.case])
            samples.append(replace(s, values={"phase_solver": (0.0, 0.0, x)} if x else {}))
        cases = tuple(replace(c, cost=c.cost | {"solver.flops": share * c.cost["flops"]}) for c in record.cases)
        return replace(record, samples=tuple(samples), cases=cases)

    descriptions = {
        k: replace(d, metrics=(*d.metrics, metric), phases=("solver",)) for k, d in scene.run.descriptions.items()
    }
    return judge(replace(scene.run, descriptions=descriptions), [phased(r) for r in scene.records], scene.workloads)


def of(judgement: Judgement, metric: str) -> dict[object, object]:
    return {
        replace(f.identity, metric=""): f
        for f in judgement.figures
        if f.identity.metric == metric and not (isinstance(f, Failed) and f.cause in ("check", "build"))
    }


def test_a_phase_has_figures_of_its_own_work_and_time() -> None:
    judged = timed(lambda step: step)  # half of the work in all of the time
    whole, phase = of(judged, "rate"), of(judged, "solver_rate")
    assert phase and phase.keys() == whole.keys()
    for identity, figure in phase.items():
        step = whole[identity]
        assert isinstance(figure, Verified) and isinstance(step, Verified) and not figure.observed
        assert figure.estimate.median == pytest.approx(step.estimate.median / 2)
        assert set(figure.cost) == {"flops"} and "solver.flops" not in step.cost
        assert step.cost["flops"] == pytest.approx(2 * figure.cost["flops"])


def test_a_phase_is_held_against_the_ceilings_of_its_own_work() -> None:
    scene = synthetic.run(3, 7, only=["dot", "peak", "stream"])
    bounded = [b for w in scene.workloads.values() for b in w.bounded_by if b.quantity == "flops"]
    assert bounded  # else this shows nothing

    def phased(record: LaunchRecord) -> LaunchRecord:
        if not record.start.cell.startswith("dot"):
            return record
        steps = {c.case: c.steps for c in record.cases}
        samples = tuple(
            replace(s, values={"phase_solver": (0.0, 0.0, 1e-4 * s.wall / steps[s.case])}) for s in record.samples
        )
        cases = tuple(replace(c, cost=c.cost | {"solver.flops": c.cost["flops"]}) for c in record.cases)
        return replace(record, samples=samples, cases=cases)

    descriptions = {
        k: replace(d, metrics=(*d.metrics, RATE), phases=("solver",)) if d.workload == "dot" else d
        for k, d in scene.run.descriptions.items()
    }
    judged = judge(replace(scene.run, descriptions=descriptions), [phased(r) for r in scene.records], scene.workloads)
    found = [f for f in judged.figures if f.identity.metric == "solver_rate"]
    assert any(isinstance(f, Failed) and f.cause == "ceiling" for f in found)


@pytest.mark.parametrize(
    ("seconds", "share", "message"),
    [
        (lambda step: 1.01 * step, 0.5, "the phase solver is longer than the step"),
        (lambda step: 0.5 * step, 1.5, "the phases together declare more flops than the step"),
    ],
)
def test_a_phase_is_part_of_its_step(seconds: Callable[[float], float], share: float, message: str) -> None:
    found = of(timed(seconds, share), "solver_rate")
    assert found
    for figure in found.values():
        assert isinstance(figure, Failed) and figure.cause == "record" and message in figure.reason


def test_a_variant_that_is_never_in_a_phase_has_no_figure_of_it() -> None:
    assert of(timed(lambda step: 0.0), "solver_rate") == {}


# --- real parameters ------------------------------------------------------------------------------


@pytest.mark.native
@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values=st.lists(st.floats(1e-12, 0.5), min_size=1, max_size=20, unique=True))
def test_real_numbers_come_back_bit_by_bit(values: list[float]) -> None:
    listed = ",".join(map(str, values))
    done = native.direct(program("relaxed", "looped"), f"r={listed}", "n=4", "runs=1", "--steps", "1", *SHORT)
    assert done.returncode == 0, done.stdout
    cases = [c for c in map(lines.decode, done.stdout.encode().splitlines()) if isinstance(c, Case)]
    assert [c.parameters["r"] for c in cases] == values and all(type(c.parameters["r"]) is float for c in cases)
    again = msgspec.json.decode(msgspec.json.encode(cases), type=list[Case])
    assert again == cases


@pytest.mark.native
@pytest.mark.parametrize("given", ["0", "0.51", "nan", "inf", "1e999", "half", ""])
def test_a_real_number_out_of_its_range_gets_one_line(given: str) -> None:
    done = native.direct(program("relaxed", "looped"), f"r={given}")
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1 and "r" in done.stderr


def test_a_whole_number_among_real_ones_is_the_same_parameter() -> None:
    assert same_value(2.0, 2) and same_value(0.1, 0.1) and not same_value(0.1, 0.1000001)
    assert formatting.values((("dt", 0.123456), ("n", 100))) == "dt = 0.123, n = 100"


def test_real_numbers_of_a_declaration_are_finite(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    for number in ("nan", "inf", "-inf", "true"):
        (folder / "workload.toml").write_text(HEAD + f"parameters = {{ dt = [0.5, {number}] }}\n")
        with pytest.raises(UsageError, match="parameters"):
            load([tmp_path])
    (folder / "workload.toml").write_text(HEAD + "parameters = { dt = [0.5, 1, 1e-3] }\n")
    assert load([tmp_path])["mine"].suites["quick"][0].parameters == {"dt": [0.5, 1, 1e-3]}

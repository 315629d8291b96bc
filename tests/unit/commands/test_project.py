"""Projections equal closed forms of known times, have general properties, refuse bad input, and match the K computer's
data sheet.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import invented
import invented_run
import many_runs
import shipped
import synthetic
from commands import Captured, call
from firstlight.analysis.roles import players
from firstlight.analysis.verdict import Identity, Limit
from firstlight.commands.project import answer, machines, messages, page, plot, scaling
from firstlight.commands.project.node import Application, Rates, Sample
from firstlight.commands.project.scaling import MessageSpread, Place
from firstlight.core import formulas
from firstlight.core.errors import OK, USAGE
from firstlight.core.roles import APPLICATION, Model
from firstlight.model.plan import Placement

WORKLOADS = shipped.workloads()
MODELS = [(p.workload, p.role.model) for p in players(WORKLOADS, APPLICATION) if p.role.model]
STREAMS = Model("streams", "n", "8 * E", bytes="16 * E", flops="2 * E", stages="near:{8 * sqrt(E / P)},sum:8")
SOURCE = Identity("w", "v", "gcc", None, Placement(1, 1, 1), (), "rate")


def limit(name: str, cores: int, value: float) -> Limit:
    return Limit(name, cores, None, value, value, value, True, SOURCE)


RATES = Rates((limit("bandwidth", 1, 1e10), limit("bandwidth", 4, 2e10), limit("flops_64", 1, 1e12)))


def sample(elements: float, seconds: float, ranks: int = 1, launches: tuple[float, ...] = ()) -> Sample:
    return Sample(
        "w",
        "mpi",
        "gcc",
        "m",
        "streams",
        ranks,
        1,
        elements,
        {"n": elements},
        launches or (seconds,) * 7,
        seconds,
        8 * elements,
    )


def linear(model: Model, numbers: dict[str, float], ranks: int, topology: str) -> float:
    return 0.0 if ranks < 2 else 1e-6 * ranks


def place(watts: float | None = 100.0, simulated: int = 1 << 20) -> Place:
    return Place(RATES, RATES, linear, simulated, MessageSpread(()), watts)


def app(*samples: Sample) -> Application:
    return Application(next(iter(WORKLOADS.values())), STREAMS, samples)


def test_the_share_of_the_ceiling_and_the_ceiling_of_the_new_place_make_the_time() -> None:
    """Half of 10 GB/s on one core; four processes share 20 GB/s and wait 4 us for messages."""
    one, four = sample(1e6, 2 * 16e6 / 1e10), sample(1e6, 1.0, ranks=4)
    [prediction] = scaling.left_out([app(one, four)], RATES, linear, MessageSpread(()))
    assert prediction.kind == "processes" and prediction.predicted == pytest.approx(2 * 16e6 / 2e10 + 4e-6)
    assert (
        prediction.factor == pytest.approx(prediction.predicted)
        and prediction.low <= prediction.predicted <= prediction.high
    )


def test_the_largest_size_is_held_against_the_nearest_smaller_one() -> None:
    found = scaling.left_out(
        [app(sample(1e4, 1.6e-5), sample(1e6, 2e-3), sample(2e6, 5e-3))], RATES, None, MessageSpread(())
    )
    assert [(h.kind, h.elements) for h in found] == [("size", 2e6)]
    assert found[0].predicted == pytest.approx(4e-3) and found[0].factor == pytest.approx(0.8)


def test_between_numbers_of_cores_rates_are_interpolated_beyond_they_are_in_proportion() -> None:
    assert [RATES.rate("bandwidth", n, 1) for n in (1, 2, 4, 8)] == [1e10, pytest.approx(4e10 / 3), 2e10, 4e10]
    assert RATES.rate("load_bandwidth", 1, 1) is None


def test_between_sizes_a_power_goes_through_rates_and_shares() -> None:
    """8 GB/s on 1 MB, 2 GB/s on 16 MB: 4 GB/s between; two cores have twice the bytes. Beyond the ends these hold."""
    curve = tuple(
        Limit("bandwidth", k, size * k, value * k, value * k, value * k, True, SOURCE)
        for k in (1, 2)
        for size, value in ((1e6, 8e9), (16e6, 2e9))
    )
    rates = Rates(curve)
    sizes = (1e3, 1e6, 4e6, 16e6, 1e9)
    assert [rates.rate("bandwidth", 1, s) for s in sizes] == pytest.approx([8e9, 8e9, 4e9, 2e9, 2e9])
    assert rates.rate("bandwidth", 2, 8e6) == pytest.approx(8e9) and rates.rate("bandwidth", 4, 16e6) == pytest.approx(
        16e9
    )
    whole, half = sample(1e6, 16e6 / 1e10), sample(16e6, 2 * 256e6 / 1e10)
    of = app(whole, half)
    for each, reached in ((8e6, 1.0), (32e6, 0.5**0.5), (128e6, 0.5), (1e9, 0.5), (1.0, 1.0)):
        near = scaling.nearest(of.samples, each)
        assert near is not None and scaling.share(of, of.samples, near, each, RATES) == pytest.approx(reached)


@given(st.floats(1e3, 1e8), st.lists(st.floats(0.5, 2), min_size=1, max_size=12))
def test_intervals_contain_the_median_and_more_nodes_never_take_less_power(
    elements: float, launches: list[float]
) -> None:
    middle = (
        sorted(launches)[len(launches) // 2]
        if len(launches) % 2
        else sum(sorted(launches)[len(launches) // 2 - 1 :][:2]) / 2
    )
    a = app(sample(elements, middle, launches=tuple(launches)))
    before = 0.0
    for nodes in (1, 2, 8, 64, 4096):
        p = scaling.point(a, place(), nodes * elements, f"flat:{nodes}", None)
        assert p.low <= p.seconds <= p.high and 0 <= p.share <= 1
        assert p.joules is not None and p.joules / p.seconds >= before
        before = p.joules / p.seconds
    assert scaling.point(a, place(None), elements, "flat:1", None).joules is None


@given(st.floats(10, 1e9), st.integers(1, 5000))
def test_weak_scaling_keeps_the_bytes_of_a_node(elements: float, nodes: int) -> None:
    a, s = app(sample(elements, 1.0)), sample(elements, 1.0)
    assert scaling.elements_for(a, s, nodes * s.memory, nodes) == pytest.approx(nodes * elements, rel=1e-6)


def test_messages_beyond_what_was_simulated_go_on_as_a_power_and_say_so() -> None:
    a = app(sample(1e6, 1.0))
    all_of_them, some = (scaling.point(a, place(simulated=n), 4096e6, "flat:4096", None) for n in (4096, 64))
    assert (all_of_them.beyond, some.beyond) == (0, 64)
    assert some.messages == pytest.approx(all_of_them.messages, rel=1e-6) and all_of_them.messages == pytest.approx(
        4096e-6
    )


@pytest.mark.parametrize("topology", ["flat:1000", "torus:8x4x2", "tofu:24x18x16", "hypercube:10", "mesh:5"])
def test_smaller_networks_are_of_the_same_kind_and_end_with_the_whole(topology: str) -> None:
    found = messages.smaller(topology, 5)
    counts = [messages.nodes(t) for t in found]
    assert found[-1] == topology and counts == sorted(set(counts)) and len(found) <= 5
    assert {t.partition(":")[0] for t in found} == {topology.partition(":")[0]}


def test_nodes_are_counted_as_networks_do() -> None:
    found = [messages.nodes(t) for t in ("tofu:24x18x16", "torus:4x4x4", "hypercube:10", "flat:7")]
    assert found == [82944, 64, 1024, 7]


@pytest.mark.parametrize(("workload", "model"), MODELS, ids=lambda x: getattr(x, "name", getattr(x, "title", "")))
def test_declared_models_grow_with_the_problem_and_can_be_simulated(
    workload: object, model: Model, simulator: Path
) -> None:
    """Work and memory with elements; messages on two and eight processes take some time, on one none."""
    known = {"cost_flops": 1e9, "cost_bytes": 1e9, "cost_working_set": 1e8, "cost_elements": 1e6, "E0": 1e6, "P0": 1.0}
    known |= {"sweeps": 2.0, "level": 6.0, "n": 1024.0, "m": 100.0, "t": 8.0, "x": 8.0, "y": 8.0, "z": 8.0}
    for text in (model.memory, model.flops):
        small, large = (formulas.value(text, model.numbers(known, e, 8)) for e in (1e5, 1e6))
        assert 0 < small < large
    takes = messages.step_times(simulator)
    assert formulas.value(model.elements, known) > 0
    times = [
        takes(model, model.numbers(known, 1e6, p), p, f"flat:{p}", "L=1000,o=500,g=0,G=1,O=0,S=1e12") for p in (1, 2, 8)
    ]
    assert times[0] == 0 and min(times[1:]) > 0


def test_linpack_of_the_k_computer_from_its_data_sheet(simulator: Path) -> None:
    """R4: 10.51 Pflop/s, 93.17 % of the peak of 88,128 nodes; here ceilings of the data sheet, a share of 1."""
    [(workload, model)] = [(w, m) for w, m in MODELS if m.filling]
    of = machines.named("k")
    rates = Rates((limit("flops_64", 8, of.flops.value),))
    n = 1e5
    ideal = 2 / 3 * n**3 / of.flops.value
    s = Sample("w", "v", "g", None, model.title, 1, 8, n, {"n": n}, (ideal,) * 6, ideal, 8 * n**2)
    a = Application(workload, model, [s])
    takes = messages.step_times(simulator)

    def sent(model: Model, numbers: dict[str, float], ranks: int, topology: str) -> float:
        return takes(model, numbers, ranks, topology, "")

    elements = scaling.elements_for(a, s, model.filling * 88128 * of.memory.value, 88128)
    found = scaling.point(a, Place(rates, rates, sent, 256, MessageSpread(()), None), elements, "tofu:24x18x17", None)
    assert found.nodes == 88128 and 1 / 1.5 < found.rate / 10.51e15 < 1.5
    assert found.share < 0.35


def test_conjugate_gradients_of_the_k_computer_from_its_data_sheet() -> None:
    """HPCG represents codes of finite elements: 602 Tflop/s of 82,944 nodes (RIKEN, 20 June 2017, "K computer takes
    first place for the second consecutive time on HPCG benchmark"). Memory is the limit; messages are ignored.
    """
    [model] = [m for _, m in MODELS if m.title == "conjugate gradients, HPCG's matrix"]
    of = machines.named("k")
    assert of.bandwidth is not None
    rates = Rates((limit(model.bytes_of, 8, of.bandwidth.value), limit(model.flops_of, 8, of.flops.value)))
    numbers = {"m": 100.0, "E": 1e6, "P": 1.0}
    rate = formulas.value(model.flops, numbers) / rates.ideal(model, numbers, 8)
    assert 1 < 82944 * rate / 602e12 < 1.5


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("projected")
    scene = invented_run.run(invented.machine(made, "laptop"), "standard", launches=2, names=("cg", "stream", "peak"))
    many_runs.write(scene, made / "results", "solved", synthetic.STARTED)
    return made / "results"


@pytest.mark.parametrize("size", [1e200, 1e308, -1e308])
def test_a_run_with_a_huge_parameter_is_one_line(size: float, capsys: Captured, tmp_path: Path) -> None:
    """A formula of the workload has no finite value for it."""
    scene = invented_run.run(invented.machine(tmp_path, "laptop"), "standard", launches=1, names=("cg",))
    records = [replace(r, cases=tuple(replace(c, parameters=c.parameters | {"m": size}) for c in r.cases))
               for r in scene.records]  # fmt: skip
    many_runs.write(scene, tmp_path, "huge", synthetic.STARTED, records)
    words = ["project", "huge", "--results", str(tmp_path), "--nodes", "16", "--network", "hdr200"]
    code, out, err = call(capsys, *words)
    assert (code, out, err.count("\n")) == (USAGE, "", 1)
    assert "run huge cannot be projected: `m ** " in err and "project another run" in err


def test_a_result_has_its_error_within_the_run_and_a_disturbed_run_is_reported_first() -> None:
    point = answer.Point(4, "flat:4", 1.0, 1e-3, 9e-4, 2e-3, 1e-4, 1e9, 0.9, 0)
    app = answer.Application("solver", "cg.serial", 1, 1e6, (point,), (replace(point, nodes=1, seconds=4e-3), point))
    off = answer.LeftOut("solver", "size", "cg.serial", "cg.serial", 1, 4e4, 1.3, 1.2, 1.4, 1.0)
    machine = answer.Machine("a node", None, None, None, None, "unknown", {})
    made = answer.Projected(
        "0", "r", (off,), "flat:4", 4, "fitted", machine, None, (), (app,), (), disturbed="run r was disturbed"
    )
    (sentence,) = page.results(made)
    assert sentence.endswith("; the same projection within the run has an error of at most 30 %")
    text = page.summary(made, None, 200)
    assert text.index("! run r was disturbed; project a run from a quiet machine") < text.index(
        "solver on 4 nodes: a step"
    )
    assert "run r was disturbed" in page.render(made) and "disturbed" not in page.render(replace(made, disturbed=""))


def test_titles_of_a_projection_have_their_numbers_and_few_errors_are_not_drawn() -> None:
    one = answer.Point(1, "flat:1", 1.0, 1e-3, 9e-4, 2e-3, 0.0, 1e9, 1.0, 0)
    points = (one, replace(one, nodes=4, efficiency=0.9))
    app = answer.Application("solver", "cg.serial", 1, 1e6, points, (one, replace(points[1], efficiency=0.4)))
    off = answer.LeftOut("solver", "size", "cg.serial", "cg.serial", 1, 4e4, 1.3, 1.2, 1.4, 1.0)
    machine = answer.Machine("a node", None, None, None, None, "unknown", {})
    made = answer.Projected("0", "r", (off,), "flat:4", 4, "fitted", machine, None, (), (app,), ())
    titles = [d.title for d in plot.drawings(made)]
    assert [t.partition(", ")[2] for t in titles] == [f"4 nodes reach {x} % of one node's rate each" for x in (90, 40)]
    first = plot.drawings(replace(made, left_out=(off, off, replace(off, predicted=1.5))))[0].title
    assert first == "Within the run, the median error of 3 projections is 30 %"
    text = " ".join(page.summary(replace(made, left_out=(off, replace(off, measured=1.25))), None).split())
    assert "the 95 % interval of the projection contains 1 of 2 measurements" in text
    assert "the median interval spans a factor of 1.17" in text


@pytest.mark.native
def test_a_run_is_projected_end_to_end(results: Path, capsys: Captured, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    words = ["project", "solved", "--results", str(results), "--nodes", "16", "--network", "hdr200"]
    code, out, _ = call(capsys, *words, "--watts", "300W", "--power", "4kW", "--output", str(page))
    assert code == OK and page.read_text().count("<section") == 5
    first, _, rest = out.partition("  The same projection within the run")
    found = re.search(
        r"on 16 nodes: .* lasts \S+ \w+(?: \[[^]]+\])? \((\S+) x slower than one\);", " ".join(first.split())
    )
    assert found is not None and float(found[1]) > 1 and "of one node's rate" in " ".join(first.split())
    assert "from smaller sizes" in rest
    output = " ".join(out.split())  # lines are as long as the terminal is wide
    assert "13 nodes, limited by power" in output and "16 nodes of 300 W" in output
    assert "4.80 kW, 1.20 x the limit of 4.00 kW" in output
    classed = (*words, "--class", "light", "--year", "2018", "--power", "20MW")
    out = call(capsys, *classed, "--output", str(page))[1]
    standing = "4 of 17 numbers of the class and of the road map's 2018 were checked in their sources"
    assert standing in " ".join(out.split()) and "(cited from memory)" in page.read_text()
    code, out, _ = call(capsys, *classed, "--json")
    found = json.loads(out)
    assert found["machine"]["standing"].startswith(standing)
    assert code == OK and found["left_out"] and len(found["fits"]) == 2 and found["machine"]["year"] == 2018
    for one in found["applications"]:
        assert one["weak"][0]["nodes"] == 1 and one["weak"][-1]["nodes"] == 16
        assert all(p["low"] <= p["seconds"] <= p["high"] for p in (*one["weak"], *one["strong"]))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "the number of nodes is missing"),
        (["--nodes", "10", "--topology", "torus:4x4"], "has 16"),
        (["--topology", "ring"], "write KIND:AxBxC"),
        (["--nodes", "0"], "--nodes"),
        (["--nodes", "4", "--power", "20"], "write a power"),
        (["--nodes", "4", "--watts", "0W"], "write a power"),
        (["--nodes", "4", "--year", "2018"], "add --class light"),
        (["--nodes", "4", "--class", "lite"], "did you mean light"),
        (["--nodes", "4", "--class", "missing.toml"], "missing.toml"),
        (["--nodes", "4", "--class", "light", "--year", "2050"], "the road map covers"),
        (["--nodes", "4", "--network", "hdr20"], "did you mean hdr200"),
        (["--nodes", "4", "--only", "chess"], "no application 'chess'"),
        (["--nodes", "4"], "no verified ping-pong"),
    ],
)
@pytest.mark.full
def test_bad_input_is_told_in_a_line(results: Path, capsys: Captured, words: list[str], message: str) -> None:
    code, out, err = call(capsys, "project", "solved", "--results", str(results), *words)
    assert code == USAGE and out == "" and message in err and err.count("\n") == 1


def test_a_checkpoint_that_was_not_measured_must_be_named(results: Path, capsys: Captured) -> None:
    words = ["project", "solved", "--results", str(results), "--nodes", "16", "--network", "hdr200", "--mtbf", "43800"]
    code, out, err = call(capsys, *words)
    assert (code, out, err.count("\n")) == (USAGE, "", 1)
    assert "no verified time of a checkpoint" in err and "--checkpoint SECONDS" in err


@pytest.mark.native
def test_intervals_between_checkpoints_are_part_of_a_projection(
    results: Path, capsys: Captured, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    words = ["project", "solved", "--results", str(results), "--nodes", "1024", "--network", "hdr200"]
    words += ["--simulate", "16", "--checkpoint", "300"]
    code, out, _ = call(capsys, *words, "--mtbf", "8760", "--output", str(page))
    assert code == OK and page.read_text().count("<section") == 6 and "300 s for a restart" in " ".join(out.split())
    code, out, _ = call(capsys, *words, "--json")
    found = json.loads(out)["checkpoints"]
    assert found["node_mtbf"] == 5 * 365 * 86400 and found["rows"][-1]["nodes"] == 1024
    assert found["rows"][0]["efficiency"] > found["rows"][-1]["efficiency"] > 0.9

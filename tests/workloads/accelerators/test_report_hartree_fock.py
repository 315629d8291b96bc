"""hartree_fock's own drawings, from invented runs: gains by class, input by input, registers, and a whole energy."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from msgspec.structs import replace
from test_report_noise import judged

import shipped
from firstlight.analysis import Judgement
from firstlight.analysis.figures import judge
from firstlight.analysis.verdict import Unverified
from firstlight.core import heritage
from firstlight.execute.build import Kernel
from firstlight.model.catalogue import Workload
from firstlight.model.plan import Placement
from firstlight.report import html, plots, terminal
from firstlight.report.frame import Drawing
from firstlight.results.description import Metric
from firstlight.results.record import LaunchRecord
from report_samples import view_of
from synthetic import Point

SHARES = {"ssss": 0.3, "psss": 0.3, "psps": 0.15, "ppss": 0.1, "ppps": 0.1, "pppp": 0.05}
TIME = Metric("time", "ms", "elements", "time", 1e3, "lower")
METRICS = (
    TIME,
    *(Metric(f"{name}_time", "ns", "operations", "time", 1e9, "lower", phase=name) for name in SHARES),
    Metric("iterations", "iterations", "iterations", "value", 1, "lower"),
)
Case = dict[str, int | float | str]
MATRIX: Case = {"molecule": "water8", "basis": "3-21G", "task": "matrix", "tau": 1e-10}
ENERGY: Case = {"molecule": "benzene", "basis": "3-21G", "task": "energy", "tau": 1e-12}
PLOTS = {p.kind: p for p in shipped.workloads()["hartree_fock"].plots}
Run = tuple[str, str | None, Placement, list[Point]]


def point(case: Case, seconds: float, threads: int = 1) -> Point:
    cost = {"elements": 1.0, "operations": 6000.0} | {f"{name}.operations": 1000.0 for name in SHARES}
    return Point(case, threads, cost, 1e5, seconds)


def marked(record: LaunchRecord, number: int) -> LaunchRecord:
    """Add phases: vectors speed up (pp,pp) twice as much as all else."""
    samples = []
    for s in record.samples:
        step = s.wall / record.cases[s.case].steps
        times = {f"phase_{k}": (share * step,) * 3 for k, share in SHARES.items()}
        if record.launch.variant == "simd":
            times["phase_pppp"] = (times["phase_pppp"][0] / 2,) * 3
        samples.append(replace(s, values=dict(s.values) | times | {"iterations": (14.0, 14.0, 14.0)}))
    return replace(record, samples=tuple(samples))


def run(kinds: Sequence[str], *cells: Run) -> tuple[Judgement, dict[str, Workload]]:
    judgement, known = judged("hartree_fock", METRICS, cells, tuple(PLOTS[k] for k in kinds), marked)
    described = {k: replace(d, phases=tuple(SHARES)) for k, d in judgement.run.descriptions.items()}
    return judge(replace(judgement.run, descriptions=described), judgement.records, known), known


def drawings(judgement: Judgement, known: dict[str, Workload]) -> list[Drawing]:
    html.render(judgement, known, heritage.load())  # each sentence is traced to its numbers
    return plots.draw(view_of(judgement, known), known["hartree_fock"])


SERIAL: Run = ("serial", None, Placement(), [point(MATRIX, 60e-3), point(ENERGY, 2.0)])
SIMD: Run = ("simd", None, Placement(), [point(MATRIX, 20e-3), point(ENERGY, 0.7)])


def test_gains_by_class_against_the_serial_variant() -> None:
    (drawn,) = drawings(*run(["classes"], SERIAL, SIMD))
    (line,) = (t for t in drawn.data if t["name"] == "simd")
    assert line["x"] == ["ss,ss", "ps,ss", "ps,ps", "pp,ss", "pp,ps", "pp,pp"]
    assert line["y"] == pytest.approx([3, 3, 3, 3, 3, 6], rel=0.03)
    assert "simd gains from " in drawn.title and drawn.title.endswith(" in pp,pp")
    ours = [r for r in drawn.rows if not r[1].startswith("R4")]
    assert [r[0] for r in ours] == line["x"] * 2
    assert all((r[5] == "–") == r[1].startswith("serial") for r in ours)


def test_what_is_slower_is_not_said_to_gain() -> None:
    (drawn,) = drawings(*run(["classes"], SERIAL, ("simd", None, Placement(), [point(MATRIX, 100e-3)])))
    assert "simd gains 1.2 × in pp,pp, but is slower at 0.5" in drawn.title
    (drawn,) = drawings(*run(["classes"], SERIAL, ("simd", None, Placement(), [point(MATRIX, 200e-3)])))
    assert "simd is slower than the serial variant: 0.2" in drawn.title and "gains" not in drawn.title


def test_published_times_and_gains_stand_beside_ours() -> None:
    """R4's first class: 246 ms on a core, 66.2 on four, 45 and then 10.5 on a GPU."""
    (drawn,) = drawings(*run(["classes"], SERIAL, SIMD))
    first = [r for r in drawn.rows if r[1].startswith("R4") and r[0] == "ss,ss"]
    assert [r[2] for r in first] == ["246 ms", "66.2 ms", "45.0 ms", "10.5 ms", "10.5 ms"]
    assert [r[5] for r in first] == ["–", "3.72 ×", "5.47 ×", "23.4 ×", "23.4 ×"]
    ghosts = [t for t in drawn.data if t.get("legendgroup") == "ghosts"]
    assert sorted(t["y"][0] for t in ghosts) == pytest.approx(sorted(246 / v for v in (66.2, 45, 10.5, 10.5)))


def test_without_the_serial_variant_no_gain_is_told() -> None:
    assert drawings(*run(["classes"], SIMD)) == []
    (alone,) = drawings(*run(["classes"], SERIAL))
    assert alone.data == [] and alone.title.endswith("only the serial variant was measured")


def test_input_by_input_with_iterations_of_an_energy() -> None:
    (drawn,) = drawings(*run(["inputs"], SERIAL, SIMD))
    by_case = {("energy" in r[0]): r for r in drawn.rows}
    assert len(by_case) == len(drawn.rows) == 2
    assert all(r[2] == "simd" and r[4].endswith(" ×") for r in drawn.rows)
    assert float(by_case[True][4].split()[0]) == pytest.approx(2.0 / 0.7, rel=0.03)
    assert by_case[True][5] == "14"


def kernel(name: str, registers: int, stores: int = 0) -> Kernel:
    return Kernel(f"void hartree_fock::on_device<{name} >", "sm_90", registers, stores, stores, 0, 512)


def test_registers_and_spills_of_each_kernel_also_without_a_gpu() -> None:
    judgement, known = run(["kernels"], SERIAL)
    compiled = (
        kernel("hartree_fock::Fused<hartree_fock::Atomically>::Quartets<2, 2>", 255, 1344),
        kernel("hartree_fock::Tuned::Quartets<0, 0, 0, 1>", 51),
        kernel("hartree_fock::Tuned::Quartets<2, 2, 4, 5>", 254),
    )
    (build,) = judgement.run.builds
    there = replace(judgement, run=replace(judgement.run, builds=(replace(build, kernels=compiled),)))
    (drawn,) = drawings(there, known)
    assert drawn.title.endswith("registers are spilled by (pp,pp) in serial; all others fit")
    assert "This run had no GPU" in drawn.caption
    assert [(r[0], r[3], r[5]) for r in drawn.rows[:3]] == [
        ("ss,ss", "51", "0"), ("pp,pp", "254", "0"), ("pp,pp", "255", "1344"),
    ]  # fmt: skip
    assert [r[3:] for r in drawn.rows[3:]][-1] == ("63", "0", "2708", "2332")  # R4's (pp,pp)
    assert drawings(judgement, known) == []


def test_a_whole_energy_on_more_cores() -> None:
    (drawn,) = drawings(
        *run(
            ["scaling"], SERIAL, SIMD,
            ("omp", None, Placement(1, 1, 2), [point(ENERGY, 0.37, 2)]),
            ("mpi_tasks", "openmpi", Placement(1, 2, 1), [point(ENERGY, 0.4)]),
        )
    )  # fmt: skip
    assert drawn.title.startswith("A whole energy, molecule = benzene: 2 cores gain 1.")
    lines = {t["name"]: t["y"] for t in drawn.data if len(t["y"]) == 2 and "ideal" not in t["name"]}
    assert sorted(y[1] for y in lines.values()) == pytest.approx([370, 400], rel=0.03)
    assert all(y[0] == pytest.approx(700, rel=0.03) for y in lines.values())


def test_sums_without_atomics_are_shown_as_unverified_by_design() -> None:
    """This holds for any result of the check: it has no number to rank, and the page shows the reason."""
    source = (shipped.folder("hartree_fock") / "cuda_no_atomics.cu").read_text(encoding="utf-8")
    why = "its sums are wrong on purpose: threads add without atomics, to show how much time atomics add"
    assert f'.unverified = "{why}"' in source
    judgement, known = run(["inputs"], SERIAL, ("cuda_no_atomics", None, Placement(), [point(MATRIX, 1e-3)]))
    described = dict(judgement.run.descriptions)
    target = "hartree_fock.cuda_no_atomics"
    described[target] = replace(described[target], unverified=why)
    judgement = judge(replace(judgement.run, descriptions=described), judgement.records, known)
    racing = [f for f in judgement.figures if f.identity.variant == "cuda_no_atomics"]
    assert racing and all(isinstance(f, Unverified) and why in f.reason for f in racing)
    (drawn,) = drawings(judgement, known)
    assert not any("cuda_no_atomics" in cell for row in drawn.rows for cell in row)
    assert why in html.render(judgement, known, heritage.load())
    assert "cuda_no_atomics" not in terminal.summary(judgement, known).split("not available")[0]

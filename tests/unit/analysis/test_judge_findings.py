"""Each finding appears for its case, with numbers of the data, and does not appear otherwise."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from msgspec.structs import replace

import synthetic
import synthetic_machine
from firstlight.analysis import Finding, Judgement, findings
from firstlight.analysis.figures import judge
from firstlight.analysis.findings import discover, mpi_differs, rules
from firstlight.analysis.findings._common import without_defaults
from firstlight.analysis.formatting import listing
from firstlight.analysis.interval import estimate
from firstlight.analysis.verdict import Figure, Identity, Verified
from firstlight.core.units import binary, factor, significant
from firstlight.model import catalogue
from firstlight.model.catalogue import Workload
from firstlight.model.plan import Placement
from firstlight.results.record import LaunchRecord

STEADY = synthetic_machine.machine(governor="performance", turbo=False)


def findings_of(j: Judgement, rule: str) -> list[Finding]:
    return [f for f in j.findings if f.rule == rule]


@pytest.fixture(scope="module")
def judged() -> Judgement:
    return synthetic.judgement()


def test_a_file_is_the_registration() -> None:
    files = {p.stem for p in Path(findings.__file__).parent.glob("*.py") if not p.stem.startswith("_")}
    assert set(rules()) == files
    assert len(files) >= 10


def test_no_default_that_nobody_set_is_printed(judged: Judgement) -> None:
    """A parameter that the program adds by itself is printed where the run has several values of it, or set one."""

    def with_pi(f: Figure, pi: int) -> Figure:
        return replace(f, identity=replace(f.identity, parameters=(*f.identity.parameters, ("pi", pi))))

    of_dot = [f for f in judged.figures if f.identity.workload == "dot"]
    alike = replace(judged, figures=tuple(with_pi(f, 0) for f in of_dot))
    was, now = of_dot[0].identity, alike.figures[0].identity
    assert without_defaults(alike, now).parameters == without_defaults(judged, was).parameters != ()
    assert "pi" not in "".join("".join(f.evidence) + f.sentence for f in discover(alike, synthetic.run().workloads))
    differing = replace(alike, figures=(*alike.figures[:-1], with_pi(of_dot[-1], 2)))
    assert without_defaults(differing, now) == now
    (first, *rest) = judged.run.cells
    dot = replace(first, program=replace(first.program, workload="dot"), arguments=(*first.arguments, "pi=0"))
    given = replace(alike, run=replace(alike.run, cells=(dot, *rest)))
    assert without_defaults(given, now) == now


def test_fast_but_wrong(judged: Judgement) -> None:
    (found,) = findings_of(judged, "fast_but_wrong")
    assert found.sentence.startswith("fast but wrong: gcc-fast and clang-fast break dot.kahan: ")
    assert found.sentence.endswith("(error 2.5e-10, allowed 1e-16)")
    assert found.command == "./fl run dot.kahan --toolchain '*-fast'"
    assert {i.toolchain for i in found.about} == {"gcc-fast", "clang-fast"}
    assert found.weight == max(f.weight for f in judged.findings)


def test_wrong_everywhere_is_failed_not_fast_but_wrong() -> None:
    scene = synthetic.run(1, 6, only=["dot"], failed_build=False)
    wrong = tuple(
        replace(r, checks=tuple(replace(c, ok=False, what="wrong") for c in r.checks))
        if ".kahan" in r.start.cell
        else r
        for r in scene.records
    )
    j = judge(scene.run, wrong, scene.workloads)
    assert findings_of(j, "fast_but_wrong") == []
    (found,) = findings_of(j, "failed")
    assert found.sentence.startswith("dot.kahan failed with gcc-base, gcc-native, ")


def test_wrong_under_base_alone_is_not_fast() -> None:
    scene = synthetic.run(1, 6, only=["dot"], failed_build=False)
    wrong = tuple(
        replace(r, checks=tuple(replace(c, ok=False, what="wrong") for c in r.checks))
        if r.start.cell == "dot.serial-gcc-base"
        else r
        for r in scene.records
    )
    j = judge(scene.run, wrong, scene.workloads)
    assert [f.sentence.partition(" break")[0] for f in findings_of(j, "fast_but_wrong")] == [
        "fast but wrong: gcc-fast and clang-fast"
    ]
    assert [f.command for f in findings_of(j, "failed")] == ["./fl run dot.serial --toolchain gcc-base"]


def test_a_failed_build(judged: Judgement) -> None:
    (found,) = findings_of(judged, "failed")
    assert found.sentence == (
        "dot.fortran_loop failed with clang-native: does not build: fortran_loop.f90:12: error: "
        "module 'omp_lib' not found"
    )


def test_above_ceiling() -> None:
    j = synthetic.judgement(1, 7, only=["dot", "stream", "peak"], slower={"dot.simd": 0.6})
    (found,) = findings_of(j, "above_ceiling")
    assert "dot.simd has " in found.sentence and "load_bandwidth allows" in found.sentence
    assert found.command.startswith("./fl run dot.simd ") and " stream" in found.command
    assert not [f for f in findings_of(j, "failed") if "simd" in f.sentence]


def test_cache_cliffs_name_level_place_and_factor(judged: Judgement) -> None:
    found = [f for f in findings_of(judged, "cache_cliff") if f.sentence.startswith("dot ")]
    assert len(found) == 2
    sentences = {f.sentence for f in found}
    assert (
        "dot becomes 2.2 x slower between n = 1e6 and 1e7: its data exceed the L3 cache (32 MiB) at n = 2.1e6"
        in sentences
    )
    assert (
        "dot becomes 2.2 x slower between n = 1000 and 10000: its data exceed the L1 cache (32 KiB) at n = 2000"
        in sentences
    )
    by_workload = [f.sentence.split()[0] for f in findings_of(judged, "cache_cliff")]
    assert max(map(by_workload.count, by_workload)) <= 2
    assert "pingpong" not in by_workload and "latency" not in by_workload


def test_no_cliff_without_caches_or_on_one_point() -> None:
    assert findings_of(synthetic.judgement(1, 6, on=synthetic_machine.machine(caches=())), "cache_cliff") == []
    assert findings_of(synthetic.judgement(1, 6, only=["peak"]), "cache_cliff") == []


def lattice(axis: str, plots: bool) -> tuple[Judgement, dict[str, Workload]]:
    """Return rates of dirac that fall 4 x between two points of `axis`, of which the second exceeds the L2."""
    judged, workloads = synthetic.judgement(1, 6, only=["dot"]), catalogue.load(catalogue.roots())
    level = next(c.size for c in judged.run.machine.caches if c.level == 2)
    figures = []
    for value, working_set, rate in ((32, 0.6 * level, 100.0), (64, 1.2 * level, 25.0)):
        parameters = tuple(
            sorted(({"t": 4, "x": 8, "y": 8, "z": 8, "bits": 32, "operator": "D"} | {axis: value}).items())
        )
        identity = Identity("dirac", "virtual_nodes", "gcc-native", None, Placement(), parameters, "speed")
        values = estimate([rate * (1 + 0.001 * k) for k in range(8)])
        figures.append(Verified(identity, "Gflop/s", "higher", values, working_set, {"flops": 1e6}, None, 0.0))
    kept = workloads["dirac"] if plots else replace(workloads["dirac"], plots=())
    return replace(judged, figures=tuple(figures)), {**workloads, "dirac": kept}


@pytest.mark.parametrize(
    ("axis", "plots", "cliffs"), [("bits", True, 0), ("t", True, 1), ("t", False, 0), ("x", True, 0)]
)
def test_only_what_is_declared_as_a_size_can_leave_a_cache(axis: str, plots: bool, cliffs: int) -> None:
    judged, workloads = lattice(axis, plots)
    found = [f for f in discover(judged, workloads) if f.rule == "cache_cliff"]
    assert len(found) == cliffs, found
    assert all("between t = 32 and 64: its data exceed the L2" in f.sentence for f in found)


def test_mpi_differs(judged: Judgement) -> None:
    (found,) = findings_of(judged, "mpi_differs")
    small = "MPI libraries differ in plain calls. Small messages (below 64 KiB): MPICH (message latency, 8 B"
    assert found.sentence.startswith(small)
    assert "; large messages (64 KiB and more): Open MPI (message bandwidth, 1 MiB: 1." in found.sentence
    assert {i.mpi for i in found.about} == {"openmpi", "mpich"} and "pingpong.mpi_" in found.command


def test_programs_without_a_purpose_are_compared_case_by_case(judged: Judgement) -> None:
    (found,) = mpi_differs.find(judged, {})
    assert found.sentence.startswith("Open MPI makes pingpong.mpi_") and found.sentence.endswith(" x faster than MPICH")


def test_one_mpi_differs_from_none() -> None:
    scene = synthetic.run(1, 6, only=["pingpong"])
    cells = tuple(c for c in scene.run.cells if c.program.mpi == "mpich")
    records = [r for r in scene.records if r.start.cell in {c.id for c in cells}]
    assert findings_of(judge(replace(scene.run, cells=cells), records, scene.workloads), "mpi_differs") == []


def test_divergence(judged: Judgement) -> None:
    (found,) = findings_of(judged, "divergence")
    samples = [s for r in judged.records for s in r.samples]
    low = sum(s.cpu < 0.9 for s in samples)
    percent = f"{100 * low / len(samples):.1f} %"
    assert f"diverged in {percent} of the samples ({low} of {len(samples)})" in found.sentence
    scene = synthetic.run(1, 6)
    quiet = tuple(replace(r, samples=tuple(replace(s, cpu=0.99) for s in r.samples)) for r in scene.records)
    assert findings_of(judge(scene.run, quiet, scene.workloads), "divergence") == []


def test_oversubscription(judged: Judgement) -> None:
    assert findings_of(judged, "oversubscription") == []
    j = synthetic.judgement(1, 6, on=synthetic_machine.machine(cpus=(0,), cores=1))
    (found,) = findings_of(j, "oversubscription")
    assert found.sentence.startswith("oversubscribed: stream.omp, stream.omp_nontemporal and 3 more ran with up to ")
    assert "on 1 CPU. firstlight neither ranks" in found.sentence


@pytest.mark.parametrize(
    ("governor", "turbo", "expected"),
    [
        ("powersave", True, "the frequency governor is powersave and turbo is on: the clock frequency may change"),
        ("performance", True, "turbo is on: the clock frequency may change"),
        ("ondemand", None, "the frequency governor is ondemand: the clock frequency may change"),
        (None, None, "the frequency policy is not visible (governor and turbo unknown; virtual machine)"),
        ("performance", False, None),
    ],
)
def test_frequency_policy(governor: str | None, turbo: bool | None, expected: str | None) -> None:
    j = synthetic.judgement(1, 1, only=["peak"], on=synthetic_machine.machine(governor=governor, turbo=turbo))
    found = findings_of(j, "frequency_policy")
    assert [f.sentence.startswith(expected or "") for f in found] == ([True] if expected else [])


def test_compiler_wins(judged: Judgement) -> None:
    found = {f.sentence.split(" make ")[1].split(".")[0]: f.sentence for f in findings_of(judged, "compiler_wins")}
    assert set(found) == {"dot", "peak"}  # stream gains 10 %: not worth a finding
    assert found["dot"].startswith("fast flags make dot.serial 4.7 x faster than base with ")
    assert found["peak"].startswith("native flags make peak.omp 2.0 x faster than base with gcc")
    assert "kahan" not in str(found)  # 20 x faster, and wrong


def test_lost_launches(judged: Judgement) -> None:
    assert findings_of(judged, "lost_launches") == []
    scene = synthetic.run(1, 7, only=["dot", "pingpong"])
    cell = "pingpong.mpi_blocking-gcc-native-mpich"
    hung = tuple(
        synthetic.lost(r) if r.start.cell == cell and r.start.launch == 2 else r for r in scene.records
    )  # fmt: skip
    j = judge(scene.run, hung, scene.workloads)
    (found,) = findings_of(j, "lost_launches")
    assert found.sentence == f"1 of {len(hung)} launches was lost: rank 1 hung: killed after 60 s"
    assert found.command == "./fl run pingpong.mpi_blocking --toolchain gcc-native --mpi mpich"


def test_a_command_has_the_settings_of_its_own_programs_only() -> None:
    scene = synthetic.run(1, 7, only=["dot", "pingpong"])
    cell = "pingpong.mpi_blocking-gcc-native-mpich"
    hung = tuple(synthetic.lost(r) if r.start.cell == cell and r.start.launch == 2 else r for r in scene.records)
    settings = {"dot": {"n": (400,), "kernel": ("*",)}, "pingpong": {"bytes": (8, 64)}}
    j = judge(replace(scene.run, settings=settings), hung, scene.workloads)
    (found,) = findings_of(j, "lost_launches")
    assert found.command == "./fl run pingpong.mpi_blocking --toolchain gcc-native --mpi mpich bytes=8,64"
    (found,) = findings_of(j, "fast_but_wrong")
    assert found.command == "./fl run dot.kahan --toolchain '*-fast' n=400 'kernel=*'"
    about = Finding("", "", (), "./fl run peak.omp", 1, (found.about[0],))
    assert findings._with_settings(about, j.run).command == "./fl run peak.omp"


def test_a_quiet_run_of_one_workload_says_little() -> None:
    scene = synthetic.run(1, 6, only=["latency"], on=STEADY)
    quiet = tuple(replace(r, samples=tuple(replace(s, cpu=0.99) for s in r.samples)) for r in scene.records)
    assert judge(scene.run, quiet, scene.workloads).findings == ()


def test_findings_are_ordered_and_reproducible(judged: Judgement) -> None:
    weights = [f.weight for f in judged.findings]
    assert weights == sorted(weights, reverse=True)
    assert tuple(discover(judged, synthetic.run().workloads)) == judged.findings
    for f in judged.findings:
        assert f.command.startswith("./fl ") and f.evidence and "\n" not in f.sentence


def test_a_finding_about_some_figures_of_a_weightier_one_is_left_out(judged: Judgement) -> None:
    a, b, c = (f.identity for f in judged.figures[:3])

    def about(weight: float, *some: Identity) -> Finding:
        return Finding("rule", f"finding {weight}", (), "", weight, some)

    whole, part, alone, same = about(9, a, b, c), about(8, a, b), about(7, a), about(6, a, b, c)
    assert findings.without_repetitions([whole, part, alone, same]) == [whole, alone, same]
    assert findings.without_repetitions([part, whole]) == [part, whole]


def test_with_too_few_launches_nothing_is_claimed_of_speed() -> None:
    j = synthetic.judgement(1, 3)
    assert {f.rule for f in j.findings} & {"mpi_differs", "compiler_wins"} == set()
    assert findings_of(j, "fast_but_wrong")


def test_words() -> None:
    assert [significant(x) for x in (0, 0.3124, 14.24, 999.7, 1766, 17241, 2.5e-10, 1e7, -3.5)] == [
        "0", "0.312", "14.2", "1000", "1770", "17200", "2.5e-10", "1e7", "-3.50"
    ]  # fmt: skip
    assert [factor(x) for x in (1.625, 12.34, 240.4)] == ["1.6", "12", "240"]
    assert [binary(x) for x in (8, 1024, 1024**2, 1.5 * 1024**3)] == ["8 B", "1 KiB", "1 MiB", "1.50 GiB"]
    assert [listing(x) for x in (["a"], ["a", "b"], ["a", "b", "c"], [])] == ["a", "a and b", "a, b and c", ""]


@pytest.mark.parametrize(("share", "fires"), [(1.0, False), (2.5, False), (0.5, True)])
def test_missing_operations_are_noticed_where_they_are_counted(share: float, fires: bool) -> None:
    scene = synthetic.run(1, 6, only=["dot"])

    def counting(r: LaunchRecord) -> LaunchRecord:
        work = {c.case: c.cost["flops"] for c in r.cases}
        return replace(r, counters=tuple(replace(c, flops=share * work[c.case] * c.steps) for c in r.counters))

    records = tuple(counting(r) if ".simd" in r.start.cell else r for r in scene.records)
    found = findings_of(judge(scene.run, records, scene.workloads), "flops_missing")
    assert bool(found) == fires
    if fires:
        assert found[0].sentence == "dot.simd with clang-base executes 0.50 of its declared floating-point operations"
        assert found[0].command == "./fl run dot.simd --toolchain clang-base"


def test_every_command_works_as_typed(judged: Judgement) -> None:
    import click

    from firstlight.commands.shared.command_line import group

    scene = synthetic.run(1, 1)
    planned = {c.program.target for c in scene.run.cells} | {b.program.target for b in scene.run.builds}
    assert judged.findings
    for finding in judged.findings:
        fl, name, *words = shlex.split(finding.command)
        command = group.get_command(click.Context(group), name)
        assert fl == "./fl" and command is not None
        with command.make_context(name, words) as context:
            assert set(context.params.get("workload", ())) <= planned | set(scene.workloads)

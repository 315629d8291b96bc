"""The plan: every cell is planned once, rounds are balanced and reproducible."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import shipped
from firstlight.core.errors import UsageError
from firstlight.model import catalogue
from firstlight.model.catalogue import Duration, Selection, Sizes, Value, needs
from firstlight.model.plan import EFFORT, Cell, Placement, Plan, Program, order, plan, select
from firstlight.model.plan.arguments import Options
from firstlight.model.plan.ceilings import bounding, unmeasured
from firstlight.model.plan.runtime_estimate import MATCHES, START, cases, launch_seconds
from firstlight.model.plan.splitting import Box, split
from firstlight.runner import agenda
from firstlight.system.machine import Storage
from firstlight.toolchain import Library, Linking
from invented_plan import GIB, KIB, MACHINE, MIB, TOOLBOX, keys, machine, mpi, workload

LEVELS = Sizes("level", 9000, growth=4)


def test_variants_that_need_more_memory_are_planned_to_a_smaller_size() -> None:
    hungry = workload(
        Selection(["lean"], parameters={"level": [1, "largest"]}),
        Selection(["hungry"], parameters={"level": [8, 9, "largest"]}, bytes_per_element=4 * LEVELS.bytes_per_element),
        variants={"lean": (), "hungry": ()},
        sizes=LEVELS,
    )
    planned = plan("quick", hungry, [], TOOLBOX, MACHINE, ["gcc-native"])
    assert {c.program.variant: c.arguments[0] for c in planned.cells} == {"hungry": "level=8", "lean": "level=1,9"}
    assert [a.what for a in planned.absent] == ["w with level=9"]
    assert planned.absent[0].why.startswith("this size requires 8.79 GiB, but a launch can use only ")


def test_targets_of_storage_are_those_of_the_machine() -> None:
    entry = Selection(["serial"], parameters={"to": ["*"]})
    everywhere = {"w": replace(workload(entry, variants={"serial": ()})["w"], storage="to")}
    assert not plan("quick", everywhere, [], TOOLBOX, MACHINE).cells
    here = replace(MACHINE, storage=(Storage("results"), Storage("shm")))
    assert {c.values["to"] for c in plan("quick", everywhere, [], TOOLBOX, here).cells} == {
        ("results",), ("shm",)
    }, "a target that fails ends the launches of its own cases only"  # fmt: skip
    chosen = plan("quick", everywhere, [], TOOLBOX, here, settings={"w": {"to": ["shm", "scratch"]}})
    assert {c.values["to"] for c in chosen.cells} == {("shm",)}
    assert [(a.what, a.fix) for a in chosen.absent] == [("w on target scratch", "./fl run --storage scratch=DIR")]


def test_needs_decide_what_is_planned_and_what_is_absent() -> None:
    everything = workload(
        Selection(["*"], parameters={"n": [1]}),
        variants={"serial": (), "fortran_loop": ("fortran",), "blas": ("blas1",), "mpi_f08": ("mpi", "fortran")},
    )
    planned = plan("quick", everything, [], TOOLBOX, MACHINE, toolchains=["*-native"])
    assert sorted(keys(planned)) == [
        "w.blas_blis@clang-native",
        "w.blas_blis@gcc-native",
        "w.blas_openblas@clang-native",
        "w.blas_openblas@gcc-native",
        "w.fortran_loop@gcc-native",
        "w.mpi_f08@gcc-native+openmpi",
        "w.serial@clang-native",
        "w.serial@gcc-native",
    ]
    absent = {a.what: a.why for a in planned.absent}
    assert absent["w.fortran_loop with clang-native"] == "requires a Fortran compiler"
    assert "mpi_f08" in absent["w.mpi_f08 with gcc-native and mpich"]
    assert all(a.fix for a in planned.absent)


def test_without_mpi_and_blas_the_reason_is_said_once() -> None:
    bare = msgspec.structs.replace(TOOLBOX, mpis=(), libraries=())
    chosen = Selection(["blas_openblas", "mpi_x"])
    planned = plan("quick", workload(chosen, variants={"blas": ("blas1",), "mpi_x": ("mpi",)}), [], bare, MACHINE)
    assert planned.cells == ()
    assert sorted(a.what for a in planned.absent) == ["w.blas", "w.mpi_x"]


def test_a_variant_becomes_one_program_for_each_library_that_offers_what_it_needs() -> None:
    libraries = (
        Library("blis", "BLIS", (), (), offers=("blas1", "blas2", "blas3")),
        Library("fftw3", "FFTW", (), (), offers=("fft",)),
        Library("openblas", "OpenBLAS", (), (), offers=("blas1", "blas2", "blas3", "lapack")),
    )
    names = ("blas", "lapack", "fft", "blas3_tiled", "lapack_blas3", "fft_blas2")
    variants = {name: needs(name) for name in names}
    some = workload(Selection(["*"], toolchains=["gcc-native"]), variants=variants)
    planned = plan("quick", some, [], msgspec.structs.replace(TOOLBOX, libraries=libraries), MACHINE)
    assert sorted(c.program.variant for c in planned.cells) == [
        "blas3_tiled_blis", "blas3_tiled_openblas", "blas_blis", "blas_openblas", "fft_fftw3", "lapack_blas3_openblas",
        "lapack_openblas",
    ]  # fmt: skip
    (gap,) = planned.absent
    assert gap.what == "w.fft_blas2"
    assert gap.why == "requires an FFT library and a library with BLAS 2, in one library"


def test_one_toolchain_is_enough_where_flags_cannot_matter() -> None:
    dull = workload(Selection(["*"]), variants={"mpi_x": ("mpi",)}, sensitive=False)
    assert keys(plan("quick", dull, [], TOOLBOX, MACHINE)) == [
        "w.mpi_x@gcc-native+openmpi",
        "w.mpi_x@gcc-native+mpich",
    ]
    assert keys(plan("quick", dull, [], TOOLBOX, MACHINE, ["clang-*"], ["mpich"])) == ["w.mpi_x@clang-native+mpich"]


def test_toolchains_of_the_user_replace_those_of_the_suite_for_a_named_variant() -> None:
    some = workload(Selection(["serial"], toolchains=["*-native"]), variants={"serial": ()})
    assert keys(plan("quick", some, ["w.serial"], TOOLBOX, MACHINE, ["gcc-base"])) == ["w.serial@gcc-base"]
    assert keys(plan("quick", some, ["w.serial"], TOOLBOX, MACHINE, ["gcc-*"])) == ["w.serial@gcc-native"]
    assert keys(plan("quick", some, [], TOOLBOX, MACHINE, ["gcc-base"])) == []


def test_one_toolchain_can_be_asked_for() -> None:
    entry = workload(Selection(["serial"], toolchains=["one"]), variants={"serial": ()})
    assert keys(plan("quick", entry, [], TOOLBOX, MACHINE)) == ["w.serial@gcc-native"]
    assert keys(plan("quick", entry, [], TOOLBOX, MACHINE, ["clang-*"])) == ["w.serial@clang-native"]


def test_threads_belong_to_openmp_and_ranks_to_mpi() -> None:
    both = workload(
        Selection(["*"], toolchains=["gcc-native"], ranks=2, threads=[1, "all", 4, 99]),
        variants={"serial": (), "omp": ("openmp",), "mpi_omp": ("mpi", "openmp"), "broken_x": ()},
    )
    planned = plan("quick", both, [], TOOLBOX, MACHINE, mpis=["openmpi"])
    assert [(c.program.variant, c.placement) for c in planned.cells] == [
        ("serial", Placement(1, 1, 1)),
        ("omp", Placement(1, 1, 1)),
        ("omp", Placement(1, 1, 4)),
        ("mpi_omp", Placement(1, 2, 1)),
        ("mpi_omp", Placement(1, 2, 4)),
    ]
    assert any("99 threads" in a.what for a in planned.absent)


def test_a_sweep_over_threads_ends_at_the_cores_unless_hardware_threads_are_asked_for() -> None:
    smt = msgspec.structs.replace(MACHINE, cpus=tuple(range(8)), threads_per_core=2)
    sweep: list[int | str] = [1, 2, 4, 8, "all", "all-threads"]
    for threads, expected in ((sweep[:-1], [1, 2, 4]), (sweep, [1, 2, 4, 8])):
        entry = workload(Selection(["*"], ["gcc-native"], threads=threads), variants={"omp": ("openmp",)})
        planned = plan("quick", entry, [], TOOLBOX, smt)
        assert [c.placement.threads for c in planned.cells] == expected
        assert [a.why for a in planned.absent] == ["this machine has only 4 cores"]


def test_a_single_core_lets_its_hardware_threads_stand_for_cores_where_two_are_needed() -> None:
    single = msgspec.structs.replace(MACHINE, cores=1, cpus=(0, 1), threads_per_core=2)
    entry = workload(Selection(["*"], ["gcc-native"], threads=[2, "all"]), variants={"omp": ("openmp",)})
    assert [c.placement.threads for c in plan("quick", entry, [], TOOLBOX, single).cells] == [2, 1]


def test_what_an_mpi_library_lacks_is_said_before_the_build() -> None:
    some = workload(Selection(["*"]), variants={"mpi4_pieces": ("mpi", "mpi4")})
    planned = plan("quick", some, [], TOOLBOX, MACHINE, ["gcc-native"])
    assert keys(planned) == ["w.mpi4_pieces@gcc-native+mpich"]
    assert [a.what for a in planned.absent] == ["w.mpi4_pieces with gcc-native and openmpi"]
    assert "partitioned messages of MPI 4, which openmpi lacks" in planned.absent[0].why


def test_runtimes_come_with_some_mpi_libraries_and_work_with_some_compilers() -> None:
    some = workload(Selection(["*"]), variants={"shmem_put": ("mpi", "shmem"), "caf_put": ("mpi", "caf")})
    runtimes = {"shmem": Linking((), (), {}), "caf": Linking((), (), {}, ("gcc",))}
    box = msgspec.structs.replace(
        TOOLBOX, mpis=(msgspec.structs.replace(mpi("openmpi"), extras=runtimes), mpi("mpich"))
    )
    planned = plan("quick", some, [], box, MACHINE, ["*-native"])
    assert keys(planned) == [
        "w.shmem_put@clang-native+openmpi",
        "w.shmem_put@gcc-native+openmpi",
        "w.caf_put@gcc-native+openmpi",
    ]
    reasons = {gap.what: gap.why for gap in planned.absent}
    assert len(reasons) == 5
    assert "with OpenSHMEM; none that works with mpich was found" in reasons["w.shmem_put with gcc-native and mpich"]
    assert reasons["w.caf_put with clang-native and openmpi"].endswith("which works with gcc only")


def test_a_value_measured_by_an_earlier_cell_is_not_measured_again() -> None:
    overlapping = workload(
        Selection(["*"], parameters={"n": [10, 100], "k": [1]}),
        Selection(["*"], parameters={"n": [100, "L1", 1024], "k": [1]}),
        Selection(["*"], parameters={"n": [10], "k": [1]}),
        Selection(["*"], parameters={"n": [10], "k": [2]}),
        variants={"serial": ()},
        sizes=Sizes("n", 16),
    )
    planned = plan("quick", overlapping, [], TOOLBOX, MACHINE, ["gcc-native"])
    assert [c.arguments[:2] for c in planned.cells] == [("n=10,100", "k=1"), ("n=1024", "k=1"), ("n=10", "k=2")]
    assert len({c.id for c in planned.cells}) == 3


def test_a_named_variant_is_planned_even_where_the_suite_leaves_it_out() -> None:
    some = workload(
        Selection(["serial"], parameters={"n": [7]}), variants={"serial": (), "kahan": (), "blas": ("blas1",)}
    )
    assert keys(plan("quick", some, ["w"], TOOLBOX, MACHINE, ["gcc-base"])) == ["w.serial@gcc-base"]
    assert keys(plan("quick", some, ["w.kahan"], TOOLBOX, MACHINE, ["gcc-base"])) == ["w.kahan@gcc-base"]
    assert keys(plan("quick", some, ["w.blas_blis"], TOOLBOX, MACHINE, ["gcc-base"])) == ["w.blas_blis@gcc-base"]


def test_unknown_names_and_patterns_are_refused_with_a_hint() -> None:
    some = workload(Selection(["*"]), variants={"serial": (), "broken_x": ()})
    for name, hint in [("ww", "did you mean w"), ("w.seriel", "w.serial"), ("w.broken_x", "no workload")]:
        with pytest.raises(UsageError, match=hint):
            select(some, [name])
    with pytest.raises(UsageError, match=r"icc-\*.*gcc-native"):
        plan("quick", some, [], TOOLBOX, MACHINE, ["icc-*"])
    with pytest.raises(UsageError, match=r"no MPI library matches 'intel'"):
        plan("quick", some, [], TOOLBOX, MACHINE, mpis=["intel"])


def test_a_chapter_stands_for_its_workloads() -> None:
    some = workload(Selection(["*"]), variants={"serial": ()})
    more = some | {"v": replace(some["w"], name="v", chapter="network", suites={"full": []})}
    assert select(more, ["network"]) == {"v": None} and select(more, ["node", "v"]) == {"w": None, "v": None}
    assert plan("quick", more, ["network"], TOOLBOX, MACHINE) == Plan((), ())  # nothing lacks: the suite has none of it
    with pytest.raises(UsageError, match="did you mean network"):
        select(more, ["netwrok"])


BOXES = st.dictionaries(st.sampled_from("abc"), st.lists(st.integers(0, 4), min_size=1, unique=True), min_size=1)


@given(BOXES, st.lists(st.dictionaries(st.sampled_from("abc"), st.integers(0, 4)), max_size=4))
def test_what_is_split_is_the_whole_and_nothing_twice(whole: Box, requests: list[dict[str, int]]) -> None:
    """This includes repeated requests; a cheap whole stays one."""

    def cases(box: Box) -> list[tuple[Value, ...]]:
        return list(itertools.product(*(box[name] for name in sorted(whole))))

    parts = [{n: [v for v in some if want.get(n, v) == v] for n, some in whole.items()} for want in requests]
    parts = [part for part in parts if all(part.values())]
    found = split(whole, parts, lambda box: float(len(cases(box))))
    assert sorted(case for box in found for case in cases(box)) == sorted(cases(whole))
    wanted = {case for part in parts for case in cases(part)}
    first = set(itertools.accumulate(map(len, map(cases, found))))
    assert len(found) == 1 or (len(wanted) <= len(cases(whole)) / 2 and len(wanted) in first)
    assert split(whole, parts, lambda box: 0.01 * len(cases(box))) == [whole] or len(cases(whole)) > 30


@pytest.mark.parametrize("suite", ["quick", "standard", "full"])
def test_a_workload_that_is_named_and_has_no_such_suite_is_measured_as_another_says(suite: str) -> None:
    """It has the effort of the suite that was requested."""
    some = workload(Selection(["*"], parameters={"n": [5]}), variants={"serial": ()})
    planned = plan(suite, some, ["w"], TOOLBOX, MACHINE)
    assert {c.arguments for c in planned.cells} == {("n=5", *EFFORT[suite].arguments)}
    assert planned.absent == ()


def test_settings_take_the_place_of_a_suites_values() -> None:
    some = workload(Selection(["*"], parameters={"n": [5, 6], "m": [1]}), variants={"serial": ()})
    set_both = plan("quick", some, ["w"], TOOLBOX, MACHINE, settings={"w": {"n": (7, 8, 7), "k": ("x",)}})
    assert {c.arguments[:3] for c in set_both.cells} == {("n=7,8", "m=1", "k=x")}
    assert plan("quick", some, ["w"], TOOLBOX, MACHINE, settings={"v": {"n": (7,)}}) == plan(
        "quick", some, ["w"], TOOLBOX, MACHINE
    )


def test_entries_that_settings_make_alike_are_measured_once() -> None:
    entries = [{"m": ["a"], "t": [1, 2]}, {"m": ["b", "c"]}, {"m": ["d"], "t": [3]}]
    some = workload(*(Selection(["*"], parameters=dict(e)) for e in entries), variants={"serial": ()})
    settings: dict[str, dict[str, tuple[str, ...]]] = {"w": {"m": ("mine",)}}
    found = plan(
        "quick", some, ["w"], TOOLBOX, MACHINE, ["gcc-base"], settings=settings, defaults={"w": {"t": 1, "k": 5}}
    )
    assert [c.arguments[:2] for c in found.cells] == [("m=mine", "t=1,2"), ("m=mine", "t=3")]


def cells(count: int) -> list[Cell]:
    return [Cell(f"c{k}", Program("w", f"v{k}", "gcc-base"), Placement(), ()) for k in range(count)]


@given(count=st.integers(0, 30), seed=st.integers(), number=st.integers(0, 99), data=st.data())
def test_every_active_cell_is_launched_once_a_round(count: int, seed: int, number: int, data: st.DataObject) -> None:
    active = cells(count)
    ordered = order(active, seed, number)
    assert Counter(c.id for c in ordered) == Counter(c.id for c in active)
    assert order(data.draw(st.permutations(active)), seed, number) == ordered


def test_rounds_and_seeds_give_different_orders_and_no_place_is_preferred() -> None:
    active = cells(6)
    firsts = Counter(order(active, 1, number)[0].id for number in range(600))
    assert all(50 < firsts[cell.id] < 150 for cell in active)
    assert order(active, 1, 0) != order(active, 1, 1) or order(active, 1, 0) != order(active, 1, 2)
    assert any(order(active, 1, n) != order(active, 2, n) for n in range(3))


def test_a_workload_without_a_quick_suite_changes_nothing_in_the_quick_plan(tmp_path: Path) -> None:
    """Neither what is measured nor what is called absent."""
    before = plan("quick", SHIPPED, [], TOOLBOX, MACHINE)
    folder = tmp_path / "added"
    folder.mkdir()
    suites = "".join(f"[[suites.{s}]]\nvariants = ['*']\n" for s in ("standard", "full"))
    (folder / "workload.toml").write_text(f"title = 'Added'\nquestion = 'How fast?'\n{suites}")
    (folder / "serial.cpp").write_text("// added\n")
    after = plan("quick", SHIPPED | catalogue.load([tmp_path]), [], TOOLBOX, MACHINE)
    assert after == before and len(before.cells) > 30
    planned = plan("quick", catalogue.load([tmp_path]), ["added"], TOOLBOX, MACHINE)
    assert {c.program.workload for c in planned.cells} == {"added"} and planned.absent == ()


# --- ceilings ---------------------------------------------------------------------------------------------------

SHIPPED = shipped.workloads()


@pytest.mark.parametrize(("name", "suite"), [(n, s) for n, w in SHIPPED.items() if w.bounded_by for s in w.suites])
@pytest.mark.parametrize("cpus", [2, 8])
def test_whatever_is_named_brings_along_what_it_is_held_against(name: str, cpus: int, suite: str) -> None:
    here = machine((1, 32 * KIB), (2, 512 * KIB), (3, 32 * MIB), cpus=cpus)
    planned = plan(suite, SHIPPED, [name], TOOLBOX, here)
    device = {p.ceiling for w in SHIPPED.values() for p in w.provides if p.device}
    wanted = bounding((c for c in planned.cells if c.program.workload == name), SHIPPED, here)
    assert wanted and {c.name for c in wanted} - device
    assert {c.name for c in unmeasured(planned.cells, SHIPPED, here)} <= device  # no compiler for a GPU here


def test_what_is_brought_along_is_short_and_comes_after_what_is_named() -> None:
    planned = plan("full", SHIPPED, ["dot.serial"], TOOLBOX, MACHINE)
    brought = [c for c in planned.cells if c.program.workload != "dot"]
    assert {c.program.toolchain.rpartition("-")[2] for c in brought} == {"native"}
    assert sum(launch_seconds(c, SHIPPED[c.program.workload]) for c in brought) < 30
    late = agenda.candidate_preference(SHIPPED, TOOLBOX)
    wanted = agenda.ranks(planned.cells, SHIPPED, MACHINE, late, wanted=agenda.named(SHIPPED, ["dot.serial"]))
    assert {wanted[c.id] for c in brought} == {agenda.Rank.CEILING}
    assert all(wanted[c.id] is not agenda.Rank.CEILING for c in planned.cells if c not in brought)


def test_a_whole_suite_and_what_measures_ceilings_get_nothing_added() -> None:
    whole = plan("quick", SHIPPED, [], TOOLBOX, MACHINE)
    named = plan("quick", SHIPPED, ["peak", "stream"], TOOLBOX, MACHINE)
    assert {c.id for c in named.cells} == {c.id for c in whole.cells if c.program.workload in ("peak", "stream")}


def test_what_is_brought_along_stays_short_where_the_last_cache_is_large() -> None:
    here = machine((1, 32 * KIB), (2, 2 * MIB), (3, 480 * MIB), cpus=2, available=32 * GIB)
    planned = plan("standard", SHIPPED, ["himeno"], TOOLBOX, here)
    brought = [c for c in planned.cells if c.program.workload == "stream" and c.program.variant != "cuda"]
    whole = [c for c in plan("quick", SHIPPED, ["stream"], TOOLBOX, here).cells if c.placement.threads == 1]
    assert max(launch_seconds(c, SHIPPED["stream"]) for c in brought) < 2.6
    assert max(launch_seconds(c, SHIPPED["stream"]) for c in whole) > 5  # a user who names it selects STREAM's size


def test_steps_that_are_longer_than_a_sample_are_told_before_any_of_them_ran() -> None:
    """The first entry for a case applies; no entry applies to a cell without the parameter, nor to one on a GPU."""
    durations = (
        Duration(0.5, where={"size": "M"}, variants=["slow*"]),
        Duration(0.1, where={"size": "M"}),
        Duration(1e-3, per=["n", "n"]),
    )
    (named,) = workload(variants={"slow": (), "quick": (), "on_gpu": ("cuda",)}).values()
    named = replace(named, durations=durations)
    words = ("--samples", "5", "--sample-seconds", "0.004", "--case-seconds", "1")

    def seconds(variant: str, *arguments: str) -> float:
        cell = Cell("c", Program("w", variant, "gcc-native"), Placement(), (*arguments, *words))
        return launch_seconds(cell, named) - launch_seconds(
            replace(cell, arguments=words), replace(named, durations=())
        )

    short = 8 * 0.004
    assert seconds("quick", "size=S") == pytest.approx(0.0)
    assert seconds("quick", "size=M") == pytest.approx(8 * 0.1 - short)
    assert seconds("slow", "size=M") == pytest.approx(5 * 0.5 - short)  # two samples are taken, however long
    assert seconds("quick", "size=S,M,L") == pytest.approx(8 * 0.1 + 2 * short - short)
    assert seconds("quick", "n=10,20", "m=1,2") == pytest.approx(2 * 8 * 0.1 + 2 * 6 * 0.4 - short)
    assert seconds("quick", "n=10,x") == pytest.approx(8 * 0.1)
    assert seconds("on_gpu", "size=M") == pytest.approx(0.0)
    pair = Cell("c", Program("w", "quick", "gcc-native"), Placement(threads=4), ("size=M", *words))
    assert launch_seconds(pair, named) == pytest.approx(START + 8 * 0.05)
    many = [f"{name}={','.join(map(str, range(10**4)))}" for name in ("n", "size", "m")]
    assert seconds("quick", *many) > 1e9  # computed from the first of them, immediately


def test_a_pattern_counts_as_the_options_that_it_matches() -> None:
    """151 loops of `kernel=*` last 151 times as long as one; before a program is built, their number is assumed."""
    (named,) = workload(variants={"serial": ()}).values()
    named = replace(named, durations=(Duration(0.5, where={"kernel": "slow"}),))
    known = {"kernel": ["s1", "s2", "slow"]}
    words = ("--samples", "5", "--sample-seconds", "0.004", "--case-seconds", "1")

    def seconds(*arguments: str, options: Options = known) -> float:
        cell = Cell("c", Program("w", "serial", "gcc-native"), Placement(), (*arguments, *words))
        return launch_seconds(cell, named, options) - START

    short = 8 * 0.004
    assert seconds("kernel=s*") == pytest.approx(2 * short + 5 * 0.5)
    assert seconds("kernel=s1,s*") == pytest.approx(3 * short + 5 * 0.5)
    assert seconds("kernel=s?", "m=1,2,3") == pytest.approx(3 * short)  # the harness expands * only
    assert seconds("kernel=*", options={}) == pytest.approx(MATCHES * short)
    assert cases(Cell("c", Program("w", "s", "t"), Placement(), ("kernel=s*", "m=1,2")), known) == 6


@pytest.mark.parametrize(
    ("suite", "workloads", "needed", "expected"),
    [
        ("standard", 3, 20.0, 120.0), ("standard", 3, 200.0, 200.0), ("standard", 3, 2000.0, 900.0),
        ("quick", 1, 10.0, 170.0), ("full", 1, 10.0, 1800.0),
    ],
)  # fmt: skip
def test_named_workloads_get_what_their_launches_need(
    suite: str, workloads: int, needed: float, expected: float
) -> None:
    assert EFFORT[suite].enough(workloads, needed) == expected

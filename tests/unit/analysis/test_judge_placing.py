"""Where ranks really ran: described in words, compared between MPI libraries; processes left behind are noticed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

import synthetic
import synthetic_machine
from firstlight.analysis import Finding
from firstlight.analysis.figures import judge
from firstlight.analysis.placing import SAME_CORE, SHARED, UNBOUND, arrangement, order, placed
from firstlight.model.plan import Placement
from firstlight.results.record import Binding, LaunchRecord
from firstlight.system.machine import Machine

Change = Callable[[LaunchRecord], LaunchRecord]


def found(rule: str, change: Change, placement: Placement | None = None) -> list[Finding]:
    """Return the rule's finding for a run of pingpong with two MPI libraries whose records were changed."""
    scene = synthetic.run(1, 6, only=["pingpong"])
    run = scene.run
    if placement:
        run = replace(run, cells=tuple(replace(c, placement=placement) for c in run.cells))
    judged = judge(run, tuple(map(change, scene.records)), scene.workloads)
    return [f for f in judged.findings if f.rule == rule]


def bound(mpi: str, binding: tuple[Binding, ...], nodes: int = 1) -> Change:
    """Bind the ranks of one library in this way."""

    def change(r: LaunchRecord) -> LaunchRecord:
        assert r.launch is not None
        if not r.start.cell.endswith(mpi):
            return r
        return replace(r, launch=replace(r.launch, binding=binding, nodes=nodes, ranks=len(binding)))

    return change


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        ([0, 0, 0], "all on one node"),
        ([0, 0, 1, 1], "node by node"),
        ([0, 0, 0, 1], "node by node, 3, 1 ranks"),
        ([0, 1, 0, 1], "alternately over the nodes"),
        ([0, 1, 1, 0], "on nodes 0 1 1 0"),
    ],
)
def test_the_order_over_nodes_in_words(nodes: list[int], expected: str) -> None:
    assert order(nodes) == expected


def of(cpus: int, threads: int = 1) -> Machine:
    """Return CPUs; siblings are n and n + cores."""
    cores = cpus // threads
    siblings = tuple(tuple(range(k, cpus, cores)) for k in range(cores))
    return synthetic_machine.machine(cpus=tuple(range(cpus)), cores=cores, threads_per_core=threads, siblings=siblings)


@pytest.mark.parametrize(
    ("sets", "expected"),
    [
        ([(0, 4), (1, 5)], "one core each"),
        ([(0, 1, 4, 5), (2, 3, 6, 7)], "2 cores each"),
        ([(0,), (1,)], "one processor each"),
        ([(0,), (4,)], SAME_CORE),
        ([(0, 4), (4, 5)], SHARED),
        ([(0, 4), (1,)], "1 to 2 processors each"),
        ([tuple(range(8))] * 2, UNBOUND),
        ([tuple(range(8))], UNBOUND),
    ],
)
def test_the_binding_in_words_where_cores_have_two_threads(sets: list[tuple[int, ...]], expected: str) -> None:
    assert arrangement([Binding(k, s) for k, s in enumerate(sets)], of(8, 2)).binding == expected


def test_a_thread_for_every_core_is_where_it_should_be() -> None:
    assert arrangement([Binding(0, tuple(range(8)))], of(8, 2), 4).binding == "4 cores"


@pytest.mark.parametrize(
    ("sets", "cpus", "expected"),
    [
        ([(0,), (1,)], 2, "one processor each"),
        ([(2, 3), (0, 1)], 4, "2 processors each"),
        ([(0, 1), (0, 1)], 2, UNBOUND),
        ([(0,), (0,)], 2, SHARED),
        ([(0, 1), (1, 2)], 4, SHARED),
        ([(0,)], 1, "one processor"),
        ([(0,), (0,)], 1, SHARED),
    ],
)
def test_the_binding_in_words(sets: list[tuple[int, ...]], cpus: int, expected: str) -> None:
    assert arrangement([Binding(k, s) for k, s in enumerate(sets)], of(cpus)).binding == expected


def test_the_same_processor_number_on_two_nodes_is_not_shared() -> None:
    assert arrangement([Binding(0, (0,), 0), Binding(1, (0,), 1)], of(2)).binding == "one processor each"


@pytest.mark.parametrize(("threads", "expected"), [(1, UNBOUND), (2, "2 processors"), (4, "2 processors")])
def test_one_process_with_threads_for_all_processors_is_where_it_should_be(threads: int, expected: str) -> None:
    assert arrangement([Binding(0, (0, 1))], of(2), threads).binding == expected


def test_ways_are_counted_by_placement_and_library() -> None:
    ways = placed(synthetic.judgement(1, 6, only=["pingpong"]))
    assert {(p.mpi, p.arrangement.binding, p.launches, p.workloads) for p in ways} == {
        ("openmpi", "one processor each", 12, ("pingpong",)),
        ("mpich", "one processor each", 12, ("pingpong",)),
    }


def test_libraries_that_bind_alike_are_no_finding() -> None:
    assert found("rank_placement", lambda r: r) == []
    exchanged = (Binding(0, (1,)), Binding(1, (0,)))  # other processors, but of their own as well
    assert found("rank_placement", bound("mpich", exchanged)) == []


def test_unbound_where_another_binds() -> None:
    (finding,) = found("rank_placement", bound("mpich", (Binding(0, (0, 1)), Binding(1, (0, 1)))))
    assert finding.sentence == (
        "2 ranks: Open MPI binds ranks to one processor each and MPICH leaves ranks unbound"
    ) or finding.sentence == ("2 ranks: MPICH leaves ranks unbound and Open MPI binds ranks to one processor each")
    assert any("rank 1 on node 0, CPUs 0 1" in e for e in finding.evidence)
    assert finding.command == "./fl run pingpong"


def test_two_ranks_on_one_processor() -> None:
    (finding,) = found("rank_placement", bound("openmpi", (Binding(0, (0,)), Binding(1, (0,)))))
    assert "Open MPI puts several ranks on the same processors" in finding.sentence


def test_another_order_over_the_nodes() -> None:
    block = tuple(Binding(r, (r % 2,), r // 2) for r in range(4))
    turn = tuple(Binding(r, (r // 2,), r % 2) for r in range(4))

    def change(r: LaunchRecord) -> LaunchRecord:
        return bound("mpich", turn, 2)(bound("openmpi", block, 2)(r))

    (finding,) = found("rank_placement", change, Placement(2, 4, 1))
    assert finding.sentence.startswith("2 nodes, 4 ranks: ")
    assert "Open MPI places ranks node by node" in finding.sentence
    assert "MPICH places ranks alternately over the nodes" in finding.sentence
    assert "bind" not in finding.sentence


def test_fewer_nodes_than_asked_for() -> None:
    here = (Binding(0, (0,)), Binding(1, (1,)))
    (finding,) = found("rank_placement", lambda r: bound("mpich", here)(bound("openmpi", here)(r)), Placement(2, 2, 1))
    assert "MPICH uses 1 of 2 nodes" in finding.sentence and "Open MPI uses 1 of 2 nodes" in finding.sentence


def test_nothing_left_behind_is_no_finding() -> None:
    assert found("left_behind", lambda r: r) == []


def test_processes_left_behind_after_an_abort() -> None:
    def abort(r: LaunchRecord) -> LaunchRecord:
        if r.start.cell != "pingpong.mpi_blocking-gcc-native-openmpi" or r.start.launch > 1:
            return r
        lost = synthetic.lost(r, "rank aborted: signal 6 (SIGABRT)", 134)
        return replace(lost, exit=replace(lost.exit, left=2))

    (finding,) = found("left_behind", abort)
    assert finding.sentence == (
        "Open MPI leaves processes behind after an abort: 4 in 2 launches of pingpong.mpi_blocking had to be ended"
    )
    assert finding.command == "./fl run pingpong.mpi_blocking --toolchain gcc-native --mpi openmpi"
    assert finding.evidence[0].endswith("launch 0: 2 left (rank aborted: signal 6 (SIGABRT))")


def test_processes_left_behind_after_a_good_end() -> None:
    def daemon(r: LaunchRecord) -> LaunchRecord:
        return replace(r, exit=replace(r.exit, left=1)) if r.start.cell.endswith("mpich") else r

    (finding,) = found("left_behind", daemon)
    assert finding.sentence == (
        "MPICH leaves processes behind: 12 in 12 launches of pingpong.mpi_blocking and pingpong.mpi_nonblocking had to "
        "be ended"
    )

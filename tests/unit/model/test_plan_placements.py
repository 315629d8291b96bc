"""Placements: NODESxRANKSxTHREADS is resolved on this machine and planned."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from firstlight.core.errors import UsageError
from firstlight.model.catalogue import SUITES, Selection, load, roots
from firstlight.model.plan import Placement, plan
from firstlight.model.plan.placements import expand
from invented_plan import MACHINE, TOOLBOX, workload

NODES = st.one_of(st.integers(1, 9).map(str), st.sampled_from(["all", "half", "all-1", "all-2"]))
WORDS = NODES | st.just("all-threads")


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ("1x2x1", Placement(1, 2, 1)),
        ("1xallx1", Placement(1, 4, 1)),
        ("1xall-1x1", Placement(1, 3, 1)),
        ("1xhalfx2", Placement(1, 2, 2)),
        ("allx2x1", Placement(3, 6, 1)),
        ("ALLxALLx1 ", Placement(3, 12, 1)),
        ("1x9x1", Placement(1, 9, 1)),
        ("4x1x1", None),
        ("1xall-4x1", None),
    ],
)
def test_a_shape_is_made_concrete_for_the_machine(shape: str, expected: Placement | None) -> None:
    found, absent = expand([shape], replace(MACHINE, nodes=3))
    assert found == ([expected] if expected else [])
    assert absent == ([] if expected else [shape])


def test_all_is_a_core_each_and_all_threads_are_asked_for_by_name() -> None:
    smt = replace(MACHINE, cpus=tuple(range(8)), threads_per_core=2)
    shapes = ["1xallx1", "1xhalfx2", "1xall-threadsx1", "1x1xall-threads"]
    pairs = [(p.ranks, p.threads) for p in expand(shapes, smt)[0]]
    assert pairs == [(4, 1), (2, 2), (8, 1), (1, 8)]
    with pytest.raises(UsageError, match="is not a placement"):
        expand(["all-threadsx1x1"], smt)


@pytest.mark.parametrize("shape", ["", "2", "1x2", "0x1x1", "1x-2x1", "1x2x1x1", "axbxc", "1xallallx1", "1x9999999x1"])
def test_other_words_are_refused_with_an_example(shape: str) -> None:
    with pytest.raises(UsageError, match=r"1x4x2|at most"):
        expand([shape], MACHINE)


@given(st.lists(st.tuples(NODES, WORDS, WORDS).map("x".join)), st.integers(1, 5), st.integers(1, 6))
def test_every_shape_is_kept_or_reported(shapes: list[str], nodes: int, cpus: int) -> None:
    found, absent = expand(shapes, replace(MACHINE, nodes=nodes, cores=cpus, cpus=tuple(range(2 * cpus))))
    assert len(found) == len(set(found)) and len(found) + len(absent) <= len(set(shapes))
    assert not shapes or found or absent
    assert all(1 <= p.nodes <= nodes and p.ranks == p.nodes * p.per_node and p.threads >= 1 for p in found)


def test_placements_are_a_dimension_of_the_plan() -> None:
    halo = workload(
        Selection(variants=["*"], placements=["1x2x1", "1x1x2", "1xallx1", "2x1x1"], parameters={"n": [2]}),
        variants={"mpi_sendrecv": ("mpi",), "mpi_omp": ("mpi", "openmp"), "omp": ("openmp",)},
    )
    planned = plan("quick", halo, [], TOOLBOX, MACHINE, ["gcc-native"], ["mpich"])
    where = {(c.program.variant, c.placement) for c in planned.cells}
    two, four, hybrid = Placement(1, 2, 1), Placement(1, 4, 1), Placement(1, 1, 2)
    assert where == {
        ("mpi_sendrecv", two),
        ("mpi_sendrecv", four),
        ("mpi_omp", two),
        ("mpi_omp", four),
        ("mpi_omp", hybrid),
        ("omp", Placement()),
    }
    assert [a.what for a in planned.absent] == ["w as 2x1x1"]
    assert len({c.id for c in planned.cells}) == len(planned.cells)


def test_the_users_placements_replace_those_of_the_suite() -> None:
    halo = workload(Selection(["*"], parameters={"n": [2]}), variants={"mpi_a": ("mpi",), "serial": ()})
    machine = replace(MACHINE, nodes=2)
    planned = plan("quick", halo, [], TOOLBOX, machine, ["gcc-native"], ["mpich"], ["allx2x1"])
    assert {c.id: c.placement for c in planned.cells} == {
        "w.mpi_a.gcc-native.mpich.2n4x1": Placement(2, 4, 1),
        "w.serial.gcc-native.1x1": Placement(),
    }
    planned = plan("quick", halo, ["w.mpi_a"], TOOLBOX, machine, ["gcc-native"], ["mpich"], ["1x2x2"])
    assert not planned.cells and [a.why for a in planned.absent] == ["this variant runs one thread per rank"]


def test_every_suite_names_placements_that_can_be_read() -> None:
    for found in load(roots()).values():
        for suite in SUITES:
            for entry in found.suites.get(suite, []):
                expand(entry.placements, MACHINE)

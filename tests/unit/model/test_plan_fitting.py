"""Cells of a run directory are checked against this machine before any of them is started."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

import shipped
import synthetic_machine
from firstlight.model.plan import Cell, Placement, Program, plan, unfit

SHIPPED = shipped.workloads()
MACHINE = replace(synthetic_machine.machine(), cpus=(0, 1, 2, 3), memory=8 << 30)
TOOLS = synthetic_machine.toolbox()
SIZED = next(w for w in SHIPPED.values() if w.sizes is not None and w.sizes.growth is None)


def why(placement: Placement, *arguments: str, requested: tuple[str, ...] = ()) -> str:
    cell = Cell("c", Program(SIZED.name, "invented", "gcc-base"), placement, arguments)
    found = unfit([cell], "quick", (), SHIPPED, TOOLS, MACHINE, requested)
    return found["c"].why if found else ""


@pytest.mark.parametrize("suite", ["quick", "standard", "full"])
def test_whatever_is_planned_here_fits_here(suite: str) -> None:
    cells = plan(suite, SHIPPED, (), TOOLS, MACHINE).cells
    assert cells and unfit(cells, suite, (), SHIPPED, TOOLS, MACHINE) == {}


def test_more_threads_than_cpus_are_for_those_who_ask_now() -> None:
    assert why(Placement(1, 4, 1)) == why(Placement(1, 1, 4)) == ""
    assert why(Placement(1, 48, 1)) == "this placement starts 48 threads on a node of 4 CPUs"
    assert why(Placement(1, 2, 9)) == "this placement starts 18 threads on a node of 4 CPUs"
    assert why(Placement(1, 1, 1), "--threads", "512") == "this placement starts 512 threads on a node of 4 CPUs"
    assert why(Placement(1, 48, 1), requested=("1x2x1", "1x48x1")) == ""
    assert why(Placement(1, 2, 9), requested=("1x48x1",)) != ""


def test_a_case_larger_than_the_memory_is_not_started() -> None:
    assert SIZED.sizes is not None
    name = SIZED.sizes.parameter
    assert why(Placement(), f"{name}=1000,2000") == why(Placement(), f"{name}=word") == ""
    assert why(Placement(), f"{name}=1000,1e12").endswith("this machine has 8 GiB")
    assert "more than any machine has" in why(Placement(), f"{name}=1e309")
    deep = next(w for w in SHIPPED.values() if w.sizes is not None and w.sizes.growth is not None)
    assert deep.sizes is not None
    cell = Cell("c", Program(deep.name, "invented", "gcc-base"), Placement(), (f"{deep.sizes.parameter}=999999",))
    assert "more than any machine has" in unfit([cell], "quick", (), SHIPPED, TOOLS, MACHINE)["c"].why

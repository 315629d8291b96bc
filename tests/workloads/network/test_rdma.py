"""Extended RDMA: the cost of a step, the processes that it accepts, and puts and gets of any shape."""

from __future__ import annotations

from pathlib import Path

import pytest

import native
from firstlight.execute.build import Built
from firstlight.model.plan import Placement

RDMA = native.workloads["rdma"]
GOOD = ("mpi_windows", "mpi_allocated", "mpi_two_sided", "omp_stores")


@pytest.fixture(scope="module")
def built() -> dict[str, list[Built]]:
    """Build with gcc's base flags, for each MPI library."""
    tool = native.toolchain("base")
    if tool is None or not native.toolbox().mpis:
        pytest.skip("no gcc or no MPI library here")
    chosen = [v for v in RDMA.variants if v.name in GOOD and native.buildable(v, tool)]
    found: dict[str, list[Built]] = {}
    for program, one in native.make(p for v in chosen for p in native.programs(RDMA, v, tool)).items():
        assert one.error == ""
        found.setdefault(program.variant, []).append(one)
    return found


def parties(variant: str, count: int) -> Placement:
    return Placement(threads=count) if variant.startswith("omp") else Placement(ranks=count)


@pytest.mark.native
@pytest.mark.full
@pytest.mark.parametrize("variant", GOOD)
def test_every_shape_of_puts_and_gets_arrives_whole(
    variant: str, built: dict[str, list[Built]], tmp_path: Path
) -> None:
    """One message and several an interface, interfaces without a message, messages of one word, and long ones."""
    operation = "put" if variant == "mpi_two_sided" else "put,get"
    shapes = ("bytes=40,200000", "interfaces=1,3", "messages=1,5", f"operation={operation}")
    for one in built[variant]:
        for kind in ("one", "six"):
            output = native.run(one, parties(variant, 2), (*shapes, f"neighbours={kind}"), tmp_path)
            assert (output.status, output.reason) == (0, ""), (one.program, output.reason, output.stderr)
            of = {tuple(c["parameters"][n] for n in ("bytes", "messages")): c["cost"] for c in output.of("case")}
            sent = 5 * (6 if kind == "six" else 1)
            assert of[40, 5]["elements"] == sent  # bytes that one process sends in a step
            assert (of[40, 5]["flow"], of[40, 5]["bytes"]) == (40 * sent, 2 * 2 * 40 * sent)


@pytest.mark.native
@pytest.mark.full
@pytest.mark.parametrize("variant", GOOD)
def test_what_cannot_run_is_refused_in_one_line(variant: str, built: dict[str, list[Built]], tmp_path: Path) -> None:
    refused = {"bytes=12": "multiple of 8", "neighbours=one": "even number"}
    if variant == "mpi_two_sided":
        refused["operation=get"] = "no get"
    for word, why in refused.items():
        output = native.run(built[variant][0], parties(variant, 3), (word,), tmp_path)
        assert output.status == 2 and why in output.stderr, (word, output.stderr)
        assert output.lines == []

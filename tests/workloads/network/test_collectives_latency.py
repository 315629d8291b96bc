"""The latency of one collective operation is compared with the gap between many in a row."""

from __future__ import annotations

from pathlib import Path

import pytest

import native
from firstlight.analysis.roles import players
from firstlight.core.roles import COLLECTIVE
from firstlight.model.plan import Placement

WORKLOAD = native.workloads["collectives"]


def test_rows_tables_tuning_and_validation_take_the_latency() -> None:
    assert [p.role.metric for p in players(native.workloads, COLLECTIVE)] == ["latency"]
    assert {r.metric for r in WORKLOAD.rows} == {"latency"}
    assert {p.metric for p in WORKLOAD.plots if "consecutive" not in p.subject} == {"latency"}
    assert {p.metric for p in WORKLOAD.plots if "consecutive" in p.subject} == {"gap"}


@pytest.mark.native
@pytest.mark.parametrize("collective", ["broadcast", "reduce", "allreduce", "alltoall", "barrier"])
def test_every_sample_has_the_latency_of_the_slowest_rank(collective: str, tmp_path: Path) -> None:
    tool = native.toolchain("base")
    if tool is None or not native.toolbox().mpis:
        pytest.skip("no gcc or no MPI library here")
    [library] = [v for v in WORKLOAD.variants if v.name == "mpi_library"]
    sizes = "bytes=0" if collective == "barrier" else "bytes=8,100000"
    for one in native.make(native.programs(WORKLOAD, library, tool)).values():
        output = native.verified(one, Placement(ranks=2), tmp_path, f"collective={collective}", sizes)
        latencies = [x["values"]["latency"] for x in output.of("sample")]
        assert len(latencies) >= 2 * len(output.of("case"))
        assert all(0 < least == median == largest < 1 for least, median, largest in latencies)

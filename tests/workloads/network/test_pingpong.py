"""Ping-pong has three kinds of buffers: cached, on ordinary pages, or fresh with every message."""

from __future__ import annotations

from pathlib import Path

import pytest

import native
from firstlight.execute.build import Built
from firstlight.model.plan import Placement

PINGPONG = native.workloads["pingpong"]
KINDS = ["cached", "ordinary_pages", "fresh_data"]
SIZES = "bytes=0,1,8,9,16,24,1000,300001"
BOTH = ("mpi_blocking", "mpi_bidirectional", "mpi_put", "mpi_shared", "omp_threads")
WRONG = ("broken_mpi_stale", "broken_mpi_stale_middle", "broken_mpi_last_byte", "broken_mpi_overrun")


@pytest.fixture(scope="module")
def built() -> dict[str, list[Built]]:
    """Build with base flags, for each MPI library."""
    tool = native.toolchain("base")
    if tool is None or not native.toolbox().mpis:
        pytest.skip("no gcc or no MPI library here")
    chosen = [v for v in PINGPONG.variants if v.name in (*BOTH, *WRONG) and native.buildable(v, tool)]
    found: dict[str, list[Built]] = {}
    for program, one in native.make(p for v in chosen for p in native.on_each_library(PINGPONG, v)).items():
        assert one.error == ""
        found.setdefault(program.variant, []).append(one)
    return found


def pair(variant: str) -> Placement:
    return Placement(threads=2) if variant.startswith("omp") else Placement(ranks=2)


@pytest.mark.native
@pytest.mark.parametrize("variant", BOTH)
def test_every_kind_of_data_arrives_whole(variant: str, built: dict[str, list[Built]], tmp_path: Path) -> None:
    for one in built[variant]:
        output = native.run(one, pair(variant), (SIZES, f"data={','.join(KINDS)}"), tmp_path)
        assert (output.status, output.reason) == (0, ""), (one.program, output.reason, output.stderr)
        traffic = {
            (c["parameters"]["bytes"], c["parameters"]["data"]): c["cost"].get("bytes", 0) for c in output.of("case")
        }
        assert traffic[1000, "cached"] == traffic[1000, "ordinary_pages"] == 4000
        assert traffic[1000, "fresh_data"] == 8000  # made and used as well


@pytest.mark.native
@pytest.mark.parametrize("variant", WRONG)
def test_wrong_messages_are_found_in_every_kind(variant: str, built: dict[str, list[Built]], tmp_path: Path) -> None:
    for data in KINDS:
        output = native.run(built[variant][0], pair(variant), ("bytes=1000", f"data={data}"), tmp_path)
        assert output.status == 1 and not all(c["ok"] for c in output.of("check")), data


@pytest.mark.native
def test_every_sample_tells_a_message_alone(built: dict[str, list[Built]], tmp_path: Path) -> None:
    """The program uses MPI, because a team of threads would start anew; predictions of one collective alone use this
    value.
    """
    for variant in ("mpi_blocking", "mpi_put", "omp_threads"):
        output = native.verified(built[variant][0], pair(variant), tmp_path, SIZES)
        latencies = [x.get("values", {}).get("latency_alone") for x in output.of("sample")]
        assert latencies and all((x is None) == (variant == "omp_threads") for x in latencies)
        assert all(0 < x[0] == x[1] == x[2] for x in latencies if x is not None)
    roles = {r.role: r.metric for r in PINGPONG.roles}
    assert roles == {
        "message": "latency_alone", "exchanged_message": "latency_alone",
        "plain_message": "latency", "message_in_a_row": "latency", "exchange_in_a_row": "latency",
        "written_message": "latency",
    }  # fmt: skip


def test_whatever_stands_on_a_page_or_enters_a_prediction_says_its_kind() -> None:
    entries = [*PINGPONG.rows, *PINGPONG.roles, *PINGPONG.plots]
    assert entries and all(x.where.get("data") in KINDS or getattr(x, "lines", "") == "data" for x in entries)
    large = [r for r in PINGPONG.rows if r.where["bytes"]]
    assert {r.where["data"] for r in large} == set(KINDS)
    assert all(str(r.where["data"]).replace("_", " ") in r.title for r in large)

"""vector_sum: R1's arithmetic on its published check values; every route on 1 to 8 processes, with odd lengths."""

from __future__ import annotations

import math
import subprocess
from pathlib import Path

import pytest

import drivers
import native
import synthetic
from firstlight import ROOT
from firstlight.analysis.evidence import Timing, launch_value
from firstlight.execute.build import Built
from firstlight.results.description import Metric
from mpi_programs import build_on_each_library
from native import Placement

pytestmark = [pytest.mark.native, pytest.mark.full]

LENGTHS = "n=1,2,3,7,1000"  # not divisible by the number of processes, and fewer than there are
FOLDER = ROOT / "workloads" / "network" / "vector_sum"
MOST_OF_MPICH = 3  # it waits by spinning

# Prints what the workload declares, without its harness: the metrics, and the flow for pairs of p and n.
QUERY = """
#include <cstdio>
#include <cstdlib>
#include "vector_sum.hpp"
int main(int argc, char** argv) {
  for (const fl::Metric& m : vector_sum::metrics) std::printf("%s|%s|%s|%s|%.17g|%s\\n", m.name, m.unit, m.quantity, m.form, m.scale, m.better);
  for (int i = 1; i + 1 < argc; i += 2) {
    vector_sum::Params params;
    params.n = std::atoll(argv[i + 1]);
    const fl::Cost cost = vector_sum::cost(params, {.ranks = std::atoi(argv[i])});
    std::printf("%.17g %.17g %.17g\\n", cost.flow, cost.operations, cost.flops);
  }
}
"""  # noqa: E501


def declared(*cases: tuple[int, int]) -> tuple[dict[str, Metric], list[tuple[float, float, float]]]:
    """Return the metrics, and (flow, operations, flops) for each (p, n), as the workload's header computes them."""
    include = (f"-I{FOLDER}", f"-I{ROOT}/native/harness/include")
    program = drivers.program("ask", [drivers.written("ask.cpp", QUERY)], *include)
    words = [str(number) for case in cases for number in case]
    lines = subprocess.run([str(program), *words], check=True, capture_output=True, text=True).stdout.splitlines()
    metrics = {}
    for name, unit, quantity, form, scale, better in (line.split("|") for line in lines if "|" in line):
        metrics[name] = Metric(name, unit, quantity, form, float(scale), better)
    costs = [tuple(map(float, line.split())) for line in lines if "|" not in line]
    return metrics, costs  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("p", "n", "rate", "seconds"), [(16, 2**21, 9309, 0.110), (128, 2**23, 5973, 1.200)], ids=["p=16", "p=128"]
)
def test_the_published_check_values(p: int, n: int, rate: float, seconds: float) -> None:
    metrics, ((flow, operations, _),) = declared((p, n))
    steps = 7
    timing = Timing(synthetic.STARTED, steps * seconds, steps, {"flow": flow, "operations": operations}, {})
    assert launch_value(metrics["rate"], timing) == pytest.approx(rate, abs=0.6)  # printed as a whole number
    assert launch_value(metrics["time"], timing) == pytest.approx(1e6 * seconds)
    # The same in R1's own terms: L in MB, 2 d L into and out of a process, 16 d L / t Mbit/s.
    length, d = 8 * n / 2**20, math.log2(p)
    assert flow == 2 * d * length * 2**20
    assert launch_value(metrics["rate"], timing) == pytest.approx(16 * d * length / seconds, rel=1e-12)


def test_one_process_has_no_flow_and_any_number_has_a_real_dimension() -> None:
    metrics, costs = declared((1, 1000), (6, 1000))
    assert metrics["rate"].unit == "Mbit/s" and metrics["rate"].quantity == "flow"
    assert costs[0] == (0, 1, 0)
    assert costs[1] == (pytest.approx(16000 * math.log2(6)), 1, 5000)


@pytest.fixture(scope="module")
def built() -> dict[str, list[Built]]:
    """Build every variant with base flags, for each MPI library."""
    workload = native.workloads["vector_sum"]
    return build_on_each_library(workload, workload.variants)


def bearing(built: list[Built], ranks: int) -> list[Built]:
    return [one for one in built if one.program.mpi != "mpich" or ranks <= MOST_OF_MPICH]


@pytest.mark.parametrize("ranks", range(1, 9))
@pytest.mark.parametrize("variant", ["mpi_ring", "mpi_rabenseifner"])
def test_any_number_of_processes(variant: str, ranks: int, built: dict[str, list[Built]], tmp_path: Path) -> None:
    for one in bearing(built[variant], ranks):
        output = native.run(one, Placement(ranks=ranks), (LENGTHS,), tmp_path)
        assert (output.status, output.reason) == (0, ""), (one.program, output.reason, output.stderr)
        assert len(output.of("check")) == 3 * 5 and all(c["ok"] for c in output.of("check"))


@pytest.mark.parametrize(
    ("variant", "ranks"), [("mpi_cube", 1), ("mpi_cube", 4), ("mpi_cube", 8), ("mpi_allreduce", 7)]
)
def test_the_other_routes(variant: str, ranks: int, built: dict[str, list[Built]], tmp_path: Path) -> None:
    for one in bearing(built[variant], ranks):
        output = native.run(one, Placement(ranks=ranks), (LENGTHS,), tmp_path)
        assert (output.status, output.reason) == (0, ""), (one.program, output.reason, output.stderr)


def test_the_hypercube_refuses_what_is_no_power_of_two(built: dict[str, list[Built]], tmp_path: Path) -> None:
    for one in built["mpi_cube"]:
        output = native.run(one, Placement(ranks=6), (LENGTHS,), tmp_path)
        assert output.status == 2 and output.lines == []
        assert "the hypercube needs a number of ranks that is a power of two; 6 given" in output.stderr


def test_the_declared_work_is_what_the_header_says(built: dict[str, list[Built]], tmp_path: Path) -> None:
    _, ((flow, operations, flops),) = declared((3, 1000))
    output = native.run(built["mpi_ring"][0], Placement(ranks=3), ("n=1000",), tmp_path)
    (case,) = output.of("case")
    assert (case["cost"]["flow"], case["cost"]["operations"], case["cost"]["flops"]) == (flow, operations, flops)


@pytest.mark.parametrize(
    ("variant", "length", "message"),
    [
        ("broken_mpi_one_rank", 7, r"rank 2: element 3 of 7, summed over 3 processes, "),
        ("broken_mpi_last_element", 1, r"element 0 of 1, summed over 3 processes, is nan"),
        ("broken_mpi_twice", 2, r"rank 0: element 0 of 2"),
        ("broken_mpi_stale_middle", 3, r"element 1 of 3"),
        ("broken_mpi_root_only", 2, r"rank 1: element 0 of 2, summed over 3 processes, is nan"),
        ("broken_mpi_overrun", 2, r"word 0 after the 2 words of the result"),
    ],
)
def test_the_check_says_what_is_wrong(
    variant: str, length: int, message: str, built: dict[str, list[Built]], tmp_path: Path
) -> None:
    for one in built[variant]:
        output = native.run(one, Placement(ranks=3), (f"n={length}",), tmp_path)
        wrong = [c["what"] for c in output.of("check") if not c["ok"]]
        assert output.status == 1 and wrong and message in wrong[0], wrong


def test_one_process_cannot_miss_a_partner(built: dict[str, list[Built]], tmp_path: Path) -> None:
    for variant in ("broken_mpi_missing_step", "broken_mpi_root_only"):
        output = native.run(built[variant][0], Placement(), (LENGTHS,), tmp_path)
        assert output.status == 2 and "this variant needs at least 2 ranks" in output.stderr

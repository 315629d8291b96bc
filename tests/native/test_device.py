"""Variants for devices: compiled by every compiler here, refused without a device, and never verified on the host."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from msgspec.structs import replace

import native
from firstlight.execute.build import Built, build
from firstlight.model.plan import Placement, Program
from firstlight.toolchain import Offload

pytestmark = pytest.mark.native

STREAM = native.workloads["stream"]
X86 = ("-fopenmp", "-fopenmp-targets=x86_64-pc-linux-gnu")


def program(variant: str, compiler: str = "gcc") -> Program:
    tool = native.toolchain("base", compiler)
    made = native.programs(STREAM, STREAM.variant(variant), tool) if tool else []
    if not made:
        pytest.skip(f"{compiler} here cannot build stream.{variant}")
    return made[0]


@cache
def built(variant: str, compiler: str = "gcc", offload: Offload | None = None) -> Built:
    wanted, box = program(variant, compiler), native.toolbox()
    if offload is not None:
        box = replace(box, offloads=(offload,))
    (made,) = build([wanted], box, native.workloads, native.CACHE, options=native.STRICT).values()
    assert made.error == ""
    return made


def run(made: Built, folder: Path) -> native.Output:
    ranks = 2 if made.program.mpi else 1
    return native.run(made, Placement(1, ranks, 1), ("op=copy,scale,add,triad,load", "n=1,1000"), folder)


@pytest.mark.parametrize(
    ("variant", "compiler"),
    [
        ("cuda", "gcc"),
        ("mpi_cuda", "gcc"),
        ("mpi_target", "gcc"),
        ("mpi_acc", "gcc"),
        ("target", "gcc"),
        ("acc", "gcc"),
        pytest.param("target", "clang", marks=pytest.mark.full),
    ],
)
def test_it_runs_on_a_device_or_not_at_all(variant: str, compiler: str, tmp_path: Path) -> None:
    output = run(built(variant, compiler), tmp_path)
    if output.status == 2:
        reasons = [line for line in output.stderr.splitlines() if "this variant of stream needs a GPU; " in line]
        assert len(reasons) == 1 and output.lines == []
        return
    assert (output.status, output.reason) == (0, "") and all(check["ok"] for check in output.of("check"))
    assert all(one["place"] == "device" and one["address"] for line in output.of("devices") for one in line["devices"])


def test_the_compiler_for_gpus_tells_registers_and_spills() -> None:
    made = built("cuda").kernels
    assert any("load_kernel" in k.name for k in made)
    assert all(k.architecture.startswith("sm_") and 0 < k.registers <= 255 for k in made)


@pytest.mark.parametrize("variant", ["broken_target_host", "broken_acc_host"])
def test_right_results_from_the_host_are_a_failure(variant: str, tmp_path: Path) -> None:
    output = run(built(variant), tmp_path)
    assert output.status == 1 and len(output.of("check")) == 10
    assert all(not check["ok"] and check["what"].startswith("ran on the host") for check in output.of("check"))
    assert {one["place"] for line in output.of("devices") for one in line["devices"]} == {"host"}
    assert output.of("sample") == []


@pytest.mark.full
def test_the_processor_is_no_device_even_where_the_compiler_calls_it_one(tmp_path: Path) -> None:
    """Clang's OpenMP offers the host as a device, and reports inside a region that it is not on the host."""
    output = run(built("target", "clang", Offload("target", "clang", "x86_64", X86)), tmp_path)
    assert output.status == 1
    assert all(check["what"].startswith("ran on the host") for check in output.of("check"))


def test_code_for_the_host_only_is_compiled_and_refused(tmp_path: Path) -> None:
    output = run(built("target", offload=Offload("target", "gcc", "", ("-fopenmp", "-foffload=disable"))), tmp_path)
    assert output.status == 2 and "this compiler generated code only for the host" in output.stderr

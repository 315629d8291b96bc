"""nvcc: its output becomes a way to build; a version that does not work is absent, with the reason."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from firstlight.system.machine import Gpu
from firstlight.toolchain import Absent, Cuda
from firstlight.toolchain.accelerators.nvcc import probe
from firstlight.toolchain.host import Host
from firstlight.toolchain.probe_result import Compiler

OLD, NEW = (
    Compiler(name, "gcc", version, f"/usr/bin/{name}") for name, version in (("g++-99", "99.1"), ("g++", "12.2"))
)

NVCC = """
case "$*" in
*--version*) echo 'nvcc: NVIDIA (R) Cuda compiler driver'; echo 'Cuda compilation tools, release 13.0, V13.0.88' ;;
*--list-gpu-code*) printf 'sm_75\\nsm_90\\n' ;;
*--dryrun*) echo '#$ TOP=/opt/cuda' >&2; echo '#$ LIBRARIES=  "-L/opt/cuda/lib/stubs" "-L/opt/cuda/lib"' >&2 ;;
*g++-99*) echo 'error: unsupported GNU version' >&2; exit 1 ;;
*) echo compiled >> TRIALS ;;
esac
"""


def tool(host: Host, name: str, body: str) -> Path:
    path = host.path[0] / name
    path.write_text(f"#!/bin/sh\n{body.replace('TRIALS', str(host.cache_dir / 'trials'))}\n")
    path.chmod(0o755)
    return path


def test_it_is_taken_with_the_first_compiler_that_it_accepts_and_remembered(host: Host) -> None:
    nvcc = tool(host, "nvcc", NVCC)
    for _ in range(2):
        (found,) = probe(host, [OLD, NEW])
        link = ("-L/opt/cuda/lib", "-lcudart_static", "-lpthread", "-ldl", "-lrt")
        assert found == Cuda("nvcc 13.0.88", str(nvcc), "/usr/bin/g++", "sm_75", link)
    assert (host.cache_dir / "trials").read_text() == "compiled\n"


def test_code_is_made_for_the_gpu_that_is_here(host: Host) -> None:
    tool(host, "nvcc", NVCC)
    host.machine = msgspec.structs.replace(host.machine, gpus=(Gpu("NVIDIA H200", "9.0"), Gpu("NVIDIA A100", "8.0")))
    (found,) = probe(host, [NEW])
    assert isinstance(found, Cuda)
    assert found.architecture == "sm_90"


def test_a_gpu_that_does_not_tell_its_capability_decides_nothing(host: Host) -> None:
    tool(host, "nvcc", NVCC)
    host.machine = msgspec.structs.replace(host.machine, gpus=(Gpu("NVIDIA H200"),))
    (found,) = probe(host, [NEW])
    assert isinstance(found, Cuda)
    assert found.architecture == "sm_75"


@pytest.mark.parametrize(
    ("compilers", "reason"),
    [([OLD], "unsupported GNU version"), ([], "no C++ compiler for the host code was found")],
)
def test_it_is_absent_with_the_reason(host: Host, compilers: list[Compiler], reason: str) -> None:
    tool(host, "nvcc", NVCC)
    (found,) = probe(host, compilers)
    assert isinstance(found, Absent)
    assert found.what == "nvcc" and reason in found.why and found.fix


def test_one_that_tells_nothing_is_absent(host: Host) -> None:
    tool(host, "nvcc", "exit 1")
    (found,) = probe(host, [NEW])
    assert isinstance(found, Absent)
    assert "does not print" in found.why

"""NVIDIA's CUDA compiler. Its programs are built without a GPU, and report what they lack if there is none."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from firstlight.system.machine import Machine
from firstlight.toolchain import Absent, Cuda
from firstlight.toolchain.host import Host
from firstlight.toolchain.probe_result import Compiler

_TRIAL = """#include <algorithm>
#include <cstdio>
__global__ void square(double* x) { x[threadIdx.x] *= x[threadIdx.x]; }
int main() {
  double* x = nullptr;
  if (cudaMalloc(&x, sizeof(double)) == cudaSuccess) square<<<1, 1>>>(x);
}
"""
_LATER = ("-lcudart_static", "-lpthread", "-ldl", "-lrt")


def probe(host: Host, compilers: Sequence[Compiler]) -> tuple[Cuda | Absent, ...]:
    """Return nvcc with the first compiler here that it works with, proved by a trial, or why there is none."""
    nvcc = host.which("nvcc")
    if nvcc is None:
        fix = "install the CUDA toolkit, or load its module, so that nvcc is on PATH"
        return (host.absent("nvcc", "no nvcc on the search path", otherwise=fix),)
    architecture = _gpu(host.machine)
    key = f"nvcc code {architecture} {host.identity(nvcc, *(c.cxx for c in compilers))}"
    known = host.memory.recall(key, Cuda)
    if known is not None:
        return (known,)
    answer = _prove(host, nvcc, architecture, compilers)
    if isinstance(answer, Cuda):
        host.memory.keep(key, answer)
    return (answer,)


def _prove(host: Host, nvcc: Path, gpu: str, compilers: Sequence[Compiler]) -> Cuda | Absent:
    version = re.search(r"\bV(\d+[\d.]*)", host.run([nvcc, "--version"]).out)
    offered = host.run([nvcc, "--list-gpu-code"]).out.split()
    architecture = gpu or (offered[0] if offered else "")
    if version is None or not architecture:
        return host.absent("nvcc", f"{nvcc} does not print its version and targets", otherwise=f"repair {nvcc}")
    reason = "no C++ compiler for the host code was found"
    for compiler in compilers:
        link = (*_folders(host, nvcc, compiler.cxx), *_LATER)
        command: list[str | Path] = [
            nvcc,
            "-std=c++20",
            f"-arch={architecture}",
            "-ccbin",
            compiler.cxx,
            "-cudart",
            "none",
        ]
        outcome = host.trial(_TRIAL, ".cu", command, link, run=False)
        if outcome.ok:
            return Cuda(f"nvcc {version[1]}", str(nvcc), compiler.cxx, architecture, link)
        reason = outcome.reason
    return host.absent("nvcc", reason, otherwise="install a C++ compiler that this CUDA toolkit supports")


def _folders(host: Host, nvcc: Path, cxx: str) -> tuple[str, ...]:
    """Return the toolkit's library folders, which a dry run prints on a line `#$ LIBRARIES= "-L..."`."""
    outcome = host.run([nvcc, "--dryrun", "-ccbin", cxx, "trial.cu"])
    line = re.search(r"^#\$ LIBRARIES=(.*)$", outcome.err + outcome.out, re.MULTILINE)
    flags = shlex.split(line[1]) if line else []
    return tuple(flag for flag in flags if flag.startswith("-L") and not flag.endswith("/stubs"))


def _gpu(machine: Machine) -> str:
    """Return the architecture of the first GPU here, as sm_90; "" if there is none."""
    capability = machine.gpus[0].capability if machine.gpus else ""
    return f"sm_{capability.replace('.', '')}" if capability else ""

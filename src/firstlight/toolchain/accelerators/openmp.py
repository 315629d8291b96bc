"""OpenMP on devices: `omp target` by GCC and Clang, each with what it needs for NVIDIA's GPUs."""

from __future__ import annotations

from collections.abc import Sequence

from firstlight.toolchain import Absent, Offload
from firstlight.toolchain.host import Host
from firstlight.toolchain.offloading import Directives, Spelling, architectures, gcc_spellings, prove
from firstlight.toolchain.probe_result import Compiler

# Clang compiles a region once for each target; it calls the host itself a device, too, on request.
_TRIAL = """#include <omp.h>
#include <cstdio>
int main() {
  int host = 1;
#pragma omp target map(tofrom : host)
  {
#if defined(__NVPTX__) || defined(__AMDGCN__)
    host = 0;
#elif !defined(__clang__)
    host = omp_is_initial_device();
#endif
  }
  std::puts(host != 0 ? "host" : "device");
}
"""


def probe(host: Host, compilers: Sequence[Compiler]) -> tuple[Offload | Absent, ...]:
    """Return the OpenMP flags of each compiler for a device, or for the host only and what it lacks."""
    return tuple(answer for compiler in compilers for answer in _of(host, compiler))


def _of(host: Host, compiler: Compiler) -> tuple[Offload | Absent, ...]:
    what, major = f"OpenMP on devices with {compiler.name}", compiler.version.split(".")[0]
    if compiler.family == "gcc":
        missing = host.absent(what, "the device compiler is not installed", apt=f"gcc-{major}-offload-nvptx")
        plain, spellings = ("-fopenmp", "-foffload=disable"), gcc_spellings(host, compiler, "-fopenmp")
        return prove(host, compiler, Directives("target", _TRIAL, spellings, plain, missing))
    missing = host.absent(what, "no ptxas on the search path", otherwise="install the CUDA toolkit, or load its module")
    asked = ("-fopenmp", "-fopenmp-targets=nvptx64", "-Wno-unknown-cuda-version", "-Xopenmp-target")
    spellings = [Spelling(f"nvptx {a}", (*asked, f"-march={a}")) for a in architectures(host.machine)]
    directives = Directives("target", _TRIAL, spellings if host.which("ptxas") else (), ("-fopenmp",), missing)
    return prove(host, compiler, directives)

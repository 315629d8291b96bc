"""OpenACC: GCC has it, Clang has not."""

from __future__ import annotations

from collections.abc import Sequence

from firstlight.toolchain import Absent, Offload
from firstlight.toolchain.host import Host
from firstlight.toolchain.offloading import Directives, gcc_spellings, prove
from firstlight.toolchain.probe_result import Compiler

_TRIAL = """#include <openacc.h>
#include <cstdio>
int main() {
  int host = 1;
#pragma acc parallel copy(host)
  { host = acc_on_device(acc_device_host); }
  std::puts(host != 0 ? "host" : "device");
}
"""


def probe(host: Host, compilers: Sequence[Compiler]) -> tuple[Offload | Absent, ...]:
    """Return the OpenACC flags of each GCC for a device, or for the host only and what it lacks."""
    return tuple(answer for compiler in compilers if compiler.family == "gcc" for answer in _of(host, compiler))


def _of(host: Host, compiler: Compiler) -> tuple[Offload | Absent, ...]:
    package = f"gcc-{compiler.version.split('.')[0]}-offload-nvptx"
    missing = host.absent(
        f"OpenACC on devices with {compiler.name}", "the device compiler is not installed", apt=package
    )
    plain, spellings = ("-fopenacc", "-foffload=disable"), gcc_spellings(host, compiler, "-fopenacc")
    return prove(host, compiler, Directives("acc", _TRIAL, spellings, plain, missing))

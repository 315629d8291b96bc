"""Directives for devices: what a compiler can make code for, and that compiled is not taken for run."""

from __future__ import annotations

import msgspec
import pytest

from firstlight.system.machine import Gpu
from firstlight.toolchain import Absent, Offload
from firstlight.toolchain.accelerators import openacc, openmp
from firstlight.toolchain.host import Host
from firstlight.toolchain.offloading import architectures
from firstlight.toolchain.probe_result import Compiler

# $SAYS: the output of the trial; $FAILS: a pattern of the command lines that this compiler refuses.
COMPILER = """
case "$*" in
*-print-prog-name*) echo PARTS/cc1plus ;;
FAILS) echo "error: no such target" >&2; exit 1 ;;
*) echo "$*" >> LOG; while [ $# -gt 1 ]; do [ "$1" = -o ] && out=$2; shift; done
   printf '#!/bin/sh\\necho SAYS\\n' > "$out"; chmod +x "$out" ;;
esac
"""


def compiler(host: Host, family: str, second: bool = True, fails: str = "nothing", target: str = "host") -> Compiler:
    """Write a compiler. `second`: whether it has another compiler for devices."""
    parts = host.cache_dir / "parts"
    if second:
        (parts / "accel/nvptx-none").mkdir(parents=True, exist_ok=True)
        (parts / "accel/nvptx-none/mkoffload").touch()
    path = host.path[0] / f"{family}++"
    body = COMPILER.replace("PARTS", str(parts)).replace("FAILS", fails).replace("SAYS", target)
    path.write_text(f"#!/bin/sh\n{body.replace('LOG', str(host.cache_dir / 'log'))}\n")
    path.chmod(0o755)
    return Compiler(family, family, "12.2.0", str(path))


def trials(host: Host) -> int:
    return (host.cache_dir / "log").read_text().count("\n") if (host.cache_dir / "log").exists() else 0


GCC_FLAGS = ("-foffload=nvptx-none", "-foffload-options=nvptx-none=-misa=sm_75")


@pytest.mark.parametrize(
    ("probe", "capability", "flag"), [(openmp.probe, "target", "-fopenmp"), (openacc.probe, "acc", "-fopenacc")]
)
@pytest.mark.parametrize("message", ["host", "device"])
def test_what_is_compiled_counts_as_run_only_where_a_trial_ran_on_a_device(
    host: Host, probe, capability: str, flag: str, message: str
) -> None:
    gcc = compiler(host, "gcc", target=message)
    for _ in range(2):
        (found,) = probe(host, [gcc])
        assert found == Offload(capability, "gcc", "nvptx sm_75", (flag, *GCC_FLAGS), ("-no-pie",), message == "device")
    assert trials(host) == 1


def test_the_first_architecture_that_the_tools_take_is_chosen(host: Host) -> None:
    (found,) = openmp.probe(host, [compiler(host, "gcc", fails="*sm_75*|*sm_80*")])
    assert isinstance(found, Offload) and found.device == "nvptx sm_70"


@pytest.mark.parametrize("probe", [openmp.probe, openacc.probe])
def test_without_a_second_compiler_directives_are_compiled_for_the_host_only(host: Host, probe) -> None:
    gcc = compiler(host, "gcc", second=False)
    for _ in range(2):
        found, gap = probe(host, [gcc])
    assert trials(host) == 1
    assert isinstance(found, Offload) and (found.device, found.ran) == ("", False)
    assert "-foffload=disable" in found.flags
    assert (
        isinstance(gap, Absent)
        and "the device compiler is not installed" in gap.why
        and "gcc-12-offload-nvptx" in gap.fix
    )


def test_a_compiler_whose_code_for_devices_does_not_link_says_why(host: Host) -> None:
    found, gap = openmp.probe(host, [compiler(host, "gcc", fails="*nvptx-none=*")])
    assert isinstance(found, Offload) and found.device == ""
    assert isinstance(gap, Absent) and "error: no such target" in gap.why


def test_clang_needs_nvidia_s_assembler(host: Host) -> None:
    clang = compiler(host, "clang")
    host.path = host.path[:1]
    found, gap = openmp.probe(host, [clang])
    assert isinstance(found, Offload) and (found.device, found.flags) == ("", ("-fopenmp",))
    assert isinstance(gap, Absent) and "no ptxas" in gap.why
    (host.path[0] / "ptxas").touch(0o755)
    (found,) = openmp.probe(host, [clang])
    assert isinstance(found, Offload) and found.device == "nvptx sm_75" and "-march=sm_75" in found.flags
    assert openacc.probe(host, [clang]) == ()


def test_a_compiler_without_directives_has_none(host: Host) -> None:
    (gap,) = openmp.probe(host, [compiler(host, "gcc", second=False, fails="*-fopenmp*")])
    assert isinstance(gap, Absent)


@pytest.mark.parametrize(("capability", "first"), [("9.0", "sm_90"), ("8.0", "sm_80"), ("7.0", "sm_70"), ("", "sm_75")])
def test_code_is_for_the_gpu_here_or_an_earlier_one(host: Host, capability: str, first: str) -> None:
    chosen = architectures(msgspec.structs.replace(host.machine, gpus=(Gpu("x", capability),)))
    assert chosen[0] == first
    assert not capability or all(int(a[3:]) <= int(first[3:]) for a in chosen)

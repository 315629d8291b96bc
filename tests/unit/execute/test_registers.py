"""Registers and spills of kernels for GPUs come from the compiler's output, are stored with the executable, and appear
on the page.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

import synthetic
from firstlight.analysis.figures import judge
from firstlight.core import heritage, reading
from firstlight.execute.build import kernels
from firstlight.execute.build.kernels import Kernel
from firstlight.execute.build.stored import KERNELS, Entry
from firstlight.model.plan import Program
from firstlight.report import html
from firstlight.results.record import Build
from firstlight.system.machine import Gpu

PTXAS = """trial.cu(3): warning #177-D: variable "x" was declared but never referenced
ptxas info    : 0 bytes gmem, 24 bytes cmem[4]
ptxas info    : Compiling entry function '_ZN3sum6kernelIdEEvPT_' for 'sm_75'
ptxas info    : Function properties for _ZN3sum6kernelIdEEvPT_
    448 bytes stack frame, 640 bytes spill stores, 1280 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 448 bytes cumulative stack size, 2048 bytes smem, 380 bytes cmem[0]
ptxas info    : Compile time = 12.000 ms
ptxas info    : Compiling entry function '_Z5plainPd' for 'sm_75'
ptxas info    : Function properties for helper
    16 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads
ptxas info    : Function properties for _Z5plainPd
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, 360 bytes cmem[0]
"""


def test_the_compiler_s_words_become_numbers() -> None:
    plain, spilled = kernels.parse_kernels(PTXAS, os.environ)
    assert plain == Kernel("plain", "sm_75", 8)
    assert spilled == Kernel("sum::kernel<double>", "sm_75", 255, 640, 1280, 448, 2048)


def test_words_of_no_kernel_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    assert kernels.parse_kernels("", os.environ) == ()
    assert kernels.parse_kernels("ptxas info : Compiling entry function 'f' for 'sm_75'\n", os.environ) == ()
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert [k.name for k in kernels.parse_kernels(PTXAS, os.environ)] == ["_Z5plainPd", "_ZN3sum6kernelIdEEvPT_"]


@pytest.mark.parametrize("spoiled", ["-1", "1.5", '"many"', str(1 << 41)])
def test_a_record_with_a_number_that_is_none_is_refused(spoiled: str) -> None:
    with pytest.raises(reading.MalformedError):
        reading.json(f'{{"name": "k", "architecture": "sm_75", "registers": {spoiled}}}'.encode(), Kernel)


def test_they_are_kept_beside_the_executable_with_its_hash(tmp_path: Path) -> None:
    made = tmp_path / "made"
    made.write_text("#!/bin/sh\n")
    made.chmod(0o755)
    some = kernels.parse_kernels(PTXAS, os.environ)
    entry, without = Entry(tmp_path / "a", "program"), Entry(tmp_path / "b", "program")
    entry.fill(made, "{}", strict=False, kernels=some)
    without.fill(made, "{}", strict=False)
    assert entry.kernels() == some and without.kernels() == ()
    assert entry.whole(os.environ, strict=False) and without.whole(os.environ, strict=False)
    (entry.folder / KERNELS).write_text("[]")
    assert not entry.whole(os.environ, strict=False), "what was altered is made anew"


@pytest.mark.parametrize("gpus", [(), (Gpu("NVIDIA H200", "9.0"),)])
def test_the_page_shows_them_and_says_where_nothing_ran(gpus: tuple[Gpu, ...]) -> None:
    run, records, workloads = synthetic.run(only=("dot",), launches=3)
    program = Program("dot", "cuda", "gcc-native")
    some = kernels.parse_kernels(PTXAS, os.environ)
    builds = (
        *run.builds,
        *(Build(replace(program, toolchain=t), True, 1, kernels=some) for t in ("gcc-native", "gcc-base")),
    )
    made = replace(run, builds=builds, machine=replace(run.machine, gpus=gpus))
    assert reading.json(msgspec.json.encode(made), type(made)).builds == builds
    page = html.render(judge(made, records, workloads), workloads, heritage.load())
    assert page.count("sum::kernel&lt;double&gt;") == 1, "once, whatever flags the processor's code has"
    assert "640 B" in page and "1280 B" in page and ">255<" in page
    assert ("none of these kernels ran" in page) == (not gpus)


def test_a_page_of_a_run_without_them_says_nothing() -> None:
    run, records, workloads = synthetic.run(only=("dot",), launches=3)
    assert 'id="kernels"' not in html.render(judge(run, records, workloads), workloads, heritage.load())

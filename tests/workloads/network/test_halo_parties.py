"""Halo strategies may run on units other than MPI ranks: threads, images, processing elements, teams of threads."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import native
import turns
from firstlight import ROOT
from firstlight.execute.build import Built
from firstlight.model.plan import Program
from native import Placement

pytestmark = [pytest.mark.native, pytest.mark.full]

HALO = native.workloads["halo"]
VARIANTS = {v.name: v for v in HALO.variants}
NAMES = ("omp_flags", "shmem_put", "caf_put", "mpi_omp_funnelled", "mpi_omp_spinning")
SHAPES = ("n=2,7", "width=1,2", "word=4,8")


@pytest.fixture(scope="module")
def built() -> dict[Program, Built]:
    if native.toolchain("base") is None:
        pytest.skip("no gcc here")
    return native.make([p for n in NAMES for p in native.on_each_library(HALO, VARIANTS[n])])


def programs(built: dict[Program, Built], variant: str, oversubscribed: bool = False) -> list[Built]:
    """Return one program per MPI library. MPICH's ranks spin: with more of them than processors a message lasts
    milliseconds.
    """
    found = [b for p, b in built.items() if p.variant == variant and not (oversubscribed and p.mpi == "mpich")]
    if not found:
        pytest.skip(f"no MPI library here has what {variant} needs")
    assert [b.error for b in found] == [""] * len(found)
    return found


@pytest.mark.parametrize(
    ("variant", "place"),
    [
        *(("omp_flags", Placement(threads=t)) for t in (1, 2, 4, 6, 8)),
        *((name, Placement(ranks=r)) for name in ("shmem_put", "caf_put") for r in (1, 2, 6, 8)),
        *(("mpi_omp_funnelled", p) for p in (Placement(1, 1, 3), Placement(1, 2, 1), Placement(1, 2, 2))),
        *(("mpi_omp_spinning", p) for p in (Placement(1, 1, 3), Placement(1, 2, 1), Placement(1, 2, 2))),
    ],
    ids=str,
)
def test_halos_are_right_on_every_grid(
    variant: str, place: Placement, built: dict[Program, Built], tmp_path: Path
) -> None:
    for program in programs(built, variant, place.ranks > 2):
        output = native.run(program, place, SHAPES, tmp_path)
        assert (output.status, output.reason) == (0, ""), output.stderr
        assert len(output.of("check")) == 3 * 8 and all(check["ok"] for check in output.of("check"))
        assert output.of("case")[0]["threads"] == place.threads


@pytest.mark.parametrize("rows", [1, 2, 4])
def test_the_grid_may_be_given(rows: int, built: dict[Program, Built], tmp_path: Path) -> None:
    (program,) = programs(built, "omp_flags")
    output = native.run(program, Placement(threads=4), (*SHAPES, f"rows={rows}"), tmp_path)
    assert (output.status, output.reason) == (0, ""), output.stderr


@pytest.mark.parametrize(
    ("variant", "place", "arguments", "why"),
    [
        ("omp_flags", Placement(threads=2), "data=inplace", "supports only data=packed"),
        ("shmem_put", Placement(ranks=2), "data=datatype", "supports only data=packed"),
        ("caf_put", Placement(ranks=2), "data=inplace", "supports only data=packed"),
        ("mpi_omp_funnelled", Placement(1, 2, 1), "data=inplace width=2", "needs width=1 for data=inplace"),
    ],
)
def test_what_cannot_be_is_refused_and_the_runtime_still_ends_well(
    variant: str, place: Placement, arguments: str, why: str, built: dict[Program, Built], tmp_path: Path
) -> None:
    for program in programs(built, variant):
        output = native.run(program, place, ("n=4", *arguments.split()), tmp_path)
        assert output.status == 2 and output.lines == []
        assert any(why in line for line in output.stderr.splitlines()), output.stderr
        assert "signal" not in output.stderr.lower()


@pytest.mark.parametrize("careless", [0, 1, 2], ids=["right", "nobody waits", "one set of boxes"])
def test_the_thread_sanitizer_sees_no_race_between_flags(careless: int, tmp_path: Path) -> None:
    compiler, harness = shutil.which("g++"), ROOT / "native" / "harness"
    if compiler is None:
        pytest.skip("no g++ here")
    sources = [harness / "src" / f"{name}.cpp" for name in ("memory_heap", "comm_serial", "support")]
    flags = ["-std=c++20", "-O1", "-g", "-fsanitize=thread", f"-DCARELESS={careless}", f"-I{harness / 'include'}"]
    flags += [f"-I{native.workloads['halo'].folder}"]
    program = tmp_path / "threads"
    command = [compiler, *flags, Path(__file__).with_name("halo_threads.cpp"), *sources, "-o", program]
    built = subprocess.run(command, capture_output=True, text=True, timeout=turns.PATIENCE)
    if "cannot find" in built.stderr and "tsan" in built.stderr:
        pytest.skip("this g++ comes without the thread sanitizer")
    assert built.returncode == 0, built.stderr
    ran = subprocess.run(
        [program], env={"TSAN_OPTIONS": "halt_on_error=1"}, capture_output=True, text=True, timeout=turns.PATIENCE
    )
    if "unexpected memory mapping" in ran.stderr:
        pytest.skip("this kernel's address space is too random for this thread sanitizer")
    assert ("data race" in ran.stderr, ran.returncode == 0) == (careless > 0, careless == 0), ran.stderr

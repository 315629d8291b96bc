"""Threads first write the large arrays that they use, so that their pages are near those threads."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import drivers
import native
import turns
from firstlight import ROOT

pytestmark = pytest.mark.native

HERE = Path(__file__).parent
HARNESS = ROOT / "native" / "harness"
SUPPORT = [
    HARNESS / "src" / f"{name}.cpp"
    for name in ("arguments", "document", "kernels", "json", "support", "comm_serial", "seed")
]
FLAGS = ("-O1", "-fopenmp", "-Wno-psabi", f"-I{HARNESS}/include", f"-I{HARNESS}/src", f"-I{ROOT}/native/grid/include")
LATTICE = ("t=32", "x=8", "y=8", "z=8")
CASES = {
    ("dot", "omp"): ("n=1e6",),
    ("stream", "omp"): ("n=1e6",),
    ("fem2d", "omp"): ("level=5", "problem=M"),
    ("fem2d", "omp_multigrid"): ("level=5", "problem=M"),
    ("halo", "omp_flags"): ("n=512",),
    ("himeno", "omp"): ("size=S",),
    ("fdtd2d", "omp"): ("problem=cavity", "n=600", "steps=4", "bits=64"),
    ("cfd_solver", "omp"): ("kernel=sip", "i=512", "j=64", "k=8", "problem=diffusion", "sweeps=2"),
    ("dirac", "omp_virtual_nodes"): ("operator=D", *LATTICE),
    ("dirac_solver", "omp_virtual_nodes"): ("method=bicgstab", "digits=1", *LATTICE),
    ("dirac_overlap", "omp_virtual_nodes"): ("digits=4", "poles=2", "t=32", "x=4", "y=8", "z=8"),
}
"""These arrays are small, with lines of about a page: a page with lines of two threads belongs to the faster one."""
SOON = {("dot", "omp"), ("fem2d", "omp"), ("himeno", "omp")}
"""These are a loop, a mesh and a grid; the others, each compiled only for this test, require --full."""
THREADS = 2


@pytest.mark.parametrize(
    "case", [pytest.param(c, marks=[] if c in SOON else [pytest.mark.full], id=".".join(c)) for c in CASES]
)
def test_threads_find_their_pages_where_they_have_put_them(case: tuple[str, str]) -> None:
    workload, variant = case
    folder = native.workloads[workload].folder
    judge = drivers.written(
        f"{workload}.judge.cpp",
        f'#include "firstlight/program.hpp"\n#include "{folder}/{workload}.hpp"\nFL_WORKLOAD({workload})\n',
    )
    named = (f'-DFL_VARIANT_NAME="{variant}"', '-DFL_COMPILER=""', '-DFL_FLAGS=""')
    parts = [
        *drivers.objects([HERE / "first_touch.cpp", *SUPPORT], *FLAGS),
        *drivers.objects([judge], *FLAGS, "-DFL_JUDGE"),
        *drivers.objects([folder / f"{variant}.cpp"], *FLAGS, f"-I{folder}", *named),
    ]
    program = drivers.linked("first_touch", parts, *FLAGS)
    with turns.party(THREADS):
        words = [program, str(THREADS), *CASES[case]]
        done = subprocess.run(words, capture_output=True, text=True, timeout=turns.PATIENCE)
    assert done.returncode == 0, (done.stdout, done.stderr)
    pages, near, first = map(int, done.stdout.split())
    assert pages > 100
    assert near >= 0.85 * pages, done.stdout
    assert 0.3 * pages < first < 0.7 * pages, done.stdout

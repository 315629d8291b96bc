"""The documents: the examples of the page on adding a workload are built, run, and rejected where they must be."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

import native
import turns
from firstlight import ROOT
from firstlight.execute.build import Built, build
from firstlight.model.catalogue import load
from firstlight.model.plan import Placement

PAGE = ROOT / "docs" / "add-a-workload.md"
BLOCK = re.compile(r"`((?:axpy|heat3d)/[a-z0-9_/]+\.(?:toml|hpp|cpp|cu))`.*?\n```[a-z]+\n(.*?)```", re.S)
CODE = re.compile(r"^```.*?^```", re.S | re.M)
FILES = {
    "axpy": ["axpy.hpp", "broken/broken_last.cpp", "omp.cpp", "serial.cpp", "workload.toml"],
    "heat3d": [
        "broken/broken_mpi_stale.cpp", "cuda.cu", "heat3d.hpp", "kernels/run.hpp", "mpi_overlap.cpp", "omp.cpp",
        "serial.cpp",
        "workload.toml",
    ],
}  # fmt: skip
MOST = 200
"""Lines of the application, all files together: what the harness and the grid are for."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the page, written to a folder of their own."""
    root: Path = tmp_path_factory.mktemp("workloads")
    for name, text in BLOCK.findall(PAGE.read_text()):
        place = root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    written = [str(p.relative_to(root)) for p in root.rglob("*") if p.is_file()]
    assert sorted(written) == sorted(f"{name}/{file}" for name, files in FILES.items() for file in files)
    return root


@pytest.mark.native
@pytest.mark.alone
def test_the_example_is_measured_with_no_edit_elsewhere(folder: Path, tmp_path: Path) -> None:
    words = ["run", "axpy", "--toolchain", "gcc-base", "--launches", "2", "--json", "--results", str(tmp_path)]
    environment = os.environ | {"FIRSTLIGHT_WORKLOADS": str(folder)}
    done = subprocess.run(
        [sys.executable, "-m", "firstlight", *words],
        env=environment,
        capture_output=True,
        text=True,
        timeout=turns.PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)
    figures = subprocess.run(
        [sys.executable, "-m", "firstlight", "figures", str(next(tmp_path.iterdir())), "--json"],
        env=environment, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    found = json.loads(figures.stdout)
    assert {f["variant"] for f in found if f["workload"] == "axpy"} == {"serial", "omp"}
    assert all(f["verdict"] == "verified" and f["median"] > 0 for f in found)


@pytest.fixture(scope="module")
def program(folder: Path) -> Iterator[Callable[[str, str], Built]]:
    """Builds a variant of an example; skips the test where what it needs is not here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FIRSTLIGHT_WORKLOADS", str(folder))
        workloads = load([folder])

        def make(workload: str, variant: str) -> Built:
            wanted = native.plain_program(workload, variant.removeprefix("broken_"))
            wanted = replace(wanted, variant=variant)
            built = build([wanted], native.toolbox(), workloads, native.CACHE, options=native.STRICT)[wanted]
            assert built.error == ""
            return built

        yield make


@pytest.mark.native
def test_the_broken_example_is_rejected(program: Callable[[str, str], Built]) -> None:
    built = program("axpy", "broken_last")
    assert native.direct(built, "n=100", "--samples", "2", "--sample-seconds", "1e-4").returncode == 1


# --- the application ------------------------------------------------------------------------------

CELLS = ("n=8,13", "steps=1,9", "r=0.1,0.1666")
"""13 cells are cut unevenly."""


def test_the_application_is_short(folder: Path) -> None:
    lines = {p.name: len(p.read_text().splitlines()) for p in (folder / "heat3d").rglob("*.*")}
    assert sum(lines.values()) <= MOST, lines


@pytest.mark.native
@pytest.mark.parametrize(
    ("variant", "place"),
    [
        ("serial", Placement()),
        ("omp", Placement(threads=3)),
        ("mpi_overlap", Placement(ranks=2)),
        *(pytest.param("mpi_overlap", Placement(ranks=n), marks=pytest.mark.full) for n in (1, 3, 4)),
    ],
    ids=lambda value: value if isinstance(value, str) else f"{value.ranks}x{value.threads}",
)
def test_the_application_is_verified(
    variant: str, place: Placement, program: Callable[[str, str], Built], tmp_path: Path
) -> None:
    """Every cell, whatever the cut; each sample reports the phases."""
    output = native.verified(program("heat3d", variant), place, tmp_path, *CELLS)
    assert len(output.of("case")) == 8
    for sample in output.of("sample"):
        most = {name: spread[2] for name, spread in sample["values"].items()}
        assert set(most) == {f"phase_{name}" for name in ("halo", "inner", "rim", "other")}
        assert min(most["phase_halo"], most["phase_inner"], most["phase_rim"]) > 0


@pytest.mark.native
def test_stale_halos_are_rejected(program: Callable[[str, str], Built], tmp_path: Path) -> None:
    """Not for a NaN: old values are finite, and the check still finds them. With two time steps both halos are new."""
    built = program("heat3d", "broken_mpi_stale")
    output = native.run(built, Placement(ranks=2), ("n=8", "steps=2,9"), tmp_path)
    first = {c["case"]: c for c in output.of("check") if c["when"] == "before"}
    assert output.status == 1 and [first[case]["ok"] for case in (0, 1)] == [True, False]
    assert 1e-6 < first[1]["error"] < 1


@pytest.mark.native
def test_the_application_runs_on_a_gpu_or_says_that_there_is_none(
    program: Callable[[str, str], Built], tmp_path: Path
) -> None:
    if native.toolbox().cuda is None:
        pytest.skip("no nvcc here")
    output = native.run(program("heat3d", "cuda"), Placement(), CELLS, tmp_path)
    if output.status == 2:
        assert "this variant of heat3d needs a GPU; " in output.stderr and output.lines == []
        pytest.skip("compiled and refused: no GPU here")
    assert (output.status, output.reason) == (0, ""), output.stderr
    assert len(output.of("check")) == 24 and all(check["ok"] for check in output.of("check"))


def test_every_link_between_documents_leads_somewhere() -> None:
    pages = [
        ROOT / "README.md",
        *sorted((ROOT / "docs").glob("*.md")),
        *sorted((ROOT / "workloads").glob("*/*/README.md")),
    ]
    for page in pages:
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", CODE.sub("", page.read_text())):
            assert (page.parent / target).exists(), f"{page.relative_to(ROOT)} links to {target}, which is not there"

"""Settings of real programs: a user's molecule from the command line to the page, and on with the run."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import native
from commands import Captured, call
from firstlight.core.errors import OK, REGRESSION, USAGE
from firstlight.results.store import documents, layout
from firstlight.system.machine import cache_directory
from real_calls import MEASURED

pytestmark = [pytest.mark.full, pytest.mark.workload("hartree_fock")]

XYZ = """3
a molecule of water, bent a little more
O 0.0 0.0 0.0
H 0.0 0.75 0.60
H 0.0 -0.75 0.60
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FIRSTLIGHT_CACHE", str(cache_directory().absolute()))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.xyz").write_text(XYZ)
    return tmp_path


def test_a_molecule_from_the_command_line_to_the_page_and_on(here: Path, capsys: Captured) -> None:
    programs = ["hartree_fock.serial", *(["hartree_fock.mpi_tasks"] if native.toolbox().mpis else [])]
    mpi = ["--mpi", native.toolbox().mpis[0].name] if native.toolbox().mpis else []
    arguments = ["molecule=mine.xyz", "basis=STO-3G", "tau=1e-12"]
    code, _, err = call(
        capsys,
        "run",
        *programs,
        *arguments,
        "--toolchain",
        "gcc-base",
        *mpi,
        "--budget",
        "10s",
        "--launches",
        "1",
        "--as",
        "mine",
    )
    assert code in MEASURED, err
    run, name = here / "results" / "mine", documents.of("mine.xyz", XYZ.encode()).name
    figures = json.loads(call(capsys, "figures", "mine", "--json")[1])
    found = {(f["variant"], f["parameters"]["task"]) for f in figures if f["verdict"] == "verified"}
    assert {("serial", "matrix"), ("serial", "energy"), *([("mpi_tasks", "matrix")] if mpi else [])} <= found
    assert {f["parameters"]["molecule"] for f in figures if f["workload"] == "hartree_fock"} == {name}
    (here / "mine.xyz").unlink()
    elsewhere = here / "elsewhere"
    shutil.copytree(run, elsewhere / "mine")
    code, _, err = call(capsys, "run", "--resume", str(elsewhere / "mine"), "--budget", "3s")
    assert code in MEASURED, err
    assert call(capsys, "check", str(elsewhere / "mine"))[0] == OK
    page = (elsewhere / "mine" / "report.html").read_text()
    assert "Hartree-Fock: mine.xyz, STO-3G, matrix" in page
    copy = elsewhere / "mine" / layout.DOCUMENTS / name
    assert f"molecule={copy} basis=STO-3G" in page
    copy.write_text(XYZ.replace("0.60", "0.61"))
    code, out, _ = call(capsys, "check", str(elsewhere / "mine"))
    assert code == REGRESSION and f"documents/{name}: was altered" in out
    code, _, err = call(capsys, "run", "--resume", str(elsewhere / "mine"), "--budget", "3s")
    assert code == USAGE and "was altered after the run started" in err


def test_what_is_wrong_in_the_file_is_told_before_more_is_built(here: Path, capsys: Captured) -> None:
    (here / "mine.xyz").write_text(XYZ.replace("O 0.0", "Xe 0.0"))
    code, _, err = call(capsys, "run", "hartree_fock", "molecule=mine.xyz", "--toolchain", "gcc-base")
    assert (code, 'firstlight: mine.xyz:3: the element "Xe" is not one of H, C, N, O' in err) == (USAGE, True), err
    code, _, err = call(capsys, "run", "hartree_fock.serial", "molecule=water", "task=zz*", "--toolchain", "gcc-base")
    assert (code, "no task of hartree_fock.serial matches zz*" in err) == (USAGE, True), err
    code, _, err = call(capsys, "run", "hartree_fock", "molecule=water", "tau=1", "--toolchain", "gcc-base")
    assert (code, "tau must be a number from 0 to 1e-06, not 1" in err) == (USAGE, True), err
    assert not (here / "results").exists()

"""The documents: the example of the page on adding a workload is built, run, and rejected where it must be."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import native
import turns
from firstlight import ROOT
from firstlight.build import build
from firstlight.catalogue import load
from firstlight.plan import Program

PAGE = ROOT / "docs" / "add-a-workload.md"
BLOCK = re.compile(r"`(axpy/[a-z_]+\.(?:toml|hpp|cpp))`.*?\n```[a-z]+\n(.*?)```", re.S)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the page, written to a folder of their own."""
    root: Path = tmp_path_factory.mktemp("workloads")
    for name, text in BLOCK.findall(PAGE.read_text()):
        place = root / name
        place.parent.mkdir(exist_ok=True)
        place.write_text(text)
    assert sorted(p.name for p in (root / "axpy").iterdir()) == [
        "axpy.hpp", "broken_last.cpp", "omp.cpp", "serial.cpp", "workload.toml",
    ]  # fmt: skip
    return root


@pytest.mark.native
@pytest.mark.alone
def test_the_example_is_measured_with_no_edit_elsewhere(folder: Path, tmp_path: Path) -> None:
    words = ["run", "axpy", "--toolchain", "gcc-base", "--budget", "20s", "--json", "--results", str(tmp_path)]
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
    assert {f["variant"] for f in found} == {"serial", "omp"}
    assert all(f["verdict"] == "verified" and f["median"] > 0 for f in found)


@pytest.mark.native
def test_the_broken_example_is_rejected(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRSTLIGHT_WORKLOADS", str(folder))
    tool = native.toolchain("base")
    if tool is None:
        pytest.skip("no gcc here")
    wanted = Program("axpy", "broken_last", tool.name)
    built = build([wanted], native.toolbox(), load([folder]), native.CACHE)[wanted]
    assert native.direct(built, "n=100", "--samples", "2", "--sample-seconds", "1e-4").returncode == 1


def test_every_link_between_documents_leads_somewhere() -> None:
    pages = [
        ROOT / "README.md",
        *sorted((ROOT / "docs").glob("*.md")),
        *sorted((ROOT / "workloads").glob("*/*/README.md")),
    ]
    for page in pages:
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.relative_to(ROOT)} links to {target}, which is not there"

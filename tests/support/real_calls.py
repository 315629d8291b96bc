"""The command line as a user calls it, with real compilers and programs, and what it leaves in a folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import turns
from firstlight import ROOT
from firstlight.core.errors import INCONCLUSIVE, OK

FIRSTLIGHT = (sys.executable, "-m", "firstlight")
MEASURED = (OK, INCONCLUSIVE)
"""The exit status of a good run: while other tests run, the machine may not be fit for measuring."""
CACHE = Path(os.environ.get("FIRSTLIGHT_CACHE", ROOT / ".fl"))


def variables(cache: Path = CACHE) -> dict[str, str]:
    """Return variables with the workload that misbehaves, which no other test and no user runs."""
    workloads = ROOT / "tests/support/workloads"
    paths = {"PYTHONPATH": str(ROOT / "src"), "FIRSTLIGHT_CACHE": str(cache), "FIRSTLIGHT_WORKLOADS": str(workloads)}
    return os.environ | paths | {"CI": "1"}


def firstlight(folder: Path, *words: str, cache: Path = CACHE) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*FIRSTLIGHT, *words], cwd=folder, env=variables(cache), capture_output=True, text=True, timeout=turns.PATIENCE
    )


def only_run(folder: Path) -> Path:
    (path,) = (folder / "results").iterdir()
    return path


def figures(folder: Path) -> list[dict]:  # type: ignore[type-arg]
    return json.loads(firstlight(folder, "figures", "--json").stdout)


def verdicts(folder: Path) -> dict[tuple[str, str | None], str]:
    """Return verdicts by variant and MPI library."""
    return {(row["variant"], row["mpi"]): row["verdict"] for row in figures(folder)}


def assert_clean(folder: Path) -> None:
    checked = firstlight(folder, "check")
    assert checked.returncode == OK, checked.stdout

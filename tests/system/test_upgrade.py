"""An upgrade: this version uses runs, an accepted run, a cache and site files that version 0.1 wrote.

`version_0_1.tar.xz` contains them as they were written. `earliest` is from an early state of 0.1, whose lines lack
entries of later ones.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import msgspec
import pytest

from commands import Captured, call
from firstlight.core.errors import INCONCLUSIVE, OK
from firstlight.runner import costs
from firstlight.system.site import file as site_file
from firstlight.toolchain.memory import Memory

ARCHIVE = Path(__file__).parents[1] / "support" / "version_0_1.tar.xz"
RUNS = ("earliest", "first", "second")
MEASURED = (OK, INCONCLUSIVE)
"""Statuses of a comparison. Other processes disturbed these runs."""


@pytest.fixture
def earlier(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Unpack what 0.1 wrote, and use its cache."""
    shutil.unpack_archive(ARCHIVE, tmp_path)
    monkeypatch.setenv("FIRSTLIGHT_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def rows(figures: list[dict[str, object]]) -> list[str]:
    """Return what identifies each figure, with its interval and verdict."""
    keys = ("workload", "variant", "toolchain", "parameters", "metric", "unit", "median", "low", "high", "verdict")
    return sorted(json.dumps([figure[key] for key in keys]) for figure in figures)


def test_the_files_are_those_of_0_1(earlier: Path) -> None:
    for name in RUNS:
        assert json.loads((earlier / "results" / name / "run.json").read_bytes())["firstlight"] == "0.1.0"


@pytest.mark.parametrize("name", RUNS)
def test_its_runs_are_unaltered_and_read(name: str, earlier: Path, capsys: Captured) -> None:
    code, out, _ = call(capsys, "check", name)
    assert code == OK and "launches, no defects" in out and "as at the end of the run" in out
    written = json.loads((earlier / f"results/{name}/figures.json").read_bytes())
    code, out, _ = call(capsys, "figures", name, "--json")
    read = json.loads(out)
    assert code == OK and rows(read) == rows(written) and rows(read)
    page = earlier / "page.html"
    assert call(capsys, "report", name, "--output", str(page))[0] == OK
    assert "firstlight 0.1.0" in page.read_text()


def test_its_runs_are_compared(earlier: Path, capsys: Captured) -> None:
    code, out, err = call(capsys, "compare", "first", "second", "--json")
    assert code in MEASURED and json.loads(out), err
    code, out, err = call(capsys, "history", "results", "--json")
    assert code in MEASURED and all(f'"{name}"' in out for name in RUNS), err


def test_its_accepted_run_stays_accepted(earlier: Path, capsys: Captured) -> None:
    words = ("health", "--run", "second", "--results", "results", "--json")
    code, out, _ = call(capsys, "--site-file", "sites/contract.toml", *words)
    found = json.loads(out)
    assert (code, found["accepted"], found["limits"]) == (INCONCLUSIVE, "first", 1), "it was disturbed"
    assert [check["of_accepted"] is not None for check in found["checks"]].count(True) > 0


def test_its_site_files_are_read(earlier: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("USER", "ada")
    files = sorted((earlier / "sites").glob("*.toml"))
    assert len(files) > 3
    for path in files:
        assert site_file.read(path).faults == (), path


def test_its_cache_is_used(earlier: Path) -> None:
    seconds = costs.load(earlier / "cache")
    assert seconds and seconds.keys() == json.loads((earlier / "cache/launches.json").read_bytes()).keys()
    trials = json.loads((earlier / "cache/probes.json").read_bytes())[1]
    memory = Memory(earlier / "cache/probes.json")
    assert trials and [key for key in trials if memory.recall(key, msgspec.Raw) is None] == []

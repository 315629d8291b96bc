"""Hardware counters of a user's commands are figures where the kernel opens them, else one line states the reason."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from pathlib import Path

import pytest

from bench_runs import run
from commands import Captured, call
from firstlight.commands.bench import planning, request
from firstlight.core import perf_events
from firstlight.core.errors import OK
from firstlight.model.plan import Placement
from firstlight.system.machine import counters


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_hardware_counters_of_a_command_are_figures(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    """Page faults, which virtual machines count, too, represent instructions."""
    faults = (1, 2)
    descriptor, _ = perf_events.open_event(*faults)
    if descriptor < 0:
        pytest.skip("the kernel opens no events here")
    os.close(descriptor)
    monkeypatch.setattr(counters, "events", lambda: {"instructions": faults, "branch_misses": (0, 1 << 40)})
    code, _, err = call(capsys, "bench", "--as", "r", "--", "true", "--", shlex.quote(sys.executable), "-c", "pass")
    assert code == OK, err
    found = json.loads(call(capsys, "figures", "r", "--json")[1])
    few, many = (f for f in found if f["metric"] == "instructions")
    assert few["verdict"] == many["verdict"] == "verified"
    assert 20 < few["low"] <= few["median"] and 3 * few["high"] < many["low"]
    assert few["unit"] == "" and few["better"] == "lower"
    assert not [f for f in found if f["metric"] == "branch_misses"], "an event that cannot be opened has no figure"
    assert " instructions " in call(capsys, "report", "r")[1]
    assert re.search(
        r"hardware counters per step\n +[\d.]+ instructions", call(capsys, "explain", "true", "time", "--run", "r")[1]
    )
    assert call(capsys, "check", "r")[0] == OK


def test_missing_counters_are_one_line(capsys: Captured) -> None:
    missing = counters.missing("no hardware counters: this virtual machine provides none")
    assert missing.startswith("not available: this virtual machine provides none; sysctl kernel.perf_event_paranoid=2")
    err = run(capsys, "--", "true")[2]
    assert err.count("hardware counters: not available: ") == (0 if counters.events() else 1)


def test_ranks_of_a_launcher_are_not_counted() -> None:
    asked = request.BenchRequest({"a": "mpiexec -n 2 ./a", "b": "./b"})
    some = planning.Choices((None,), (None,), (Placement(),), (), ({},))
    made = [planning.Made(None, None, Path("/"))]
    cells = planning.cells(asked, some, made, counters={"cycles": (0, 0)})
    assert [cell.external.counters for cell in cells if cell.external] == [{}, {"cycles": (0, 0)}]

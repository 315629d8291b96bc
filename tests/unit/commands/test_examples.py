"""Every command's help has an example, and it works as typed."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

import invented
import invented_run
import many_runs
import synthetic
from commands import Captured, call, examples, here
from firstlight import ROOT
from firstlight.commands.nodes import folder
from firstlight.commands.nodes.folder import NodesRun, Record
from firstlight.commands.shared.command_line import COMMANDS

ITERATIONS = "20261001-020000-standard"
"""A run of workloads that the newest run has not measured, and the word of an example that requires it."""
STARTS_PROGRAMS = {
    "run": ["--dry-run"], "submit": ["--system", "slurm", "--dry-run"], "health": ["--run", ITERATIONS],
}  # fmt: skip
"""Commands that would measure, and the options with which they print their plan or judge a run instead."""
MEASURED = "measured"
OF_A_SOLVER = ("project", "validate")
"""The examples of these commands all require such a run."""
LACKING = {"checkpoint": "measures it", "validate": "measures it", "--idle": "sinfo"}
"""Words of examples that require a measurement or a cluster that may be missing here, and part of the message then."""
ELSEWHERE = {
    "bench": "test_bench.py",
    "import": "test_import.py",
    "profile": "test_profile.py",
    "setup": "test_setup.py",
    "sign": "test_store_seal.py",
    "tune": "test_tune.py",
}
"""Those that need a program, a key or an MPI library, or change this cache: where they are typed."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the runs that the examples name."""
    made = tmp_path_factory.mktemp("examples")
    results, scene = made / "results", synthetic.run(1, 8)
    for k, name in enumerate(("20261101-020000-quick", "node07", "node08", "node09")):
        many_runs.write(scene, results, name, synthetic.STARTED + k * many_runs.WEEK)
    solver = invented_run.run(
        invented.machine(made, "laptop"),
        "standard",
        launches=2,
        names=("cg", "pingpong", "stream", "peak", "collectives"),
    )
    many_runs.write(solver, results, ITERATIONS, synthetic.STARTED - many_runs.WEEK)
    nodes = results / "four"
    nodes.mkdir()
    (results / "node07").rename(nodes / "node-001")
    many_runs.write(scene, results, "node07", synthetic.STARTED + many_runs.WEEK)
    rounds = ((NodesRun("node-001", (0,), 0),),)
    record = Record(folder.SCHEMA, 1.0, "0.1", ("./fl",), ("a",), ("node",), (), "no MPI library", 0, 1, rounds)
    (nodes / folder.RECORD).write_bytes(msgspec.json.encode(record))
    return made


@pytest.mark.native
@pytest.mark.parametrize("command", sorted(set(COMMANDS) - set(ELSEWHERE)))
def test_they_work_as_typed(command: str, place: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    for words in examples(command, capsys):
        of = ["--run", ITERATIONS] if MEASURED in words else [ITERATIONS] if {*words} & {*OF_A_SOLVER} else []
        code, out, err = call(capsys, *words, *of, *STARTS_PROGRAMS.get(command, []))
        # commands that judge invented runs may end with 1 and 4; 2 and 3 mean that the command cannot be used so
        lacking = next((message for word, message in LACKING.items() if word in words), None)
        good = code in (0, 1, 4) and (out.strip() or "-o" in words)
        assert good or (lacking is not None and lacking in err and err.count("\n") == 1), (words, err)


@pytest.mark.parametrize("command", list(filter(here, ELSEWHERE)))
def test_the_others_are_typed_by_their_own_tests(command: str) -> None:
    text = next((ROOT / "tests").rglob(ELSEWHERE[command])).read_text()
    assert re.search(rf'examples\(\s*"{command}", capsys', text)

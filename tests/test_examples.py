"""Every command's help has an example, and it works as typed."""

from __future__ import annotations

import shlex
from pathlib import Path

import msgspec
import pytest

import many_runs
import synthetic
from commands import Captured, call
from firstlight.cli import COMMANDS, group
from firstlight.nodes import folder
from firstlight.nodes.folder import Part, Record

STARTS_PROGRAMS = {"run": ["--dry-run"], "submit": ["--system", "slurm", "--dry-run"]}
"""Commands that would measure, and what makes them tell their plan instead."""
PARSED = ("bench", "tune", "profile", "sign")
"""Those that would start programs or ask for a key: here their options are read; their own tests carry them out."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the runs are that the examples name."""
    made = tmp_path_factory.mktemp("examples")
    results, scene = made / "results", synthetic.run(1, 8)
    for k, name in enumerate(("20261101-020000-quick", "node07", "node08", "node09")):
        many_runs.write(scene, results, name, synthetic.STARTED + k * many_runs.WEEK)
    nodes = results / "four"
    nodes.mkdir()
    (results / "node07").rename(nodes / "node-001")
    many_runs.write(scene, results, "node07", synthetic.STARTED + many_runs.WEEK)
    rounds = ((Part("node-001", (0,), 0),),)
    asked = Record(folder.SCHEMA, 1.0, "0.1", ("./fl",), ("a",), ("node",), (), "no MPI library", 0, 1, rounds)
    (nodes / folder.RECORD).write_bytes(msgspec.json.encode(asked))
    return made


def examples(command: str, capsys: Captured) -> list[list[str]]:
    _, out, _ = call(capsys, command, "--help")
    text = out.partition("Example")[2]
    assert text, f"{command} --help has no example"
    lines = [line.strip() for line in text.split("Exit status")[0].splitlines()]
    found = [shlex.split(line)[1:] for line in lines if line.startswith("./fl ")]
    assert found and all(words[0] in COMMANDS for words in found), found
    return [words for words in found if words[0] == command]


@pytest.mark.parametrize("command", COMMANDS)
def test_they_work_as_typed(command: str, place: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    for words in examples(command, capsys):
        if command in PARSED:
            known = group.get_command(
                group.make_context("firstlight", [command, "--help"], resilient_parsing=True), command
            )
            assert known is not None
            known.make_context(command, [*words[1:]])
            continue
        code, out, err = call(capsys, *words, *STARTS_PROGRAMS.get(command, []))
        # 1 and 4 are answers of commands that judge, here of invented runs; 2 and 3 say that it cannot be done so.
        assert code in (0, 1, 4) and (out.strip() or "-o" in words), (words, err)

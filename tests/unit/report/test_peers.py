"""Other programs for figures of a user's commands: what `explain` offers starts the same words in the same place."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from commands import Captured, call
from firstlight.core.errors import OK
from firstlight.core.roles import KINDS, OF_COMMANDS
from firstlight.report.peers import PEERS

APP = """#!{python}
import json, os, sys
held = bytearray(b"x") * (64 << 20)
reported = dict(words=sys.argv[1:], folder=os.getcwd(), variable=os.environ.get("FOR_APP"))
reported["prepared"] = os.path.exists("ready")
print("reported", json.dumps(reported))
open("reported.json", "w").write(json.dumps(reported))
"""
STANDIN = """#!{python}
import shlex, subprocess, sys
own, measured = sys.argv[1:-1], shlex.split(sys.argv[-1])
if "--" in sys.argv:
    at = sys.argv.index("--")
    own, measured = sys.argv[1:at], sys.argv[at + 1:]
for word in own:
    name, _, value = word.partition("=")
    if name in ("--prepare", "--pre"):
        subprocess.run(value, shell=True, check=True)
sys.exit(subprocess.run(measured).returncode)
"""
FILE = """
name = "own"
prepare = "touch ready"
expect = "reported"
launches = 2
[commands]
app = "./app 'two words' '$HOME;' {out}"
[environment]
FOR_APP = "it's \\"set\\""
"""


def executable(path: Path, text: str) -> None:
    path.write_text(text.replace("{python}", sys.executable))
    path.chmod(0o755)


@pytest.fixture
def measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> Path:
    """Return a folder whose name needs quotes, with a run of a command in it."""
    folder = tmp_path / "my code"
    folder.mkdir()
    monkeypatch.chdir(folder)
    executable(folder / "app", APP)
    (folder / "firstlight-bench.toml").write_text(FILE)
    code, _, err = call(capsys, "bench", "--as", "r")
    assert code == OK, err
    return folder


def offered(capsys: Captured, metric: str) -> dict[str, dict[str, str]]:
    code, out, err = call(capsys, "explain", metric, "--run", "r", "--json")
    assert code == OK, err
    return {peer["program"]: peer for peer in json.loads(out)["peers"]}


def test_each_command_starts_the_words_as_they_were_measured(
    measured: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured, tmp_path: Path
) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("hyperfine", "perf", "time"):
        executable(programs / name, STANDIN)
    path = os.environ["PATH"]
    monkeypatch.setenv("PATH", f"{programs}:{path}")
    wanted = {"time": {"hyperfine", "perf"}, "cpu_time": {"perf"}, "peak_memory": {"time"}}
    expected = {"folder": str(measured), "variable": 'it\'s "set"', "prepared": True}
    for metric, names in wanted.items():
        found = offered(capsys, metric)
        assert found.keys() == names
        for peer in found.values():
            for left in ("reported.json", "ready"):
                (measured / left).unlink(missing_ok=True)
            done = subprocess.run(["/bin/sh", "-c", peer["command"]], cwd="/", capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            reported = json.loads((measured / "reported.json").read_text())
            assert reported.pop("words")[:2] == ["two words", "$HOME;"] and reported == expected


def test_what_is_not_here_says_so(measured: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.setattr("firstlight.report.peers.shutil.which", lambda _: None)
    for peer in offered(capsys, "cpu_time").values():
        assert (peer["command"], peer["why"]) == ("", f"not available: {peer['program']} is not on PATH")


def test_roles_of_external_commands_are_known_and_have_peers() -> None:
    assert all(role in KINDS and PEERS[role] for role in OF_COMMANDS)

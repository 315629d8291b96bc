"""A limit of the caller's process produces one clear line, before anything is measured or written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from firstlight import ROOT

_WORLD = os.environ | {"PYTHONPATH": str(ROOT / "src"), "LC_ALL": "C"}
_CALL = [sys.executable, "-P", "-m", "firstlight", "--version"]


def _call(shell: str, folder: Path) -> subprocess.CompletedProcess[str]:
    words = ["bash", "-c", f'{shell}; exec "$@"', "bash", *_CALL]
    return subprocess.run(words, cwd=folder, env=_WORLD, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("shell", "message"),
    [
        ("rmdir ../gone", "cannot use the current folder: No such file or directory; change to another folder"),
        ("ulimit -n 32", "the limit of open files is too low (32); raise the limit: ulimit -n 1024"),
        ("ulimit -f 4", "files cannot be larger than 4 KiB; raise the limit: ulimit -f unlimited"),
        ("ulimit -s 64", "the stack cannot be larger than 64 KiB; raise the limit: ulimit -s 8192"),
    ],
    ids=("folder", "open files", "size of files", "stack"),
)
def test_what_a_caller_forbids_is_named_with_its_remedy(tmp_path: Path, shell: str, message: str) -> None:
    (tmp_path / "gone").mkdir()
    done = _call(shell, tmp_path / "gone")
    assert (done.returncode, done.stderr) == (3, f"firstlight: {message}\n")


def test_a_limit_that_may_be_raised_is_raised(tmp_path: Path) -> None:
    done = _call("ulimit -S -n 32; ulimit -S -f 4; ulimit -S -s 64", tmp_path)
    assert done.returncode == 0 and done.stdout


def test_new_files_stay_accessible_whatever_the_umask_is(tmp_path: Path) -> None:
    code = f"""
import os
from firstlight.commands.shared import start
for given in (0o777, 0o027, 0o000):
    os.umask(given)
    start.prepare()
    open(os.path.join({str(tmp_path)!r}, oct(given)), "w").close()
"""
    subprocess.run([sys.executable, "-P", "-c", code], env=_WORLD, check=True)
    modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    assert modes == {"0o777": 0o600, "0o27": 0o640, "0o0": 0o666}

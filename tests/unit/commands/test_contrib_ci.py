"""The scripts that compare revisions of a repository, with a firstlight that measures nothing."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from firstlight import ROOT

SCRIPT = ROOT / "contrib/ci/bench-pr.sh"
GIT = ("git", "-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main")


@pytest.mark.parametrize(
    ("status", "verdict"), [(0, "Not slower"), (1, "Slower than main"), (4, "Uncertain"), (3, "Not")]
)
def test_two_revisions_are_built_compared_and_commented(status: int, verdict: str, tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    repository.mkdir()
    stand_in = tmp_path / "firstlight"
    stand_in.write_text(f'#!/bin/sh\necho "$*" | grep -q -- "--limit 3%" || exit 9\n"$7"; "$9"\nexit {status}\n')
    stand_in.chmod(0o755)

    def git(*words: str) -> None:
        subprocess.run([*GIT, *words], cwd=repository, check=True, capture_output=True)

    (repository / "text").write_text("old\n")
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "old")
    (repository / "text").write_text("new\n")
    words = ["sh", SCRIPT, "main", "cp text built", "cat built", "3%"]
    own = os.environ | {"FIRSTLIGHT": str(stand_in)}
    done = subprocess.run(words, cwd=repository, env=own, capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    assert done.stdout.startswith(f"**Performance.** {verdict}")
    assert done.stdout.endswith("```\nold\nnew\n```\n")
    listed = subprocess.run([*GIT, "worktree", "list"], cwd=repository, capture_output=True, text=True)
    assert len(listed.stdout.splitlines()) == 1

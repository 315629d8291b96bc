"""The search for the commit that made a command slower, in repositories of a few commits."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from bench_runs import with_times
from commands import Captured, call
from firstlight import ROOT
from firstlight.commands.bench import revisions
from firstlight.commands.bench.repository import Commit
from firstlight.commands.bench.revisions import Step
from firstlight.core.errors import ENVIRONMENT, INCONCLUSIVE, INTERRUPTED, OK, REGRESSION, USAGE
from killed import leaves_nothing_when_killed, living
from turns import await_

BUILD = "grep -qv broken text && cp text built"


class Repository:
    """A git repository whose file `text` is another one in each commit."""

    def __init__(self, folder: Path, texts: Sequence[str]) -> None:
        self.folder = folder
        folder.mkdir()
        self.git("init", "-q")
        for k, text in enumerate(texts):
            (folder / "text").write_text(text)
            self.git("add", ".")
            self.git("commit", "-qm", f"commit {k}", "--allow-empty")

    def git(self, *words: str) -> str:
        own = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main"]
        return subprocess.run([*own, *words], cwd=self.folder, check=True, capture_output=True, text=True).stdout

    def state(self) -> tuple[object, ...]:
        """Return all files of the checkout and of the repository but the results, with their contents and times."""
        paths = (path for path in self.folder.rglob("*") if "results" not in path.parts and path.is_file())
        return tuple(sorted((str(path), path.read_bytes(), path.stat().st_mtime_ns) for path in paths))

    def sha(self, name: str) -> str:
        return self.git("rev-parse", name).strip()


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Repository]:
    def made(*texts: str) -> Repository:
        found = Repository(tmp_path / "repository", texts)
        monkeypatch.chdir(found.folder)
        return found

    return made


@pytest.fixture
def invented(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Measure nothing: a text above 4 is slower, 2 is uncertain, and `fails` fails. Return what was measured."""
    measured: list[str] = []

    def step(self: revisions._Search, commit: Commit) -> Step:
        first, text = (
            (tree / self._found.inside / "built").read_text() for tree in (self._first_tree, self._other_tree)
        )
        assert first == "1"
        measured.append(text)
        if text == "fails":
            return Step(*commit, "skipped", "x failed: status 1", run="r")
        ratio = float(text)
        outcome: revisions.Outcome = "uncertain" if text == "2" else "slower" if ratio > 4 else "not slower"
        return Step(*commit, outcome, "", ratio, ratio, ratio, "wall time", "r", f"{text} [{text}, {text}]")

    monkeypatch.setattr(revisions._Search, "_measured", step)
    return measured


def search(capsys: Captured, *words: str) -> tuple[int, str, str]:
    return call(capsys, "bench", "--revisions", *words, "--build", BUILD, "--", "cat", "built")


def test_the_first_slower_commit_is_named_and_others_that_do_not_build_are_skipped(
    repository: Callable[..., Repository], invented: list[str], capsys: Captured
) -> None:
    here = repository("1", "3", "3.5", "broken", "broken", "4", "5", "6")
    (here.folder / "text").write_text("uncommitted")
    before = here.state()
    code, out, err = search(capsys, "main~7..main")
    assert code == REGRESSION
    assert out.splitlines()[-1] == (
        f"{here.sha('main~1')[:10]} (commit 6) made cat slower: 5 [5, 5] times the wall time of main~7 "
        "(the commit before it: 4 [4, 4])"
    )
    assert ": skipped: does not build: status 1" in err
    assert "uncommitted changes" not in err and len(invented) < 5
    assert here.state() == before


def test_commits_that_cannot_be_told_apart_are_inconclusive(
    repository: Callable[..., Repository], invented: list[str], capsys: Captured
) -> None:
    here = repository("1", "broken", "2", "fails", "5")
    code, out, err = search(capsys, "HEAD~4..")
    suspects = ", ".join(here.sha(f"HEAD~{k}")[:10] for k in (3, 2, 1, 0))
    assert code == INCONCLUSIVE
    assert out.splitlines()[-1] == (f"inconclusive: one of {suspects} made cat slower; HEAD: 5 [5, 5] in wall time")
    assert "skipped: x failed: status 1" in err


@pytest.mark.parametrize(
    ("last", "status", "text"),
    [
        ("3", OK, "HEAD is not slower than HEAD~1 by more than 2 %: 3 [3, 3] in wall time"),
        ("2", INCONCLUSIVE, "uncertain whether HEAD is slower than HEAD~1 by more than 2 %: uncertain: 2 [2, 2]"),
        ("fails", REGRESSION, "HEAD cannot be measured: x failed: status 1"),
        ("broken", ENVIRONMENT, "HEAD cannot be measured: does not build: status 1"),
    ],
)
def test_nothing_is_sought_if_the_last_commit_is_not_slower(
    last: str, status: int, text: str, repository: Callable[..., Repository], invented: list[str], capsys: Captured
) -> None:
    repository("1", last)
    code, out, _ = search(capsys, "HEAD~1..HEAD")
    assert (code, len(invented)) == (status, last != "broken") and text in out.splitlines()[-1]


def test_a_folder_of_the_repository_and_a_branch_are_searched(
    repository: Callable[..., Repository], invented: list[str], capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The slow commit is on a branch that was merged, and the command runs in the user's folder."""
    here = repository("1")
    (here.folder / "below").mkdir()
    monkeypatch.chdir(here.folder / "below")

    def commit(text: str) -> None:
        (here.folder / "below" / "text").write_text(text)
        here.git("add", "--all")
        here.git("commit", "-qm", text)

    commit("1")
    here.git("checkout", "-qb", "branch")
    commit("3")
    commit("5")
    here.git("checkout", "-q", "-")
    here.git("merge", "-q", "--no-ff", "-m", "merged", "branch")
    (here.folder / "below" / "text").write_text("uncommitted")
    code, out, err = search(capsys, "HEAD~1..HEAD")
    assert code == REGRESSION and out.splitlines()[-1].startswith(f"{here.sha('branch')[:10]} (5) made cat slower")
    assert "uncommitted changes are not measured" in err


@pytest.mark.parametrize(("metric", "first", "later"), [("wall time", 0.0, 0.95), ("CPU time", 0.95, 0.0)])
def test_all_commits_of_a_search_are_compared_in_the_metric_of_the_first_comparison(
    metric: str,
    first: float,
    later: float,
    repository: Callable[..., Repository],
    capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In the other metric, which the later comparison would choose by itself, its commit is not slower."""
    here = repository("1", "2", "3")
    once = (1.0, 2.0) if metric == "CPU time" else (2.0, 1.0)
    runs = iter([with_times(1.5, 0.99, first), with_times(1.5, 0.99, later, *once)])

    def invented(*_: object) -> SimpleNamespace:
        return SimpleNamespace(code=OK, judgement=next(runs), directory=Path("r"))

    monkeypatch.setattr(revisions, "run", invented)
    code, out, _ = call(capsys, "bench", "--revisions", "HEAD~2..", "--json", "--", "cat text")
    found = json.loads(out)
    assert (code, found["suspects"]) == (REGRESSION, [here.sha("HEAD~1")])
    assert [(step["metric"], step["outcome"]) for step in found["steps"]] == [(metric, "slower")] * 2


def test_git_variables_of_the_caller_choose_no_other_repository(
    repository: Callable[..., Repository], tmp_path: Path
) -> None:
    """A hook of git sets them. The builds run without them as well."""
    other = Repository(tmp_path / "other", ["1"])
    here = repository("1", "2")
    before = here.state(), other.state()
    build = "git log -1 --format='error: this is %s' && grep -q 1 text"
    words = ["bench", "--revisions", "HEAD~1..HEAD", "--build", build, "--", "true"]
    own = os.environ | {"FIRSTLIGHT_CACHE": str(tmp_path / "cache"), "PYTHONPATH": str(ROOT / "src")}
    own |= {"GIT_DIR": str(other.folder / ".git"), "GIT_WORK_TREE": str(other.folder), "GIT_INDEX_FILE": "none"}
    done = subprocess.run([sys.executable, "-P", "-m", "firstlight", *words], env=own, capture_output=True, text=True)
    assert done.returncode == ENVIRONMENT, done.stderr
    assert done.stdout.splitlines()[-1] == "HEAD cannot be measured: does not build: error: this is commit 1"
    assert (here.state(), other.state()) == before


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("main",), "write a range A..B"),
        (("main...main",), "write a range A..B"),
        (("nowhere..main",), "nowhere"),
        (("main..main",), "there is no commit between the two"),
        (("main..main~1",), "main is not an ancestor of main~1; begin with their common ancestor"),
        (("main~1..main", "--sweep", "n=1,2"), "omit --sweep"),
        (("main~1..main", "--as", "x"), "--as names a single run"),
    ],
)
def test_what_cannot_be_searched_is_one_line(
    words: tuple[str, ...], why: str, repository: Callable[..., Repository], capsys: Captured
) -> None:
    repository("1", "2")
    code, _, err = search(capsys, *words)
    assert code == USAGE and why in err and err.count("\n") == 1


def test_the_recipe_names_no_compiler_and_there_is_one_command(
    repository: Callable[..., Repository], capsys: Captured
) -> None:
    repository("1", "2")
    code, _, err = call(capsys, "bench", "--revisions", "main~1..main", "--build", "make CXX={cxx}", "--", "./a")
    assert code == USAGE and "without {cxx}" in err
    code, _, err = call(capsys, "bench", "--revisions", "main~1..main", "--", "./a", "--", "./b")
    assert code == USAGE and "accepts exactly one command" in err
    code, _, err = call(capsys, "bench", "--revisions", "main~1..main", "--build", "false", "--", "./a")
    assert code == ENVIRONMENT and "main~1 cannot be measured: does not build" in err


def test_outside_of_a_checkout_it_is_refused(tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, err = search(capsys, "main~1..main")
    assert code == USAGE and "not a git repository" in err


@pytest.mark.faults
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_search_leaves_nothing(
    number: signal.Signals, repository: Callable[..., Repository], tmp_path: Path
) -> None:
    here, word = repository("1", "2"), f"{tmp_path}/word"
    before = here.state()
    recipe = tmp_path / "recipe"
    recipe.write_text(f"sh -c 'sleep 1000; : {word}' & wait")
    words = ["bench", "--revisions", "HEAD~1..HEAD", "--build", f"sh {recipe}", "--", "true"]
    own = os.environ | {"FIRSTLIGHT_CACHE": str(tmp_path / "cache"), "PYTHONPATH": str(ROOT / "src")}
    started = subprocess.Popen([sys.executable, "-P", "-m", "firstlight", *words], env=own)
    await_(lambda: [*living(f": {word}")] or started.poll() is not None, "the build")
    started.send_signal(number)
    assert started.wait(60) == INTERRUPTED
    assert not [*living(f": {word}")] and not [*(tmp_path / "cache").glob("revisions-*")]
    assert here.state() == before


@pytest.mark.faults
def test_a_killed_search_leaves_nothing(repository: Callable[..., Repository], tmp_path: Path) -> None:
    here = repository("1", "2")
    before = here.state()
    leaves_nothing_when_killed(
        tmp_path,
        f"""
os.chdir({str(here.folder)!r})
from firstlight.commands.shared import command_line
command_line.call(["bench", "--revisions", "HEAD~1..HEAD", "--build", fake, "--", "true"])
""",
    )
    assert here.state() == before


@pytest.mark.full
def test_a_slower_commit_is_found_by_measurement(repository: Callable[..., Repository], capsys: Captured) -> None:
    """Each program of a commit sleeps as long as its text: in the third one, ten times as long."""
    here = repository("0.05", "0.055", "0.5", "0.5")
    program = f"{shlex.quote(sys.executable)} -I -S -c 'import time; time.sleep(float(open(\"built\").read()))'"
    (here.folder / ".gitignore").write_text("results\n")
    words = ["--build", "cp text built", "--limit", "50%", "--json", "--", program]
    code, out, err = call(capsys, "bench", "--revisions", "HEAD~3..", *words)
    found = json.loads(out)
    assert (code, found["suspects"]) == (REGRESSION, [here.sha("HEAD~1")]), err
    step = next(one for one in found["steps"] if one["commit"] == here.sha("HEAD~1"))
    assert 2 < step["low"] < step["ratio"] < step["high"] < 20
    assert found["result"].startswith(f"{here.sha('HEAD~1')[:10]} (commit 2) made ")
    assert {path.name for path in (here.folder / "results").iterdir()} >= {one["run"] for one in found["steps"]}
    assert call(capsys, "check", step["run"])[0] == OK

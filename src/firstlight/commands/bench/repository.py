"""A user's git repository: its commits, and temporary clones in which other commits are checked out.

A clone shares the objects of the repository and is registered nowhere in it. So neither the checkout nor the repository
changes, even if firstlight is killed.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from firstlight.core.errors import FirstlightError, UsageError
from firstlight.system.process import bounded


class GitError(FirstlightError):
    """A git command that failed, with the first line of its message."""


class Commit(NamedTuple):
    """A commit; `subject`: the first line of its message."""

    sha: str
    subject: str

    @property
    def short(self) -> str:
        return self.sha[:10]


class Revisions(NamedTuple):
    """The commits of `A..B`, and A itself. `first`, `last`: A and B, with the names that the user typed.

    `root`: the folder of the checkout. `inside`: the user's folder, relative to it. `commits`: by hash, oldest first.
    """

    root: Path
    inside: str
    first: Commit
    first_name: str
    last: Commit
    last_name: str
    commits: dict[str, Commit]


def parse(text: str, folder: Path) -> Revisions:
    """Return the commits `A..B` of the repository of a folder. Raises UsageError for anything else."""
    first_name, dots, last_name = text.partition("..")
    if not dots or not first_name or last_name.startswith("."):
        raise UsageError(f"--revisions {text}: write a range A..B, such as v1.2..HEAD, in which B is slower than A")
    last_name = last_name or "HEAD"
    try:
        root = Path(_git(folder, "rev-parse", "--show-toplevel"))
        first, last = (_commit(root, name) for name in (first_name, last_name))
    except GitError as error:
        raise UsageError(f"--revisions {text}: {error}") from None
    if first == last:
        raise UsageError(f"--revisions {text}: there is no commit between the two")
    if (base := _ancestor(root, first, last)) != first.sha:
        hint = f"; begin with their common ancestor: {base[:10]}..{last_name}" if base else ""
        raise UsageError(f"--revisions {text}: {first_name} is not an ancestor of {last_name}{hint}")
    listed = _git(root, "log", "--reverse", "--topo-order", "--format=%H %s", f"{first.sha}..{last.sha}").split("\n")
    commits = [first, *(Commit(*line.split(" ", 1)) for line in listed)]
    inside = _git(folder, "rev-parse", "--show-prefix")
    return Revisions(root, inside, first, first_name, last, last_name, {one.sha: one for one in commits})


def changed(root: Path) -> bool:
    """Return whether the checkout has changes that are in no commit."""
    return bool(_git(root, "--no-optional-locks", "status", "--porcelain", "--untracked-files=no"))


def suspects(root: Path, good: Collection[str], bad: str) -> list[str]:
    """Return the commits in `bad` that are in no `good` one: first the one that divides them best."""
    listed = _git(root, "rev-list", "--bisect-all", bad, *(f"^{sha}" for sha in good))
    return [line.split()[0] for line in listed.splitlines()]


def parent(root: Path, sha: str) -> str:
    """Return the first parent of a commit."""
    return _git(root, "rev-parse", f"{sha}^")


def clone(root: Path, place: Path) -> None:
    """Clone a repository without its files. Raises GitError."""
    _git(root, "clone", "--quiet", "--shared", "--no-checkout", str(root), str(place))


def check_out(place: Path, sha: str) -> None:
    """Check out a commit in a clone, and remove all other files. Raises GitError."""
    _git(place, "checkout", "--quiet", "--force", "--detach", sha)
    _git(place, "clean", "--quiet", "-ffdx")


def _ancestor(root: Path, a: Commit, b: Commit) -> str:
    """Return the hash of the common ancestor, "" if there is none."""
    try:
        return _git(root, "merge-base", a.sha, b.sha)
    except GitError:
        return ""


def _commit(root: Path, name: str) -> Commit:
    sha, _, subject = _git(root, "log", "-1", "--format=%H %s", "--end-of-options", name, "--").partition(" ")
    return Commit(sha, subject)


def _git(folder: Path, *words: str) -> str:
    """Return what git prints. Raises GitError."""
    try:
        done = bounded.run(["git", *words], timeout=None, folder=folder)
    except OSError as error:
        raise FirstlightError(f"git: {error.strerror}") from None
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        raise GitError(lines[0].strip() if lines else f"git {words[0]} ended with status {done.returncode}")
    return done.stdout.removesuffix("\n")

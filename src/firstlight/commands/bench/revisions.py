"""Revisions: find the commit that made a command slower, by bisection with the gate as the judge of each commit."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Literal

import msgspec

from firstlight.analysis.provenance import settle
from firstlight.commands.bench import building, gate, repository
from firstlight.commands.bench.placeholders import BUILT, WRAPPERS, names
from firstlight.commands.bench.repository import Commit, Revisions
from firstlight.commands.bench.request import BenchRequest
from firstlight.commands.bench.runner import failures, run
from firstlight.core.errors import (
    ENVIRONMENT,
    INCONCLUSIVE,
    INTERRUPTED,
    OK,
    REGRESSION,
    BuildError,
    FirstlightError,
    UsageError,
)
from firstlight.core.shell import printable
from firstlight.core.units import count
from firstlight.model.catalogue.brought import variant_name
from firstlight.runner.progress import Progress
from firstlight.system.machine import cache_directory
from firstlight.system.process import bounded, guard

LIMIT = 0.02
"""The default of the share by which a commit may be slower."""

Outcome = Literal["slower", "not slower", "uncertain", "skipped"]
OUTCOMES: dict[int, Outcome] = {REGRESSION: "slower", OK: "not slower", INCONCLUSIVE: "uncertain"}
MOST_NAMED = 5
"""Commits in a sentence."""


class Step(msgspec.Struct, frozen=True):
    """A commit that was compared with the first one. `reason`: why it was skipped or is uncertain.

    `ratio`: the `metric` (for example `wall time`) divided by that of the first commit, with its interval from `low` to
    `high`. `run`: the name of the comparison's run.
    """

    commit: str
    subject: str
    outcome: Outcome
    reason: str = ""
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    metric: str = ""
    run: str = ""
    text: str = ""

    @property
    def result(self) -> str:
        """Return `slower: 1.06 [1.05, 1.07] in wall time`, or `skipped: does not build: ...`."""
        return f"{self.outcome}: {self.reason or self.compared}"

    @property
    def compared(self) -> str:
        return f"{self.text} in {self.metric}"


class Search(msgspec.Struct, frozen=True):
    """A search for the commit that made a command slower by more than `limit`. `steps`: oldest commit first.

    `suspects`: the commits that may be the cause: one if the search succeeded, none if the last commit is not slower.
    `result`: the same as a sentence. `code`: the exit status.
    """

    command: str
    first: str
    last: str
    limit: float
    steps: tuple[Step, ...]
    suspects: tuple[str, ...]
    result: str
    code: int


def find(asked: BenchRequest, folder: Path, text: str, results: Path, limit: float, progress: Progress) -> Search:
    """Find the first commit of `A..B` in which a command is slower than in A by more than `limit`.

    Raises UsageError, and BuildError if A does not build.
    """
    _require(asked)
    found = repository.parse(text, folder)
    if found.last_name == "HEAD" and repository.changed(found.root):
        progress.note("uncommitted changes are not measured")
    cache = cache_directory()
    cache.mkdir(parents=True, exist_ok=True)
    with guard.scratch("revisions-", cache) as place:
        return _Search(asked, found, place, results, limit, progress).run()


def _require(asked: BenchRequest) -> None:
    """Raise UsageError for a request that does not describe one comparison."""
    if len(asked.commands) != 1:
        raise UsageError("--revisions accepts exactly one command: ./fl bench --revisions v1.2..HEAD -- ./program")
    several = {
        "--vary": asked.vary,
        "--sweep": asked.sweep,
        "--toolchain": asked.toolchains,
        "--work": asked.work,
        "--mpi-share": asked.mpi_share,
        "all but one --placement": asked.placements[1:],
    }
    if wrong := [option for option, given in several.items() if given]:
        raise UsageError(f"--revisions measures each commit in the same single configuration: omit {wrong[0]}")
    if words := sorted(names([asked.build]) & {*BUILT, *WRAPPERS}):
        raise UsageError(
            f"--revisions runs --build without a choice of compilers: write --build without {{{words[0]}}}"
        )


class _Search:
    """A search in progress, with a clone in which the first commit is built and one for each other commit."""

    def __init__(
        self, asked: BenchRequest, found: Revisions, place: Path, results: Path, limit: float, progress: Progress
    ) -> None:
        self._asked, self._found, self._results, self._limit, self._progress = asked, found, results, limit, progress
        self._first_tree, self._other_tree = place / "a", place / "b"  # paths of the same length
        self._steps: dict[str, Step] = {}
        self._decides = ""  # the metric of all comparisons: that of the first one
        ((self._name, self._command),) = asked.commands.items()

    def run(self) -> Search:
        found = self._found
        for tree in (self._first_tree, self._other_tree):
            repository.clone(found.root, tree)
        if why := self._build(self._first_tree, found.first):
            raise BuildError(f"{found.first_name} cannot be measured: {why}")
        if self._compare(found.last) != "slower":
            return self._ended([])
        good, bad = [found.first.sha], found.last.sha
        while True:
            suspects = repository.suspects(found.root, good, bad)
            untried = [sha for sha in suspects if sha not in self._steps]
            if not untried:
                return self._ended(suspects)
            left = math.ceil(math.log2(len(untried) + 1))
            self._progress.note(f"{count(len(suspects), 'suspect')} left: about {count(left, 'more comparison')}")
            outcome = self._compare(found.commits[untried[0]])
            if outcome == "slower":
                bad = untried[0]
            elif outcome == "not slower":
                good.append(untried[0])

    def _build(self, tree: Path, commit: Commit) -> str:
        """Check out a commit and build it. Return why that is impossible, "" if it is done."""
        self._progress.state.enter("build", commit.short)
        self._progress.update()
        try:
            repository.check_out(tree, commit.sha)
        except repository.GitError as error:
            return str(error)
        folder = tree / self._found.inside
        if not folder.is_dir():
            return f"this commit has no folder {self._found.inside}"
        if not self._asked.build:
            return ""
        words, variables = ["/bin/sh", "-c", self._asked.build], building.environment(None, None)
        done = bounded.run(words, timeout=None, environment=variables, folder=folder, merge=True)
        if done.returncode == 0:
            return ""
        lines = [line.strip() for line in done.stdout.splitlines() if line.strip()]
        telling = [line for line in lines if "error" in line.lower()][:1] or lines[-1:]
        return ": ".join(["does not build", *(telling or [f"status {done.returncode}"])])

    def _compare(self, commit: Commit) -> Outcome:
        """Build a commit, compare it with the first one, and report the result in one line."""
        why = self._build(self._other_tree, commit)
        try:
            step = Step(*commit, "skipped", why) if why else self._measured(commit)
        except UsageError as error:
            if not self._steps:  # no commit can be measured in this way
                raise
            step = Step(*commit, "skipped", str(error))
        self._steps[commit.sha] = step
        self._progress.note(printable(f"{commit.short} {commit.subject}: {step.result}"))
        return step.outcome

    def _measured(self, commit: Commit) -> Step:
        trees = {self._found.first: self._first_tree, commit: self._other_tree}
        folders = {variant_name(f"rev {one.short}"): tree / self._found.inside for one, tree in trees.items()}
        asked = msgspec.structs.replace(
            self._asked,
            build="",
            commands=dict.fromkeys(folders, self._command),
            title=self._asked.title or f"{commit.short} {commit.subject}",
            threshold=self._limit,
        )
        result = run(asked, next(iter(folders.values())), self._results, None, self._progress, self._limit, folders)
        if result.code == INTERRUPTED:
            raise KeyboardInterrupt
        if result.code == ENVIRONMENT:
            raise FirstlightError(result.line)
        if failed := failures(result.judgement):
            return Step(*commit, "skipped", failed[0], run=result.directory.name)
        (one,) = gate.comparisons(result.judgement, self._limit, self._decides)
        self._decides = one.decides
        if one.ratio is None:
            return Step(*commit, "uncertain", "too few launches", run=result.directory.name)
        return Step(
            *commit,
            OUTCOMES[one.code],
            ratio=one.ratio.value,
            low=one.ratio.low,
            high=one.ratio.high,
            metric=one.metric,
            run=result.directory.name,
            text=str(settle(one.ratio.text)),
        )

    def _ended(self, suspects: list[str]) -> Search:
        found, last = self._found, self._steps[self._found.last.sha]
        if last.outcome == "skipped":
            code = REGRESSION if last.run else ENVIRONMENT
        else:
            code = {"slower": REGRESSION, "not slower": OK, "uncertain": INCONCLUSIVE}[last.outcome]
        return Search(
            command=self._command,
            first=found.first.sha,
            last=found.last.sha,
            limit=self._limit,
            steps=tuple(self._steps[sha] for sha in found.commits if sha in self._steps),
            suspects=tuple(sha for sha in found.commits if sha in suspects),
            result=self._sentence(suspects),
            code=INCONCLUSIVE if len(suspects) > 1 else code,
        )

    def _sentence(self, suspects: list[str]) -> str:
        found, last = self._found, self._steps[self._found.last.sha]
        if last.outcome == "skipped":
            return f"{found.last_name} cannot be measured: {last.reason}"
        more = f"more than {100 * self._limit:g} %"
        if last.outcome == "not slower":
            return f"{found.last_name} is not slower than {found.first_name} by {more}: {last.compared}"
        if last.outcome == "uncertain":
            return (
                f"it is uncertain whether {found.last_name} is slower than {found.first_name} by {more}: {last.result}"
            )
        if len(suspects) > 1:
            named = [found.commits[sha].short for sha in found.commits if sha in suspects]
            others = f" and {len(named) - MOST_NAMED} others" if len(named) > MOST_NAMED else ""
            some = f"one of {', '.join(named[:MOST_NAMED])}{others}"
            return f"inconclusive: {some} made {self._name} slower; {found.last_name}: {last.compared}"
        step = self._steps[suspects[0]]
        before = self._steps.get(repository.parent(found.root, step.commit))
        aside = f" (the commit before it: {before.text})" if before is not None else ""
        who = f"{step.commit[:10]} ({step.subject}) made {self._name} slower"
        return f"{who}: {step.text} times the {step.metric} of {found.first_name}{aside}"


def page(search: Search) -> list[str]:
    """Return the lines of the terminal: one for each compared commit, the newest last, and then the result."""
    rows = [f"{one.commit[:10]}  {one.result}  {one.subject}" for one in search.steps]
    return [f"{search.command}, compared with {search.first[:10]}:", *(f"  {row}" for row in rows), "", search.result]

"""Carrying: a loop from its pragma to its tuned file: candidates, verified, timed, tried as a whole, kept or not."""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from statistics import geometric_mean, median

import msgspec

from firstlight.judge.compare import BETTER, WORSE
from firstlight.loops import NotUnderstoodError, change, emit, engines
from firstlight.loops.change import Piece, Point
from firstlight.loops.dispatch import Version, functions, identifier, piece
from firstlight.loops.engines import SpentError
from firstlight.loops.judging import Judged, judged, launched
from firstlight.loops.source import Marked, Source
from firstlight.loops.trial import Bench, Compiler, points
from firstlight.units import significant

FIRST = 3  # launches of a candidate while it is searched for
FINALISTS = 2  # at each trip count


class Tried(msgspec.Struct):
    """A candidate. `ratios`: time over golden's, by trip count; `rejected`: why it is wrong, or cannot be built."""

    point: dict[str, str]
    told: str
    ratios: dict[int, float] = {}
    rejected: str = ""
    wrong: bool = False  # it was built, and its results are others


class Outcome(msgspec.Struct):
    """What came of a loop. `judged`: the tuned function as a whole beside golden; `file`: "" where golden stays."""

    file: str
    loop: str
    line: int
    compiler: str
    tried: list[Tried]
    judged: list[Judged]
    versions: list[str]
    written: str = ""
    why: str = ""  # golden stays: why


class Request(msgspec.Struct, frozen=True):
    """`budget` in seconds for each loop's search; `launches` of each side in a trial; `seconds` of a launch."""

    compiler: Compiler
    engine: str = "greedy"
    budget: float = 60.0
    launches: int = 12
    seconds: float = 0.02
    seed: int = 1


def tune(source: Source, loop: Marked, request: Request, say: Callable[[str], None]) -> Outcome:
    """Raises UsageError for an engine that is not here, BuildError where the compiler does not work at all."""
    search = engines.find(request.engine)
    outcome = Outcome(str(source.path), loop.name, loop.line, request.compiler.told, [], [], [])
    with tempfile.TemporaryDirectory(prefix="firstlight-loop-") as folder:
        bench = Bench(source, loop, request.compiler, Path(folder))
        try:
            _Tuning(bench, request, outcome, say).go(search)
        except NotUnderstoodError as error:
            outcome.why = str(error)
    return outcome


class _Tuning:
    def __init__(self, bench: Bench, request: Request, outcome: Outcome, say: Callable[[str], None]) -> None:
        self.bench, self.request, self.outcome, self.say = bench, request, outcome, say
        self.random = Random(request.seed)
        self.built: dict[str, tuple[Piece, Path]] = {}
        self.known: dict[str, float] = {}
        self.until = math.inf

    def go(self, search: engines.Search) -> None:
        self.golden = self.bench.begin()
        self.trips = points(self.bench.loop.pragma)
        if not self.trips:
            raise NotUnderstoodError("no trip count is as the pragma says")
        start = piece(self.bench.loop, self.request.compiler.family)
        space = change.space(start)
        self.start, self.until = start, time.monotonic() + self.request.budget
        try:
            search(space, self.score, self.random)
        except SpentError:
            self.say(f"{self.outcome.loop}: the budget is spent; {len(self.outcome.tried)} candidates were tried")
        versions = self.versions(self.finals())
        if versions:
            self.whole(versions)
        else:
            self.outcome.why = "no candidate is faster by more than its interval"

    def score(self, point: Point) -> float:
        """Build, verify and time a candidate: the mean over trip counts of its time over golden's."""
        told = change.told(point)
        if told in self.known:
            return self.known[told]
        if time.monotonic() > self.until:
            raise SpentError
        tried = Tried({k: v for k, v in point.items() if v}, told)
        self.outcome.tried.append(tried)
        self.known[told] = value = self._scored(point, tried)
        shown = tried.rejected or ", ".join(f"{significant(1 / r)} x at {t}" for t, r in tried.ratios.items())
        self.say(f"{self.outcome.loop}: {told}: {shown}")
        return value

    def _scored(self, point: Point, tried: Tried) -> float:
        try:
            candidate = change.changed(self.start, point)
        except NotUnderstoodError as error:
            tried.rejected = str(error)
            return math.inf
        path = self.bench.build([Version(0, candidate)])
        if isinstance(path, str):
            tried.rejected = path
            return math.inf
        if (why := self.bench.verify(path)) is not None:
            tried.rejected, tried.wrong = why, True
            return math.inf
        self.built[tried.told] = candidate, path
        for trip in self.trips:
            both = launched(
                self.bench, {"golden": self.golden, "mine": path}, trip, FIRST, self.request.seconds / 2, self.random
            )
            tried.ratios[trip] = median(both["mine"]) / median(both["golden"])
        return geometric_mean(tried.ratios.values())

    def finals(self) -> dict[int, tuple[str, Judged]]:
        """At each trip count the fastest that is better than golden, in a trial of those that did best."""
        passed = [t for t in self.outcome.tried if t.told in self.built]
        found: dict[int, tuple[str, Judged]] = {}
        for trip in self.trips:
            some = sorted(passed, key=lambda t: t.ratios[trip])[:FINALISTS]
            some = [t for t in some if t.ratios[trip] < 1]
            if not some:
                continue
            paths = {t.told: self.built[t.told][1] for t in some} | {"golden": self.golden}
            times = launched(self.bench, paths, trip, self.request.launches, self.request.seconds, self.random)
            for t in some:
                one = judged(times["golden"], times[t.told], trip)
                if one.outcome == BETTER and (trip not in found or one.mine < found[trip][1].mine):
                    found[trip] = t.told, one
        return found

    def versions(self, best: dict[int, tuple[str, Judged]]) -> list[Version]:
        """What the dispatcher takes from which trip count on: two neighbours meet half way, in logarithms."""
        found: list[Version] = []
        before: tuple[int, str] | None = None
        for trip in self.trips:
            told = best[trip][0] if trip in best else ""
            low = 0 if before is None else max(before[0] + 1, math.isqrt(before[0] * trip))
            if before is None or told != before[1]:
                gain = f"{told}: {significant(1 / best[trip][1].ratio)} x at {trip} turns" if told else ""
                found.append(Version(low, self.built[told][0] if told else None, gain))
            before = trip, told
        return found if best else []

    def whole(self, versions: list[Version]) -> None:
        """The tuned function as it would be kept: verified again, and tried beside golden at every trip count."""
        path = self.bench.build(versions)
        why = path if isinstance(path, str) else self.bench.verify(path)
        if why is not None or isinstance(path, str):
            self.outcome.why = f"the versions together: {why}"
            return
        both = {"golden": self.golden, "mine": path}
        for trip in self.trips:
            times = launched(self.bench, both, trip, self.request.launches, self.request.seconds, self.random)
            self.outcome.judged.append(judged(times["golden"], times["mine"], trip))
        if any(j.outcome == WORSE for j in self.outcome.judged):
            self.outcome.why = "the versions together are slower than golden somewhere"
        elif not any(j.outcome == BETTER for j in self.outcome.judged):
            self.outcome.why = "the versions together are not faster by more than their interval"
        else:
            self.outcome.versions = [v.told or "golden" for v in versions]
            self.write(versions)

    def write(self, versions: list[Version]) -> None:
        source, loop, cc = self.bench.source, self.bench.loop, self.request.compiler
        name = identifier(source.path.stem, loop.name)
        header = emit.Header(
            name, loop.hash, emit.build_key(cc.path, cc.flags), cc.told, time.strftime("%Y-%m-%d", time.gmtime())
        )
        told = [f"{source.path.name}, line {loop.line}: the loop {loop.name}, tuned {header.date} with {cc.told}", ""]
        told += [
            f"{j.trip} turns: {significant(1e9 * j.golden)} ns golden, {significant(1e9 * j.mine)} ns tuned: {_gain(j)}"
            for j in self.outcome.judged
        ]
        told += ["", f"{change.LEGALITY}; {len(self.outcome.tried)} candidates, of which these were wrong:"]
        told += [f"  {t.told}: {t.rejected}" for t in self.outcome.tried if t.wrong] or ["  none"]
        path = emit.place(source.path, loop.name, cc.family)
        emit.write(path, header, told, functions(loop, name, versions))
        self.outcome.written = str(path)


def _gain(j: Judged) -> str:
    between = f" ({significant(1 / j.high)} - {significant(1 / j.low)})" if j.low and j.high else ""
    return f"{significant(1 / j.ratio)} x{between}, {j.outcome}"

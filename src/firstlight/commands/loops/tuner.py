"""Tune a loop from its pragma to its tuned file: generate candidates, verify, time and test them, keep the best."""

from __future__ import annotations

import math
import textwrap
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from statistics import geometric_mean, median

import msgspec

from firstlight.analysis.compare import BETTER
from firstlight.commands.loops import NotUnderstoodError, change, choosing, emit, engines
from firstlight.commands.loops.change import Piece, Point
from firstlight.commands.loops.choosing import Range
from firstlight.commands.loops.dispatch import APART, Apart, Version, functions, identifier, indented, piece
from firstlight.commands.loops.engines import SpentError
from firstlight.commands.loops.judging import Judged, Launches, beside, judged, launched
from firstlight.commands.loops.source import Marked, Source
from firstlight.commands.loops.trial import Bench, Compiler, Place, points
from firstlight.core.errors import BuildError
from firstlight.core.units import significant
from firstlight.system.process import guard

FIRST = 3  # launches of a candidate while it is searched for
FINALISTS = 2  # at each trip count
ROUNDS = 6  # of giving ranges back to golden, and of setting apart


class Tried(msgspec.Struct):
    """A candidate. `ratios`: its time divided by the golden loop's, by trip count. `rejected`: why it is wrong or
    cannot be built.
    """

    point: dict[str, str]
    label: str = msgspec.field(name="told")
    ratios: dict[int, float] = {}
    rejected: str = ""
    wrong: bool = False  # it was built, and its results are others


class Kept(msgspec.Struct):
    """The candidate for trip counts from `low` to `high`: the change ("golden": none), and its C code."""

    low: int
    high: int
    label: str = msgspec.field(name="told")
    code: str


class TunedLoop(msgspec.Struct):
    """The result of a loop. `judged`: the tuned function compared with the golden loop. `written`: the file, "" if the
    golden loop is used.

    `hash`: the hash of the golden loop, which shows later changes.
    """

    file: str
    loop: str
    line: int
    compiler: str
    family: str
    hash: str
    date: str
    pragma: str
    golden: str
    tried: list[Tried]
    judged: list[Judged]
    kept: list[Kept]
    written: str = ""
    why: str = ""  # golden stays: why


class LoopRequest(msgspec.Struct, frozen=True):
    """`budget` in seconds for each loop's search; `launches` of each side in a trial; `seconds` of a launch."""

    compiler: Compiler
    engine: str = "greedy"
    budget: float = 60.0
    launches: int = 12
    seconds: float = 0.02
    seed: int = 1


def tune(source: Source, loop: Marked, request: LoopRequest, say: Callable[[str], None]) -> TunedLoop:
    """Tune a loop. Raises UsageError for an unavailable engine, BuildError if the compiler does not work at all.

    If the trial keeps golden, the file of an earlier tuning is removed.
    """
    search = engines.find(request.engine)
    cc = request.compiler
    date = time.strftime("%Y-%m-%d", time.gmtime())
    pragma = source.code[loop.begin : loop.start].decode("utf-8", "replace").strip()
    place = str(source.path), loop.name, loop.line
    whole = (*place, cc.label, cc.family, loop.hash, date, pragma, _dedented(source, loop))
    outcome = TunedLoop(*whole, tried=[], judged=[], kept=[])
    path = emit.place(source.path, loop.name, cc.family)
    with guard.scratch("firstlight-loop-") as folder:
        bench = Bench(source, loop, request.compiler, folder)
        try:
            _Tuning(bench, request, outcome, say).go(search)
        except NotUnderstoodError as error:
            if _valid(path, loop, cc):  # it was verified with this compiler, so the environment fails
                raise BuildError(f"{source.path}:{loop.line}: {error}; the earlier result in {path} is kept") from error
            outcome.why = str(error)
            return outcome
    if not outcome.written:
        path.unlink(missing_ok=True)  # fl-cc would use an older one
    return outcome


def _valid(path: Path, loop: Marked, cc: Compiler) -> bool:
    """Return whether there is a tuned file that `fl-cc` accepts for this loop."""
    try:
        header = emit.read(path).header
    except (OSError, NotUnderstoodError):
        return False
    return (header.loop, header.view, header.build) == (loop.hash, loop.view, emit.build_key(cc.path, cc.flags))


class _Tuning:
    def __init__(self, bench: Bench, request: LoopRequest, outcome: TunedLoop, say: Callable[[str], None]) -> None:
        self.bench, self.request, self.outcome, self.say = bench, request, outcome, say
        self.random = Random(request.seed)
        self.built: dict[str, tuple[Piece, Path]] = {}
        self.known: dict[str, float] = {}
        self.until = math.inf

    def go(self, search: engines.Search) -> None:
        self.golden = self.bench.begin()
        self.trips = points(self.bench.loop.pragma)
        if not self.trips:
            raise NotUnderstoodError("no trip count matches the pragma")
        start = piece(self.bench.loop, self.request.compiler.family)
        space = change.space(start)
        self.start, self.until = start, time.monotonic() + self.request.budget
        try:
            search(space, self.score, self.random)
        except SpentError:
            self.say(f"{self.outcome.loop}: the budget is used up after {len(self.outcome.tried)} candidates")
        self.whole()

    def score(self, point: Point) -> float:
        """Build, verify and time a candidate; return its mean time over golden's, infinite if it is rejected."""
        label = change.describe(point)
        if label in self.known:
            return self.known[label]
        if time.monotonic() > self.until:
            raise SpentError
        tried = Tried({k: v for k, v in point.items() if v}, label)
        self.outcome.tried.append(tried)
        self.known[label] = value = self._scored(point, tried)
        shown = tried.rejected or ", ".join(f"{significant(1 / r)} x at {t}" for t, r in tried.ratios.items())
        self.say(f"{self.outcome.loop}: {label}: {shown}")
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
            if isinstance(again := self.bench.build([]), str):
                raise BuildError(f"the golden loop was built before, but now it {again}")
            return math.inf
        if (why := self.bench.verify(path)) is not None:
            tried.rejected, tried.wrong = why, True
            return math.inf
        self.built[tried.label] = candidate, path
        for trip in self.trips:
            both = launched(
                self.bench, {"golden": self.golden, "mine": path}, trip, FIRST, self.request.seconds / 2, self.random
            )
            tried.ratios[trip] = median(both["mine"]) / median(both["golden"])
        return geometric_mean(tried.ratios.values())

    def finalists(self) -> list[str]:
        """Return the labels of the fastest candidates, overall and at each trip count."""
        passed = [t for t in self.outcome.tried if t.label in self.built]
        found = [t.label for t in sorted(passed, key=lambda t: geometric_mean(t.ratios.values()))[:1]]
        for trip in self.trips:
            some = sorted((t for t in passed if t.ratios[trip] < 1), key=lambda t: t.ratios[trip])
            found += [t.label for t in some[:FINALISTS]]
        return list(dict.fromkeys(found))

    def trial(self, names: list[str], trips: list[int]) -> choosing.Times:
        """Compare candidates with golden at each trip count, in alternating launches."""
        found: dict[str, dict[int, Judged]] = {label: {} for label in names}
        paths = {label: self.built[label][1] for label in names} | {"golden": self.golden}
        for trip in trips:
            times = self.launched(paths, trip)
            for label in names:
                found[label][trip] = judged(times["golden"], times[label], trip, label)
        return found

    def launched(self, paths: dict[str, Path], trip: int, longer: int = 1, place: Place = "malloc") -> Launches:
        launches = longer * self.request.launches
        return launched(self.bench, paths, trip, launches, self.request.seconds, self.random, place)

    def whole(self) -> None:
        """Build the function as it would be kept, with its dispatcher; verify it and compare it with golden.

        A range in which it is not faster goes back to golden. If golden is then slower behind the dispatcher, first
        the candidates and then all functions are not inlined. A loop that is slower anywhere even so is not kept.
        """
        pragma, names = self.bench.loop.pragma, self.finalists()
        at = choosing.marks(pragma)
        some = choosing.ranges(at)
        times = self.trial(names, at)
        chosen, ways = choosing.best(times, some), list(APART)
        pieces = {label: self.built[label][0] for label in names}
        for _ in range(ROUNDS):
            if not any(chosen):
                break
            if "" in chosen and ways[0] == "none":
                ways.pop(0)  # golden in one function with candidates would be compiled anew
            versions = choosing.versions(chosen, some, pieces, times)
            path = self.bench.build(versions, apart=ways[0])
            why = path if isinstance(path, str) else self.bench.verify(path)
            if why is not None or isinstance(path, str):
                self.outcome.why = f"the selected candidates fail when compiled together: {why}"
                return
            rows = self.rows(path, chosen, some, sorted({*at, *choosing.middles(pragma, some)}))
            before, chosen = chosen, choosing.given_back(chosen, some, rows)
            if chosen != before:
                continue
            if any(row.slower for row in rows) and len(ways) > 1:
                ways.pop(0)
                continue
            self.outcome.judged = rows
            if any(row.slower for row in rows):
                self.outcome.why = "the dispatcher slows the golden loop significantly"
            elif not any(row.outcome == BETTER for row in rows):
                self.outcome.why = "no candidate is significantly faster by more than 5 %"
            else:
                self.keep(versions, ways[0], chosen, some)
            return
        self.outcome.why = "no candidate is significantly faster over a range of trip counts"

    def rows(self, path: Path, chosen: list[str], some: list[Range], trips: list[int]) -> list[Judged]:
        """Compare the function with golden at each trip count, with the placement that has the smaller gain."""
        found = []
        for trip in trips:
            label = chosen[choosing.place(some, trip)] or "golden"
            found.append(beside(partial(self.launched, {"golden": self.golden, "mine": path}), trip, label))
        return found

    def keep(self, versions: list[Version], apart: Apart, chosen: list[str], some: list[Range]) -> None:
        source, loop, cc = self.bench.source, self.bench.loop, self.request.compiler
        name = identifier(source.path.stem, loop.name)
        self.outcome.kept = _kept(chosen, some, versions)
        header = emit.Header(name, loop.hash, loop.view, emit.build_key(cc.path, cc.flags), cc.label, self.outcome.date)
        notes = [f"{source.path.name}, line {loop.line}: the loop {loop.name}, tuned {header.date} with {cc.label}", ""]
        notes += [
            f"{j.trip} turns: {significant(1e9 * j.golden)} ns golden, {significant(1e9 * j.mine)} ns tuned: {_gain(j)}"
            for j in self.outcome.judged
        ]
        notes += ["", f"{change.LEGALITY}; {len(self.outcome.tried)} candidates. Rejected as wrong:"]
        notes += [f"  {t.label}: {t.rejected}" for t in self.outcome.tried if t.wrong] or ["  none"]
        path = emit.place(source.path, loop.name, cc.family)
        emit.write(path, header, notes, functions(loop, name, versions, apart=apart))
        self.outcome.written = str(path)


def _dedented(source: Source, loop: Marked) -> str:
    column = loop.start - source.code.rfind(b"\n", 0, loop.start) - 1
    return textwrap.dedent(" " * column + source.code[loop.start : loop.end].decode("utf-8", "surrogateescape"))


def _kept(chosen: list[str], some: list[Range], versions: list[Version]) -> list[Kept]:
    codes = {version.low: indented(version.piece.code) for version in versions if version.piece is not None}
    found: list[Kept] = []
    for label, one in zip(chosen, some, strict=True):
        last = one.high if one.low == one.high else one.high - 1
        if found and found[-1].label == (label or "golden"):
            found[-1].high = last
        else:
            found.append(Kept(one.low, last, label or "golden", codes.get(one.low, "")))
    return found


def _gain(j: Judged) -> str:
    between = f" ({significant(1 / j.high)} - {significant(1 / j.low)})" if j.low and j.high else ""
    return f"{significant(1 / j.ratio)} x{between}, {j.outcome}, by {j.label}"

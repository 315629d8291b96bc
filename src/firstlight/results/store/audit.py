"""The audit of a run directory: all that can be verified without the workloads. Verdicts are judged elsewhere."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from itertools import pairwise
from pathlib import Path

from firstlight.core.errors import RecordError
from firstlight.core.shell import command
from firstlight.model.plan import Cell
from firstlight.results.record import (
    MOST_BOXES,
    MOST_RANKS,
    Case,
    Check,
    Counters,
    Devices,
    End,
    Exit,
    Field,
    Launch,
    Line,
    Refused,
    Reported,
    Run,
    Sample,
    Series,
    Span,
)
from firstlight.results.store import Store, documents, layout, lines, misplaced, seal, whole
from firstlight.results.store.lines import Defect

_KNOWN = {
    layout.RUN, layout.LAUNCHES, layout.OWNER, *layout.KEPT, layout.SEAL, layout.SIGNATURE, *layout.DERIVED,
}  # fmt: skip
Found = Iterator[tuple[int, str]]

MOST = 1000
"""Maximum number of reported defects: a small directory can have millions."""


def audit(store: Store) -> Iterator[Defect]:
    """Yield all defects, in the order of the files."""
    try:
        top = layout.names(store.path)
    except RecordError as error:
        yield Defect(".", 0, _bare(error, store.path))
        return
    reported: set[str] = set()
    for defect in _names(store.path, top):
        reported.add(defect.file)
        yield defect
    run: Run | None = None
    try:
        run = store.run()
    except RecordError as error:
        yield Defect(layout.RUN, 0, _bare(error, store.path / layout.RUN))
    if run is not None:
        for what in _run(run):
            reported.add(layout.RUN)
            yield Defect(layout.RUN, 0, what)
        for defect in _documents(store.path, run):
            if defect.file not in reported:
                reported.add(defect.file)
                yield defect
    for defect in _launches(store, run):
        reported.add(defect.file)
        yield defect
    for defect in _ended(store, run, set(top), reported):
        reported.add(defect.file)
        yield defect
    yield from _sealed(store.path, run, reported)


def _ended(store: Store, run: Run | None, top: set[str], reported: set[str]) -> Iterator[Defect]:
    """Yield what a run that has ended lacks, by its own run.json."""
    if run is None or run.state == "running" or not (run.sealed or run.whole):
        return
    for name in layout.DERIVED:
        if name not in top:
            yield Defect(
                name, 0, f"is missing: the run has ended; {command('report', store.path)} writes this file again"
            )
    if run.whole is None:
        return  # by a firstlight that sealed runs and did not count their launches: the seal is required of it
    try:
        there = store.launches()
        data = layout.read_file(store.path / layout.RUN, layout.MAX_RUN_BYTES)
        if not whole.unaltered(data, run.whole):
            yield Defect(layout.RUN, 0, "was altered after the run ended: its own hash does not match")
        yield from whole.differences(store.path, run.whole, there, reported)
    except RecordError:
        return  # a file that cannot be read is a defect of its own


def few(found: Iterable[Defect]) -> list[Defect]:
    """Return the first defects, and one more with the number of the others."""
    shown, more = lines.first(found, MOST)
    return [*shown, Defect(".", 0, f"and {more} more defects")] if more else shown


def _sealed(path: Path, run: Run | None, reported: set[str]) -> Iterator[Defect]:
    """Yield what differs from the seal. `reported`: files that already have a defect; they are skipped."""
    if seal.exists(path):
        yield from (defect for defect in seal.differences(path) if defect.file not in reported)
    elif run is not None and run.sealed and run.state != "running":
        again = command("report", path)
        yield Defect(
            layout.SEAL, 0, f"is missing, so only launches are protected; {again} seals the run in its current state"
        )
    if layout.SIGNATURE in layout.names(path) and not seal.exists(path):
        yield Defect(layout.SIGNATURE, 0, "signs a seal that does not exist")


def _bare(error: RecordError, path: Path) -> str:
    return str(error).removeprefix(f"{path}: ")


def _names(path: Path, top: list[str]) -> Iterator[Defect]:
    """Yield files that firstlight does not write, links, and leftovers of an interrupted run."""
    for name in top:
        if name.startswith(".") and name.endswith(".part"):
            yield Defect(name, 0, "left over from an interrupted write; ./fl run --resume removes this file")
        elif name not in _KNOWN:
            yield Defect(name, 0, "unknown file")
        elif (path / name).is_symlink():
            yield Defect(name, 0, "is a link; a results directory contains only regular files")
        elif (path / name).is_dir() != (name in (layout.LAUNCHES, *layout.KEPT)):
            yield Defect(name, 0, "is a kind of file that firstlight never writes there")
    for kind, is_ours in layout.KEPT.items():
        folder = path / kind
        for name in layout.names(folder) if kind in top and folder.is_dir() and not folder.is_symlink() else ():
            file = folder / name
            if layout.is_being_written(name):
                yield Defect(
                    f"{kind}/{name}", 0, "left over from an interrupted write; ./fl run --resume removes this file"
                )
            elif file.is_symlink() or not file.is_file() or not is_ours(name):
                yield Defect(f"{kind}/{name}", 0, "unknown file")


def _documents(path: Path, run: Run) -> Iterator[Defect]:
    """Yield files for programs that are missing, were added, or whose content does not fit their names."""
    wanted, folder = documents.named(run.settings), path / layout.DOCUMENTS
    there = set(layout.names(folder)) if folder.is_dir() and not folder.is_symlink() else set()
    for name in sorted(wanted - there):
        yield Defect(f"{layout.DOCUMENTS}/{name}", 0, "is missing, although programs of this run read this file")
    for name in sorted(n for n in there if documents.is_name(n)):
        try:
            content = layout.read_file(folder / name, documents.MAX_BYTES)
        except RecordError as error:
            yield Defect(f"{layout.DOCUMENTS}/{name}", 0, _bare(error, folder / name))
            continue
        if not documents.fits(name, content):
            yield Defect(f"{layout.DOCUMENTS}/{name}", 0, "was altered: its content does not match its name")
        elif name not in wanted:
            yield Defect(f"{layout.DOCUMENTS}/{name}", 0, "is not a file that programs of this run read")


def _run(run: Run) -> Iterator[str]:
    for name, count in Counter(cell.id for cell in run.cells).items():
        if count > 1:
            yield f"cell {name!r} occurs {count} times"
        if not layout.CELL.fullmatch(name):
            yield f"cell id {name!r} cannot be a file name"
    for cell in run.cells:
        place = cell.placement
        if min(place.nodes, place.ranks, place.threads) < 1:
            yield f"cell {cell.id!r} has a placement with no processes"
    if (run.finished is None) != (run.state == "running"):
        yield f"state is {run.state!r} but finished is {run.finished}"


def _launches(store: Store, run: Run | None) -> Iterator[Defect]:
    """Yield the defects of every file below launches/, and launches that are missing before the last."""
    try:
        names = layout.names(store.path / layout.LAUNCHES)
    except RecordError as error:
        yield Defect(layout.LAUNCHES, 0, _bare(error, store.path / layout.LAUNCHES))
        return
    cells = {cell.id: cell for cell in run.cells} if run else {}
    imported = {one.name for one in run.brought if one.reporter is not None} if run else set()
    there: dict[str, set[int]] = {}
    for name in names:
        shown, launch = f"{layout.LAUNCHES}/{name}", layout.parse_launch(name)
        if launch is None:
            part = layout.is_part(name)
            yield Defect(
                shown,
                0,
                "left over from an interrupted launch; ./fl run --resume removes this file" if part else "unknown file",
            )
            continue
        there.setdefault(launch[0], set()).add(launch[1])
        try:
            reading = lines.read(layout.read_file(store.path / shown, layout.MAX_LAUNCH_BYTES), once=True)
        except RecordError as error:
            yield Defect(shown, 0, _bare(error, store.path / shown))
            continue
        yield from (Defect(shown, line, what) for line, what in reading.defects)
        if reading.record is not None and run is not None:
            wrong = misplaced(reading.record.start, run.id, cells, *launch)
            yield from (Defect(shown, 1, what) for what in wrong)
        if not reading.defects:
            content = lines.few(_content(reading.lines, cells.get(launch[0]), imported))
            yield from (Defect(shown, line, what) for line, what in content)
    for cell, numbers in there.items():
        yield from _gaps(cell, numbers)


def _gaps(cell: str, numbers: set[int]) -> Iterator[Defect]:
    """Yield launches that are missing before the last; a gap of many is one defect."""
    for before, after in pairwise([-1, *sorted(numbers)]):
        if gap := after - before - 1:
            name = f"{layout.LAUNCHES}/{layout.launch_name(cell, before + 1)}"
            more = f", and so are {gap - 1} more up to number {after - 1}" if gap > 1 else ""
            yield Defect(name, 0, "is missing" + more)


def _content(content: list[tuple[int, Line]], cell: Cell | None, imported: Collection[str]) -> Found:
    """Yield contradictions between the lines of a sound file, and between them and the plan.

    `imported`: workloads whose figures another tool reported.
    """
    foreign = cell is not None and cell.program.workload in imported
    cases: dict[int, Case] = {}
    samples: Counter[int] = Counter()
    checks: dict[int, list[Check]] = {}
    observed: dict[int, set[str]] = {}
    drawn: set[tuple[int, str, int]] = set()
    pictured: set[int] = set()
    off_device: set[int] = set()
    ranks = MOST_RANKS
    refused, ended = 0, False
    for number, line in content:
        what: list[str] = []
        if isinstance(line, Launch):
            what = list(_program(line, cell, foreign))
            ranks = line.ranks
        elif isinstance(line, Case):
            what = list(_case(line, len(cases) + refused))
            cases[line.case] = line
        elif isinstance(line, Refused):
            what = list(_refused(line, len(cases) + refused))
            refused += 1
        elif isinstance(line, Sample | Reported | Series | Field | Devices | Check | Span | Counters) and (
            line.case not in cases
        ):
            what = [f"case {line.case} was not declared"]
        elif isinstance(line, Reported):
            what = (
                [] if foreign else ["an external tool reported this sample, although firstlight launched the program"]
            )
            samples[line.case] += 1
        elif isinstance(line, Sample | Check) and foreign:
            what = ["firstlight measured this sample, although an external tool reported the program"]
        elif isinstance(line, Sample):
            what = list(_sample(line, samples[line.case]))
            samples[line.case] += 1
            if observed.setdefault(line.case, set(line.values)) != set(line.values):
                what.append(f"sample {line.sample} of case {line.case} observes other values than the earlier samples")
        elif isinstance(line, Span):
            what = list(_span(line))
        elif isinstance(line, Series):
            what = list(_series(line, ranks, drawn))
            drawn.add((line.case, line.name, line.rank))
        elif isinstance(line, Field):
            what = list(_field(line))
            what += [f"case {line.case} has two fields"] if line.case in pictured else []
            pictured.add(line.case)
        elif isinstance(line, Devices):
            what = list(_devices(line, ranks))
            off_device |= {line.case} if any(one.place != "device" for one in line.devices) else set()
        elif isinstance(line, Check):
            what = list(_check(line))
            checks.setdefault(line.case, []).append(line)
        elif isinstance(line, Counters):
            what = [] if line.steps >= 1 else ["the counters cover no steps"]
        elif isinstance(line, End):
            ended = True
            found = len(cases) + refused
            what = [f"{line.cases} cases were announced, but {found} were found"] if line.cases != found else []
            what += (
                ["every case was refused, but the program ended as if a case had run"] if refused and not cases else []
            )
            what += _finished(cases, samples, checks, foreign)
            right = (case for case in off_device if all(check.ok for check in checks.get(case, ())))
            what += [f"case {case} did not run on a device and has no failed check" for case in sorted(right)]
        elif isinstance(line, Exit):
            what = list(_exit(line, ended, all(c.ok for found in checks.values() for c in found)))
        yield from ((number, sentence) for sentence in what)


def _program(line: Launch, cell: Cell | None, foreign: bool) -> Iterator[str]:
    silent = cell is not None and (cell.external is not None or foreign) and not line.binding  # its ranks are not read
    if not silent and sorted(b.rank for b in line.binding) != list(range(line.ranks)):
        yield f"the binding of {len(line.binding)} ranks is recorded, but there are {line.ranks} ranks"
    if cell is None:
        return
    planned = cell.program
    if (line.workload, line.variant) != (planned.workload, planned.variant):
        yield f"{line.workload}.{line.variant} ran where {planned.target} was planned"
    if line.ranks != cell.placement.ranks:
        yield f"{line.ranks} ranks ran where {cell.placement.ranks} were planned"


def _number(line: Case | Refused, expected: int) -> Iterator[str]:
    if line.case != expected:
        yield f"case {line.case} was recorded where case {expected} was expected"


def _refused(line: Refused, expected: int) -> Iterator[str]:
    yield from _number(line, expected)
    if line.threads < 1:
        yield "threads are impossible"


def _case(line: Case, expected: int) -> Iterator[str]:
    yield from _number(line, expected)
    if line.steps < 1 or line.threads < 1 or not 0 <= line.working_set < math.inf:
        yield "steps, threads or working set are impossible"
    for quantity, value in line.cost.items():
        if not 0 <= value < math.inf:
            yield f"cost {quantity} is {value}"


def _sample(line: Sample, expected: int) -> Iterator[str]:
    if line.sample != expected:
        yield f"sample {line.sample} of case {line.case} was recorded where sample {expected} was expected"
    if not 0 < line.wall_min <= line.wall_median <= line.wall < math.inf:
        yield f"wall times are impossible: minimum {line.wall_min}, median {line.wall_median}, maximum {line.wall}"
    if not 0 <= line.cpu < math.inf:
        yield f"the share of CPU time is impossible: {line.cpu}"
    for name, (least, middle, most) in line.values.items():
        if not least <= middle <= most:
            yield f"observed {name} is impossible: least {least}, median {middle}, most {most}"


def _series(line: Series, ranks: int, drawn: set[tuple[int, str, int]]) -> Iterator[str]:
    if line.rank >= ranks:
        yield f"series {line.name} of rank {line.rank}, but there are only {ranks} ranks"
    if (line.case, line.name, line.rank) in drawn:
        yield f"series {line.name} of rank {line.rank} occurs twice"


def _span(line: Span) -> Iterator[str]:
    if line.ended < line.began:
        yield f"a span of case {line.case} ends before it starts"
    elif line.wall > (1 + 1e-6) * (line.ended - line.began):
        yield f"the samples of a span of case {line.case} last longer than the span"
    if [*map(len, line.before)] != [*map(len, line.after)]:
        yield f"a span of case {line.case} has different counters before and after"


def _field(line: Field) -> Iterator[str]:
    high, wide = (min(cells, MOST_BOXES) for cells in (line.rows, line.columns))
    if len(line.values) != high or {len(row) for row in line.values} != {wide}:
        yield f"field {line.name} of {line.rows} x {line.columns} cells is not drawn as {high} rows of {wide} values"
    if line.largest == 0 and any(any(row) for row in line.values):
        yield f"field {line.name} has values beyond its largest, 0"


def _devices(line: Devices, ranks: int) -> Iterator[str]:
    if sorted(one.rank for one in line.devices) != list(range(ranks)):
        yield f"devices of {len(line.devices)} ranks are given, but there are only {ranks} ranks"


def _check(line: Check) -> Iterator[str]:
    if not 0 <= line.tolerance < math.inf:
        yield f"tolerance is {line.tolerance}"
    if line.ok != (line.error is not None and line.error <= line.tolerance):
        outcome = "passed" if line.ok else "failed"
        yield f"the check {outcome}, but its error is {line.error} and its tolerance {line.tolerance}"


def _finished(
    cases: dict[int, Case], samples: Counter[int], checks: dict[int, list[Check]], foreign: bool
) -> Iterator[str]:
    """Yield cases without an expected check, without samples after a passed first check, or checked twice."""
    for case in cases:
        found = checks.get(case, [])
        stopped = any(c.when == "before" and not c.ok for c in found)
        if not stopped and not foreign and not any(c.when == "after" for c in found):
            yield f"case {case} was never checked"
        if not stopped and not samples[case]:
            yield f"case {case} has no samples"
        if len(found) != len({c.when for c in found}):
            yield f"case {case} was checked twice at the same point"


def _exit(line: Exit, ended: bool, passed: bool) -> Iterator[str]:
    if line.ok and (line.status not in (0, 1) or not ended or line.reason):
        yield "is marked ok, but the status, the record or the reason contradicts this"
    if not line.ok and not line.reason:
        yield "is marked as lost without a reason"
    if line.ok and (line.status == 0) != passed:
        yield f"status {line.status}, but the checks {'passed' if passed else 'failed'}"

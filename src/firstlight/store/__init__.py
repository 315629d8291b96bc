"""Store: a run is a directory of plain files, each whole or absent; a kill loses at most the launch in flight.

    run.json   owner   launches/<cell>.<launch>.jsonl   report.html   figures.json   builds/   SHA256SUMS[.sig]

A launch is written to a hidden `.part` file, sealed with a hash, brought to the disk and renamed. SHA256SUMS is written
last: it seals all files but the owner's note.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

import msgspec

from firstlight.errors import RecordError, UsageError
from firstlight.launch import Outcome
from firstlight.record import SCHEMA, Exit, LaunchRecord, Run, Start
from firstlight.shell import command
from firstlight.store import durable, layout, lines, owner, seal
from firstlight.store.durable import StoreError
from firstlight.store.lines import Defect

__all__ = ["Defect", "Store", "StoreError", "check", "create", "free_id", "free_name", "open", "resume"]


_WRITTEN = {f".{name}.part" for name in (layout.RUN, layout.OWNER, layout.SEAL, *layout.DERIVED)}


class Store:
    """One run directory. Made by `create`, `resume` (both write) or `open` (reads only).

    `notes` tells what `resume` found and removed; `defects` lists what the last `records()` passed over.
    """

    def __init__(self, path: Path, *, writes: bool = False) -> None:
        self.path = path
        self.notes: list[str] = []
        self.defects: list[Defect] = []
        self._writes = writes

    def __enter__(self) -> Store:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Take the owner note away: the run may be resumed by others. May be called twice."""
        if self._writes:
            with contextlib.suppress(OSError):  # a note that stays is stale as soon as this process has ended
                owner.release(self.path)

    # --- writing ----------------------------------------------------------------------------------

    def write_run(self, run: Run) -> None:
        """Write run.json at once and durably, and break the seal of a run that goes on.

        Raises StoreError; the run.json before it stays whole.
        """
        data = msgspec.json.format(msgspec.json.encode(run), indent=1) + b"\n"
        _decode_run(data, self.path / layout.RUN)  # what could not be read again must not replace what can
        with durable.os_errors_as_store_error(self.path):
            seal.remove(self.path)
            durable.replace(self.path / layout.RUN, data)

    def next_launch(self, cell: str) -> int:
        """The number of the cell's next launch: one more than the largest there is."""
        return max((n for c, n in self.launches() if c == cell), default=-1) + 1

    def begin(self, start: Start) -> Path:
        """The file to which the program of this launch appends.

        Raises StoreError when the disk is full, UsageError when another firstlight took the run over.
        """
        if not layout.CELL.fullmatch(start.cell):
            raise RecordError(f"cell id {start.cell!r} cannot be a file name")
        folder = self.path / layout.LAUNCHES
        part = folder / layout.part_name(start.cell, start.launch)
        if (folder / layout.launch_name(start.cell, start.launch)).exists():
            raise RecordError(f"{self.path}: launch {start.launch} of {start.cell} is there already")
        with durable.os_errors_as_store_error(self.path):
            owner.refresh(self.path)
            durable.require_space(folder)
            part.unlink(missing_ok=True)
            try:
                with part.open("xb") as file:
                    file.write(lines.encode(start))
            except OSError:
                part.unlink(missing_ok=True)
                raise
        return part

    def finish(self, part: Path, outcome: Outcome) -> Exit:
        """Seal the launch that `begin` began and give it its name; returns the exit line as written.

        What is not a whole, valid line of the program is cut off, and then the launch is not ok. Raises StoreError
        when it cannot be written; the launch is lost then, and its part removed to give the space back.
        """
        try:
            with durable.os_errors_as_store_error(self.path):
                return self._seal(part, outcome)
        except BaseException:
            part.unlink(missing_ok=True)
            raise

    def _seal(self, part: Path, outcome: Outcome) -> Exit:
        cell, _, number = part.name.removeprefix(".").removesuffix(".part").rpartition(".")
        limit = layout.MAX_LAUNCH_BYTES - layout.EXIT_ROOM
        with part.open("rb") as file:
            data = file.read(limit + 1)
        good, why = lines.sound(data[:limit])
        if len(data) > limit:
            why = f"the record is larger than {limit >> 20} MiB"
        if why:
            with part.open("r+b") as file:
                file.truncate(good)
        reason = "; ".join(filter(None, (outcome.reason, why)))
        ending = Exit(
            not reason, outcome.status, reason, outcome.seconds, outcome.load, outcome.stderr, "", outcome.left
        )
        line = lines.seal(data[:good], ending)
        durable.append(part, line)
        part.rename(part.with_name(layout.launch_name(cell, int(number))))
        durable.sync_folder(part.parent)
        return msgspec.json.decode(line, type=Exit)

    def discard(self, part: Path) -> None:
        """Forget a launch that was interrupted: it is as if it had not begun."""
        part.unlink(missing_ok=True)

    # --- reading ----------------------------------------------------------------------------------

    def run(self) -> Run:
        """Read run.json. Raises RecordError when it is missing, too large, malformed, or of another schema."""
        path = self.path / layout.RUN
        return _decode_run(layout.read_file(path, layout.MAX_RUN_BYTES), path)

    def launches(self) -> list[tuple[str, int]]:
        """Cell and number of every finished launch, sorted by name."""
        found = (layout.parse_launch(name) for name in layout.names(self.path / layout.LAUNCHES))
        return [launch for launch in found if launch is not None]

    def records(self) -> Iterator[LaunchRecord]:
        """Every launch that can be trusted, sorted by cell and number; the others are listed in `defects`.

        Raises RecordError only where there is no run to read at all.
        """
        run = self.run()
        self.defects = []
        cells = {cell.id for cell in run.cells}
        for cell, number in self.launches():
            name = f"{layout.LAUNCHES}/{layout.launch_name(cell, number)}"
            try:
                reading = lines.read(layout.read_file(self.path / name, layout.MAX_LAUNCH_BYTES))
            except RecordError as error:
                self.defects.append(Defect(name, 0, str(error).removeprefix(f"{self.path / name}: ")))
                continue
            found = [Defect(name, line, what) for line, what in reading.defects]
            if reading.record is not None:
                found += [
                    Defect(name, 1, what) for what in misplaced(reading.record.start, run.id, cells, cell, number)
                ]
            if reading.record is not None and not found:
                yield reading.record
            self.defects += found


def misplaced(start: Start, run: str, cells: set[str], cell: str, number: int) -> Iterator[str]:
    """Why a launch does not belong where it lies: a copied file would count one measurement twice."""
    if start.run != run:
        yield f"belongs to run {start.run!r}, not to {run!r}"
    if (start.cell, start.launch) != (cell, number):
        yield f"is launch {start.launch} of {start.cell!r}, not what its name says"
    elif cell not in cells:
        yield f"cell {cell!r} is not in run.json"


def _decode_run(data: bytes, path: Path) -> Run:
    class Version(msgspec.Struct):
        schema: int

    try:
        schema = msgspec.json.decode(data, type=Version).schema
        if schema != SCHEMA:
            raise RecordError(f"{path}: has schema {schema}, this firstlight reads {SCHEMA}; use the one that wrote it")
        run = msgspec.json.decode(data, type=Run)
    except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
        raise RecordError(f"{path}: is damaged or was not written by firstlight: {error}") from error
    for what, name, form in _names(run):
        if not form.fullmatch(name):
            raise RecordError(f"{path}: was not written by firstlight: {name[:80]!r} cannot name a {what}")
    return run


def _names(run: Run) -> Iterator[tuple[str, str, re.Pattern[str]]]:
    """What stands in commands and in names of files, and the form that it has."""
    programs = {*(cell.program for cell in run.cells), *(build.program for build in run.builds)}
    toolchains = {*(p.toolchain for p in programs), *(t.name for t in run.toolbox.toolchains)}
    libraries = {*(p.mpi for p in programs if p.mpi is not None), *(m.name for m in run.toolbox.mpis)}
    yield "run", run.id, layout.NAME
    yield from (("workload", name, layout.CELL) for name in {p.workload for p in programs})
    yield from (("variant", name, layout.CELL) for name in {p.variant for p in programs})
    yield from (("toolchain", name, layout.CELL) for name in toolchains)
    yield from (("library", name, layout.CELL) for name in libraries)


def free_id(root: Path, started: float, suite: str) -> str:
    """`<YYYYMMDD-HHMMSS>-<suite>`, with `-2`, `-3`, ... where such a directory is there already."""
    name = time.strftime("%Y%m%d-%H%M%S", time.localtime(started)) + f"-{suite}"
    names = (name if k == 1 else f"{name}-{k}" for k in range(1, 10_000))
    return next(n for n in names if not (root / n).exists())


def free_name(root: Path, name: str) -> str:
    """`name`, if a run may have it and none has. Raises UsageError otherwise."""
    if not layout.NAME.fullmatch(name) or name in layout.TAKEN:
        raise UsageError(f"{name!r} cannot name a run: use letters, digits and . _ - (not in front), at most 200")
    if (root / name).exists():
        raise UsageError(f"{root / name} is there already; go on with it by ./fl run --resume, or choose another name")
    return name


def create(root: Path, run: Run) -> Store:
    """Make the directory `root/<run.id>` with its run.json. Raises RecordError if it exists, else StoreError."""
    if not layout.NAME.fullmatch(run.id):
        raise RecordError(f"run id {run.id!r} cannot be a directory name")
    path = root / run.id
    with durable.os_errors_as_store_error(path):
        root.mkdir(parents=True, exist_ok=True)
        try:
            path.mkdir()
        except FileExistsError as error:
            raise RecordError(f"{path}: is there already; resume it or choose another name") from error
        try:
            (path / layout.LAUNCHES).mkdir()
            owner.claim(path)
            store = Store(path, writes=True)
            store.write_run(run)
            durable.sync_folder(root)
        except BaseException:
            shutil.rmtree(path, ignore_errors=True)  # a directory without run.json is no run, and was made just now
            raise
    return store


def open(path: Path) -> Store:
    """A run to read. Raises RecordError when `path` holds none."""
    if not (path / layout.RUN).is_file():
        raise RecordError(f"{path}: is no results directory (it has no {layout.RUN}); `ls results` shows yours")
    return Store(path)


def resume(path: Path) -> Store:
    """A run to go on with: takes it over, removes what the launch in flight had left, and notes it.

    Raises RecordError when `path` holds no readable run, UsageError while another firstlight works on it, where it is
    signed, or where its run.json is not the one that was sealed.
    """
    store = open(path)
    store.run()
    if (path / layout.SIGNATURE).exists():
        raise UsageError(f"{path}: is signed, and what goes on is no longer what was signed; resume a copy without it")
    if seal.exists(path) and seal.read(path).get(layout.RUN) != seal.digest(path, layout.RUN):
        raise UsageError(f"{path}: run.json was altered after the run was sealed; see {command('check', path)}")
    store._writes = True
    with durable.os_errors_as_store_error(path):
        owner.claim(path)
        (path / layout.LAUNCHES).mkdir(exist_ok=True)
        for folder in (path, path / layout.LAUNCHES):
            for name in layout.names(folder):
                if layout.is_part(name) or name in _WRITTEN:
                    (folder / name).unlink()
                    store.notes.append(f"removed {name}: it was being written when firstlight was stopped")
    return store


def check(path: Path) -> list[Defect]:
    """The defects of a run directory: names, links, sizes, schema, hashes, order, and whether the numbers agree.

    Of very many the first are told, and how many more there are.
    """
    from firstlight.store.audit import audit, few

    return few(audit(Store(path)))

"""Store: a run is a directory of plain files, each whole or absent; a kill loses at most the launch in flight.

    run.json   owner   launches/<cell>.<launch>.jsonl   builds/   documents/   report.html   figures.json
    SHA256SUMS[.sig]

A launch is written to a hidden `.part` file, sealed with a hash, synced to the disk and renamed. SHA256SUMS is written
last: it seals all files but the owner's note. A run that is written stays open: if another process replaces its
directory or one of its files meanwhile, the replacement is neither followed nor written into.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType

import msgspec

from firstlight.core.errors import RecordError, UsageError
from firstlight.core.shell import command
from firstlight.execute.launch import Outcome
from firstlight.results.record import Exit, LaunchRecord, Run, Start
from firstlight.results.store import (
    disk,
    durable,
    flight,
    foreign,
    layout,
    lines,
    owner,
    run_file,
    run_names,
    seal,
    whole,
)
from firstlight.results.store.disk import Folder
from firstlight.results.store.documents import Document
from firstlight.results.store.durable import StoreError
from firstlight.results.store.flight import Flight
from firstlight.results.store.lines import Defect
from firstlight.results.store.owner import Claim
from firstlight.results.store.run_names import free_id, free_name, new_folder

__all__ = ["Defect", "Store", "StoreError", "check", "create", "free_id", "free_name", "new_folder", "open", "resume"]


class _Held:
    """The open parts of a run that is written: folders, owner note, launches in flight, next number of each cell.

    Only the owner adds launches, so they are counted once.
    """

    def __init__(self, run: Folder, launches: Folder, claim: Claim) -> None:
        self.run, self.launches, self.claim = run, launches, claim
        self.flights: dict[str, Flight] = {}
        self.next: dict[str, int] | None = None

    def close(self) -> None:
        with contextlib.suppress(OSError):  # a note that stays is stale as soon as this process has ended
            self.claim.release()
        for begun in self.flights.values():
            begun.close()
        self.launches.close()
        self.run.close()


class Store:
    """One run directory. Made by `create`, `resume` (both write) or `open` (reads only).

    `notes` lists what `resume` found and removed; `defects` lists what the last `records()` passed over. `altered`:
    read the run even if it differs from its seal, for `check`, which lists the differences.
    """

    def __init__(self, path: Path, held: _Held | None = None, *, altered: bool = False) -> None:
        self.path = path
        self._altered = altered
        self.notes: list[str] = []
        self.defects: list[Defect] = []
        self._open = held

    def __enter__(self) -> Store:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Remove the owner note, so that others may resume the run. May be called twice."""
        if self._open is not None:
            self._open.close()
            self._open = None

    @property
    def _held(self) -> _Held:
        if self._open is None:
            raise RuntimeError(f"{self.path} was opened read-only or is closed")
        return self._open

    @property
    def folder(self) -> Folder:
        """Return the directory of a run that is written; what is derived from the run is written into it."""
        return self._held.run

    # --- writing ----------------------------------------------------------------------------------

    def write_run(self, run: Run) -> None:
        """Write run.json atomically and durably, and break the seal of a run that is resumed.

        Raises StoreError, RecordError for what could not be read again; the run.json before it stays whole.
        """
        data = whole.encoded(run, self.path)
        if len(data) > layout.MAX_RUN_BYTES:
            raise RecordError(
                f"{self.path}: {layout.RUN} would be larger than {layout.MAX_RUN_BYTES >> 20} MiB; "
                f"name fewer workloads, toolchains or placements ({len(run.cells)} cells, {len(run.builds)} programs)"
            )
        run_file.decode(data, self.path / layout.RUN)
        with durable.os_errors_as_store_error(self.path):
            seal.remove(self.folder)
            self.folder.replace(layout.RUN, data)

    def keep_log(self, key: str, text: str) -> None:
        """Keep the output of the build of one program, at most layout.MAX_LOG_BYTES of it. Raises StoreError."""
        self._keep(layout.BUILDS, f"{key}.log", layout.bounded_text(text, layout.MAX_LOG_BYTES))

    def _keep(self, kind: str, name: str, data: bytes) -> None:
        with durable.os_errors_as_store_error(self.path):
            with contextlib.suppress(FileExistsError):
                self.folder.make(kind)
                self.folder.sync()  # run.json, which is written later, may name what is in it
            with self.folder.folder(kind) as folder:
                folder.replace(name, data)

    def forget(self, *names: str) -> None:
        """Remove files that are derived from the run and no longer valid. Raises StoreError."""
        with durable.os_errors_as_store_error(self.path):
            for name in names:
                self.folder.remove(name)

    def next_launch(self, cell: str) -> int:
        """Return the number of the cell's next launch: one more than the largest there is."""
        if self._open is None:
            return _next(self.launches()).get(cell, 0)
        if self._open.next is None:
            self._open.next = _next(self.launches())
        return self._open.next.get(cell, 0)

    def part(self, cell: str, launch: int) -> Path:
        """Return the path to which the program of a launch will write."""
        return self.path / layout.LAUNCHES / layout.part_name(cell, launch)

    def begin(self, start: Start) -> Path:
        """Begin a launch; return the file to which its program appends.

        Raises StoreError if the disk is full, UsageError if another firstlight took over the run.
        """
        if not layout.CELL.fullmatch(start.cell):
            raise RecordError(f"cell id {start.cell!r} cannot be a file name")
        with durable.os_errors_as_store_error(self.path):
            self._held.claim.refresh()
            durable.require_space(self._held.launches)
            begun = flight.begin(self._held.launches, start)
        self._held.flights[begun.part] = begun
        return self.part(start.cell, start.launch)

    def finish(self, part: Path, outcome: Outcome) -> Exit:
        """Seal the launch that `begin` began and rename it to its final name; return the exit line as written.

        Bytes that are not whole, valid lines of the program are cut off, and then the launch is not ok; nor is it if
        the program removed or replaced its record. Raises StoreError if it cannot be written; the launch is lost then,
        and its part is removed to free the space.
        """
        with durable.os_errors_as_store_error(self.path):
            ending = self._held.flights.pop(part.name).seal(outcome)
        if self._held.next is not None:
            launch = layout.parse_launch(layout.sealed_name(part.name))
            assert launch is not None
            self._held.next[launch[0]] = max(self._held.next.get(launch[0], 0), launch[1] + 1)
        return ending

    def discard(self, part: Path) -> None:
        """Discard an interrupted launch, as if it had not begun."""
        with contextlib.suppress(OSError):  # a part that stays is removed by who resumes the run
            self._held.flights.pop(part.name).drop()

    # --- reading ----------------------------------------------------------------------------------

    def run(self) -> Run:
        """Read run.json.

        Raises RecordError if it is missing, too large, malformed, of another schema, or altered since the run ended.
        """
        path = self.path / layout.RUN
        while True:
            data = layout.read_file(path, layout.MAX_RUN_BYTES)
            run = run_file.decode(data, path)
            why = "" if self._altered else whole.altered(self.path, run, data)
            if not why:
                return run
            if layout.read_file(path, layout.MAX_RUN_BYTES) == data:  # else it was rewritten between the two reads
                raise RecordError(f"{path}: {why}; {command('check', self.path)} lists the defects")

    def launches(self) -> list[tuple[str, int]]:
        """Return cell and number of every finished launch, sorted by name."""
        found = (layout.parse_launch(name) for name in layout.names(self.path / layout.LAUNCHES))
        return [launch for launch in found if launch is not None]

    def records(self, only: Collection[str] | None = None) -> Iterator[LaunchRecord]:
        """Yield every launch that can be trusted, sorted by cell and number; the others are listed in `defects`.

        `only`: launches of these cells. Each launch is compared with the seal as it is read; without a seal, all of
        them are compared with run.json. Raises RecordError if there is no run to read, and after the last launch if one
        was altered and nothing shows which.
        """
        run = self.run()
        self.defects = []
        cells = {cell.id for cell in run.cells}
        there = [launch for launch in self.launches() if only is None or launch[0] in only]
        sealed = self._sealed()
        digests: dict[str, str] = {}
        for cell, number in there:
            name = f"{layout.LAUNCHES}/{layout.launch_name(cell, number)}"
            try:
                data = layout.read_file(self.path / name, layout.MAX_LAUNCH_BYTES)
                reading = lines.read(data)
            except RecordError as error:
                self.defects.append(Defect(name, 0, str(error).removeprefix(f"{self.path / name}: ")))
                continue
            found = [Defect(name, line, what) for line, what in reading.defects]
            if reading.record is not None:
                digests[name] = seal.hashed(data)
                found += [
                    Defect(name, 1, what) for what in misplaced(reading.record.start, run.id, cells, cell, number)
                ]
            if not found and sealed is not None and (what := seal.difference(name, digests[name], sealed)):
                found = [Defect(name, 0, what)]
            if reading.record is not None and not found:
                yield reading.record
            self.defects += found
        if self._altered or run.whole is None:
            return
        counted = list(whole.counts({c: n for c, n in run.whole.launches.items() if only is None or c in only}, there))
        self.defects += counted
        complete = only is None and len(digests) == len(there) and not counted
        if sealed is None and complete and whole.digest(digests) != run.whole.launches_sha256:
            what = f"{whole.SOME}; {command('check', self.path)} lists the defects"
            raise RecordError(f"{self.path / layout.LAUNCHES}: {what}")

    def _sealed(self) -> dict[str, str] | None:
        """Return hashes by name; None if the run has no seal or `altered` is set. A bad seal is a defect."""
        if self._altered or not seal.exists(self.path):
            return None
        try:
            return seal.read(self.path)
        except RecordError as error:
            self.defects.append(Defect(layout.SEAL, 0, str(error).removeprefix(f"{self.path / layout.SEAL}: ")))
            return None


def misplaced(start: Start, run: str, cells: Collection[str], cell: str, number: int) -> Iterator[str]:
    """Yield why a launch does not belong in its place: a copied file would count one measurement twice."""
    if start.run != run:
        yield f"belongs to run {start.run!r}, not to {run!r}"
    if (start.cell, start.launch) != (cell, number):
        yield f"is launch {start.launch} of {start.cell!r}, which does not match its name"
    elif cell not in cells:
        yield f"cell {cell!r} is not in run.json"


def _next(launches: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Return the number of the next launch of each cell."""
    found: dict[str, int] = {}
    for cell, number in launches:
        found[cell] = max(found.get(cell, 0), number + 1)
    return found


def create(root: Path, run: Run, *, free: bool = False, files: Sequence[Document] = ()) -> Store:
    """Make the directory `root/<run.id>` with its run.json. Raises RecordError if it exists, else StoreError.

    `files`: those that its programs read; they are written before run.json. `free`: if another run of that second has
    the name, use the next one that is free, also in run.json.
    """
    if not layout.NAME.fullmatch(run.id):
        raise RecordError(f"run id {run.id!r} cannot be a directory name")
    with durable.os_errors_as_store_error(root / run.id):
        disk.make_folders(root)
        with Folder.at(root) as folder:
            for name in run_names.ids(run.started, run.suite) if free else (run.id,):
                try:
                    folder.make(name)
                except FileExistsError as error:
                    if not free:
                        raise RecordError(
                            f"{root / name}: already exists; resume this run or choose another name"
                        ) from error
                    continue
                return _filled(folder, msgspec.structs.replace(run, id=name), files)
    raise AssertionError("no free name was found")


def _filled(root: Folder, run: Run, files: Sequence[Document]) -> Store:
    """Return a run in the folder that was just made for it; remove the folder if that fails."""
    try:
        with contextlib.ExitStack() as opened:
            held = opened.enter_context(root.folder(run.id))
            held.make(layout.LAUNCHES)
            launches = opened.enter_context(held.folder(layout.LAUNCHES))
            claim = opened.enter_context(owner.claim(held))
            store = Store(root.path / run.id, _Held(held, launches, claim))
            for document in files:
                store._keep(layout.DOCUMENTS, document.name, document.content)
            store.write_run(run)
            root.sync()
            opened.pop_all()
            return store
    except BaseException:
        root.try_to_remove(run.id)
        raise


def open(path: Path, *, altered: bool = False) -> Store:
    """Open a run for reading. Raises RecordError if `path` contains none. `altered`: see `Store`."""
    if not (path / layout.RUN).is_file():
        raise RecordError(f"{path}: is not a results directory (it has no {layout.RUN}); `ls results` shows yours")
    return Store(path, altered=altered)


def resume(path: Path) -> Store:
    """Take over a run to go on with it, remove what the launch in flight had left, and note this.

    Raises RecordError if `path` contains no readable run or its run.json is not the sealed one, UsageError while
    another firstlight works on it, if it belongs to another user or others may write it, or if it is signed.
    """
    open(path)
    with durable.os_errors_as_store_error(path), contextlib.ExitStack() as opened:
        held = opened.enter_context(Folder.at(path))
        foreign.refuse(held, (layout.LAUNCHES, *layout.KEPT), (layout.RUN,))
        claim = opened.enter_context(owner.claim(held))
        _resumable(path)
        with contextlib.suppress(FileExistsError):
            held.make(layout.LAUNCHES)
        launches = opened.enter_context(held.folder(layout.LAUNCHES))
        store = Store(path, _Held(held, launches, claim))
        store.notes = [
            f"removed {name}: firstlight was stopped while writing this file" for name in _swept(held, launches)
        ]
        opened.pop_all()
        return store


def _resumable(path: Path) -> None:
    """Raise UsageError if the run must not be resumed, RecordError if it cannot be read or was altered."""
    Store(path).run()
    if (path / layout.SIGNATURE).exists():
        raise UsageError(
            f"{path} is signed, and a resumed run would invalidate the signature; resume a copy without the signature"
        )


def _swept(run: Folder, launches: Folder) -> Iterator[str]:
    """Remove files that were being written when a firstlight was stopped; yield their names. Raises OSError."""
    for name in layout.bounded(run):
        if layout.is_being_written(name):
            run.remove(name)
            if not name.startswith(f".{layout.OWNER}."):  # of another claimant, which then looks again
                yield name
    for name in layout.bounded(launches):
        if layout.is_part(name):
            launches.remove(name)
            yield name
    for kind in (k for k in layout.KEPT if run.status(k) is not None):
        with run.folder(kind) as folder:
            for name in layout.bounded(folder):
                if layout.is_being_written(name):
                    folder.remove(name)
                    yield name


def check(path: Path) -> list[Defect]:
    """Return the defects of a run directory: names, links, sizes, schema, hashes, order, and numbers that disagree.

    The list has the first defects only, and the number of the others.
    """
    from firstlight.results.store.audit import audit, few

    return few(audit(Store(path, altered=True)))

"""The folder: reads every run in it, or records why a run is left out. Runs in the index are not read again."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import msgspec
from msgspec.structs import replace

from firstlight.analysis.changes import Value
from firstlight.analysis.compare import work
from firstlight.analysis.disturbance import share_disturbed
from firstlight.analysis.figures import judge
from firstlight.analysis.history import index as indices
from firstlight.analysis.history.index import Entry, Index, Measured
from firstlight.analysis.overrides import of_run
from firstlight.analysis.verdict import Numbered, Reported, Verified
from firstlight.core import shell
from firstlight.core.errors import RecordError
from firstlight.model import catalogue
from firstlight.model.catalogue import Workload
from firstlight.results import store
from firstlight.results.record import Run
from firstlight.results.states import UNFINISHED
from firstlight.results.store import layout, seal

Stamp = tuple[int, int, int]


class Left(msgspec.Struct, frozen=True):
    """A skipped run or folder, and the reason."""

    path: str
    why: str


class Past(msgspec.Struct, frozen=True):
    """A run as history sees it, and where it is."""

    path: Path
    entry: Entry

    @property
    def run(self) -> Run:
        """Return run.json without builds and launches."""
        return self.entry.run


class Folder(msgspec.Struct, frozen=True):
    """The runs, oldest first; their figures, by number; what was left out; the chapters of workloads; what could not be
    kept ("": all was).
    """

    runs: tuple[Past, ...]
    figures: tuple[Measured, ...]
    left: tuple[Left, ...]
    chapters: dict[str, str]
    note: str = ""


def read(paths: Iterable[Path], index: Path, progress: Callable[[int, int], None] = lambda done, of: None) -> Folder:
    """Return the runs at these paths, each a run or a folder of runs.

    `progress` is called with the number of runs judged so far and the number to judge.

    Raises OSError if a folder cannot be listed.
    """
    known = indices.load(index, indices.version())
    numbers = known.numbers()
    alike: dict[str, list[tuple[Path, Stamp]]] = {}
    left: list[Left] = []
    for path in dict.fromkeys(run for place in paths for run in runs(place)):
        try:
            key, stamp = identify(path)
        except RecordError as error:
            left.append(Left(str(path), _bare(error, path)))
            continue
        alike.setdefault(key, []).append((path, stamp))
    found: dict[str, Path] = {}
    new: list[str] = []
    for key, copies in alike.items():
        there = known.entries.get(key)
        same = next((path for path, stamp in copies if there is not None and there.stamp == stamp), None)
        if same is not None:
            found[key] = same
        else:
            known.entries.pop(key, None)
            new.append(key)
    workloads = catalogue.load(catalogue.roots()) if new else {}
    known.chapters |= {name: workload.chapter for name, workload in workloads.items()}
    for done, key in enumerate(new):
        progress(done, len(new))
        for path, stamp in alike[key]:  # an altered copy does not hide an intact one, whatever its name
            try:
                known.entries[key] = _entry(path, stamp, workloads, known, numbers)
            except RecordError as error:
                left.append(Left(str(path), _bare(error, path)))
                continue
            found[key] = path
            break
    bad = {one.path for one in left}
    pairs = [(path, other) for key, path in found.items() for other, _ in alike[key] if other != path]
    left += [Left(str(other), f"is a copy of {path}") for path, other in pairs if str(other) not in bad]
    kept, note = known, ""
    if new or known.entries.keys() != found.keys():
        kept = indices.kept(known, found)
        note = indices.save(index, kept)
    pasts = [Past(path, kept.entries[key]) for key, path in found.items()]
    pasts.sort(key=lambda past: (past.run.started, past.run.id))
    return Folder(tuple(pasts), tuple(kept.figures), tuple(left), kept.chapters, note)


def runs(path: Path) -> Iterator[Path]:
    """Yield the run at `path`, or the runs in that folder; a folder without run.json is not a run."""
    if (path / layout.RUN).exists() or (path / layout.RUN).is_symlink():
        yield path
    else:
        yield from sorted(inner.parent for inner in path.glob(f"*/{layout.RUN}"))


def identify(path: Path) -> tuple[str, Stamp]:
    """Return the hash of the seal's entries for all files that are not derived, and the run's stamp.

    Raises RecordError for a run without a seal.
    """
    if not seal.exists(path):
        raise RecordError(
            f"{path}: no seal: the run is in progress, was interrupted, or is from an older version; "
            f"{shell.command('run', '--resume', path)} completes it"
        )
    lines = layout.read_file(path / layout.SEAL, seal.MAX_BYTES).splitlines(keepends=True)
    derived = tuple(f"  {name}\n".encode() for name in layout.DERIVED)  # `./fl report` writes these again
    key = hashlib.sha256(b"".join(line for line in lines if not line.endswith(derived))).hexdigest()
    try:
        found = [(path / layout.RUN).lstat()]
        with os.scandir(path / layout.LAUNCHES) as entries:
            found += [entry.stat(follow_symlinks=False) for entry in entries]
    except OSError as error:
        raise RecordError(f"{error.filename}: {(error.strerror or 'cannot be read').lower()}") from error
    return key, (len(found), sum(s.st_size for s in found), max(s.st_mtime_ns for s in found))


def _entry(
    path: Path, stamp: Stamp, workloads: Mapping[str, Workload], index: Index, numbers: dict[Measured, int]
) -> Entry:
    """Judge a run and return its entry. Raises RecordError if it is altered, incomplete or malformed."""
    opened = store.open(path)
    run = opened.run()
    if run.state == "changed":
        raise RecordError(f"{path}: a program changed during the run; repeat the run")
    if run.state in UNFINISHED:
        go_on = shell.command("run", "--resume", path)
        raise RecordError(f"{path}: interrupted before its suite was complete; continue with {go_on}")
    altered = [d for d in seal.differences(path) if d.file not in layout.DERIVED]
    if altered:
        more = f", and {len(altered) - 1} more defects" if len(altered) > 1 else ""
        raise RecordError(f"{path}: {altered[0]}{more}; see {shell.command('check', path)}")
    for one in run.brought:  # a workload of the catalogue keeps its chapter
        index.chapters.setdefault(one.name, one.workload().chapter)
    figures = judge(run, opened.records(), of_run(workloads, run)).figures
    if opened.defects:
        raise RecordError(f"{path}: {opened.defects[0]}; see {shell.command('check', path)}")
    values = []
    for figure in figures:
        if isinstance(figure, Reported) or (isinstance(figure, Verified) and not figure.oversubscribed):
            measured = Measured(
                figure.identity,
                figure.unit,
                figure.better,
                isinstance(figure, Verified) and figure.observed,
                tuple(sorted(work(figure).items())),
                isinstance(figure, Reported),
            )
            if measured not in numbers:
                numbers[measured] = len(index.figures)
                index.figures.append(measured)
            values.append((numbers[measured], _value(figure)))
    lean = replace(run, cells=(), builds=(), descriptions={}, not_available=(), efforts={}, whole=None)
    return Entry(stamp, lean, share_disturbed(run, figures), tuple(values))


def _value(figure: Numbered) -> Value:
    e, states = figure.estimate, figure.states
    return Value(e.median, e.low, e.high, states.lower if states else None, states.upper if states else None)


def _bare(error: RecordError, path: Path) -> str:
    return str(error).removeprefix(f"{path}: ").removeprefix(f"{path}/")

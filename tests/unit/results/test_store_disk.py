"""Every file operation of the store fails once: by an error, a full disk, Ctrl-C, a kill, a power cut.

Whatever happens, a launch that was reported as finished is there, whole and verified, none is counted that was not
whole, and the run goes on.
"""

from __future__ import annotations

import errno
import functools
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from msgspec.structs import replace
from test_store import CELL, GOOD, whole

import faulty
from driver import run_of
from faulty import Faulty, Killed
from firstlight.core.errors import FirstlightError
from firstlight.results import store as stores
from firstlight.results.record import End, Run, Start
from firstlight.results.store import Defect, disk, documents, durable, layout, lines, owner, seal

pytestmark = pytest.mark.faults


@pytest.fixture(scope="module", autouse=True)
def no_heart() -> Iterator[None]:
    """A killed process does not update its note. Here the process survives, and its thread would use the next process's
    disk.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner.Claim, "_beat", lambda claim: None)
        yield


DOCUMENT = documents.of("mine.txt", b"mine")


@functools.cache
def body() -> bytes:
    """Return the output of the program: the first case of a whole record."""
    kept = [lines.decode(raw) for _, raw in lines.split(whole())]
    return b"".join(
        lines.encode(line)
        for line in kept
        if not isinstance(line, str) and getattr(line, "case", 0) == 0 and not isinstance(line, End)
    ) + lines.encode(End(1))


@functools.cache
def run() -> Run:
    return replace(run_of(), descriptions={}, builds=(), settings={"dot": {"text": (DOCUMENT.name,)}})


@dataclass
class Progress:
    """Record the reports to a life: that the run is there, and the finished launches with their content."""

    created: bool = False
    finished: dict[str, bytes] = field(default_factory=dict)
    tried: set[str] = field(default_factory=set)


def one(store: stores.Store, progress: Progress) -> None:
    number = store.next_launch(CELL)
    name = layout.launch_name(CELL, number)
    part = store.begin(Start(store.path.name, CELL, number, 0, 1.8e9, ("x",), 0.1))
    with part.open("ab") as file:  # the program
        file.write(body())
    progress.tried.add(name)
    store.finish(part, GOOD)
    progress.finished[name] = (store.path / "launches" / name).read_bytes()


def complete(store: stores.Store) -> None:
    """Write the end of a run."""
    store.write_run(replace(run(), id="run", state="complete", finished=2.0, sealed=True))
    with durable.os_errors_as_store_error(store.path):
        for name in layout.DERIVED:
            store.folder.replace(name, b"derived")
        seal.write(store.folder)


def life(root: Path, progress: Progress) -> None:
    """Make a run, end it, report it anew, resume it and end it again."""
    with stores.create(root / "results" / "mine", run(), files=(DOCUMENT,)) as store:
        progress.created = True
        store.keep_log("dot.kahan@gcc-base", "error: " + "x" * 100)
        for _ in range(2):
            one(store, progress)
        store.discard(store.begin(Start("run", CELL, 2, 0, 1.8e9, ("x",), 0.1)))
        complete(store)
        with durable.os_errors_as_store_error(store.path):
            store.folder.replace(layout.REPORT, b"derived again")
            seal.renew(store.folder, layout.DERIVED)
    with stores.resume(root / "results" / "mine" / "run") as store:
        store.write_run(replace(run(), sealed=True))
        store.forget(layout.FIGURES)
        one(store, progress)
        complete(store)


def live(monkeypatch: pytest.MonkeyPatch, root: Path, faults: Faulty) -> tuple[Progress, BaseException | None]:
    """Return the progress of a life on that disk, and its error. Failures are reported in one line by firstlight."""
    progress, ended = Progress(), None
    root.mkdir()
    if faults.disk is not None:
        faults.disk.__init__(root)  # type: ignore[misc]
    with monkeypatch.context() as patched:
        patched.setattr(disk, "os", faults)
        try:
            life(root, progress)
        except (FirstlightError, KeyboardInterrupt, Killed) as error:
            ended = error
    assert not isinstance(ended, FirstlightError) or "\n" not in str(ended)
    return progress, ended


def left_over(defect: Defect) -> bool:
    """Return whether an interrupted write may leave this: it is reported, and concerns no launch."""
    missing_seal = defect.file == layout.SEAL and "is missing" in defect.what
    derived = defect.file in layout.DERIVED and any(w in defect.what for w in ("altered", "added", "is missing"))
    return missing_seal or derived or "left over from an interrupted" in defect.what


def recover(root: Path, progress: Progress, *, exactly: bool) -> None:
    """Nothing is lost and the run goes on. `exactly`: what was not reported is not there either."""
    path = root / "results" / "mine" / "run"
    if not (path / layout.RUN).exists():
        assert not progress.created
        return
    store = stores.open(path)
    there = {layout.launch_name(r.start.cell, r.start.launch): r for r in store.records()}
    assert store.defects == []
    assert progress.finished.keys() <= there.keys() <= (progress.finished.keys() if exactly else progress.tried)
    assert all((path / "launches" / name).read_bytes() == data for name, data in progress.finished.items())
    assert all(record.exit.ok and record.complete for record in there.values())
    assert [d for d in stores.check(path) if not left_over(d)] == []
    with stores.resume(path) as store:
        assert store.next_launch(CELL) == len(there)
        one(store, Progress())
        complete(store)
    assert stores.check(path) == [] and len(list(stores.open(path).records())) == len(there) + 1
    assert not (path / "owner").exists()


@pytest.fixture(scope="module")
def operations(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return the file operations of a life without faults."""
    with pytest.MonkeyPatch.context() as patched:
        faults = Faulty()
        progress, ended = live(patched, tmp_path_factory.mktemp("disk") / "whole", faults)
    assert ended is None and len(progress.finished) == 3
    return faults.done


def test_a_life_uses_every_operation_that_can_fail(operations: list[str]) -> None:
    assert set(operations) >= faulty.COUNTED - {"fchmod", "ftruncate"}  # those two mend what a program spoilt
    print(f"{len(operations)} file operations")
    assert len(operations) > 100


FAULTS = {
    "error_once": faulty.error(errno.EIO, stays=False),
    "error_stays": faulty.error(errno.EIO, stays=True),
    "interrupted_call": faulty.error(errno.EINTR, stays=False),
    "full_once": faulty.error(errno.ENOSPC, stays=False),
    "full_stays": faulty.error(errno.ENOSPC, stays=True),
    "full_while_writing": faulty.full_while_writing,
    "interrupt_before": faulty.interrupt(after=False),
    "interrupt_after": faulty.interrupt(after=True),
    "kill": faulty.kill,
}
BRIEF = {"error_once", "full_while_writing", "kill"}


@pytest.mark.parametrize("kind", [pytest.param(k, marks=[] if k in BRIEF else pytest.mark.full) for k in FAULTS])
def test_a_fault_at_any_operation_loses_nothing(
    kind: str, operations: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    struck = 0
    for at in range(1, len(operations) + 1):
        root = tmp_path / str(at)
        faults = Faulty(at, FAULTS[kind])
        progress, ended = live(monkeypatch, root, faults)
        struck += faults.struck
        try:
            with monkeypatch.context() as patched:
                patched.setattr(disk, "os", Faulty())  # sound again; waits for no real disk
                recover(root, progress, exactly=not isinstance(ended, Killed) and kind != "error_stays")
        except BaseException as error:
            error.add_note(f"{kind} at operation {at}: {faults.done[at - 1]}, after {faults.done[max(0, at - 8) : at]}")
            raise
        shutil.rmtree(root)
    assert struck > 0 and (struck == len(operations) or kind.startswith("full"))


@pytest.mark.full
def test_a_power_cut_at_any_operation_loses_nothing(
    operations: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: set[object] = set()
    for at in range(1, len(operations) + 2):
        root = tmp_path / str(at)
        faults = Faulty(at, faulty.kill, faulty.Remembered.__new__(faulty.Remembered))
        progress, _ = live(monkeypatch, root, faults)
        assert faults.disk is not None
        for tree in faults.disk.cuts():
            state = (tuple(tree.items()), tuple(progress.finished), progress.created)
            if state in seen:
                continue
            seen.add(state)
            after = tmp_path / "after"
            faulty.build(after, tree)
            try:
                with monkeypatch.context() as patched:
                    patched.setattr(disk, "os", Faulty())
                    recover(after, progress, exactly=False)
            except BaseException as error:
                error.add_note(f"at {at}: {faults.done[max(0, at - 8) :]}; left {[*tree]}")
                raise
            shutil.rmtree(after)
        shutil.rmtree(root)
    print(f"{len(seen)} states after a power cut at {len(operations)} operations")
    assert len(seen) > len(operations) // 4


@pytest.mark.parametrize("place", ["/dev/null", "loop", "file"])
def test_a_folder_that_cannot_be_written_is_no_run_to_go_on_with(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("loop").symlink_to("loop")
    Path("file").touch()
    with pytest.raises(durable.StoreError) as caught, durable.os_errors_as_store_error(Path(place) / "run"):
        (Path(place) / "run").mkdir()
    assert "choose another folder with --results" in str(caught.value) and "--resume" not in str(caught.value)

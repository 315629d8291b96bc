"""A file or a folder that replaces one of a run's is never written into."""

from __future__ import annotations

import os
import re
import shutil
import socket
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from test_store import CELL, GOOD, a_launch, store, whole

import faulty
from driver import run_of
from firstlight.core.errors import USAGE, RecordError, UsageError
from firstlight.results import store as stores
from firstlight.results.record import Start
from firstlight.results.store import disk, layout, owner

__all__ = ["store"]

Swap = Callable[[Path, Path], None]


def gone(part: Path, victim: Path) -> None:
    part.unlink()


def link(part: Path, victim: Path) -> None:
    part.unlink()
    part.symlink_to(victim)


def hard_link(part: Path, victim: Path) -> None:
    part.unlink()
    os.link(victim, part)


def pipe(part: Path, victim: Path) -> None:
    part.unlink()
    os.mkfifo(part)


def folder(part: Path, victim: Path) -> None:
    part.unlink()
    part.mkdir()
    (part / "file").touch()


def listening(part: Path, victim: Path) -> None:
    part.unlink()
    here = os.open(part.parent, os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as made:  # a path of a socket is at most 108 characters
        made.bind(f"/proc/self/fd/{here}/{part.name}")
    os.close(here)


def copy(part: Path, victim: Path) -> None:
    """Return the same content in a file that other processes may have open."""
    shutil.copy(part, part.with_name("copy"))
    part.with_name("copy").rename(part)


SWAPS = [gone, link, hard_link, pipe, folder, listening, copy]


@pytest.mark.parametrize("swap", SWAPS)
def test_a_record_that_is_swapped_is_a_lost_launch_and_nothing_else_is_written(
    store: stores.Store, tmp_path: Path, swap: Swap
) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    part = store.begin(Start("run", CELL, 0, 0, 1.8e9, ("x",), 0.1))
    with part.open("ab") as file:
        file.write(whole())
    swap(part, victim)
    ending = store.finish(part, GOOD)
    kinds = {gone: "was removed", hard_link: "was replaced by another file", copy: "was replaced by another file"}
    assert not ending.ok and f"the record {kinds.get(swap, 'was replaced by something else')}" in ending.reason
    assert victim.read_bytes() == b"precious" and victim.stat().st_nlink == 1
    [record] = store.records()  # what the program wrote before is kept to be looked at
    assert record.exit == ending and record.samples and store.defects == []
    assert stores.check(store.path) == []
    assert a_launch(store, 1).ok


def test_a_record_whose_beginning_is_altered_is_a_lost_launch_of_its_own_cell(store: stores.Store) -> None:
    part = store.begin(Start("run", CELL, 0, 0, 1.8e9, ("x",), 0.1))
    part.write_bytes(part.read_bytes().replace(b'"run"', b'"another"') + whole())
    assert store.finish(part, GOOD).reason == "the beginning of the record was altered"
    part = store.begin(Start("run", CELL, 1, 0, 1.8e9, ("x",), 0.1))
    part.write_bytes(b"")
    assert store.finish(part, GOOD).reason == "the beginning of the record was altered"
    assert len(list(store.records())) == 2 and stores.check(store.path) == []


def test_a_record_that_may_not_be_read_any_more_is_read(store: stores.Store) -> None:
    part = store.begin(Start("run", CELL, 0, 0, 1.8e9, ("x",), 0.1))
    with part.open("ab") as file:
        file.write(whole())
    part.chmod(0)
    assert store.finish(part, GOOD).ok and len(list(store.records())) == 1


@pytest.mark.parametrize("name", ["owner", "run.json", "report.html", "SHA256SUMS"])
def test_a_link_in_the_place_of_a_file_is_replaced_and_not_followed(
    store: stores.Store, tmp_path: Path, name: str
) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    (store.path / name).unlink(missing_ok=True)
    (store.path / name).symlink_to(victim)
    store.folder.replace(name, b"ours")
    assert (store.path / name).read_bytes() == b"ours" and not (store.path / name).is_symlink()
    assert victim.read_bytes() == b"precious"


def test_a_folder_that_is_swapped_leads_nowhere(store: stores.Store, tmp_path: Path) -> None:
    """The run itself or its launches are replaced: an open file is written on, the replacement is not touched."""
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "report.html").write_bytes(b"precious")
    (store.path / "launches").rename(store.path / "moved")
    (store.path / "launches").symlink_to(victim)
    part = store.begin(Start("run", CELL, 0, 0, 1.8e9, ("x",), 0.1))
    store.finish(part, GOOD)
    moved = store.path.rename(tmp_path / "elsewhere")
    store.path.symlink_to(victim)
    store.folder.replace("report.html", b"ours")
    store.write_run(run_of())
    assert [p.name for p in victim.iterdir()] == ["report.html"]
    assert (victim / "report.html").read_bytes() == b"precious"
    assert (moved / "report.html").read_bytes() == b"ours"
    assert [p.name for p in (moved / "moved").iterdir()] == [layout.launch_name(CELL, 0)]


# --- whose run it is --------------------------------------------------------------------------------------------------


@pytest.fixture
def ended(store: stores.Store) -> Path:
    a_launch(store, 0)
    store.close()
    return store.path


@pytest.mark.parametrize("name", ["", "launches", "run.json"])
def test_a_run_that_others_may_write_is_not_resumed(ended: Path, name: str) -> None:
    place = ended / name
    before = place.stat().st_mode
    for mode in (0o020, 0o002):
        place.chmod(before | mode)
        with pytest.raises(UsageError, match=r"other users have write permission.*chmod -R go-w") as error:
            stores.resume(ended)
        assert error.value.code == USAGE and "\n" not in str(error.value)
    place.chmod(before)
    stores.resume(ended).close()


@pytest.mark.parametrize("name", [None, "launches", "run.json"])
def test_a_run_of_somebody_else_is_not_resumed(ended: Path, name: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """This also applies to root: the description of the run is in root's own copy, which no other user can change."""
    status = disk.Folder.status

    def another(self: disk.Folder, requested: str | None = None) -> os.stat_result | None:
        found = status(self, requested)
        if found is None or requested != name:
            return found
        return os.stat_result((*found[:4], os.geteuid() + 1, *found[5:]))

    with monkeypatch.context() as patched:
        patched.setattr(disk.Folder, "status", another)
        with pytest.raises(UsageError, match=r"belongs to another user; continue with your own copy: cp -r"):
            stores.resume(ended)
    assert sorted(p.name for p in ended.iterdir()) == ["launches", "run.json"]
    copied = shutil.copytree(ended, ended.with_name("copy"))
    with stores.resume(copied) as mine:
        assert mine.next_launch(CELL) == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_not_even_root_goes_on_with_a_run_that_a_user_owns(ended: Path) -> None:
    for path in (ended / "launches", ended / "run.json", ended):
        os.chown(path, 65534, 65534)
        with pytest.raises(UsageError, match="belongs to another user"):
            stores.resume(ended)
        os.chown(path, 0, 0)
    stores.resume(ended).close()


def test_a_link_in_the_place_of_the_launches_is_not_resumed(ended: Path, tmp_path: Path) -> None:
    (ended / "launches").rename(tmp_path / "moved")
    (ended / "launches").symlink_to(tmp_path / "moved")
    with pytest.raises(UsageError, match="is a kind of file that firstlight never writes there"):
        stores.resume(ended)
    (tmp_path / ".x.0000.part").touch()
    assert (tmp_path / ".x.0000.part").exists()


def test_what_a_run_makes_can_be_resumed_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with stores.create(tmp_path / "new", run_of()) as made:
            a_launch(made, 0)
            made.keep_log("x", "error")
    finally:
        os.umask(before)
    stores.resume(made.path).close()


# --- many at once -----------------------------------------------------------------------------------------------------

OTHER = owner.Owner("elsewhere", 1, 1)


class Between:
    """At the `at`-th file operation of one claimant the other one comes, and does all of its claiming there."""

    def __init__(self, run: Path, monkeypatch: pytest.MonkeyPatch, at: int) -> None:
        self._run, self._monkeypatch = run, monkeypatch
        self.got: list[str] = []
        self.faults = faulty.Faulty(at, self._come)

    def _come(
        self,
        faults: faulty.Faulty,
        name: str,
        real: Callable[..., object],
        words: tuple[object, ...],
        options: dict[str, object],
    ) -> object:
        if not faults.struck:
            faults.struck = True
            self.claim("other", OTHER, faulty.Faulty())
        return faults.carry_out(name, real, words, options)

    def claim(self, who: str, note: owner.Owner, system: faulty.Faulty) -> None:
        with self._monkeypatch.context() as patched, disk.Folder.at(self._run) as run:
            patched.setattr(disk, "os", system)
            try:
                owner.claim(run, note).stop()
                self.got.append(who)
            except UsageError as error:
                assert re.search("work(s|ed) on this run", str(error))


@pytest.mark.parametrize("before", [None, "a dead one's", "nonsense"])
def test_of_two_that_claim_a_run_at_once_one_gets_it(
    ended: Path, monkeypatch: pytest.MonkeyPatch, before: str | None
) -> None:
    mine, points = owner.myself(), 0
    dead = {"a dead one's": f'{{"where":"{mine.where}","pid":4194305,"started":1}}', "nonsense": "nonsense"}
    while True:
        (ended / "owner").unlink(missing_ok=True)
        if before is not None:
            (ended / "owner").write_text(dead[before])
        race = Between(ended, monkeypatch, points + 1)
        race.claim("mine", mine, race.faults)
        if not race.faults.struck:
            break
        points += 1
        note = owner._parse((ended / "owner").read_bytes())
        assert len(race.got) == 1 and note == {"mine": mine, "other": OTHER}[race.got[0]], (points, race.faults.done)
        assert sorted(p.name for p in ended.iterdir()) == ["launches", "owner", "run.json"]
    assert points > 5


def test_of_many_processes_that_resume_a_run_one_gets_it_and_the_others_say_so(ended: Path) -> None:
    children, answers = [], []
    ready, go, end = os.pipe(), os.pipe(), os.pipe()
    for _ in range(6):
        out = os.pipe()
        child = os.fork()
        if child == 0:  # nothing of the tests' own goes on in here
            try:
                os.write(ready[1], b"x")
                os.read(go[0], 1)
                try:
                    stores.resume(ended)
                    answer = b"mine"
                except UsageError as error:
                    answer = f"{error.code} {error}".encode()
                os.write(out[1], answer)
                os.read(end[0], 1)  # the owner of the run lives until all have tried
            finally:
                os._exit(0)
        os.close(out[1])
        children.append(child)
        answers.append(out[0])
    for _ in children:
        os.read(ready[0], 1)
    os.write(go[1], b"x" * len(children))
    answered = [os.read(answer, 4096).decode() for answer in answers]
    os.write(end[1], b"x" * len(children))
    for child in children:
        os.waitpid(child, 0)
    for descriptor in (*ready, *go, *end, *answers):
        os.close(descriptor)
    assert answered.count("mine") == 1, answered
    others = [line for line in answered if line != "mine"]
    assert all(line.startswith("2 ") and "another firstlight" in line for line in others), answered


def test_runs_of_one_second_get_a_name_each(tmp_path: Path) -> None:
    name = stores.free_id(tmp_path, 1.8e9, "quick")
    run = msgspec.structs.replace(run_of(), id=name, started=1.8e9, suite="quick")
    made = [stores.create(tmp_path, run, free=True) for _ in range(3)]
    assert [one.path.name for one in made] == [name, f"{name}-2", f"{name}-3"]
    for one in made:
        assert one.run().id == one.path.name
        one.close()
    assert len({stores.new_folder(tmp_path, 1.8e9, "quick") for _ in range(2)} | {one.path for one in made}) == 5
    with pytest.raises(RecordError, match="already exists"):
        stores.create(tmp_path, run)


def test_a_note_is_kept_fresh_while_its_process_lives(ended: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This includes a launch or a build that lasts longer than a note is valid."""
    monkeypatch.setattr(owner, "BEAT", 0.01)
    with stores.resume(ended):
        for _ in range(2):
            os.utime(ended / "owner", (0, 0))
            for _ in range(10_000):
                if (ended / "owner").stat().st_mtime > 0:
                    break
                time.sleep(0.01)
            assert (ended / "owner").stat().st_mtime > 0
        (ended / "owner").write_text("another's")
        os.utime(ended / "owner", (0, 0))
        time.sleep(0.1)
        assert (ended / "owner").stat().st_mtime == 0  # foreign files are left alone
    assert (ended / "owner").read_text() == "another's"


@pytest.mark.parametrize("clock", [-3600.0, 3600.0])
def test_the_age_of_a_note_is_told_by_the_clock_of_its_file_system(
    ended: Path, monkeypatch: pytest.MonkeyPatch, clock: float
) -> None:
    """The clock of this node is an hour off, either way."""
    now = (ended / "run.json").stat().st_mtime
    monkeypatch.setattr("time.time", lambda: now + clock)
    (ended / "owner").write_bytes(msgspec.json.encode(OTHER))
    with pytest.raises(UsageError, match=r"on another machine worked on this run \d+ s ago"):
        stores.resume(ended)
    os.utime(ended / "owner", (now + 7200, now + 7200))
    with pytest.raises(UsageError, match="in the future of this file system's clock"):
        stores.resume(ended)
    os.utime(ended / "owner", (now - 2 * owner.FRESH, now - 2 * owner.FRESH))
    stores.resume(ended).close()


def test_files_that_cannot_have_two_names_are_claimed_too(ended: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*words: object, **options: object) -> None:
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr(disk.os, "link", refuse)
    with stores.resume(ended):
        assert owner._parse((ended / "owner").read_bytes()) == owner.myself()
    (ended / "owner").touch()
    with pytest.raises(UsageError, match="is starting to work on this run"):
        stores.resume(ended)
    os.utime(ended / "owner", (0, 0))
    stores.resume(ended).close()

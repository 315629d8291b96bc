"""Store: what is written is read back, a second writer is noticed, foreign directories are bounded data."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from hypothesis import given as having
from hypothesis import settings
from hypothesis import strategies as st

import synthetic
from driver import run_of
from firstlight.core.errors import RecordError, UsageError
from firstlight.execute.launch import Outcome
from firstlight.results import store as stores
from firstlight.results.record import End, Exit, Run, Start
from firstlight.results.store import layout, lines, owner

GOOD = Outcome((), True, 0, "", 1.5, 0.25, "")
CELL = "dot.serial"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[stores.Store]:
    with stores.create(tmp_path, run_of()) as made:
        yield made


def a_launch(store: stores.Store, number: int, body: bytes | None = None, outcome: Outcome = GOOD) -> Exit:
    """Store one launch of the run's cell; `body` is what the program writes, a whole synthetic record if not given."""
    part = store.begin(Start("run", CELL, number, 0, 1.8e9, ("x",), 0.1))
    with part.open("ab") as file:
        file.write(whole() if body is None else body)
    return store.finish(part, outcome)


def whole() -> bytes:
    """Return the output of a program: the lines between start and exit of a launch of dot.serial."""
    record = next(r for r in synthetic.run().records if r.launch and r.launch.workload == "dot" and r.exit.status == 0)
    assert record.launch is not None
    launch = msgspec.structs.replace(record.launch, variant="serial")
    body = [launch]
    for case in record.cases:
        body.append(case)
        body += [line for line in (*record.samples, *record.checks, *record.counters) if line.case == case.case]
    return b"".join(map(lines.encode, [*body, End(len(record.cases))]))


def test_a_run_and_its_launches_are_read_back(store: stores.Store) -> None:
    a_launch(store, 0)
    a_launch(store, 1)
    again = stores.open(store.path)
    assert again.run() == run_of()
    records = list(again.records())
    assert again.defects == [] and [r.start.launch for r in records] == [0, 1]
    assert all(r.complete and r.exit.ok and r.samples and r.checks for r in records)
    assert again.next_launch(CELL) == 2 and again.next_launch("other") == 0
    assert stores.check(store.path) == []


def test_every_synthetic_record_survives_the_store(tmp_path: Path) -> None:
    scene, replace = synthetic.run(), msgspec.structs.replace
    given = [replace(r, start=replace(r.start, run=scene.run.id)) for r in scene.records]
    with stores.create(tmp_path, scene.run) as store:
        for record in given:
            part = store.begin(record.start)
            inner = [*([record.launch] if record.launch else []), *record.cases, *record.samples, *record.checks]
            inner += [*record.counters, *([End(len(record.cases))] if record.complete else [])]
            with part.open("ab") as file:
                file.writelines(lines.encode(line) for line in inner)
            e = record.exit
            store.finish(part, Outcome((), e.ok, e.status, e.reason, e.seconds, e.load, e.stderr))
        assert store.run() == scene.run

        def bare(records: object) -> list[object]:
            return [replace(r, exit=replace(r.exit, sha256="")) for r in records]  # type: ignore[attr-defined]

        expected = sorted(given, key=lambda r: layout.launch_name(r.start.cell, r.start.launch))
        assert bare(store.records()) == bare(expected)
        assert store.defects == []


def test_free_id_counts_on(tmp_path: Path) -> None:
    name = stores.free_id(tmp_path, 1.8e9, "quick")
    assert name == time.strftime("%Y%m%d-%H%M%S", time.localtime(1.8e9)) + "-quick"
    (tmp_path / name).mkdir()
    assert stores.free_id(tmp_path, 1.8e9, "quick") == f"{name}-2"


def test_create_refuses_what_is_there_and_bad_names(tmp_path: Path) -> None:
    stores.create(tmp_path, run_of()).close()
    with pytest.raises(RecordError, match="already exists"):
        stores.create(tmp_path, run_of())
    for name in ("", "..", "a/b", ".hidden", "a\nb"):
        with pytest.raises(RecordError, match="cannot be a directory name"):
            stores.create(tmp_path, msgspec.structs.replace(run_of(), id=name))


@pytest.mark.parametrize("cell", ["../x", "a/b", "", ".hidden", "x" * 300])
def test_begin_refuses_what_is_no_file_name(store: stores.Store, cell: str) -> None:
    with pytest.raises(RecordError, match="cannot be a file name"):
        store.begin(Start("run", cell, 0, 0, 0.0, (), 0.0))


def test_begin_refuses_a_launch_that_is_there(store: stores.Store) -> None:
    a_launch(store, 0)
    with pytest.raises(RecordError, match="already exists"):
        store.begin(Start("run", CELL, 0, 0, 0.0, (), 0.0))


def test_open_names_what_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="is not a results directory"):
        stores.open(tmp_path)


def test_a_run_that_could_not_be_read_again_does_not_replace_the_old_one(store: stores.Store) -> None:
    bad = msgspec.structs.replace(run_of(), budget=float("nan"))
    with pytest.raises(RecordError):
        store.write_run(bad)
    assert store.run() == run_of()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is damaged"),
        ("{}", "is damaged"),
        ('{"schema":2}', "has schema 2, but this firstlight reads schema 1"),
        ('{"schema":1}', "is damaged"),
        ("[" * 100_000, "is damaged"),
        ("\xff", "is damaged"),
        ('{"schema":1e400}', "is damaged"),
    ],
)
def test_a_malformed_run_is_one_line(store: stores.Store, text: str, message: str) -> None:
    (store.path / "run.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(RecordError, match=message) as error:
        store.run()
    assert "\n" not in str(error.value)
    assert any(d.file == "run.json" for d in stores.check(store.path))


# --- what programs write --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tail", "why"),
    [
        (b'{"type":"sam', "is truncated"),
        (b"nonsense\n", "malformed line"),
        (b'{"type":"end","cases":1}\n', "follows the end line"),
        (
            b'{"type":"start","run":"r","cell":"c","launch":0,"round":0,"time":0,"command":[],"load":0}\n',
            "second start",
        ),
        (b'{"type":"sample","case":0,"sample":0,"wall":null}\n', "malformed line"),
    ],
)
def test_what_is_no_record_is_cut_off_and_the_launch_is_lost(store: stores.Store, tail: bytes, why: str) -> None:
    exit_ = a_launch(store, 0, whole() + tail)
    assert not exit_.ok and why in exit_.reason
    [record] = store.records()
    assert record.complete and not record.exit.ok and record.exit == exit_
    assert stores.check(store.path) == []


def test_a_program_cannot_forge_the_exit_line(store: stores.Store) -> None:
    forged = lines.encode(Exit(True, 0, "", 0.0, 0.0, "", "0" * 64))
    assert "which only firstlight may write" in a_launch(store, 0, whole() + forged).reason


@having(st.binary(max_size=300))
@settings(max_examples=40, deadline=None)
@pytest.mark.full
def test_whatever_a_program_writes_the_stored_file_is_sound(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    with stores.create(tmp_path_factory.mktemp("any"), run_of()) as store:
        a_launch(store, 0, data, Outcome((), False, 1, "lost", 0.0, 0.0, ""))
        assert len(list(store.records())) == 1 and store.defects == []
        assert stores.check(store.path) == []


def test_a_record_that_grows_too_large_is_cut(store: stores.Store, monkeypatch: pytest.MonkeyPatch) -> None:
    body = whole()
    monkeypatch.setattr(layout, "MAX_LAUNCH_BYTES", layout.EXIT_ROOM + len(body) // 2)
    assert "the record is larger than" in a_launch(store, 0).reason
    assert len(list(store.records())) == 1 and store.defects == []


def test_non_finite_numbers_are_null(store: stores.Store) -> None:
    a_launch(
        store, 0, outcome=msgspec.structs.replace(GOOD, stderr="text \x00 \ud800".encode("utf-8", "replace").decode())
    )
    raw = (store.path / "launches" / layout.launch_name(CELL, 0)).read_bytes()
    assert b"NaN" not in raw and b"Infinity" not in raw
    assert isinstance(lines.decode(b'{"type":"end","cases":NaN}'), str)
    check = b'{"type":"check","case":0,"when":"after","ok":false,"error":%s,"tolerance":1e-16,"what":""}'
    assert not isinstance(lines.decode(check % b"null"), str)
    assert isinstance(lines.decode(check % b"NaN"), str) and isinstance(lines.decode(check % b"1e999"), str)


# --- two at once ----------------------------------------------------------------------------------


def note(store: stores.Store, **changes: object) -> None:
    mine = owner.myself()
    (store.path / "owner").write_bytes(msgspec.json.encode(msgspec.structs.replace(mine, **changes)))


def test_a_run_of_a_living_process_is_refused(store: stores.Store) -> None:
    parent = owner._started(os.getppid())
    note(store, pid=os.getppid(), started=parent)
    with pytest.raises(UsageError, match=f"another firstlight process \\({os.getppid()}\\)"):
        stores.resume(store.path)
    with pytest.raises(UsageError, match="has taken over this run"):
        store.begin(Start("run", CELL, 0, 0, 0.0, (), 0.0))


def test_a_note_of_the_dead_is_ignored(store: stores.Store) -> None:
    note(store, pid=os.getppid(), started=1)  # the number lives, but it is another process now
    stores.resume(store.path)
    note(store, pid=2**22 + 1)
    stores.resume(store.path)
    (store.path / "owner").write_text("nonsense")
    stores.resume(store.path).close()
    assert not (store.path / "owner").exists()


def test_a_batch_job_that_is_started_again_on_another_node_takes_its_run_over(
    store: stores.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner, "_job", lambda: "this job")
    note(store, where="elsewhere", job="this job")
    stores.resume(store.path)
    note(store, where="elsewhere", job="another job")
    with pytest.raises(UsageError, match="on another machine"):
        stores.resume(store.path)
    note(store, job="this job", pid=os.getppid(), started=owner._started(os.getppid()))
    with pytest.raises(UsageError, match="another firstlight"):
        stores.resume(store.path)


def test_a_note_of_another_machine_is_believed_while_it_is_fresh(store: stores.Store) -> None:
    note(store, where="elsewhere")
    with pytest.raises(UsageError, match="on another machine"):
        stores.resume(store.path)
    old = time.time() - owner.FRESH - 1
    os.utime(store.path / "owner", (old, old))
    stores.resume(store.path)


def test_the_note_names_no_host(store: stores.Store) -> None:
    assert os.uname().nodename not in (store.path / "owner").read_text() or len(os.uname().nodename) < 3


def test_resume_removes_what_was_in_flight_and_says_so(store: stores.Store) -> None:
    a_launch(store, 0)
    store.begin(Start("run", CELL, 1, 0, 0.0, (), 0.0))
    (store.path / ".run.json.part").write_text("{")
    assert len(stores.check(store.path)) == 2
    again = stores.resume(store.path)
    assert sorted(n.split(":")[0] for n in again.notes) == ["removed .dot.serial.0001.part", "removed .run.json.part"]
    assert stores.check(store.path) == [] and again.next_launch(CELL) == 1


# --- foreign directories --------------------------------------------------------------------------


def the_launch(store: stores.Store) -> Path:
    a_launch(store, 0)
    return store.path / "launches" / layout.launch_name(CELL, 0)


def test_links_and_pipes_are_not_followed(store: stores.Store, tmp_path: Path) -> None:
    path = the_launch(store)
    moved = path.rename(tmp_path / "elsewhere")
    path.symlink_to(moved)
    assert list(store.records()) == [] and "is a link" in str(store.defects[0])
    path.unlink()
    os.mkfifo(path)
    assert list(store.records()) == [] and "is not a regular file" in str(store.defects[0])
    path.unlink()
    path.mkdir()
    assert list(store.records()) == [] and len(store.defects) == 1
    assert len(stores.check(store.path)) == 1


def test_a_link_in_the_place_of_the_launches_is_not_followed(store: stores.Store, tmp_path: Path) -> None:
    the_launch(store)
    (store.path / "launches").rename(tmp_path / "moved")
    (store.path / "launches").symlink_to(tmp_path / "moved")
    with pytest.raises(RecordError, match="is a link"):
        list(store.records())
    assert any("is a link" in d.what for d in stores.check(store.path))


def test_sizes_and_counts_are_bounded(store: stores.Store, monkeypatch: pytest.MonkeyPatch) -> None:
    path = the_launch(store)
    with path.open("r+b") as file:
        file.truncate(layout.MAX_LAUNCH_BYTES + 1)  # sparse
    assert list(store.records()) == [] and "larger than 64 MiB" in str(store.defects[0])
    with (store.path / "run.json").open("r+b") as file:
        file.truncate(layout.MAX_RUN_BYTES + 1)
    with pytest.raises(RecordError, match="larger than 16 MiB"):
        store.run()
    monkeypatch.setattr(layout, "MAX_FILES", 1)
    (path.parent / "x").touch()
    with pytest.raises(RecordError, match="more than 1 files"):
        store.launches()


def test_lines_are_bounded(store: stores.Store, monkeypatch: pytest.MonkeyPatch) -> None:
    path = the_launch(store)
    monkeypatch.setattr(lines, "MAX_LINES", 3)
    assert any("more than 3 lines" in what for _, what in lines.read(path.read_bytes()).defects)


def test_a_copied_launch_does_not_count_twice(store: stores.Store) -> None:
    path = the_launch(store)
    path.with_name(layout.launch_name(CELL, 1)).write_bytes(path.read_bytes())
    path.with_name(layout.launch_name("other", 0)).write_bytes(path.read_bytes())
    assert len(list(store.records())) == 1 and len(store.defects) == 2


@having(st.text(max_size=40))
def test_only_names_that_firstlight_writes_are_launches(name: str) -> None:
    parsed = layout.parse_launch(name)
    assert parsed is None or (layout.launch_name(*parsed) == name and "/" not in name and not name.startswith("."))


def test_the_run_type_is_the_published_one(store: stores.Store) -> None:
    assert isinstance(store.run(), Run)

"""Two firstlights on one node detect and report each other, and neither waits, even if others use the names."""

from __future__ import annotations

import io
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from bench import Bench
from firstlight import ROOT, runner
from firstlight.core.errors import OK
from firstlight.results import store
from firstlight.runner import RunRequest
from firstlight.runner.progress import Plain
from firstlight.system.machine.neighbours import BESIDE, NAMES, beside


@pytest.fixture(autouse=True)
def group(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    name = f"test-{os.getpid()}-{tmp_path.name}"[-60:]
    monkeypatch.setenv("FIRSTLIGHT_NEIGHBOURS", name)
    return name


def test_each_learns_of_the_other_once(monkeypatch: pytest.MonkeyPatch) -> None:
    me = os.getpid()
    with beside() as first:
        assert first.before == () and first.since() == ()
        with beside() as second:
            assert second.before == (me,)
            with beside() as third:
                assert third.before == (me, me)
        assert first.since() == (me, me) and first.since() == ()
        monkeypatch.setenv("FIRSTLIGHT_NEIGHBOURS", "others")
        with beside() as apart:
            assert apart.before == ()
    monkeypatch.undo()
    with beside() as alone:
        assert alone.before == ()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")
def test_another_user_is_seen_too() -> None:
    program = (
        f"import os, sys; sys.path[:] = {[str(ROOT / 'src'), *sys.path]}; "
        "from firstlight.system.machine.neighbours import beside; "
        "os.setgroups([]); os.setgid(54321); os.setuid(54321); "  # once all is imported: it may not be theirs to read
        "stack = beside(); print(stack.__enter__().before)"
    )
    with beside() as mine:
        shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
        assert shown.stdout == f"({os.getpid()},)\n", shown.stderr
        assert len(mine.since()) == 1


def test_a_stranger_who_takes_every_name_stops_nobody(group: str) -> None:
    taken = []
    try:
        for place in range(NAMES):
            one = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            taken.append(one)
            one.bind(f"\0{group}-{place}")
            if place % 2:  # the others are bound but never polled
                one.listen(0)
                callers = [socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK) for _ in range(4)]
                taken += callers
                for caller in callers:  # until no more callers are taken
                    caller.connect_ex(f"\0{group}-{place}")
        with beside() as mine:
            assert mine.before == (0,) * (NAMES // 2) and mine.since() == ()
    finally:
        for one in taken:
            one.close()


def test_the_second_says_so_at_once_and_records_it(bench: Bench) -> None:
    progress = Plain(stream := io.StringIO())
    with beside() as first:
        result = runner.run(RunRequest(results=bench.results), progress)
        assert first.since() == (os.getpid(),)
    assert result.code == OK
    assert (
        f"another firstlight process is measuring on this node (process {os.getpid()})"
        in stream.getvalue().splitlines()[0]
    )
    assert store.open(result.directory).run().machine.warnings[-1] == BESIDE
    assert store.check(result.directory) == []
    assert result.report is not None and BESIDE in result.report.read_text()


def test_the_first_records_it_too(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    launch = runner.Session._launch

    def beside_another(self: runner.Session, *words: object) -> object:
        with beside():
            return launch(self, *words)  # type: ignore[arg-type]

    monkeypatch.setattr(runner.Session, "_launch", beside_another)
    progress = Plain(stream := io.StringIO())
    result = runner.run(RunRequest(results=bench.results), progress)
    assert "another firstlight" not in stream.getvalue()
    assert store.open(result.directory).run().machine.warnings[-1] == BESIDE
    assert store.check(result.directory) == []

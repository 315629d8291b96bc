"""Processes that firstlight starts, and their descendants, are ended together, and no others."""

from __future__ import annotations

import mmap
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import turns
from firstlight import ROOT
from firstlight.system.process import bounded, shm_leftovers
from firstlight.system.process.shm_leftovers import Leftovers
from killed import leaves_nothing_when_killed, living
from turns import await_


def test_what_a_command_prints_takes_and_returns() -> None:
    done = bounded.run(["sh", "-c", "cat; echo err >&2; exit 7"], timeout=60, data=b"in\n")
    assert (done.returncode, done.stdout, done.stderr) == (7, "in\n", "err\n")
    done = bounded.run(["sh", "-c", "echo a; echo b >&2; echo c; pwd"], timeout=60, merge=True, folder=Path("/"))
    assert (done.stdout, done.stderr) == ("a\nb\nc\n/\n", "")
    flood = bounded.run([sys.executable, "-c", "print('x' * 3_000_000)"], timeout=60, environment={})
    assert len(flood.stdout) == 3_000_001
    with pytest.raises(FileNotFoundError):
        bounded.run(["/nowhere/at/all"], timeout=1)


def test_a_command_that_takes_too_long_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    """This includes processes that left the session, ignore SIGTERM, and whose parents are gone before the kill."""
    word = f"{tmp_path}/stays"
    deaf = f"trap '' TERM; while :; do sleep 0.1; done; : {word}"
    script = f'setsid sh -c "{deaf}" & sh -c "{deaf}" & touch {tmp_path}/up; sleep 1000'

    def attempt(timeout: float) -> None:
        with pytest.raises(subprocess.TimeoutExpired):
            bounded.run(["sh", "-c", script], timeout=timeout)
        assert not list(living(word))

    turns.cut_short(attempt, lambda _: (tmp_path / "up").exists())


@pytest.mark.parametrize("merge", [False, True])
@pytest.mark.parametrize("way", ["yes", "yes >&2", "yes & wait", "trap '' TERM PIPE; yes; sleep 1000", "cat /dev/zero"])
def test_what_prints_without_end_is_ended_and_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str, merge: bool
) -> None:
    """A foreign compiler or launcher may print gigabytes within a minute."""
    monkeypatch.setattr(bounded, "MOST", 1 << 20)
    monkeypatch.setattr(bounded, "GRACE", 0.1)
    with pytest.raises(OSError, match="printed more than 1 MiB and was ended"):
        bounded.run(["sh", "-c", f"{way}; : {tmp_path}/flood"], timeout=600, merge=merge)
    assert not list(living(f"{tmp_path}/flood"))


def test_a_probe_that_prints_too_much_is_a_failure_and_a_build_keeps_its_last_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bounded, "MOST", 1000)
    words = [sys.executable, "-c", "print('x' * 2000); print('end')"]
    with pytest.raises(OSError, match="printed more than"):
        bounded.run(words, timeout=600)
    done = bounded.run(words, timeout=None)
    assert done.returncode == 0 and len(done.stdout) == 1000 and done.stdout.endswith("x\nend\n")


_COMMANDS = {
    "a command": "bounded.run([fake], timeout=1000)",
    "a build": "bounded.run([fake], timeout=None, environment={'PATH': os.environ['PATH']})",
    "two at once": """
import threading
threading.Thread(target=lambda: bounded.run([fake], timeout=1000)).start()
bounded.run([fake], timeout=1000)""",
    "in a temporary folder": """
with guard.scratch("firstlight-test-") as folder:
    (folder / "deep").mkdir(); (folder / "deep" / "file").write_text("x"); (folder / "deep").chmod(0)
    bounded.run([fake], timeout=1000, folder=folder)""",
    "a trial of a compiler": """
from firstlight.system.machine import discover
from firstlight.toolchain.host import Host
Host(discover(), place, dict(os.environ), None).trial("int main() {}", ".c", [fake])""",
    "doctor's ranks": """
from firstlight.commands.doctor import diagnosis as doctor
from firstlight.toolchain import Mpi
doctor.talk(Mpi("mpich", "mpich", "MPICH", "1", "system", fake, None, (), fake, {}), place, 1000)""",
    "simulate": "from firstlight.execute.network import program; program.ask(Path(fake), ['list'])",
    "simulate a schedule": """
from firstlight.execute.network import program
program.predict_schedule(Path(fake), "num_ranks 1", "single", "L=1")""",
    "profile": """
from firstlight.execute.recorder import recording
from firstlight.toolchain import Mpi
mpi = Mpi("mpich", "mpich", "MPICH", "1", "system", fake, None, (), fake, {})
recording.run([fake], mpi, place / "a b.so", place / "profile")""",
    "cmake": "from firstlight.toolchain import cmake; cmake.run([fake], dict(os.environ))",
    "bench --build": """
from firstlight.commands.bench import building
(place / "source").mkdir()
copy = place.parent / "copies" / "one"
building.make("exec {cc}", {"cc": fake}, place / "source", copy, dict(os.environ), "", {})""",
    "under preparation": """
from firstlight.runner.interrupt import leaving_nothing
with leaving_nothing(), guard.scratch("firstlight-test-"):
    bounded.run([fake], timeout=None)""",
}


@pytest.mark.parametrize("what", _COMMANDS)
def test_kill_of_firstlight_leaves_no_child_and_no_temporary_folder(tmp_path: Path, what: str) -> None:
    """This applies to every command of firstlight that starts a child."""
    leaves_nothing_when_killed(tmp_path, _COMMANDS[what])


def test_what_holds_the_output_open_is_not_waited_for() -> None:
    done = bounded.run(["sh", "-c", "sleep 1000 & echo $!"], timeout=100)
    os.kill(int(done.stdout), signal.SIGKILL)
    assert done.returncode == 0


def test_an_interrupt_ends_the_command(tmp_path: Path) -> None:
    def interrupt() -> None:
        await_((tmp_path / "up").exists, "the command")
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    pressing = threading.Thread(target=interrupt)
    pressing.start()
    with pytest.raises(KeyboardInterrupt):
        bounded.run(["sh", "-c", f"touch {tmp_path}/up; sleep 1000"], timeout=100)
    pressing.join()
    assert not list(living(f"{tmp_path}/up"))


def test_an_interrupt_while_a_command_is_being_started_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    popen = subprocess.Popen

    def pressed(words: list[str], **how: Any) -> subprocess.Popen[bytes]:
        started: subprocess.Popen[bytes] = popen(words, **how)
        signal.raise_signal(signal.SIGINT)  # as if Ctrl-C came before the process is known
        return started

    monkeypatch.setattr(bounded.subprocess, "Popen", pressed)
    with pytest.raises(KeyboardInterrupt):
        bounded.run(["sh", "-c", f"sleep 1000; : {tmp_path}/starting"], timeout=100)
    assert not list(living(f"{tmp_path}/starting"))
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_nothing_but_this_helper_waits_for_a_command() -> None:
    """A time-out elsewhere would leave processes behind that the command started."""
    waits = ("subprocess.run(", "check_output(", "check_call(", "subprocess.call(", "communicate(")
    files = (ROOT / "src").rglob("*.py")
    found = {str(p.relative_to(ROOT / "src/firstlight")) for p in files if any(w in p.read_text() for w in waits)}
    without = {"runner/job.py", "results/store/signature.py", "commands/loops/wrapper.py"}
    assert found <= without, "in the user's terminal, or as the user's compiler, without a time-out"


# --- what is left in the file system --------------------------------------------------------------


def test_only_what_is_fresh_our_own_and_held_by_nobody_is_removed(tmp_path: Path) -> None:
    def made(name: str) -> Path:
        (tmp_path / name).write_text("x")
        return tmp_path / name

    old = made("seg.old")
    time.sleep(4 * shm_leftovers.COARSE)
    since = time.time() - shm_leftovers.COARSE
    left, opened, mapped, named, other = map(made, ("seg.left", "seg.opened", "seg.mapped", "seg.named", "other"))
    (tmp_path / "seg.link").symlink_to(other)
    kept = {old, opened, mapped, named, other, tmp_path / "seg.link"}
    if os.geteuid() == 0:
        kept.add(made("seg.theirs"))
        os.chown(tmp_path / "seg.theirs", 54321, 54321)
    (tmp_path / "folder" / "deep").mkdir(parents=True)
    sleeper = subprocess.Popen(["sleep", "1000"], env={"SEGMENT": str(named)})
    try:
        with opened.open(), mapped.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ):
            file.close()
            removed = shm_leftovers.remove(Leftovers(str(tmp_path / "folder"), (f"{tmp_path}/seg.*",), since))
    finally:
        sleeper.kill()
        sleeper.wait()
    assert removed == [str(left)]
    assert set(tmp_path.iterdir()) == kept


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes what belongs to another user")
def test_a_folder_of_another_user_is_neither_taken_nor_removed(tmp_path: Path) -> None:
    theirs = tmp_path / "folder"
    theirs.mkdir()
    os.chown(theirs, 54321, 54321)
    with pytest.raises(FileExistsError):
        shm_leftovers.make(Leftovers(str(theirs), (), 0.0))
    shm_leftovers.remove(Leftovers(str(theirs), (), 0.0))
    assert theirs.exists()


def test_folders_in_targets_of_storage_are_made_for_this_user_and_removed(tmp_path: Path) -> None:
    folders = tuple(str(tmp_path / name) for name in ("temporary", "scratch", "home"))
    leftovers = Leftovers(folders[0], (), 0.0, folders[1:])
    shm_leftovers.make(leftovers)
    assert [Path(folder).stat().st_mode & 0o777 for folder in folders] == [0o700] * 3
    (tmp_path / "scratch" / "1").mkdir()
    (tmp_path / "scratch" / "1" / "data.0").write_text("x")
    shm_leftovers.remove(leftovers)
    assert not list(tmp_path.iterdir())


# --- beside firstlight ----------------------------------------------------------------------------

STUBBORN = """
import signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
open(sys.argv[1], "w").close()
time.sleep(1000)
"""
PREPARES = """
import os, subprocess, sys
from firstlight.toolchain import cmake
from firstlight.runner.interrupt import leaving_nothing
words = [sys.executable, "-c", open(sys.argv[1]).read(), sys.argv[2]]
with leaving_nothing():
    open(sys.argv[3], "w").write(str(os.getpid()))
    cmake.run(words, os.environ) if sys.argv[4] == "as it does" else subprocess.run(words)
"""


@pytest.mark.parametrize("how", ["as it does", "in the group of the script"])
def test_a_script_goes_on_where_its_firstlight_was_killed(tmp_path: Path, how: str) -> None:
    """While a program hears no SIGTERM: the guard kills that, and nothing else of a group that others lead."""
    (tmp_path / "prepares.py").write_text(PREPARES)
    (tmp_path / "stubborn.py").write_text(STUBBORN)
    up, pid, go = tmp_path / "up", tmp_path / "pid", tmp_path / "go"
    words = f"{sys.executable} {tmp_path}/prepares.py {tmp_path}/stubborn.py {up} {pid} '{how}'"
    script = f"{words}; while [ ! -e {go} ]; do sleep 0.05; done; echo goes on"
    path = os.pathsep.join([str(ROOT / "src"), *sys.path])
    shell = subprocess.Popen(
        ["sh", "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    await_(up.exists, "the stubborn program")
    os.kill(int(pid.read_text()), signal.SIGKILL)
    await_(lambda: not list(living(f"\0{up}")), "the guard")
    go.touch()
    out, _ = shell.communicate(timeout=turns.PATIENCE)
    assert (shell.returncode, out) == (0, b"goes on\n")

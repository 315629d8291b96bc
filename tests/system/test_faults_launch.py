"""After faults of programs and of firstlight itself, nothing of a launch survives, and one sentence describes the
fault.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import msgspec
import pytest

import launches
import synthetic_machine
import turns
from firstlight import ROOT
from firstlight.execute.launch import Outcome, command, launch
from firstlight.model.plan import Cell, Placement, Program
from firstlight.results import store as stores
from firstlight.system.process import guard, tree
from firstlight.toolchain import Mpi, Toolbox
from turns import await_

pytestmark = [pytest.mark.faults, pytest.mark.full]

Make = Callable[[str], Path]
HERE = ROOT / "tests" / "support"

RANKS = r"""
#include <mpi.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::signal(SIGTERM, SIG_IGN);
  const char* what = argv[1];
  if (rank == 0) {
    std::fprintf(stderr, "ranks are up\n");
    FILE* flag = std::fopen(argv[2], "w");
    std::fclose(flag);
  }
  if (std::strcmp(what, "hang") == 0 && rank == 1) for (volatile int i = 0;; i = i + 1) {}
  if (std::strcmp(what, "abort") == 0 && rank == 1) std::abort();
  if (std::strcmp(what, "segv") == 0 && rank == 1) std::raise(SIGSEGV);
  if (std::strcmp(what, "mpi_abort") == 0 && rank == 1) MPI_Abort(MPI_COMM_WORLD, 77);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
"""


def executables() -> Iterator[tuple[int, str]]:
    """Yield the living processes of the machine with their command lines."""
    for pid in tree.table():
        with contextlib.suppress(OSError):
            words = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            process = tree.read(pid)
            if process and process.state not in "ZX":
                yield pid, words


def survivors(word: str, patience: float = 60) -> list[str]:
    """Return the processes whose command line contains `word`, `patience` seconds after the kill."""
    deadline = time.monotonic() + patience
    while True:
        found = [words for _, words in executables() if word in words]
        if not found or time.monotonic() > deadline:
            return found
        time.sleep(0.05)


def start(executable: Path, tmp_path: Path, timeout: float, mpi: Mpi | None = None, *words: str) -> Outcome:
    program = Program("dot", "serial", "gcc-base", mpi.name if mpi else None)
    ready = command(
        Cell("dot.serial", program, Placement(1, 2 if mpi else 1, 1), words),
        executable,
        Toolbox((), (mpi,) if mpi else (), (), ()),
        output=tmp_path / "record.jsonl",
        machine=synthetic_machine.machine(),
    )
    return launch(ready, timeout, f"fault-{os.getpid()}-{time.monotonic_ns()}")


# --- one process ----------------------------------------------------------------------------------


def test_a_hung_program_is_killed(program: Make, tmp_path: Path) -> None:
    hung = program("record(end=False); hang()")
    outcome = start(hung, tmp_path, 0.5)
    assert (outcome.ok, outcome.status, outcome.reason) == (False, None, "timed out after 0.5 s and was killed")
    assert not survivors(str(hung), 0)


def test_a_hung_tree_that_hears_no_signal_is_killed(program: Make, tmp_path: Path) -> None:
    hung = program("deaf()\nfor _ in range(3): os.fork()\nhang()")
    assert start(hung, tmp_path, 0.5).reason == "timed out after 0.5 s and was killed"
    assert not survivors(str(hung), 0)


def test_a_daemon_that_left_the_session_is_killed_after_a_normal_end_and_noted(program: Make, tmp_path: Path) -> None:
    leaver = program("record(); daemon('deaf(); hang()')")
    outcome = start(leaver, tmp_path, 20)
    assert outcome.ok and outcome.status == 0 and outcome.left == 1
    assert "firstlight: ended 1 processes left behind" in outcome.stderr
    assert not survivors(str(leaver), 0)


def test_a_daemon_without_the_mark_is_found_by_its_ancestry(program: Make, tmp_path: Path) -> None:
    body = "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(3600)  # markless'], env={}); hang()"
    assert start(program(body), tmp_path, 1).status is None
    assert not survivors("# markless", 0)


DAEMON = """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for descriptor in range(3):
            os.close(descriptor)
        os.execve(sys.executable, [sys.executable, "-IS", "-c", "import time; time.sleep(3600)", WORD], {})
    os._exit(0)
os.wait()
"""


def test_a_daemon_that_left_everything_is_killed_after_a_normal_end_and_noted(program: Make, tmp_path: Path) -> None:
    """Its session, its group, its environment, its parent: the keeper is still its ancestor."""
    word = f"daemon-of-{tmp_path}"
    outcome = start(program(f"WORD = {word!r}\n{DAEMON}\nrecord()"), tmp_path, 20)
    assert outcome.ok and outcome.left == 1
    assert not survivors(word, 0)


@pytest.mark.parametrize("victim", ["firstlight", "keeper"])
def test_a_daemon_that_left_everything_is_killed_whoever_is_killed(program: Make, tmp_path: Path, victim: str) -> None:
    word, flag = f"daemon-of-{tmp_path}", tmp_path / "flag"
    executable = program(f"WORD = {word!r}\n{DAEMON}\nopen({str(flag)!r}, 'w').write(str(os.getppid())); hang()")
    first = driver(tmp_path, executable, 1)
    await_(lambda: flag.exists() and bool(flag.read_text() and survivors(word, 0)), "the daemon")
    os.kill(first.pid if victim == "firstlight" else int(flag.read_text()), signal.SIGKILL)
    await_(lambda: not survivors(word, 0), "the end of the daemon")
    assert not survivors(str(executable)) or victim == "keeper"
    first.kill()
    first.communicate(timeout=turns.PATIENCE)
    assert not survivors(str(executable))


def test_a_killed_keeper_is_a_lost_launch(program: Make, tmp_path: Path) -> None:
    outcome = start(program("os.kill(os.getppid(), 9); hang()"), tmp_path, 20)
    assert (outcome.ok, outcome.reason) == (False, "program aborted: signal 9 (SIGKILL)")


def test_a_fork_storm_is_ended(program: Make, tmp_path: Path) -> None:
    body = "deaf()\nend = time.time() + 20\nwhile time.time() < end:\n  if os.fork(): os._exit(0)\n  time.sleep(0.001)"
    chain = program(body)
    start(
        chain, tmp_path, 20
    )  # whether one of them is found alive, and reported as left behind, is a matter of milliseconds
    assert not survivors(str(chain), 0)
    time.sleep(0.2)
    assert not survivors(str(chain), 0)


def zombies() -> set[int]:
    return {p.pid for p in tree.table().values() if p.parent == os.getpid() and p.state == "Z"}


def test_no_zombie_is_left_to_this_process(program: Make, tmp_path: Path) -> None:
    before = zombies()  # other tests kill what has children of its own
    chain = program("for _ in range(20):\n  if os.fork(): os._exit(0)\n  time.sleep(0.01)\ndaemon('hang()'); hang()")
    others = subprocess.Popen(["true"], start_new_session=True)  # ends during the launch, is not to be waited for by it
    start(chain, tmp_path, 1)
    assert zombies() - before == {others.pid}
    assert others.wait() == 0


def test_ctrl_c_ends_the_launch_and_goes_on_upwards(program: Make, tmp_path: Path) -> None:
    hung = program("deaf(); record(end=False); hang()")

    def interrupt() -> None:
        await_(lambda: (tmp_path / "record.jsonl").exists(), "the program")
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    pressing = threading.Thread(target=interrupt)
    pressing.start()
    with pytest.raises(KeyboardInterrupt):
        start(hung, tmp_path, 60)
    pressing.join()
    assert not survivors(str(hung), 0)


def test_a_guard_that_was_killed_is_replaced(program: Make, tmp_path: Path) -> None:
    good = program("record()")
    start(good, tmp_path, 20)
    assert guard._guard is not None
    first = guard._guard.pid
    os.kill(first, signal.SIGKILL)
    await_(lambda: guard._guard is not None and guard._guard.poll() is not None, "the guard's end")
    assert start(good, tmp_path, 20).ok
    assert guard._guard.pid != first and guard._guard.poll() is None


def test_no_core_file_is_left(program: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = "import resource; print(resource.getrlimit(resource.RLIMIT_CORE)[0]); record()"
    assert start(program(body), tmp_path, 20).stdout == "0\n"


# --- firstlight itself ----------------------------------------------------------------------------


def driver(tmp_path: Path, executable: Path, wanted: int, mpi: Mpi | None = None) -> subprocess.Popen[str]:
    words = [sys.executable, str(HERE / "driver.py"), str(tmp_path), str(executable), str(wanted)]
    words += [msgspec.json.encode(mpi).decode()] if mpi else []
    path = os.pathsep.join([str(ROOT / "src"), str(HERE), *sys.path])
    return subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
        start_new_session=True,
    )


def hang_in_launch(flag: Path, number: int) -> str:
    """Body of a program that hangs, deaf, in the launch of that number, once: it leaves a flag for the next one."""
    return f"""
import os.path
if '.{number:04d}.' in output() and not os.path.exists({str(flag)!r}):
    deaf(); open({str(flag)!r}, 'w').close(); line(type='half a launch'); hang()
record()
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_kill_of_firstlight_leaves_no_process_and_a_run_that_resumes(
    program: Make, tmp_path: Path, number: signal.Signals
) -> None:
    flag = tmp_path / "flag"
    executable = program(hang_in_launch(flag, 2))
    first = driver(tmp_path, executable, 4)
    await_(flag.exists, "the launch that hangs")
    first.send_signal(number)
    assert first.wait(turns.PATIENCE) == -number
    assert not survivors(str(executable))
    store = stores.open(tmp_path / "run")
    assert [r.start.launch for r in store.records()] == [0, 1] and store.defects == []
    assert [d.what for d in stores.check(store.path)] == [
        "left over from an interrupted launch; ./fl run --resume removes this file"
    ]  # and the owner's note is not a defect
    again = driver(tmp_path, executable, 4)
    printed, errors = again.communicate(timeout=turns.PATIENCE)
    assert again.returncode == 0, errors
    assert "removed .dot.serial.0002.part" in printed
    assert [r.start.launch for r in store.records()] == [0, 1, 2, 3]
    assert stores.check(store.path) == []
    assert store.run().state == "complete"


def test_ctrl_c_on_firstlight_leaves_a_run_that_resumes(program: Make, tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    executable = program(hang_in_launch(flag, 1))
    first = driver(tmp_path, executable, 2)
    await_(flag.exists, "the launch that hangs")
    os.killpg(first.pid, signal.SIGINT)  # as a terminal does: to the whole foreground group
    assert first.wait(turns.PATIENCE) == 130
    assert not survivors(str(executable), 0)
    assert not (tmp_path / "run" / "owner").exists()
    again = driver(tmp_path, executable, 2)
    _, errors = again.communicate(timeout=turns.PATIENCE)
    assert again.returncode == 0, errors
    assert stores.check(tmp_path / "run") == []


def test_a_second_firstlight_on_the_same_run_is_refused(program: Make, tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    executable = program(hang_in_launch(flag, 0))
    first = driver(tmp_path, executable, 1)
    await_(flag.exists, "the launch that hangs")
    second = driver(tmp_path, executable, 1)
    _, errors = second.communicate(timeout=turns.PATIENCE)
    assert second.returncode == 2
    assert f"another firstlight process ({first.pid}) is working on this run" in errors
    first.kill()
    first.communicate(timeout=turns.PATIENCE)
    assert not survivors(str(executable))


# --- MPI ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def ranks(mpis: tuple[Mpi, ...], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Build the MPI program above with every library."""
    folder = tmp_path_factory.mktemp("ranks")
    (folder / "ranks.cpp").write_text(RANKS)
    built = {}
    for mpi in mpis:
        built[mpi.name] = folder / f"ranks_{mpi.name}"
        words = [mpi.cxx, str(folder / "ranks.cpp"), "-o", str(built[mpi.name])]
        subprocess.run(words, check=True, env={**os.environ, **mpi.environment}, capture_output=True)
    return built


def test_a_hung_rank_is_killed(mpis: tuple[Mpi, ...], ranks: dict[str, Path], tmp_path: Path) -> None:
    for mpi in mpis:
        words = ("hang", str(tmp_path / f"flag_{mpi.name}"))
        outcome = turns.cut_short(
            lambda timeout: start(ranks[mpi.name], tmp_path, timeout, mpi, *words),  # noqa: B023 (called at once)
            lambda outcome: "ranks are up" in outcome.stderr,
        )
        assert outcome.status is None and re.fullmatch(r"timed out after \d+ s and was killed", outcome.reason)
        assert not survivors(str(ranks[mpi.name]), 0)


@pytest.mark.parametrize(("what", "reason"), [("abort", "signal 6 (SIGABRT)"), ("segv", "signal 11 (SIGSEGV)")])
def test_an_aborting_rank_is_told(
    mpis: tuple[Mpi, ...], ranks: dict[str, Path], tmp_path: Path, what: str, reason: str
) -> None:
    for mpi in mpis:
        outcome = start(ranks[mpi.name], tmp_path, 30, mpi, what, str(tmp_path / "flag"))
        assert not outcome.ok
        assert outcome.reason == f"rank aborted: {reason}", mpi.label
        assert not survivors(str(ranks[mpi.name]), 0)


def test_mpi_abort_and_an_unfinished_record_are_told(
    mpis: tuple[Mpi, ...], ranks: dict[str, Path], tmp_path: Path
) -> None:
    for mpi in mpis:
        outcome = start(ranks[mpi.name], tmp_path, 30, mpi, "mpi_abort", str(tmp_path / "flag"))
        assert outcome.status == 77 and outcome.reason.startswith("ended by itself (status 77): ")
        well = partial(start, ranks[mpi.name], tmp_path, 30, mpi, "well", str(tmp_path / "flag"))
        outcome = launches.settled(well)
        assert outcome.reason.startswith("ended with status 0 and no record")
        assert not survivors(str(ranks[mpi.name]), 0)


def test_a_launch_of_a_rank_is_a_job_of_its_own(
    mpis: tuple[Mpi, ...], ranks: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """firstlight may be one rank of an outer job, of any library: its launches have ranks of their own."""
    for outer in mpis:
        show = [outer.launcher, "-n", "1", sys.executable, "-c", "import json, os; print(json.dumps(dict(os.environ)))"]
        environ = {**os.environ, **outer.environment}
        shown = subprocess.run(show, env=environ, capture_output=True, text=True, check=True).stdout
        added = {n: v for n, v in msgspec.json.decode(shown.strip().splitlines()[-1]).items() if n not in environ}
        assert any(name.startswith("PM") for name in added)
        for inner in mpis:
            with monkeypatch.context() as patched:
                for name, value in added.items():
                    patched.setenv(name, value)
                outcome = start(ranks[inner.name], tmp_path, 30, inner, "mpi_abort", str(tmp_path / "flag"))
            assert outcome.status == 77, f"{inner.label} in {outer.label}: {outcome.reason} {outcome.stderr}"


def hanging(folder: Path, mpi: Mpi, rank: Path, program: Make) -> tuple[subprocess.Popen[str], Path]:
    """Return a firstlight whose ranks hang, and the executable that it launched, after the ranks have started."""
    folder.mkdir()
    flag = folder / "flag"
    executable = program(f"os.execv({str(rank)!r}, [{str(rank)!r}, 'hang', {str(flag)!r}])")
    first = driver(folder, executable, 1, mpi)
    await_(flag.exists, f"the ranks of {mpi.label}")
    return first, executable


def test_kill_of_firstlight_leaves_no_rank_and_no_launcher(
    mpis: tuple[Mpi, ...], ranks: dict[str, Path], tmp_path: Path, program: Make
) -> None:
    for mpi in mpis:
        first, executable = hanging(tmp_path / mpi.name, mpi, ranks[mpi.name], program)
        assert survivors(str(ranks[mpi.name]), 0)
        first.kill()
        first.wait(turns.PATIENCE)
        assert not survivors(str(ranks[mpi.name])), mpi.label
        assert not survivors(str(executable)), mpi.label


def test_ranks_are_ended_by_ctrl_c(
    mpis: tuple[Mpi, ...], ranks: dict[str, Path], tmp_path: Path, program: Make
) -> None:
    for mpi in mpis:
        first, executable = hanging(tmp_path / mpi.name, mpi, ranks[mpi.name], program)
        os.killpg(first.pid, signal.SIGINT)
        assert first.wait(turns.PATIENCE) == 130
        assert not survivors(str(ranks[mpi.name]), 0), mpi.label
        assert not survivors(str(executable), 0), mpi.label


def shm_patterns() -> set[str]:
    """Return this user's files in the folders that MPI libraries write to."""
    found = set()
    for folder in ("/tmp", "/dev/shm"):
        for path in Path(folder).iterdir():
            with contextlib.suppress(OSError):
                if path.lstat().st_uid == os.geteuid():
                    found.add(str(path))
    return found


@pytest.mark.alone  # launches of other tests have files there, too
@pytest.mark.parametrize("victim", ["rank", "launcher", "firstlight"])
def test_nothing_is_left_in_the_file_system_whoever_is_killed(
    mpis: tuple[Mpi, ...], ranks: dict[str, Path], tmp_path: Path, program: Make, victim: str
) -> None:
    kinds = re.compile(r"/(fl-|ompi|prte|pmix|openmpi|hydra|mpich|vader|sm_segment|osc_|ucx|psm|Intel)")
    for mpi in mpis:
        before = shm_patterns()
        first, executable = hanging(tmp_path / mpi.name, mpi, ranks[mpi.name], program)
        found = list(executables())
        victims = {
            "rank": next(pid for pid, words in found if words.startswith(str(ranks[mpi.name]))),
            "launcher": min(pid for pid, w in found if f" {mpi.launcher} " in f" {w}" and str(executable) in w),
            "firstlight": first.pid,
        }
        os.kill(victims[victim], signal.SIGKILL)
        if victim != "firstlight":
            assert first.stdout is not None
            assert any(line.startswith("stored 0") for line in first.stdout), "the launch has no record"
            first.kill()  # it tries again
        first.communicate(timeout=turns.PATIENCE)
        await_(lambda: not any(map(kinds.search, shm_patterns() - before)), f"{mpi.label}'s files to go")  # noqa: B023 (called at once)

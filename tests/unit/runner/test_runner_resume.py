"""Runs that stop before their end: interrupts, kills, spent budgets, full disks; and how they are resumed."""

from __future__ import annotations

import errno
import io
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

import turns
from bench import Bench, printed, toolchain
from firstlight import runner
from firstlight.core.errors import ENVIRONMENT, INTERRUPTED, OK, UsageError
from firstlight.model.plan import Cell, Placement
from firstlight.results import store
from firstlight.runner import RunRequest
from firstlight.runner.progress import Plain


def test_a_spent_budget_is_said_and_more_can_be_given(bench: Bench, progress: Plain) -> None:
    first = runner.run(RunRequest(results=bench.results, budget=0.01), progress)
    assert first.judgement.run.state == "budget"
    assert "is used up" in first.line and f"--resume {first.directory} --budget" in first.line
    assert len(first.judgement.records) == 1
    with pytest.raises(UsageError, match="is used up; extend it"):
        runner.resume(first.directory, progress)
    more = runner.resume(first.directory, progress, 60)
    assert more.judgement.run.state == "complete"
    assert 60 < more.judgement.run.budget < 61
    assert Counter(r.start.cell for r in more.judgement.records) == {c.id: 6 for c in more.judgement.run.cells}
    assert store.check(more.directory) == []


def test_only_what_there_may_be_time_for_is_built_and_the_rest_when_there_is_more(
    bench: Bench, progress: Plain
) -> None:
    first = runner.run(RunRequest(results=bench.results, budget=0.4), progress)
    run = first.judgement.run
    assert (len(run.cells), len(run.builds), run.state) == (4, 1, "budget")
    assert "not started: 3 of 4 cells" in first.line
    bench.broken = {"dot.kahan@gcc-fast"}
    more = runner.resume(first.directory, progress, 60)
    whole = more.judgement.run
    assert (len(whole.builds), whole.state) == (4, "complete") and all(b in whole.builds for b in run.builds)
    counts = Counter(r.start.cell for r in more.judgement.records)
    assert sorted(counts.values()) == [6, 6, 6]
    assert (more.directory / "builds" / "dot.kahan@gcc-fast.log").is_file()
    assert store.check(more.directory) == []


def interrupt_when(there: Callable[[], bool], number: int, process: int | None = None) -> threading.Thread:
    def wait() -> None:
        deadline = time.monotonic() + turns.PATIENCE
        while not there() and time.monotonic() < deadline:
            time.sleep(0.01)
        os.kill(process or os.getpid(), number)

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


@pytest.mark.alone
@pytest.mark.faults
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_reports_what_is_there_and_resume_completes_it(bench: Bench, progress: Plain, number: int) -> None:
    bench.misbehave("hang", "dot.kahan@gcc-fast")
    thread = interrupt_when((bench.programs / "dot.kahan@gcc-fast.hangs").exists, number)
    stopped = runner.run(RunRequest(results=bench.results), progress)
    thread.join()
    assert stopped.code == INTERRUPTED
    assert stopped.line == f"interrupted; continue with: ./fl run --resume {stopped.directory}"
    assert stopped.judgement.run.state == "interrupted"
    assert stopped.report.is_file()
    assert store.check(stopped.directory) == []
    (bench.programs / "dot.kahan@gcc-fast.hang").unlink()
    done = runner.resume(stopped.directory, progress)
    assert done.code == OK
    assert done.judgement.run.state == "complete"
    assert {r.start.cell for r in stopped.judgement.records} <= {r.start.cell for r in done.judgement.records}
    assert Counter(r.start.cell for r in done.judgement.records) == {c.id: 6 for c in done.judgement.run.cells}


STRUCK = """
import os, signal, subprocess, time
from firstlight.runner.interrupt import interruptible

def strike():
    if strikes:
        signal.raise_signal(strikes.pop())

class Deleted:
    def __del__(self):
        strike()

strikes = [signal.SIGTERM]
{register}
try:
    with interruptible():
        with interruptible():
            {meanwhile}
        time.sleep(20)
    print("lost")
except KeyboardInterrupt:
    print("interrupted")
"""


BUSY = """
def first_waits(which, seconds, real=signal.setitimer):
    signal.setitimer = real
    found = real(which, seconds)
    time.sleep(0.1)
    return found

signal.setitimer = first_waits
"""


@pytest.mark.parametrize(
    ("register", "meanwhile"),
    [
        ("os.register_at_fork(after_in_parent=strike)", 'subprocess.run(["true"], preexec_fn=lambda: None)'),
        ("", "Deleted()"),  # Popen has a __del__, too
        (BUSY, "Deleted()"),
    ],
)
def test_a_signal_is_not_lost_where_python_drops_it(register: str, meanwhile: str) -> None:
    """The signal arrives in functions that Python calls at a fork or at the end of an object."""
    program = STRUCK.format(register=register, meanwhile=meanwhile)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=turns.PATIENCE)
    assert (done.stdout, done.stderr) == ("interrupted\n", "")


@pytest.mark.faults
def test_kill_9_loses_at_most_the_launch_in_flight(bench: Bench, progress: Plain) -> None:
    bench.misbehave("hang", "dot.kahan@gcc-fast")
    child = os.fork()
    if not child:
        runner.run(RunRequest(results=bench.results), Plain(io.StringIO()))
        os._exit(0)
    thread = interrupt_when((bench.programs / "dot.kahan@gcc-fast.hangs").exists, signal.SIGKILL, child)
    _, status = os.waitpid(child, 0)
    thread.join()
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    (bench.programs / "dot.kahan@gcc-fast.hang").unlink()
    (path,) = bench.results.iterdir()
    before = {(r.start.cell, r.start.launch): r for r in store.open(path).records()}
    assert store.open(path).run().state == "running"
    done = runner.resume(path, progress)
    assert done.code == OK and done.judgement.run.state == "complete"
    assert "firstlight was stopped while writing this file" in printed(progress)
    after = {(r.start.cell, r.start.launch): r for r in done.judgement.records}
    assert before.items() <= after.items()
    assert store.check(path) == []


@pytest.mark.faults
def test_a_full_disk_is_one_line_and_the_run_can_be_gone_on_with(
    bench: Bench, progress: Plain, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = iter([True] * 5)

    def require_space(folder: Path) -> None:
        if not next(room, False):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(store.durable, "require_space", require_space)
        stopped = runner.run(RunRequest(results=bench.results), progress)
    assert stopped.code == ENVIRONMENT and len(stopped.judgement.records) == 5
    assert "the disk is full" in stopped.line and "--resume" in stopped.line and "\n" not in stopped.line
    (path,) = bench.results.iterdir()
    assert store.open(path).run().state == "interrupted"
    assert len(store.open(path).launches()) == 5
    assert runner.resume(path, progress).judgement.run.state == "complete"


@pytest.fixture
def begun(bench: Bench, progress: Plain) -> Path:
    return runner.run(RunRequest(results=bench.results, budget=0.01), progress).directory


def test_resume_refuses_other_executables(bench: Bench, progress: Plain, begun: Path) -> None:
    run = store.open(begun).run()
    changed = tuple(msgspec.structs.replace(b, sha256="0" * 64) for b in run.builds)
    with store.resume(begun) as opened:
        opened.write_run(msgspec.structs.replace(run, builds=changed))
    with pytest.raises(UsageError, match=r"4 of 4 programs have changed.*start a new run"):
        runner.resume(begun, progress, 60)


def test_resume_refuses_another_compiler(bench: Bench, progress: Plain, begun: Path) -> None:
    newer = msgspec.structs.replace(toolchain("gcc-base"), version="13.1")
    bench.toolbox = msgspec.structs.replace(bench.toolbox, toolchains=(newer, toolchain("gcc-fast")))
    with pytest.raises(UsageError, match=r"gcc-base was 12\.2.*now 13\.1"):
        runner.resume(begun, progress, 60)


def test_resume_refuses_another_machine(bench: Bench, progress: Plain, begun: Path) -> None:
    run = store.open(begun).run()
    with store.resume(begun) as opened:
        opened.write_run(msgspec.structs.replace(run, machine=msgspec.structs.replace(run.machine, name="other")))
    with pytest.raises(UsageError, match="another machine"):
        runner.resume(begun, progress, 60)


@pytest.mark.parametrize("word", ["--output", "/etc/passwd", "n=1;rm", "--output=x", "n=/dev/sda", "--samples"])
def test_resume_starts_nothing_with_arguments_that_firstlight_does_not_write(
    bench: Bench, progress: Plain, begun: Path, word: str
) -> None:
    run = store.open(begun).run()
    cells = tuple(Cell(c.id, c.program, c.placement, (*c.arguments, word)) for c in run.cells)
    with store.resume(begun) as opened:
        opened.write_run(msgspec.structs.replace(run, cells=cells))
    with pytest.raises(UsageError, match="does not write"):
        runner.resume(begun, progress, 60)


@pytest.mark.parametrize(
    ("placement", "placements", "launched"),
    [(Placement(1, 48, 1), (), False), (Placement(1, 48, 1), ("1x48x1",), True)],
)
def test_resume_starts_no_more_than_this_machine_holds_unless_that_is_asked_for_now(
    bench: Bench, progress: Plain, begun: Path, placement: Placement, placements: tuple[str, ...], launched: bool
) -> None:
    """Cells of another user's run.json that cannot run here are not available, with the reason, and the others
    continue.
    """
    run = store.open(begun).run()
    first = msgspec.structs.replace(run.cells[0], placement=placement)
    with store.resume(begun) as opened:
        opened.write_run(msgspec.structs.replace(run, cells=(first, *run.cells[1:])))
    before = Counter(r.start.cell for r in store.open(begun).records())
    result = runner.resume(begun, progress, 60, placements=placements)
    now = store.open(begun)
    grown = {cell for cell, n in Counter(r.start.cell for r in now.records()).items() if n > before[cell]}
    assert grown == {c.id for c in (run.cells if launched else run.cells[1:])} and result.code == OK
    reasons = [f"{a.what}: {a.why}; {a.fix}" for a in now.run().not_available if a.what == first.id]
    assert len(reasons) == (not launched) and all(f"not launched: {one}" in printed(progress) for one in reasons)
    assert launched or (
        "this placement starts 48 threads on a node of" in reasons[0] and "--placement 1x48x1" in reasons[0]
    )


def test_resume_says_where_nothing_fits(bench: Bench, progress: Plain, begun: Path) -> None:
    run = store.open(begun).run()
    cells = tuple(msgspec.structs.replace(c, arguments=(*c.arguments, "--threads", "4096")) for c in run.cells)
    with store.resume(begun) as opened:
        opened.write_run(msgspec.structs.replace(run, cells=cells))
    with pytest.raises(UsageError, match="none of its cells fits this machine: this placement starts 4096 threads"):
        runner.resume(begun, progress, 60)


def test_figures_of_an_earlier_stretch_do_not_outlive_it(bench: Bench, progress: Plain, begun: Path) -> None:
    """A run that is killed while it continues must not keep figures that disagree with its launches."""
    bench.misbehave("hang", "dot.kahan@gcc-fast", "dot.kahan@gcc-base", "dot.serial@gcc-base", "dot.serial@gcc-fast")
    child = os.fork()
    if not child:
        runner.resume(begun, Plain(io.StringIO()), 60)
        os._exit(0)
    thread = interrupt_when(lambda: any(bench.programs.glob("*.hangs")), signal.SIGKILL, child)
    os.waitpid(child, 0)
    thread.join()
    assert not (begun / "figures.json").exists()

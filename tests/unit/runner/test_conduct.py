"""Carrying out a run: what is on the disk afterwards, what the exit status says, and that a run can be gone on with."""

from __future__ import annotations

import errno
import io
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

import synthetic
import turns
from bench import Bench, toolchain
from commands import Captured, call
from firstlight import runner
from firstlight.analysis.environment import differences
from firstlight.analysis.verdict import Failed, Verified
from firstlight.core.errors import ENVIRONMENT, INTERRUPTED, OK, REGRESSION, BuildError, UsageError
from firstlight.model.plan import EFFORT, Cell, Placement
from firstlight.report import method
from firstlight.report.export import kept
from firstlight.results import store
from firstlight.results.store import lines
from firstlight.runner import RunRequest, environment
from firstlight.runner.progress import Moving, Plain, Progress, display


@pytest.fixture
def progress() -> Plain:
    return Plain(io.StringIO())


def printed(progress: Plain) -> str:
    assert isinstance(progress._stream, io.StringIO)
    return progress._stream.getvalue()


def test_a_run_ends_complete_verified_and_whole(bench: Bench, progress: Plain) -> None:
    result = runner.run(RunRequest(results=bench.results), progress)
    assert result.code == OK
    assert result.line == "complete; every interval is within ± 2.5 %"
    run = store.open(result.directory).run()
    assert run.state == "complete" and run.finished is not None and run.finished > run.started
    records = list(store.open(result.directory).records())
    assert Counter(r.start.cell for r in records) == {cell.id: 6 for cell in run.cells}
    assert all(isinstance(f, Verified) for f in result.judgement.figures) and len(result.judgement.figures) == 8
    assert store.check(result.directory) == []
    assert result.report.is_file() and (result.directory / "figures.json").is_file()
    assert [a.what for a in run.not_available] == ["MPI"]
    assert "round 1" in printed(progress)


def test_what_a_run_says_at_its_end_is_not_judged_again(
    bench: Bench, progress: Plain, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setenv("FIRSTLIGHT_CACHE", str(bench.root / "cache"))
    monkeypatch.setattr(kept, "FEW", 10)
    result = runner.run(RunRequest(results=bench.results), progress)
    monkeypatch.setattr(lines, "read", lambda *_, **__: pytest.fail("a launch was read"))
    code, out, _ = call(capsys, "figures", str(result.directory), "--json")
    assert code == OK and json.loads(out) == json.loads((result.directory / "figures.json").read_bytes())
    assert len(json.loads(out)) == 8


def test_a_run_whose_name_another_one_took_while_it_was_built_takes_the_next(
    bench: Bench, progress: Plain, monkeypatch: pytest.MonkeyPatch
) -> None:
    build, taken = bench.build, store.free_id

    def meanwhile(*words: Any) -> Any:
        for second in range(300):
            (bench.results / taken(Path("nowhere"), time.time() + second, "quick")).mkdir(parents=True)
        return build(*words)

    monkeypatch.setattr(store, "free_id", lambda root, started, suite: taken(Path("nowhere"), started, suite))
    monkeypatch.setattr("firstlight.execute.build.build", meanwhile)
    result = runner.run(RunRequest(results=bench.results), progress)
    assert result.code == OK and result.directory.name.endswith("-quick-2")
    assert store.open(result.directory).run().id == result.directory.name and store.check(result.directory) == []


def test_a_fast_but_wrong_toolchain_is_a_finding_and_no_error(bench: Bench, progress: Plain) -> None:
    bench.misbehave("wrong", "dot.kahan@gcc-fast")
    result = runner.run(RunRequest(results=bench.results), progress)
    assert result.code == OK
    failed = [f for f in result.judgement.figures if isinstance(f, Failed)]
    assert {(f.identity.variant, f.identity.toolchain) for f in failed} == {("kahan", "gcc-fast")}
    launched = Counter(r.start.cell for r in result.judgement.records)
    assert sorted(launched.values()) == [2, 6, 6, 6]


def test_a_variant_that_no_toolchain_gets_right_is_an_error(bench: Bench, progress: Plain) -> None:
    bench.misbehave("wrong", "kahan")
    assert runner.run(RunRequest(results=bench.results), progress).code == REGRESSION


def test_a_program_that_dies_is_given_up_and_told(bench: Bench, progress: Plain) -> None:
    bench.misbehave("die", "dot.kahan@gcc-base")
    result = runner.run(RunRequest(results=bench.results), progress)
    assert result.code == OK
    assert "given up after 2 lost launches: dot.kahan.gcc-base" in printed(progress)
    assert len(result.judgement.lost) == 2
    bench.misbehave("die", "kahan")
    assert runner.run(RunRequest(results=bench.results), progress).code == REGRESSION


def test_what_does_not_build_is_told_and_kept_in_full(bench: Bench, progress: Plain) -> None:
    bench.broken = {"dot.kahan@gcc-fast"}
    result = runner.run(RunRequest(results=bench.results), progress)
    assert result.code == OK
    assert (result.directory / "builds" / "dot.kahan@gcc-fast.log").read_text().endswith("all the words")
    assert "does not build: dot.kahan@gcc-fast" in printed(progress)
    assert store.check(result.directory) == []
    bench.broken.add("dot.kahan@gcc-base")
    assert runner.run(RunRequest(results=bench.results), progress).code == REGRESSION


def test_nothing_built_leaves_no_run(bench: Bench, progress: Plain) -> None:
    bench.broken = {f"dot.{v}@gcc-{f}" for v in ("serial", "kahan") for f in ("base", "fast")}
    with pytest.raises(BuildError, match="all the words"):
        runner.run(RunRequest(results=bench.results), progress)
    assert not bench.results.exists()


def test_a_spent_budget_is_said_and_more_can_be_given(bench: Bench, progress: Plain) -> None:
    first = runner.run(RunRequest(results=bench.results, budget=0.01), progress)
    assert first.judgement.run.state == "budget"
    assert "is spent" in first.line and f"--resume {first.directory} --budget" in first.line
    assert len(first.judgement.records) == 1
    with pytest.raises(UsageError, match="is spent; give it more"):
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
    assert "not begun: 3 of 4 cells" in first.line
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
    assert stopped.line == f"interrupted; go on with: ./fl run --resume {stopped.directory}"
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


@pytest.mark.parametrize(
    ("register", "meanwhile"),
    [
        ("os.register_at_fork(after_in_parent=strike)", 'subprocess.run(["true"], preexec_fn=lambda: None)'),
        ("", "Deleted()"),  # Popen has a __del__, too
    ],
)
def test_a_signal_is_not_lost_where_python_drops_it(register: str, meanwhile: str) -> None:
    """What functions raise that are called at a fork or by the end of an object."""
    program = STRUCK.format(register=register, meanwhile=meanwhile)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=turns.PATIENCE)
    assert (done.stdout, done.stderr) == ("interrupted\n", "")


@pytest.mark.faults
@pytest.mark.alone
def test_a_hang_is_killed_and_counts_as_lost(bench: Bench, progress: Plain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(EFFORT, "quick", EFFORT["quick"]._replace(timeout=0.5))
    bench.misbehave("hang", "dot.kahan@gcc-fast")
    result = runner.run(RunRequest(results=bench.results), progress)
    assert result.code == OK
    assert any("timed out" in lost for lost in result.judgement.lost)


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
    assert "being written when firstlight was stopped" in printed(progress)
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
    with pytest.raises(UsageError, match=r"gcc-base was 12\.2.*13\.1 now"):
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
    """What a run.json of somebody else's asks for is not available, with its reason, and the rest goes on."""
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
    assert launched or ("it starts 48 threads on a node of" in reasons[0] and "--placement 1x48x1" in reasons[0])


def test_resume_says_where_nothing_fits(bench: Bench, progress: Plain, begun: Path) -> None:
    run = store.open(begun).run()
    cells = tuple(msgspec.structs.replace(c, arguments=(*c.arguments, "--threads", "4096")) for c in run.cells)
    with store.resume(begun) as opened:
        opened.write_run(msgspec.structs.replace(run, cells=cells))
    with pytest.raises(UsageError, match="none of its cells fits this machine: it starts 4096 threads"):
        runner.resume(begun, progress, 60)


def test_results_that_cannot_be_written_are_told_at_once(bench: Bench, progress: Plain) -> None:
    Path("results").write_text("a file")
    with pytest.raises(UsageError, match="cannot write results/here; choose another folder with --results"):
        runner.run(RunRequest(results=Path("results/here")), progress)
    assert printed(progress) == ""


def test_figures_of_an_earlier_stretch_do_not_outlive_it(bench: Bench, progress: Plain, begun: Path) -> None:
    """Killed while it goes on, a run must not be left with figures that its launches no longer say."""
    bench.misbehave("hang", "dot.kahan@gcc-fast", "dot.kahan@gcc-base", "dot.serial@gcc-base", "dot.serial@gcc-fast")
    child = os.fork()
    if not child:
        runner.resume(begun, Plain(io.StringIO()), 60)
        os._exit(0)
    thread = interrupt_when(lambda: any(bench.programs.glob("*.hangs")), signal.SIGKILL, child)
    os.waitpid(child, 0)
    thread.join()
    assert not (begun / "figures.json").exists()


def test_the_environment_keeps_what_steers_and_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: "node07")
    kept = environment.variables(
        {
            "OMP_PROC_BIND": "close",
            "UCX_TLS": "shm,node07",
            "OMPI_MCA_orte_hnp_uri": "tcp://10.0.0.1",
            "MPICH_TOKEN": "abc",
            "I_MPI_HYDRA_HOST_FILE": "hosts",
            "SLURM_JOB_NUM_NODES": "2",
            "SLURM_JOB_USER": "me",
            "HOME": "/home/me",
            "USER": "me",
            "LD_LIBRARY_PATH": "/home/me/lib:/opt/x/lib:/scratch/me/lib:/home/menor/lib:/net/node07/lib",
            "LD_PRELOAD": "/home/me/spy.so",
            "OMP_PLACES": "",
            "UCX_NET_DEVICES": "\udcff",
            "AWS_SECRET_ACCESS_KEY": "abc",
        }
    )
    paths = "~/lib:/opt/x/lib:/scratch/<user>/lib:/home/menor/lib:/net/<host>/lib"
    assert kept == {
        "LD_LIBRARY_PATH": paths,
        "OMP_PROC_BIND": "close",
        "SLURM_JOB_NUM_NODES": "2",
        "UCX_NET_DEVICES": "\\udcff",
        "UCX_TLS": "shm,<host>",
    }


def test_a_long_variable_that_ends_otherwise_is_told_by_compare() -> None:
    """Where libraries are searched changes a measurement: it is recorded whole or by its hash."""
    paths = ":".join(f"/opt/software/library-{k}/lib" for k in range(200))
    one, other = (environment.variables({"LD_LIBRARY_PATH": paths + end}) for end in ("/a", "/b"))
    assert len(one["LD_LIBRARY_PATH"]) < 1100 and one != other and environment.variables({}) == {}
    run = synthetic.run().run
    a, b = (msgspec.structs.replace(run, environment=kept) for kept in (one, other))
    (difference,) = differences(a, b)
    assert difference.startswith("LD_LIBRARY_PATH: /opt/software/library-0/lib:")
    assert any(difference.endswith(" in A, not set in B") for difference in differences(a, run))
    assert ("LD_LIBRARY_PATH", one["LD_LIBRARY_PATH"]) in method.environment(a)


def test_plain_progress_is_sparing(monkeypatch: pytest.MonkeyPatch, progress: Plain) -> None:
    now = 0.0
    monkeypatch.setattr("firstlight.runner.progress.time.monotonic", lambda: now)
    for step in range(100):
        now = step * 0.2
        progress.state.stage, progress.state.now, progress.state.left = "round 1", f"cell {step}", 100.0 - now
        progress.update()
    lines = printed(progress).splitlines()
    assert len(lines) == 4
    assert lines[0] == "round 1 · 1 min 40 s left · cell 0"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_display_moves_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("CI", raising=False)
    assert isinstance(display(io.StringIO()), Plain)
    stream = Terminal()
    moving: Progress = display(stream)
    assert isinstance(moving, Moving)
    monkeypatch.setenv("CI", "1")
    assert isinstance(display(stream), Plain)
    with moving:
        moving.state.stage, moving.state.now, moving.state.last = (
            "round 2",
            "dot.serial.gcc-base.1x1",
            "dot.x: 3 [GB/s]",
        )
        moving.state.done, moving.state.total, moving.state.left = 3, 9, 61
        moving.note("a line [that] stays")
    shown = stream.getvalue()
    assert "a line [that] stays" in shown
    assert "round 2" in shown and "3/9" in shown and "1 min 1 s left" in shown and "3 [GB/s]" in shown

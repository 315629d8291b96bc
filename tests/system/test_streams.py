"""Streams that are closed, full or left by their reader: a run goes on, is stored and reported, and ends as ever."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import turns
from bench import Bench
from commands import Captured, call
from firstlight import ROOT
from firstlight.core.errors import ENVIRONMENT, INTERRUPTED, OK, REGRESSION
from firstlight.results import store
from firstlight.results.record import Run
from firstlight.results.store import durable, seal
from firstlight.results.store.disk import Folder

pytestmark = pytest.mark.faults

HERE = ROOT / "tests" / "support"
INVENTED = """
import sys
from pathlib import Path
import pytest
from bench import Bench
from firstlight.commands.shared import command_line
bench = Bench(Path.cwd(), pytest.MonkeyPatch())
behaviour, *words = sys.argv[1:]
if behaviour:
    bench.misbehave(*behaviour.split(":"))
command_line.main(words)
"""
"""The command line over invented compilers, in the current folder."""


def words(*arguments: str, behaviour: str = "") -> list[str]:
    return [sys.executable, "-c", INVENTED, behaviour, *arguments]


def variables(**more: str) -> dict[str, str]:
    path = os.pathsep.join([str(ROOT / "src"), str(HERE)])
    kept = {name: value for name, value in os.environ.items() if name not in ("CI", "NO_COLOR", "COLUMNS")}
    return kept | {"PYTHONPATH": path, "TERM": "xterm"} | more


RUN = ("run", "--launches", "6", "--as", "one")


def finished(folder: Path, state: str = "complete") -> Run:
    """Return the run, which is whole, sealed and reported."""
    path = folder / "results" / "one"
    run = store.open(path).run()
    assert run.state == state
    assert (path / "report.html").is_file() and (path / "figures.json").is_file() and seal.exists(path)
    assert store.check(path) == []
    return run


@pytest.mark.parametrize(
    ("streams", "behaviour", "expected"),
    [
        ("2>/dev/full", "wrong:dot.kahan@gcc-base:kahan", REGRESSION),
        ("2> >(head -n 1 >/dev/null)", "", OK),
        ("<&- >&- 2>&-", "", OK),
        ("| head -n 1", "", OK),
        (">/dev/full", "", OK),
    ],
)
def test_a_run_goes_on_and_ends_as_it_ended(tmp_path: Path, streams: str, behaviour: str, expected: int) -> None:
    done = subprocess.run(
        ["bash", "-c", f'"$@" {streams}; exit "${{PIPESTATUS[0]}}"', "bash", *words(*RUN, behaviour=behaviour)],
        cwd=tmp_path,
        env=variables(),
        capture_output=True,
        text=True,
        timeout=turns.PATIENCE,
    )
    assert done.returncode == expected, done.stderr
    assert "Traceback" not in done.stderr and "Exception" not in done.stderr
    run = finished(tmp_path)
    assert behaviour or len(store.open(tmp_path / "results" / "one").launches()) == 6 * len(run.cells)
    if streams == ">/dev/full":
        assert "standard output: No space left on device; ./fl report results/one shows the page" in done.stderr
    if streams == "| head -n 1":
        assert done.stdout.startswith("firstlight") and "standard output" not in done.stderr


def test_an_answer_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    """If the output is the only result of a command, the command fails: with one line and a documented status."""
    done = subprocess.run(
        ["bash", "-c", '"$@" >/dev/full', "bash", sys.executable, "-m", "firstlight", "schema", "run"],
        cwd=tmp_path,
        env=variables(),
        capture_output=True,
        text=True,
        timeout=turns.PATIENCE,
    )
    assert (done.returncode, done.stderr) == (
        ENVIRONMENT,
        "firstlight: standard output: No space left on device\n",
    )


@pytest.mark.parametrize("ignored", [False, True], ids=["hangup", "nohup"])
def test_a_terminal_that_is_closed(tmp_path: Path, ignored: bool) -> None:
    """The terminal ends a run like Ctrl-C, with its report, even if both kernel and shell send a signal; under nohup it
    does not.
    """
    terminal, ours = os.openpty()
    trapped = ["bash", "-c", 'trap "" HUP; exec "$@"', "bash"] if ignored else []
    behaviour = "" if ignored else "hang:dot.kahan@gcc-fast"
    begun = "results/one/launches/*.jsonl" if ignored else "programs/*.hangs"
    with subprocess.Popen(
        ["setsid", "--ctty", *trapped, *words(*RUN, behaviour=behaviour)],
        cwd=tmp_path,
        env=variables(),
        stdin=ours,
        stdout=ours,
        stderr=ours,
    ) as running:
        os.close(ours)
        os.set_blocking(terminal, False)
        while not any(tmp_path.glob(begun)):
            assert running.poll() is None
            with contextlib.suppress(BlockingIOError):
                os.read(terminal, 1 << 16)
            time.sleep(0.01)
        os.close(terminal)
        while not ignored and running.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                running.send_signal(signal.SIGHUP)
            time.sleep(0.05)
        assert running.wait(turns.PATIENCE) == (OK if ignored else INTERRUPTED)
    finished(tmp_path, "complete" if ignored else "interrupted")


@pytest.mark.parametrize("name", ["report.html", "figures.json", "SHA256SUMS"])
def test_a_disk_that_is_full_at_the_report(
    bench: Bench, capsys: Captured, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The page is on the terminal; one line names what is missing and the command that writes it, and that command
    works.
    """
    files = ["report.html", "figures.json", "SHA256SUMS"]
    missing = " and ".join(files[files.index(name) :])
    whole = Folder.replace

    def full(folder: Folder, file: str, data: bytes) -> None:
        if file == name:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        whole(folder, file, data)

    with monkeypatch.context() as patch:
        patch.setattr(Folder, "replace", full)
        for words in (["run", "--launches", "6", "--as", "one"], ["report"]):
            code, out, err = call(capsys, *words)
            assert code == ENVIRONMENT and "best figure" in out
            assert ("report: " in out) == (name != "report.html")
            (line,) = (line for line in err.splitlines() if "not written" in line)
            assert line.startswith(f"firstlight: not written: {missing}: the disk is full; all launches are safe.")
            assert line.endswith("then ./fl report results/one writes these files")
    code, out, err = call(capsys, "report", "results/one")
    assert (code, err) == (OK, "") and "report: " in out
    assert call(capsys, "check", "results/one")[0] == OK


def test_a_disk_that_is_full_at_run_json(bench: Bench, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last state cannot be written: the page is there, and resuming ends the run."""
    write = store.Store.write_run

    def full(opened: store.Store, run: Run) -> None:
        if run.state != "running":
            with durable.os_errors_as_store_error(opened.path):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(opened, run)

    with monkeypatch.context() as patch:
        patch.setattr(store.Store, "write_run", full)
        code, out, err = call(capsys, "run", "--launches", "6", "--as", "one")
    assert code == ENVIRONMENT and "best figure" in out
    assert "the disk is full; finished launches are safe." in err.splitlines()[-1]
    assert "--resume results/one" in err.splitlines()[-1]
    assert call(capsys, "run", "--resume", "results/one", "--budget", "1m")[0] == OK
    assert call(capsys, "check", "results/one")[0] == OK

"""The promises hold with real compilers, real programs and the real command line, without stand-ins."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import turns
from firstlight.core.errors import ENVIRONMENT, INTERRUPTED, OK, REGRESSION
from firstlight.system.process import tree
from firstlight.toolchain import Mpi
from real_calls import CACHE, FIRSTLIGHT, MEASURED, assert_clean, firstlight, only_run, variables, verdicts

pytestmark = [pytest.mark.native, pytest.mark.faults]

# --- who is alive ---------------------------------------------------------------------------------


def descendants(pid: int) -> set[tuple[int, int]]:
    """Return a process and all its descendants: numbers with starting times."""
    everything = tree.table()
    found, size = {pid}, 0
    while size != len(found):
        size = len(found)
        found |= {p.pid for p in everything.values() if p.parent in found}
    return {(p, everything[p].started) for p in found if p in everything}


def speaking_of(place: Path) -> set[tuple[int, int]]:
    """Return the processes that have a folder in their command line or environment."""
    found = set()
    for process in tree.table().values():
        with contextlib.suppress(OSError):
            text = b"".join(Path(f"/proc/{process.pid}/{name}").read_bytes() for name in ("cmdline", "environ"))
            if str(place).encode() in text and process.state not in "ZX":
                found.add((process.pid, process.started))
    return found - {(p.pid, p.started) for p in (tree.read(os.getpid()),) if p}


def assert_gone(known: set[tuple[int, int]], place: Path, patience: float = 60) -> None:
    """Neither what was known nor anything else of `place` is left, after the guard had time to look twice."""
    deadline = time.monotonic() + patience
    while True:
        alive = tree.table()
        left = {pid for pid, started in known if pid in alive and alive[pid].started == started}
        left = {pid for pid in left if alive[pid].state not in "ZX"} | {pid for pid, _ in speaking_of(place)}
        if not left:
            return
        names = [alive[pid].name for pid in left if pid in alive]
        assert time.monotonic() < deadline, f"still alive: {names}"
        time.sleep(0.05)


def begin(folder: Path, *words: str, cache: Path = CACHE) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*FIRSTLIGHT, *words],
        cwd=folder,
        env=variables(cache),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def await_(condition: Callable[[], bool], process: subprocess.Popen[str], what: str) -> None:
    deadline = time.monotonic() + turns.PATIENCE
    while not condition():
        assert process.poll() is None, f"ended before {what}: {process.communicate()}"
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.01)


def has_child(process: subprocess.Popen[str], name: str) -> bool:
    everything = tree.table()
    return any(everything[p].name.startswith(name) for p, _ in descendants(process.pid) if p in everything)


# --- programs that misbehave ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def misbehaved(mpis: tuple[Mpi, ...], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Return a run of everything that misbehaves, under every MPI library, and its messages."""
    folder = tmp_path_factory.mktemp("misbehaved")
    words = ("faulty", "--toolchain", "gcc-base", "--launches", "2", "--timeout", "4s", "--budget", "90s")
    running = begin(folder, "run", *words)
    out, err = running.communicate(timeout=turns.PATIENCE)
    assert running.returncode == REGRESSION, out + err
    assert_gone(set(), folder)
    return folder, err


@pytest.mark.full
@pytest.mark.alone
def test_what_hangs_aborts_or_does_not_compile_is_told_and_the_rest_is_measured(
    misbehaved: tuple[Path, str], mpis: tuple[Mpi, ...]
) -> None:
    folder, err = misbehaved
    for mpi in mpis:
        hang, abort = (f"faulty.{what}.gcc-base.{mpi.name}.2x1" for what in ("mpi_hang", "mpi_abort"))
        assert f"stopped after 2 lost launches: {hang}: timed out after 4 s and was killed" in err
        assert f"stopped after 2 lost launches: {abort}: rank aborted: signal 6 (SIGABRT)" in err
    assert "faulty.abort.gcc-base.1x1: program aborted: signal 6 (SIGABRT)" in err
    expected = {("good", None): "verified", ("abort", None): "failed", ("wont_compile", None): "failed"}
    for mpi in mpis:
        expected |= {("mpi_hang", mpi.name): "failed", ("mpi_abort", mpi.name): "failed"}
        expected |= {("mpi_good", mpi.name): "verified"}
    assert verdicts(folder) == expected


@pytest.mark.full
@pytest.mark.alone
def test_the_compilers_words_are_kept_in_full_where_the_line_says(misbehaved: tuple[Path, str]) -> None:
    folder, err = misbehaved
    failure = next(line for line in err.splitlines() if line.startswith("does not build: "))
    log = only_run(folder) / failure.partition("output is in ")[2].removesuffix(" of the run")
    words = log.read_text()
    assert "wont_compile.cpp:8:" in words and "a_name_that_nobody_declared" in words
    assert "-std=c++20" in words  # the command that failed, too


@pytest.mark.full
@pytest.mark.alone
def test_a_run_of_failures_is_whole_readable_and_can_be_gone_on_with(misbehaved: tuple[Path, str]) -> None:
    folder, _ = misbehaved
    assert_clean(folder)
    before = verdicts(folder)
    page = (only_run(folder) / "report.html").read_text()
    assert "timed out after 4 s" in page and "a_name_that_nobody_declared" in page
    again = firstlight(folder, "run", "--resume", "latest", "--budget", "5s")
    assert again.returncode == REGRESSION, again.stderr
    assert again.stderr.splitlines()[-1].startswith("firstlight: complete")
    assert verdicts(folder) == before
    assert_clean(folder)


@pytest.mark.full
@pytest.mark.alone
def test_where_nothing_compiles_the_compilers_words_are_shown_and_no_run_is_made(tmp_path: Path) -> None:
    done = firstlight(tmp_path, "run", "faulty.wont_compile", "--toolchain", "gcc-base")
    assert done.returncode == ENVIRONMENT
    assert "no program could be built; the first error, of faulty.wont_compile@gcc-base:" in done.stderr
    assert "wont_compile.cpp:8:" in done.stderr and "a_name_that_nobody_declared" in done.stderr
    assert not (tmp_path / "results").exists()


# --- firstlight is stopped ------------------------------------------------------------------------


@pytest.mark.full
@pytest.mark.alone
@pytest.mark.parametrize(
    ("number", "which"), [(signal.SIGKILL, 0), (signal.SIGKILL, 1), (signal.SIGINT, -1), (signal.SIGTERM, 0)]
)
def test_stopped_in_the_middle_of_a_launch(
    number: signal.Signals, which: int, mpis: tuple[Mpi, ...], tmp_path: Path
) -> None:
    """One rank hangs and ignores signals. Only firstlight receives the signal: no terminal helps."""
    mpi = mpis[min(which, len(mpis) - 1)].name
    words = ("faulty.good", "faulty.mpi_hang", "--toolchain", "gcc-base", "--mpi", mpi, "--launches", "2")
    running = begin(tmp_path, "run", *words)
    part = f".faulty.mpi_hang.gcc-base.{mpi}.2x1.0000.part"
    await_(lambda: any(tmp_path.glob(f"results/*/launches/{part}")), running, "the launch that hangs")
    await_(lambda: has_child(running, "faulty.mpi_hang"), running, "its ranks")
    time.sleep(0.5)  # until the rank is in its endless loop
    known = descendants(running.pid)
    assert len(known) >= 4  # firstlight, its guard, the ranks
    running.send_signal(number)
    out, err = running.communicate(timeout=turns.PATIENCE)
    assert_gone(known, tmp_path)
    if number == signal.SIGKILL:
        assert running.returncode == -number
    else:
        assert running.returncode == INTERRUPTED
        assert re.match(r"firstlight: interrupted; continue with: .* run --resume results/", err.splitlines()[-1])
        assert (only_run(tmp_path) / "report.html").is_file() and out
        assert_clean(tmp_path)
    assert firstlight(tmp_path, "figures").returncode == OK  # readable as it is
    done = firstlight(tmp_path, "run", "--resume", "latest", "--timeout", "1s")
    assert done.returncode == REGRESSION, done.stderr  # one variant hangs always
    assert done.stderr.splitlines()[-1].startswith("firstlight: complete")
    assert verdicts(tmp_path) == {("good", None): "verified", ("mpi_hang", mpi): "failed"}
    assert_clean(tmp_path)


@pytest.mark.full
@pytest.mark.alone
def test_stopped_while_it_builds_again_and_again(tmp_path: Path) -> None:
    """The cache is separate. Only firstlight receives signals; afterwards the same cache works as before."""
    cache = tmp_path / "cache"
    cache.mkdir()
    if (CACHE / "probes.json").exists():
        shutil.copy(CACHE / "probes.json", cache)  # what the compilers can do need not be proved again
    if (CACHE / "mpi").exists():
        (cache / "mpi").symlink_to((CACHE / "mpi").resolve())  # nor an MPI library be installed again
    words = ("run", "dot.serial", "faulty.good", "--launches", "1", "--toolchain")
    for number, child, toolchain in (  # a flag set that is new where a compiler must still have something to do
        (signal.SIGKILL, "cmake", "gcc-base"),
        (signal.SIGTERM, "cmake", "gcc-base"),
        (signal.SIGINT, "cc1plus", "gcc-base"),
        (signal.SIGKILL, "ninja", "gcc-native"),
        (signal.SIGKILL, "cc1plus", "gcc-fast"),
    ):
        running = begin(tmp_path, *words, toolchain, cache=cache)
        await_(lambda p=running, name=child: has_child(p, name), running, child)  # type: ignore[misc]
        known = descendants(running.pid)
        running.send_signal(number)
        _, err = running.communicate(timeout=turns.PATIENCE)
        assert_gone(known, tmp_path)
        if number == signal.SIGKILL:
            assert running.returncode == -number
        else:
            assert running.returncode == INTERRUPTED
            last = [line for line in err.splitlines() if line][-2:]
            assert last[0].startswith("stopped before the first launch") and last[1] == "firstlight: interrupted"
        assert not (tmp_path / "results").exists()
    done = firstlight(tmp_path, *words, "gcc-base", cache=cache)
    assert done.returncode in MEASURED, done.stderr
    assert_clean(tmp_path)


FULL = r"""
set -e
mount -t tmpfs -o size=24m none "$1"
cd "$1"
"$2" -m firstlight run faulty.good --toolchain gcc-base --launches 30 2>"$1.err" >"$1.out" &
running=$!
until [ "$(ls results/*/launches 2>/dev/null | wc -l)" -ge 3 ]; do sleep 0.02; done
head -c 100m /dev/zero > ballast 2>/dev/null || true
set +e
wait $running
echo "full: $?"
"$2" -m firstlight check >&2
echo "check: $?"
"$2" -m firstlight run --resume latest 2>"$1.again" >/dev/null
echo "still full: $?"
rm ballast
"$2" -m firstlight run --resume latest >/dev/null 2>"$1.room"
echo "room: $?"
"$2" -m firstlight check >&2
echo "check: $?"
ls results/*/launches | wc -l
"""


@pytest.mark.full
@pytest.mark.alone
def test_a_disk_that_fills_in_the_middle_of_a_run(tmp_path: Path) -> None:
    own = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
    probe = [*own, "mount", "-t", "tmpfs", "none", str(tmp_path)]
    if not shutil.which("unshare") or subprocess.run(probe, capture_output=True).returncode:
        pytest.skip("this system lets nobody mount a file system of their own (unshare -rm)")
    ready = firstlight(tmp_path, "run", "faulty.good", "--toolchain", "gcc-base", "--launches", "1")  # it is built now
    assert ready.returncode in MEASURED, ready.stderr
    disk = tmp_path / "disk"
    disk.mkdir()
    done = subprocess.run(
        [*own, "bash", "-c", FULL, "bash", str(disk), sys.executable],
        capture_output=True,
        text=True,
        env=variables(),
        timeout=200,
    )
    texts = {name: disk.with_name(f"disk.{name}").read_text() for name in ("err", "again", "room")}
    statuses = dict(line.split(": ") for line in done.stdout.splitlines() if ": " in line)
    measured = int(statuses.pop("room"))
    assert measured in MEASURED and statuses == {"full": "3", "still full": "3", "check": "0"}, (
        done.stdout + done.stderr + str(texts)
    )
    assert "check: 4\nstill full: 3" in done.stdout  # there was not enough space for a seal
    for text in (texts["err"], texts["again"]):
        assert "the disk is full" in text.splitlines()[-1] and "--resume" in text.splitlines()[-1]
        assert "Traceback" not in text
    assert texts["room"].splitlines()[-1].startswith("firstlight: complete")
    assert int(done.stdout.split()[-1]) == 30

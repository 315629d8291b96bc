"""file_io: writes are durable, reads are cold, planted faults are found, and a user's file system is safe."""

from __future__ import annotations

import errno
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

import native
from firstlight import ROOT
from firstlight.execute.build import Built
from firstlight.execute.launch import command, launch
from firstlight.model.plan import Cell, Placement

pytestmark = pytest.mark.native

SIZE, TRANSFER = 65536, 8192
WORDS = (f"size={SIZE}", f"transfer={TRANSFER}", "--samples", "3", "--steps", "1")
MEMORY = ("tmpfs", "ramfs")


@pytest.fixture(scope="module")
def faults(tmp_path_factory: pytest.TempPathFactory) -> Path:
    library = tmp_path_factory.mktemp("faults") / "faults.so"
    source = Path(__file__).with_name("storage_faults.c")
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", str(source), "-o", str(library), "-ldl"], check=True)
    return library


def on_a_device(folder: Path) -> bool:
    kind = subprocess.run(["stat", "-f", "-c", "%T", str(folder)], capture_output=True, text=True).stdout.strip()
    return kind not in MEMORY


def program(variant: str = "serial", workload: str = "file_io") -> Built:
    built = native.plain(workload, variant)
    assert built.executable is not None, built.error
    return built


def run(
    built: Built, place: Path, *words: str, environment: Mapping[str, str] = {}, wrapped: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    """Run a copy of a program by hand in the target `t`, which is the folder `place`.

    Root of a namespace cannot open the folders of other users, and a cache may belong to one.
    """
    executable = shutil.copy(built.executable, place.parent / f"{place.name}-program") if wrapped else built.executable
    argv = [*wrapped, str(executable), "target=t", "--storage", f"t={place}/work", *words]
    return subprocess.run(argv, capture_output=True, text=True, timeout=120, env={**os.environ, **environment})


def lines(done: subprocess.CompletedProcess[str], kind: str) -> list[dict[str, object]]:
    found = [msgspec.json.decode(line) for line in done.stdout.splitlines()]
    return [line for line in found if line["type"] == kind]


# --- durable and cold -----------------------------------------------------------------------------


@pytest.mark.full
@pytest.mark.parametrize(
    ("variant", "operation", "each"),
    [("serial", "write", 1), ("direct", "write", 1), ("mmap", "write", 1), ("serial", "cached_write", 0),
     ("serial", "sync", SIZE // TRANSFER)],
)  # fmt: skip
def test_each_step_of_writing_ends_with_fsync(
    variant: str, operation: str, each: int, faults: Path, tmp_path: Path
) -> None:
    counted = []
    for samples in ("3", "5"):
        output = tmp_path / "syncs"
        preload = {"LD_PRELOAD": str(faults), "FAULT_OUTPUT": str(output)}
        words = (f"operation={operation}", *WORDS, "--samples", samples)
        done = run(program(variant), tmp_path, *words, environment=preload)
        if done.returncode == 2 and "keeps files in memory" in done.stderr:
            pytest.skip("the temporary folder is in memory")
        assert done.returncode == 0, done.stderr
        counted.append(int(output.read_text()))
    assert counted[1] - counted[0] == 2 * each


@pytest.mark.full
@pytest.mark.parametrize("variant", ["serial", "mmap", "uring", "direct", "uring_direct"])
def test_cold_reads_come_from_the_device(variant: str, tmp_path: Path) -> None:
    """The kernel counts the bytes that a process reads from devices."""
    if not on_a_device(tmp_path):
        pytest.skip("the temporary folder is in memory")
    read = {}
    for operation in ("read", "cached_read") if "direct" not in variant else ("read",):
        words = (f"operation={operation}", "size=4194304", "transfer=65536", "--samples", "4", "--steps", "1")
        argv = [str(program(variant).executable), "target=t", "--storage", f"t={tmp_path}/work", *words]
        with subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as child:
            _, status, used = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            message = child.stderr.read() if child.stderr else ""
        if child.returncode == 2 and "does not provide" in message:
            pytest.skip("no io_uring here")
        assert child.returncode == 0, message
        read[operation] = 512 * used.ru_inblock
    assert read["read"] >= 4 * 4194304
    assert read.get("cached_read", 0) < 4194304


def counted(folder: Path) -> bool:
    """Return whether the kernel counts what the device of a folder reads."""
    number = folder.stat().st_dev
    lines = (line.split() for line in Path("/proc/diskstats").read_text().splitlines())
    return any((os.major(number), os.minor(number)) == (int(major), int(minor)) for major, minor, *_ in lines)


@pytest.mark.parametrize("variant", ["serial", pytest.param("mpi", marks=pytest.mark.full)])
def test_the_counters_of_the_device_confirm_cold_reads_only(variant: str, tmp_path: Path) -> None:
    """The file fits memory. The device reads every byte of a cold step, and what other programs read in addition."""
    if not counted(tmp_path):
        pytest.skip("the temporary folder has no device in /proc/diskstats")
    built = program(variant)
    place = Placement(ranks=2) if built.program.mpi else Placement()
    for operation, confirmed in (("read", True), ("random_read", True), ("cached_read", False)):
        words = (f"operation={operation}", "size=4194304", "transfer=65536", "target=t")
        output = native.verified(
            built, place, tmp_path, *words, effort=("--samples", "4", "--storage", f"t={tmp_path}/w")
        )
        for values in (sample["values"] for sample in output.of("sample")):
            assert ("from_device" in values) == confirmed
            assert not confirmed or (values["from_device"][0] >= 99 and values["resident"][2] < 1)


def test_a_file_system_in_memory_has_no_cold_reads(tmp_path: Path) -> None:
    if on_a_device(Path("/dev/shm")):
        pytest.skip("/dev/shm is not in memory")
    done = run(program(), Path("/dev/shm"), "operation=read", *WORDS)
    assert done.returncode == 2
    assert "page cache, which could not be emptied: target t keeps files in memory" in done.stderr
    assert "/dev/shm" not in done.stderr


# --- planted faults -------------------------------------------------------------------------------


LAST = SIZE // TRANSFER - 1
"""The number of the last block."""
PLANTED = {
    "hole": ("drop", "write", range(LAST)),
    "lost end": ("drop", "write", [LAST]),
    "stale block": ("drop", "rewrite", range(LAST + 1)),
    "shifted block": ("shift", "rewrite", range(LAST + 1)),
    "short write": ("half", "write", range(LAST + 1)),
    "file before a read": ("drop", "read", range(LAST + 1)),
}
"""The action of the preloaded library, the operation, and the blocks that it may concern."""


@pytest.mark.parametrize("tries", [2, pytest.param(100, marks=pytest.mark.full)])
@pytest.mark.parametrize("planted", PLANTED)
def test_planted_faults_are_found_each_time(planted: str, tries: int, faults: Path, tmp_path: Path) -> None:
    fault, operation, blocks = PLANTED[planted]
    drawn = random.Random(planted)
    if operation == "read" and not on_a_device(tmp_path):
        operation = "cached_read"
    for _ in range(tries):
        at = TRANSFER * drawn.choice(blocks)
        preload = {"LD_PRELOAD": str(faults), "FAULT": fault, "FAULT_AT": str(at)}
        done = run(program(), tmp_path, f"operation={operation}", *WORDS, environment=preload)
        assert done.returncode == 1, (at, done.stderr)
        assert any(not check["ok"] for check in lines(done, "check"))


@pytest.mark.parametrize("operation", ["write", "cached_read"])
@pytest.mark.parametrize("fault", ["short", "interrupt"])
def test_short_and_interrupted_transfers_go_on(fault: str, operation: str, faults: Path, tmp_path: Path) -> None:
    preload = {"LD_PRELOAD": str(faults), "FAULT": fault, "FAULT_AT": str(TRANSFER)}
    done = run(program(), tmp_path, f"operation={operation}", *WORDS, environment=preload)
    assert done.returncode == 0, done.stderr
    assert all(check["ok"] for check in lines(done, "check"))


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.ESTALE])
@pytest.mark.parametrize(
    ("workload", "words", "at", "call"),
    [
        ("file_io", ("operation=write", *WORDS), TRANSFER, "write"),
        ("checkpoint", ("n=32",), 4096, "state/field.0.0.piece.part cannot be written"),
    ],
)
def test_failures_of_the_target_end_the_launch_with_the_reason(
    workload: str, words: tuple[str, ...], at: int, call: str, error: int, faults: Path, tmp_path: Path
) -> None:
    preload = {"LD_PRELOAD": str(faults), "FAULT": str(error), "FAULT_AT": str(at)}
    built = program(workload=workload)
    done = run(built, tmp_path, *words, environment=preload)
    assert done.returncode == 3
    assert f"target t: {call}: {os.strerror(error)}" in done.stderr
    assert str(tmp_path) not in done.stderr.replace(str(built.executable), "")
    assert not lines(done, "end")


# --- a user's file system -------------------------------------------------------------------------


@pytest.mark.parametrize(("options", "why"), [("size=64m", "must leave 1 GiB"), ("ro", "mounted read-only")])
def test_a_full_or_read_only_file_system_is_refused(options: str, why: str, tmp_path: Path) -> None:
    script = f'mount -t tmpfs -o {options} tmpfs "$0" && exec "$@"'
    wrapped = ("unshare", "-rm", "sh", "-c", script, str(tmp_path))
    if subprocess.run([*wrapped, "true"], capture_output=True).returncode != 0:
        pytest.skip("mounts in a namespace of one's own are not permitted here")
    done = run(program(), tmp_path, "operation=write", "size=1048576", *WORDS[1:], wrapped=wrapped)
    assert done.returncode == 2
    assert why in done.stderr


def test_more_files_than_a_tenth_of_those_possible_are_refused(tmp_path: Path) -> None:
    script = 'mount -t tmpfs -o size=2g,nr_inodes=100 tmpfs "$0" && exec "$@"'
    wrapped = ("unshare", "-rm", "sh", "-c", script, str(tmp_path))
    if subprocess.run([*wrapped, "true"], capture_output=True).returncode != 0:
        pytest.skip("mounts in a namespace of one's own are not permitted here")
    done = run(program(workload="metadata"), tmp_path, "files=50", wrapped=wrapped)
    assert done.returncode == 2
    assert "53 files are needed, but" in done.stderr and "at most 10 %" in done.stderr


def test_a_target_without_a_folder_is_described_but_not_used() -> None:
    described = native.direct(program(), "--describe", "target=scratch", "operation=read")
    assert described.returncode == 0, described.stderr
    done = native.direct(program(), "target=scratch", "operation=write")
    assert done.returncode == 2
    assert "the folder of the target scratch is unknown; set it with --storage scratch=DIR" in done.stderr


@pytest.mark.parametrize("what", ["link", "open"])
def test_neither_links_nor_open_folders_are_used(what: str, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    if what == "link":
        (tmp_path / "work").symlink_to(tmp_path / "elsewhere")
    else:
        (tmp_path / "work").mkdir()
        (tmp_path / "work").chmod(0o755)
    done = run(program(), tmp_path, "operation=write", *WORDS)
    assert done.returncode == 3
    assert "target t: cannot create a folder" in done.stderr
    assert not list((tmp_path / "elsewhere").iterdir())


def test_nothing_is_left_by_programs_that_end_by_themselves(tmp_path: Path) -> None:
    for built in (program(), program(workload="metadata"), program(workload="checkpoint")):
        assert run(built, tmp_path, "--samples", "2", "--steps", "1").returncode == 0
        assert not list(tmp_path.iterdir())


def test_nothing_is_left_by_a_launch_that_is_killed_for_its_time(tmp_path: Path) -> None:
    place = tmp_path / "target"
    place.mkdir()
    words = (
        "target=t",
        "operation=sync",
        "size=8388608",
        "transfer=4096",
        "--samples",
        "1000",
        "--case-seconds",
        "1000",
    )
    cell = Cell("test", program().program, Placement(), words)
    executable = program().executable
    assert executable is not None
    ready = command(
        cell, executable, native.toolbox(), output=tmp_path / "o", machine=native.here, storage={"t": place}
    )
    outcome = launch(ready, 1.0, f"test-{tmp_path.name}")
    assert "timed out" in outcome.reason
    assert not list(place.iterdir())


LAUNCHES = """
import sys
from pathlib import Path
import msgspec
from firstlight.execute.launch import command, launch
from firstlight.model.plan import Cell, Placement, Program
from firstlight.system.machine import Machine
from firstlight.toolchain import Toolbox

place, executable = Path(sys.argv[1]), Path(sys.argv[2])
machine = msgspec.json.decode(Path(sys.argv[3]).read_bytes(), type=Machine)
words = ("target=t", "operation=sync", "size=8388608", "transfer=4096", "--samples", "1000", "--case-seconds", "1000")
cell = Cell("test", Program("file_io", "serial", "gcc-base"), Placement(), words)
output = place.parent / "record"
tools = Toolbox((), (), (), ())
ready = command(cell, executable, tools, output=output, machine=machine, storage={"t": place})
launch(ready, 100, "x")
"""


def test_nothing_is_left_where_firstlight_is_killed(tmp_path: Path) -> None:
    place = tmp_path / "target"
    place.mkdir()
    (tmp_path / "machine").write_bytes(msgspec.json.encode(native.here))
    argv = [sys.executable, "-P", "-c", LAUNCHES, str(place), str(program().executable), str(tmp_path / "machine")]
    child = subprocess.Popen(argv, env={**os.environ, "PYTHONPATH": str(ROOT / "src")})
    deadline = time.monotonic() + 60
    while not list(place.rglob("data.*")) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert list(place.rglob("data.*"))
    child.send_signal(signal.SIGKILL)
    child.wait()
    while list(place.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not list(place.iterdir())

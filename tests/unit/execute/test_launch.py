"""Launch: how a program ends, what remains of its output, and the sentence that reports it."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from firstlight.execute.launch import command, flaw, launch, supervise
from firstlight.system.process import tree
from launch_samples import MACHINE, NO_TOOLS, Make, cell, library, run


def test_a_program_that_ends_well_is_ok(program: Make, tmp_path: Path) -> None:
    outcome = run(program("record()"), tmp_path)
    assert (outcome.ok, outcome.status, outcome.reason) == (True, 0, "")
    assert outcome.seconds > 0
    assert outcome.command[1:] == ("n=100", "--output", str(tmp_path / "record.jsonl"))


def test_a_failed_verification_is_a_complete_launch(program: Make, tmp_path: Path) -> None:
    outcome = run(program("record(ok=False)"), tmp_path)
    assert (outcome.ok, outcome.status, outcome.reason) == (True, 1, "")


@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        ("record(end=False)", 0, "ended with status 0 and an incomplete record: no message"),
        ("pass", 0, "ended with status 0 and no record: no message"),
        ("record(); open(output(), 'a').write('{')", 0, "ended with status 0 and an incomplete record: no message"),
        ("record(); line(type='sample')", 0, "ended with status 0 and an incomplete record: no message"),
        ("record(); sys.exit('n must be positive')", 1, ""),
        ("print('n must be positive', file=sys.stderr); sys.exit(2)", 2, "rejected its arguments (status 2): n must be positive"),  # noqa: E501
        ("print(sys.argv[0] + ': it needs pairs\\nExit code: 2', file=sys.stderr); sys.exit(2)", 2, "rejected its arguments (status 2): it needs pairs"),  # noqa: E501
        ("print('no memory', file=sys.stderr); sys.exit(3)", 3, "could not run here (status 3): no memory"),
        ("sys.exit(77)", 77, "ended by itself (status 77): no message"),
        ("record(); os.abort()", -6, "program aborted: signal 6 (SIGABRT)"),
        ("record(); os.kill(os.getpid(), 11)", -11, "program aborted: signal 11 (SIGSEGV)"),
    ],
)  # fmt: skip
def test_the_reason_says_how_it_ended(program: Make, tmp_path: Path, body: str, status: int, reason: str) -> None:
    outcome = run(program(body), tmp_path)
    assert (outcome.status, outcome.reason, outcome.ok) == (status, reason, reason == "")


def test_a_program_does_not_start_in_the_current_folder(
    program: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Libraries below MPI read configuration files of the current folder: UCX reads `ucx.conf`."""
    monkeypatch.chdir(tmp_path)
    assert run(program("record(); sys.stderr.write(os.getcwd())"), tmp_path).stderr == "/"


def test_what_cannot_be_started_is_a_lost_launch(tmp_path: Path) -> None:
    outcome = run(tmp_path / "nothing", tmp_path)
    assert not outcome.ok
    assert outcome.reason == f"cannot start {tmp_path / 'nothing'}: No such file or directory"
    with pytest.raises(FileNotFoundError):
        supervise.run([str(tmp_path / "nothing")], {}, identity="nothing", timeout=1)


def test_a_program_on_a_file_system_without_programs_tells_why(
    program: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    executable = program("record()")
    executable.chmod(0o644)
    assert run(executable, tmp_path).reason == f"cannot start {executable}: Permission denied"
    monkeypatch.setattr("firstlight.execute.launch.starts_nothing", lambda place: place == executable)
    assert run(executable, tmp_path).reason.endswith(
        "; the file system is mounted noexec: set FIRSTLIGHT_CACHE to a folder on another file system"
    )


@pytest.mark.parametrize(
    ("free", "shown"), [(1 << 20, "1 MiB"), ((32 << 20) - 1, "32.0 MiB"), (32 << 20, ""), (None, "")]
)
def test_a_rank_that_ends_where_shared_memory_is_small_names_it(
    free: int | None, shown: str, program: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two ranks need 32 MiB; a container often has less."""
    monkeypatch.setattr("firstlight.execute.launch.shared_memory", lambda: free)
    mpi = replace(library("mpich"), launcher=str(program("sys.exit('no room')")))
    tools = replace(NO_TOOLS, mpis=(mpi,))
    ready = command(cell("mpich", 2), Path("/bin/true"), tools, output=tmp_path / "record.jsonl", machine=MACHINE)
    reason = launch(ready, 20, f"test-{os.getpid()}-{tmp_path.name}").reason
    small = f"; /dev/shm has only {shown} free, and ranks on a node share memory in it"
    assert "no room" in reason and reason.endswith(small) == bool(shown) and ("/dev/shm" in reason) == bool(shown)


REFUSED = """
import ctypes, platform, struct, sys
number = {"x86_64": 203, "aarch64": 122}[platform.machine()]
rules = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7FFF0000)]  # EPERM
packed = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *rule) for rule in rules))
program = struct.pack("HxxxxxxQ", len(rules), ctypes.addressof(packed))
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, program, 0, 0):
    sys.exit(77)
from firstlight.execute.launch import supervise
ended = supervise.run(["/bin/echo", "it runs"], {}, identity=sys.argv[1], timeout=20, cpu=0)
print(ended.status, ended.stdout, ended.stderr)
"""


@pytest.mark.skipif(platform.machine() not in ("x86_64", "aarch64"), reason="the filter of system calls has no number")
def test_where_the_system_refuses_to_pin_programs_they_run_and_the_record_tells(tmp_path: Path) -> None:
    """Simulate a container whose filter of system calls excludes that call."""
    words = [sys.executable, "-I", "-c", REFUSED, f"test-{os.getpid()}-{tmp_path.name}"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode == 77:
        pytest.skip("this system takes no filter of system calls")
    assert done.returncode == 0, done.stderr
    assert "0 b'it runs\\n'" in done.stdout
    assert "firstlight: not pinned to its CPUs (sched_setaffinity: Operation not permitted)" in done.stdout


def test_a_flood_of_output_never_blocks_and_only_its_tail_is_kept(program: Make, tmp_path: Path) -> None:
    flood = "sys.stderr.write('x' * 3_000_000 + 'the end'); sys.stdout.write('y' * 3_000_000); record()"
    outcome = run(program(flood), tmp_path)
    assert outcome.ok
    assert len(outcome.stderr) == supervise.TAIL and outcome.stderr.endswith("xthe end")
    assert outcome.stdout == "y" * supervise.TAIL


def test_a_program_that_writes_without_end_is_timed_out(program: Make, tmp_path: Path) -> None:
    outcome = run(program("while True: sys.stderr.write('x' * 65536)"), tmp_path, timeout=0.5)
    assert (outcome.status, outcome.reason) == (None, "timed out after 0.5 s and was killed")


def test_the_host_name_and_control_characters_do_not_reach_the_record(program: Make, tmp_path: Path) -> None:
    node = os.uname().nodename
    body = f"print('rank 0 on {node} printed \\x1b[31m\\xff', file=sys.stderr); record()"
    stderr = run(program(body), tmp_path).stderr
    assert stderr == f"rank 0 on {MACHINE.name} printed  [31mÿ\n" or node in MACHINE.name
    assert "\x1b" not in stderr


def test_one_thread_is_pinned_to_one_core_and_more_are_not(program: Make, tmp_path: Path) -> None:
    mine = sorted(os.sched_getaffinity(0))
    show = program("record(); print(cpus())")
    assert len(json.loads(run(show, tmp_path).stdout)) == 1
    assert json.loads(run(show, tmp_path, threads=2).stdout) == mine
    assert sorted(os.sched_getaffinity(0)) == mine


@given(st.binary(max_size=200))
def test_a_record_is_known_by_its_last_line_whatever_comes_before(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = tmp_path_factory.mktemp("any") / "record"
    path.write_bytes(data)
    assert flaw(path) == "an incomplete record"
    path.write_bytes(data + b'\n{"type":"end","cases":1}\n')
    assert flaw(path) == ""
    assert flaw(path.with_name("nothing")) == "no record"


@pytest.mark.parametrize(
    ("replace", "flaw"),
    [
        ("os.unlink(output())", "no record"),
        ("os.unlink(output()); os.mkfifo(output())", "a named pipe instead of its record"),
        ("os.unlink(output()); os.mkdir(output())", "a directory instead of its record"),
        ("os.rename(output(), output() + '2'); os.symlink(output() + '2', output())", "a symbolic link instead of its record"),  # noqa: E501
        ("os.unlink(output()); os.symlink('/dev/zero', output())", "a symbolic link instead of its record"),
        ("os.unlink(output()); import socket; socket.socket(socket.AF_UNIX).bind(os.path.relpath(output()))", "a socket instead of its record"),  # noqa: E501
    ],
)  # fmt: skip
def test_what_a_program_puts_in_place_of_its_record_is_told_at_once(
    program: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, replace: str, flaw: str
) -> None:
    monkeypatch.chdir(tmp_path)  # the address of a socket is short
    outcome = run(program(f"record(); {replace}"), tmp_path)
    assert (outcome.ok, outcome.reason) == (False, f"ended with status 0 and {flaw}: no message")


def test_the_names_of_other_nodes_do_not_reach_the_record(
    in_slurm: None, program: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("launch_samples.MACHINE", replace(MACHINE, nodes=2, batch="slurm"))
    stderr = run(program("print('lost node2, not node21', file=sys.stderr); record()"), tmp_path).stderr
    assert stderr == f"lost {MACHINE.name}, not node21\n"


def test_the_process_table_reads_this_process() -> None:
    me = tree.table()[os.getpid()]
    assert me == tree.read(os.getpid())
    assert me.parent == os.getppid() and me.session == os.getsid(0) and me.state == "R"
    assert tree.read(2**22 + 1) is None
    assert sys.executable

"""The harness: its command line, its record, and what it does when something is in the way."""

from __future__ import annotations

import os
import subprocess
from functools import cache
from pathlib import Path

import msgspec
import psutil
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import changes
import drivers
import native
import own
import turns
from firstlight import ROOT
from firstlight.execute.build import Built
from firstlight.model.plan import Program

pytestmark = pytest.mark.native


@cache
def program(variant: str, flag_set: str = "base") -> Built:
    return native.plain("dot", variant, flag_set)


@pytest.fixture(scope="module")
def serial() -> Built:
    return program("serial")


@pytest.mark.parametrize(
    "words",
    [
        ["n=0"],
        ["n=-5"],
        ["n=1.5"],
        ["n=many"],
        ["n="],
        ["n=1e99"],
        ["length=10"],
        ["nonsense"],
        ["--samples"],
        ["--samples", "1"],
        ["--sample-seconds", "0"],
        ["--steps", "0"],
        ["--seed", "0"],
        ["--no-check", "1"],
        ["--threads", "2"],
    ],
)
def test_bad_words_get_one_line_and_status_2(serial: Built, words: list[str]) -> None:
    done = native.direct(serial, *words)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1 and done.stdout == ""


def test_a_sweep_runs_inside_one_launch(serial: Built) -> None:
    done = native.direct(serial, "n=10,1e2,1000", "--samples", "3", "--sample-seconds", "1e-4")
    lines = [msgspec.json.decode(line) for line in done.stdout.splitlines()]
    assert [c["parameters"]["n"] for c in lines if c["type"] == "case"] == [10, 100, 1000]
    assert [s["sample"] for s in lines if s["type"] == "sample"] == [0, 1, 2] * 3
    assert lines[-1] == {"type": "end", "cases": 3}


def test_verification_cannot_be_switched_off(serial: Built) -> None:
    done = native.direct(serial, "n=10", "--samples", "2", "--sample-seconds", "1e-5")
    assert done.stdout.count('"type":"check"') == 3


def _mixed(index: int) -> int:
    """splitmix64, as the harness fills arrays with."""
    z = (index + 1) * 0x9E3779B97F4A7C15 % 2**64
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
    return z ^ z >> 31


@pytest.mark.parametrize("n", [1, 100, 4096, 10_001])
def test_the_scalar_product_is_held_against_the_exact_sum(serial: Built, n: int) -> None:
    def value(index: int) -> int:
        bits = _mixed(index)
        return ((bits & 0xFF) + 1) * (-1 if bits & 0x100 else 1)

    done = native.direct(serial, f"n={n}", "--samples", "2", "--sample-seconds", "1e-5", "--seed", "12")
    lines = [msgspec.json.decode(line) for line in done.stdout.splitlines()]
    first = next(line for line in lines if line["type"] == "check")
    changed_at, last = changes.followed(lines[0]["seed"], n - 1, 1, 1)  # the first check follows one step
    exact = value(2 * n - 2) * (1 + last)
    for i, iteration in enumerate(changed_at.tolist()):
        x, y = value(2 * i), value(2 * i + 1)
        changed = (1 + iteration) * (y if i % 2 else x)
        exact += x * y if iteration < 0 else changed
    assert lines[0]["seed"] == 12
    assert first["when"] == "before" and first["ok"]
    assert float(first["what"].rpartition("should be ")[2]) == exact


def test_each_launch_draws_where_inputs_change(serial: Built) -> None:
    words = ("n=10", "--samples", "2", "--sample-seconds", "1e-5")
    drawn = {msgspec.json.decode(native.direct(serial, *words).stdout.splitlines()[0])["seed"] for _ in range(4)}
    assert len(drawn) > 1 and all(1 <= seed <= 1_000_000 for seed in drawn)


def test_kahan_is_broken_by_fast_flags_and_only_by_them() -> None:
    words = ["n=100,1000,10000", "--samples", "2", "--sample-seconds", "1e-4"]
    assert native.direct(program("kahan", "native"), *words).returncode == 0
    assert native.direct(program("kahan", "fast"), *words).returncode == 1


def test_a_full_disk_is_told_and_is_status_3(serial: Built) -> None:
    done = native.direct(serial, "n=10", "--output", "/dev/full")
    assert done.returncode == 3
    assert "cannot write the record /dev/full: No space left on device" in done.stderr


def test_an_output_that_cannot_be_opened_is_status_3(serial: Built, tmp_path: Path) -> None:
    done = native.direct(serial, "n=10", "--output", str(tmp_path / "no" / "such" / "folder"))
    assert done.returncode == 3 and "No such file" in done.stderr


def test_more_memory_than_there_is_is_status_3(serial: Built) -> None:
    done = subprocess.run(
        ["sh", "-c", 'ulimit -v 2000000; exec "$0" n=2e8', str(serial.executable)], capture_output=True, text=True
    )
    assert done.returncode == 3 and "out of memory" in done.stderr


def test_a_program_dies_with_its_parent(serial: Built, tmp_path: Path) -> None:
    """The parent is killed with no chance to clean up; the rank must not go on."""
    script = (
        f'FIRSTLIGHT_LAUNCH=x "{serial.executable}" n=1e6 --samples 1000000 --output {tmp_path}/out & echo $!; wait'
    )
    with subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        while not (tmp_path / "out").exists():
            os.sched_yield()
        parent.kill()
        parent.wait()
    for _ in range(5000):
        if not Path(f"/proc/{child}").exists() or "Z" in Path(f"/proc/{child}/stat").read_text().split()[2]:
            return
        os.sched_yield()
        subprocess.run(["sleep", "0.001"])
    pytest.fail("the rank outlived its parent")


@pytest.mark.parametrize(
    ("left", "threads", "granted"),
    [
        ({"OMP_THREAD_LIMIT": "1"}, 2, 1),
        ({"OMP_THREAD_LIMIT": "1"}, 4, 1),
        ({"OMP_THREAD_LIMIT": "3"}, 4, 3),
        ({"OMP_THREAD_LIMIT": "2", "OMP_DYNAMIC": "true"}, 8, None),  # the runtime chooses, 2 at most
    ],
)
def test_a_team_smaller_than_told_is_refused(left: dict[str, str], threads: int, granted: int | None) -> None:
    executable = program("omp").executable
    assert executable is not None
    words = [str(executable), "n=100", "--threads", str(threads), "--samples", "2", "--sample-seconds", "1e-5"]
    done = subprocess.run(words, env=os.environ | left, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and done.stdout == "" and len(done.stderr.splitlines()) == 1
    assert f"OpenMP provides only {granted or ''}" in done.stderr and f" of {threads} threads" in done.stderr
    assert "unset OMP_THREAD_LIMIT" in done.stderr


@pytest.mark.parametrize("steps", ["1", "2"])
@pytest.mark.parametrize("samples", ["2", "3", "6"])
def test_a_case_that_is_out_of_time_is_right_whichever_step_was_checked(
    samples: str, steps: str, serial: Built
) -> None:
    for seed in range(1, 13):
        words = ["n=100", "--samples", samples, "--steps", steps, "--case-seconds", "1e-9", "--seed", str(seed)]
        done = native.direct(serial, *words)
        assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("words", ["op=copy n=5000000", "op=triad n=3000000", "op=load n=9000000"])
def test_steps_that_keep_what_did_not_change_are_found_where_a_case_is_checked_once(words: str) -> None:
    """The variant computes everything if it finds poison; arrays are too large for a check before timing."""
    for steps in ("2", "3", "7"):
        done = native.direct(
            native.plain("stream", "broken_changed_only"), *words.split(), "--samples", "2", "--steps", steps
        )
        checks = [line for line in map(msgspec.json.decode, done.stdout.splitlines()) if line["type"] == "check"]
        assert (done.returncode, [c["when"] for c in checks]) == (1, ["after"])


def team_of(built: Built, threads: int, waiting: str, *words: str) -> tuple[int, str]:
    """Return the status and the message of the last check; `waiting`: OMP_WAIT_POLICY, "" if it is not set."""
    assert built.executable is not None, built.error
    policy = {"OMP_WAIT_POLICY": waiting} if waiting else {}
    inherited = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
    command = [str(built.executable), *words, "--threads", str(threads), "--samples", "2"]
    done = subprocess.run(command, env=inherited | policy, capture_output=True, text=True, timeout=turns.PATIENCE)
    checks = [line for line in map(msgspec.json.decode, done.stdout.splitlines()) if line["type"] == "check"]
    return done.returncode, checks[-1]["what"]


@pytest.mark.parametrize("threads", [2, 5])
@pytest.mark.parametrize(
    ("compiler", "waiting"), [("gcc", ""), ("gcc", "passive"), ("gcc", "active"), ("clang", ""), ("clang", "passive")]
)
def test_threads_that_only_wait_take_no_part(compiler: str, waiting: str, threads: int) -> None:
    """Threads of the harness's own region would spin: GNU's as long as the policy is active, LLVM's for 200 ms."""
    tool = native.toolchain("base", compiler, brief=True)
    if tool is None:
        pytest.skip(f"no {compiler} here")
    program = Program("dot", "broken_omp_one_thread", tool.name)
    built = native.make([program])[program]
    found = team_of(built, threads, waiting, "n=1000", "--sample-seconds", "1e-4")
    assert found == (1, f"1 of {threads} threads took part")


@pytest.mark.parametrize("waiting", ["", "passive"])
@pytest.mark.parametrize("threads", [2, 3, 4, 8])
def test_a_team_before_a_smaller_one_took_part(threads: int, waiting: str) -> None:
    """The threads that ended with the last region no longer have a clock."""
    status, what = team_of(own.program("relaxed", "omp_uneven"), threads, waiting, "n=64", "--steps", "8")
    assert status == 0, what


def test_the_clock_of_a_process_has_what_its_other_threads_used_until_now() -> None:
    """The kernel adds it at its next tick: short samples of several threads looked disturbed."""
    if len(native.here.cpus) < 2:
        pytest.skip("one CPU here: no other thread runs while this one reads the clock")
    harness = ROOT / "native/harness"
    sources = [Path(__file__).with_name("process_clock.cpp"), harness / "src/participants.cpp"]
    flags = ("-O1", "-pthread", "-Wno-psabi", f"-I{harness}/include", f"-I{harness}/src")
    assert subprocess.run([drivers.program("process_clock", sources, *flags)]).returncode == 0


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sizes=st.lists(st.integers(1, 700), min_size=1, max_size=6))
@pytest.mark.parametrize("variant", ["unrolled_16", "simd", "omp"])
def test_every_length_is_summed_to_its_last_element(variant: str, sizes: list[int]) -> None:
    listed = ",".join(map(str, sizes))
    done = native.direct(program(variant, "native"), f"n={listed}", "--samples", "2", "--sample-seconds", "1e-6")
    assert done.returncode == 0, done.stdout


def test_the_binding_is_that_of_all_threads(tmp_path: Path) -> None:
    """OpenMP binds the first thread to a place of its own before main() begins: that is not all that a process has."""
    if len(native.here.cpus) < 2:
        pytest.skip("one CPU here")
    output = native.run(program("omp"), native.Placement(threads=2), ("n=100",), tmp_path)
    assert len(output.of("launch")[0]["binding"][0]["cpus"]) >= 2


def test_values_for_which_a_node_has_too_little_memory_are_refused() -> None:
    """A program that begins with more is ended by the system, and others with it."""
    if psutil.virtual_memory().total > 256 << 30:
        pytest.skip("this machine has memory for the largest vectors of dot")
    done = native.direct(native.plain("dot", "serial"), "n=17179869184")
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
    assert "these values need 256.0 GiB of memory on each node, but this node allows only" in done.stderr


@pytest.mark.parametrize("line", ["0::", ":memory:"])
@pytest.mark.parametrize("limited", [False, True])
def test_the_limit_of_a_control_group_counts(line: str, limited: bool, tmp_path: Path) -> None:
    """In version 2 and 1 of control groups: the largest number and the word `max` are not limits."""
    if not any(line in group for group in Path("/proc/self/cgroup").read_text().splitlines()):
        pytest.skip(f"this process is in no control group of the kind {line}")
    version2, file = line == "0::", tmp_path / ("memory.max" if line == "0::" else "memory/memory.limit_in_bytes")
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"{2**20 if limited else 'max' if version2 else 2**63 - 4096}\n")
    executable = native.plain("dot", "serial").executable
    namespaces = "-m" if os.geteuid() == 0 else "-rm"  # in a namespace of users root cannot open folders of other users
    mounted = ["unshare", namespaces, "sh", "-c", 'mount --bind "$0" /sys/fs/cgroup && exec "$@"', str(tmp_path)]
    if subprocess.run([*mounted, "true"], capture_output=True).returncode:
        pytest.skip("this system does not let users mount in a namespace of their own")
    call = [*mounted, str(executable), f"n={2**20}", "--samples", "2", "--sample-seconds", "1e-6"]
    done = subprocess.run(call, capture_output=True, text=True)
    assert done.returncode == (2 if limited else 0), done.stderr
    assert ("of memory on each node, but this node allows only 0.0 GiB" in done.stderr) == limited

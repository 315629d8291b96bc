"""For each absence the doctor names a fix, a healthy machine can start a run, and the text fits its width."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import turns
from firstlight.commands.doctor import diagnosis as doctor
from firstlight.commands.doctor.diagnosis import Diagnosis, Item
from firstlight.system.machine import Arithmetic, Hardware, Link
from firstlight.toolchain import Absent, Library, Linking, Mpi, Toolbox, Toolchain


def script(path: Path, body: str) -> str:
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return str(path)


def library(folder: Path, compiler: str, launcher: str) -> Mpi:
    """Return an MPI whose wrapper and launcher are these shell lines."""
    cxx, mpiexec = script(folder / "mpicxx", compiler), script(folder / "mpiexec", launcher)
    return Mpi("mpich", "mpich", "MPICH 9", "9", "system", cxx, None, (), mpiexec, {"MARK": "set"})


GCC = Toolchain("gcc-base", "gcc", "base", "12.2.0", "/usr/bin/g++", ("-O2",), ("-fopenmp",), "/usr/bin/gfortran", "12")
BLAS = Library("openblas", "OpenBLAS 0.3", (), ("-l:libopenblas.so",))
FULL = Toolbox((GCC,), (), (BLAS,), (Absent("MKL", "not here", "install it"),))
EMPTY = Toolbox((), (), (), (Absent("gcc", "no g++", "apt install g++"),))


def test_a_machine_that_can_run_is_healthy(machine, tmp_path, monkeypatch):
    for tool in ("cmake", "ninja"):
        script(tmp_path / tool, "exit 0")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setattr(doctor, "ROOM", 0)
    diagnosis = doctor.diagnose(machine, FULL, cache_dir=tmp_path / "cache")
    assert diagnosis.healthy
    assert {"gcc 12.2.0", "OpenBLAS 0.3", "cache directory", "disk space", "cmake", "ninja"} <= {
        item.what for item in diagnosis.present
    }
    assert "MKL" in {gap.what for gap in diagnosis.absent}
    assert doctor.text(diagnosis).endswith("ready: ./fl run")


def test_without_a_compiler_nothing_is_ready(machine, tmp_path):
    diagnosis = doctor.diagnose(machine, EMPTY, cache_dir=tmp_path)
    gap = next(gap for gap in diagnosis.absent if gap.what == "a C++ compiler")
    assert gap.fix == "apt install g++" and not diagnosis.healthy
    assert "not ready" in doctor.text(diagnosis)


def test_a_cache_that_cannot_be_written_is_named(machine, tmp_path):
    (tmp_path / "file").write_text("")
    diagnosis = doctor.diagnose(machine, FULL, cache_dir=tmp_path / "file" / "cache")
    gap = next(gap for gap in diagnosis.absent if gap.what == "cache directory")
    assert "FIRSTLIGHT_CACHE" in gap.fix and not diagnosis.healthy


MOUNTED = """
import sys
from pathlib import Path
from types import SimpleNamespace
from firstlight.commands.doctor import diagnosis as doctor
for answer in (doctor._cache(Path(sys.argv[1])), doctor._temporary(), doctor._shared(SimpleNamespace(cores=2))):
    print(answer.what, "|", answer.why, "|", answer.fix)
"""


def test_file_systems_that_start_nothing_or_are_too_small_are_named(tmp_path):
    script = (
        'mount -t tmpfs -o size=1m none /dev/shm && mount -t tmpfs -o noexec,size=1m none "$0" && TMPDIR=$0 exec "$@"'
    )
    mounted = ["unshare", "--mount", "sh", "-c"]
    if subprocess.run([*mounted[:2], "true"], capture_output=True).returncode != 0:
        pytest.skip("mounting a file system needs root")
    words = [*mounted, script, tmp_path, sys.executable, "-I", "-c", MOUNTED, tmp_path]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    cache, temporary, shared = done.stdout.splitlines()
    assert (
        cache.startswith(f"cache directory | no program in {tmp_path} can be started: ") and "FIRSTLIGHT_CACHE" in cache
    )
    assert (
        temporary.startswith(f"temporary folder | no program in {tmp_path} can be started: ") and "TMPDIR" in temporary
    )
    assert shared.startswith("shared memory | /dev/shm has 1 MiB free; 32 MiB are required") and "--shm-size" in shared


def test_a_system_that_refuses_to_pin_programs_is_named(machine, tmp_path, monkeypatch):
    def refuse(process, cpus):
        raise PermissionError(1, "Operation not permitted")

    assert "pinning" not in {gap.what for gap in doctor.diagnose(machine, FULL, cache_dir=tmp_path).absent}
    monkeypatch.setattr(os, "sched_setaffinity", refuse)
    gap = next(g for g in doctor.diagnose(machine, FULL, cache_dir=tmp_path).absent if g.what == "pinning")
    assert "sched_setaffinity (Operation not permitted)" in gap.why


def test_a_full_disk_is_named(machine, tmp_path, monkeypatch):
    monkeypatch.setattr(doctor, "ROOM", 1 << 62)
    diagnosis = doctor.diagnose(machine, FULL, cache_dir=tmp_path)
    assert "free" in next(gap.why for gap in diagnosis.absent if gap.what == "disk space")
    assert not diagnosis.healthy


def test_missing_tools_are_named(machine, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sysconfig.get_path", lambda _: str(tmp_path))
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    absent = {gap.what: gap for gap in doctor.diagnose(machine, FULL, cache_dir=tmp_path).absent}
    assert (
        absent["ninja"].why == "is not installed" and absent["cmake"].fix == f"{tmp_path}/python -m pip install cmake"
    )


def test_counters_are_here_or_missing_with_the_kernel_s_reason(machine, tmp_path):
    yes = msgspec.structs.replace(machine, counters="hardware counters are available")
    no = msgspec.structs.replace(machine, counters="no hardware counters: perf_event_paranoid is 4")
    assert "counters" in {item.what for item in doctor.diagnose(yes, FULL, cache_dir=tmp_path).present}
    gaps = {gap.what: gap for gap in doctor.diagnose(no, FULL, cache_dir=tmp_path).absent}
    assert "paranoid is 4" in gaps["counters"].why


@pytest.mark.parametrize(
    ("units", "memory", "shown"),
    [
        (Arithmetic("Zen 4", 2, 256, 2), None,
         "2 cores Zen 4, 16 operations of 64 bit per cycle; incomplete: the virtual machine hides the clock frequency; "
         "memory unknown: only root can read it; see docs/site.md"),
        (Arithmetic("Zen 4", 2, 256, 2, clock=3.7e9, clock_of="highest"), 460.8e9,
         "2 cores Zen 4, 16 operations of 64 bit per cycle, 3.70 GHz (the maximum clock): 59.2 Gflop/s per core; "
         "memory 461 GB/s; 2 links InfiniBand 4X HDR, 200 Gbit/s"),
    ],
)  # fmt: skip
def test_nominal_peaks_are_shown(machine, tmp_path, units, memory, shown):
    links = (Link("InfiniBand 4X HDR", 200e9, 2),) if memory else ()
    here = msgspec.structs.replace(machine, virtual="KVM", hardware=Hardware((units,), memory, links))
    items = {item.what: item.detail for item in doctor.diagnose(here, FULL, cache_dir=tmp_path).machine}
    assert items["nominal peak"] == shown


def test_two_ranks_that_talk(machine, tmp_path):
    mpi = library(tmp_path, 'touch "$3"', '[ "$1 $2" = "-n 2" ] && [ -f "$3" ] && [ "$MARK" = set ]')
    assert isinstance(doctor.talk(mpi, tmp_path), Item)
    box = msgspec.structs.replace(FULL, mpis=(mpi,))
    assert "two ranks, MPICH 9" in {
        i.what for i in doctor.diagnose(machine, box, cache_dir=tmp_path, ranks=True).present
    }
    assert "two ranks, MPICH 9" not in {i.what for i in doctor.diagnose(machine, box, cache_dir=tmp_path).present}


@pytest.mark.parametrize(
    ("compiler", "launcher", "message"),
    [
        ("echo 'no mpi.h' >&2; exit 1", "exit 0", "mpicxx: no mpi.h"),
        ("exit 0", "echo 'cannot connect'; exit 7", "mpiexec: cannot connect"),
        ("exit 0", "exit 7", "mpiexec: exit status 7"),
    ],
)
def test_two_ranks_that_do_not(tmp_path, compiler, launcher, message):
    answer = doctor.talk(library(tmp_path, compiler, launcher), tmp_path)
    assert isinstance(answer, Absent) and answer.why == message


def test_libraries_are_compiled_together_and_started_alternately(machine, tmp_path):
    """Each compiler waits for the other one, and a launcher fails while the other one runs."""
    (one := tmp_path / "one").mkdir(), (other := tmp_path / "other").mkdir()

    def met(mine: Path, theirs: Path) -> Mpi:
        compiler = f'touch "{mine}/met"; until [ -e "{theirs}/met" ]; do sleep 0.02; done'
        return library(mine, compiler, f'mkdir "{tmp_path}/runs" && sleep 0.1 && rmdir "{tmp_path}/runs"')

    box = msgspec.structs.replace(FULL, mpis=(met(one, other), met(other, one)))
    diagnosis = doctor.diagnose(machine, box, cache_dir=tmp_path, ranks=True)
    assert [i.what for i in diagnosis.present].count("two ranks, MPICH 9") == 2


def test_ranks_that_hang_are_ended(tmp_path):
    launcher = f'echo $$ > "{tmp_path}/pid"; trap "" TERM; while :; do sleep 0.2; done'
    ranks, pid = library(tmp_path, "exit 0", launcher), tmp_path / "pid"
    answer = turns.cut_short(
        lambda timeout: doctor.talk(ranks, tmp_path, timeout=timeout), lambda _: pid.exists() and pid.read_text()
    )
    assert isinstance(answer, Absent) and re.search(r"no answer within \d+ s", answer.why)
    turns.await_(lambda: not Path(f"/proc/{pid.read_text().strip()}").exists(), "whoever collects what was killed")


@pytest.mark.native
@pytest.mark.full
def test_real_ranks_talk(mpis, tmp_path):
    assert [type(doctor.talk(mpi, tmp_path)) for mpi in mpis] == [Item] * len(mpis)


def test_the_runtimes_of_an_mpi_library_are_told_with_it(machine, tmp_path):
    mpi = msgspec.structs.replace(library(tmp_path, "exit 0", "exit 0"), extras={"shmem": Linking((), (), {})})
    diagnosis = doctor.diagnose(machine, msgspec.structs.replace(FULL, mpis=(mpi,)), cache_dir=tmp_path)
    detail = next(item.detail for item in diagnosis.present if item.what == "MPICH 9")
    assert "OpenSHMEM" in detail and "Co-Array" not in detail


words = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=12)
sentences = st.lists(words, min_size=1, max_size=30).map(" ".join)


@given(
    st.lists(st.builds(Item, sentences, sentences), max_size=4),
    st.lists(st.builds(Absent, sentences, sentences, sentences), max_size=4),
    st.integers(80, 160),
)
def test_no_word_is_lost_and_no_detail_exceeds_the_width(items, gaps, width):
    text = doctor.text(Diagnosis((), tuple(items), tuple(gaps), (), True), width)
    shown = re.sub(r"\s+", "", text)
    for part in (*(i.detail for i in items), *(g.why for g in gaps), *(g.fix for g in gaps)):
        assert part.replace(" ", "") in shown
    names = {i.what for i in items} | {g.what for g in gaps}
    assert all(len(line) <= width for line in text.splitlines() if line.strip() not in names)


def test_a_diagnosis_travels_as_json(machine, tmp_path):
    diagnosis = doctor.diagnose(machine, FULL, cache_dir=tmp_path)
    assert msgspec.json.decode(msgspec.json.encode(diagnosis), type=Diagnosis) == diagnosis


def test_a_library_that_the_batch_system_starts_is_not_tried_by_mpiexec(tmp_path) -> None:
    mpi = Mpi(
        "mpich", "mpich", "MPICH 4", "4", "system", "/none", None, (), "/none", {}, starter=("/x/srun", "--mpi=pmi2")
    )
    item = doctor.talk(mpi, tmp_path)
    assert isinstance(item, doctor.Item) and item.detail.endswith("started by /x/srun --mpi=pmi2")
    here = Toolbox((), (mpi,), (), (), ("Slurm 22.05.8",))
    (slurm,) = [i for i in doctor._found(here) if i.what == "Slurm 22.05.8"]
    assert "MPICH 4 by srun --mpi=pmi2" in slurm.detail

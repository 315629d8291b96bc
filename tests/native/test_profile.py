"""The profiler: what it records of real programs on every MPI library here equals what those programs send, exactly."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec
import pytest

import launches
import schedules
import turns
from commands import Captured, examples
from firstlight import ROOT
from firstlight.execute.recorder import calls
from firstlight.results.traffic import Phase, Traffic
from firstlight.toolchain import Mpi

PROGRAMS = ROOT / "tests/native/profiled"
pytestmark = [pytest.mark.native, pytest.mark.full]
Matrix = dict[tuple[int, int], tuple[int, int]]  # (from, to): (messages, bytes)
Compile = Callable[..., Path]


class Profiled(msgspec.Struct):
    """Describe a command under the profiler: its status, its streams, and the profile if one was written."""

    status: int
    stdout: str
    stderr: str
    traffic: Traffic | None
    folder: Path

    def phase(self, level: int) -> Phase:
        assert self.traffic is not None, self.stderr
        return next(p for p in self.traffic.phases if p.level == level)


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Compile:
    """compiled(mpi, "every.cpp") builds a program of tests/native/profiled once."""
    folder = tmp_path_factory.mktemp("profiled")

    def build(mpi: Mpi, source: str, *flags: str) -> Path:
        path = folder / f"{source}.{mpi.name}"
        if not path.exists():
            wrapper = mpi.cxx if source.endswith(".cpp") else mpi.fortran
            standard = ["-std=c++20"] if source.endswith(".cpp") else []
            words = [str(wrapper), *standard, "-O1", *flags, str(PROGRAMS / source), "-o", str(path)]
            done = subprocess.run(words, capture_output=True, text=True, env=os.environ | mpi.environment, cwd=folder)
            assert done.returncode == 0, done.stderr
        return path

    return build


def launch(mpi: Mpi, ranks: int, *words: str | Path) -> list[str]:
    return [*schedules.launcher(mpi, ranks), *map(str, words)]


def profiled(tmp_path: Path, command: Iterable[str], *options: str, **extra: str) -> Profiled:
    results = tmp_path / "results"
    words = [sys.executable, "-m", "firstlight", "profile", "--results", str(results), *options, "--", *command]
    done = launches.by_hand(words, extra)
    folders = sorted(results.glob("*-profile*"))
    found = [f / "profile.json" for f in folders if (f / "profile.json").exists()]
    traffic = msgspec.json.decode(found[-1].read_bytes(), type=Traffic) if found else None
    return Profiled(done.returncode, done.stdout, done.stderr, traffic, folders[-1] if folders else results)


def matrix(phase: Phase) -> Matrix:
    return {(p.source, p.target): (p.messages, p.bytes) for p in phase.pairs}


def pattern(name: str, ranks: int, messages: int, size: int) -> Matrix:
    """Return the pairs for which a word of tests/native/profiled/every.cpp stands."""
    ring = [(r, (r + 1) % ranks) for r in range(ranks)]
    back = [(b, a) for a, b in ring]
    if name == "swap":
        return dict.fromkeys(ring, (messages, 2 * size)) | dict.fromkeys(back, (messages, size))
    pairs = {
        "none": [],
        "next": ring,
        "back": back,
        "both": ring + back,
        "there and back": ring + back,
        "even": [(r, r + 1) for r in range(0, ranks, 2)],
        "line": [(a, b) for a, b in ring + back if abs(a - b) == 1],
    }[name]
    return dict.fromkeys(pairs, (messages, size))


def test_the_example_works_as_typed(
    mpis: tuple[Mpi, ...], compiled: Compile, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    mpi = mpis[0]
    assert mpi.launcher is not None
    (tmp_path / "app").symlink_to(compiled(mpi, "pingpong.cpp"))
    monkeypatch.chdir(tmp_path)
    for name, value in mpi.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PATH", f"{Path(mpi.launcher).parent}:{os.environ['PATH']}")
    ((_, *words),) = examples("profile", capsys)
    with turns.party(2):
        done = profiled(tmp_path, words[words.index("--") + 1 :], *words[: words.index("--")])
    assert done.status == 0 and done.traffic is not None and done.traffic.ranks == 2, done.stderr


@pytest.mark.parametrize("ranks", [4, 6])
def test_every_call_is_counted_exactly(mpis: tuple[Mpi, ...], compiled: Compile, tmp_path: Path, ranks: int) -> None:
    for mpi in mpis:
        done = profiled(tmp_path / mpi.name, launch(mpi, ranks, compiled(mpi, "every.cpp")))
        assert done.status == 0, done.stderr
        seen = set()
        for line in done.stdout.splitlines():
            level, call, *rest = line.split()
            count, size, *to, messages, each = rest
            phase = done.phase(int(level))
            kind = next(k for k in phase.kinds if k.name == call)
            assert (kind.calls, kind.bytes) == (int(count), int(size)), f"{mpi.label}: {line}"
            assert matrix(phase) == pattern(" ".join(to), ranks, int(messages), int(each)), f"{mpi.label}: {line}"
            assert sum(s.messages for s in phase.sizes) == phase.messages, f"{mpi.label}: {line}"
            assert sum(s.bytes for s in phase.sizes) == phase.bytes, f"{mpi.label}: {line}"
            seen.add(call)
        groups = {"point-to-point", "one-sided", "neighbourhood", "collective"}
        sending = {name for name, group in calls.groups().items() if group in groups}
        older = {n for n in sending if n.endswith("_init") and n not in ("MPI_Send_init", "MPI_Bsend_init")}
        older |= {"MPI_Isendrecv", "MPI_Isendrecv_replace"}
        assert sending - older <= seen, f"{mpi.label}: not tried: {sorted(sending - older - seen)}"
        assert done.traffic is not None and done.traffic.complete and done.traffic.ranks == ranks


def test_ranks_that_share_processors_are_told_first_and_sizes_are_counted(
    mpis: tuple[Mpi, ...], compiled: Compile, tmp_path: Path
) -> None:
    """The report is the same when it is written again from the profile alone."""
    for mpi in mpis:
        ranks = 2 * len(os.sched_getaffinity(0))
        done = profiled(tmp_path / mpi.name, launch(mpi, ranks, compiled(mpi, "every.cpp")))
        assert done.status == 0 and done.traffic is not None, done.stderr
        text = " ".join(done.stderr.split())
        assert f"! {ranks} ranks share {ranks // 2} processor" in text
        assert text.index("ranks share") < text.index("of the recorded time is spent in MPI")
        assert len({r.node for r in done.traffic.times}) == 1 and all(r.processor for r in done.traffic.times)
        page = done.folder / "report.html"
        page.unlink()
        words = [sys.executable, "-m", "firstlight", "report", str(done.folder)]
        again = subprocess.run(words, capture_output=True, text=True, timeout=turns.PATIENCE)
        assert again.returncode == 0, again.stderr
        assert f"! {ranks} ranks share" in " ".join(again.stdout.split()) and page.exists()


# --- the harness: its timed samples are phase 2 ---------------------------------------------------------------------

SAMPLES, STEPS = 2, 7
HALO = ("mpi_sendrecv", "mpi_ordered", "mpi_isend_recv", "mpi_irecv_isend_waitall", "mpi_waitany", "mpi_persistent",
        "mpi_all_at_once", "mpi_put_fence", "mpi_get_fence", "mpi_neighbor", "mpi_neighbor_nonblocking",
        "mpi4_neighbor_persistent", "mpi4_partitioned")  # fmt: skip


def grid(ranks: int) -> tuple[int, int]:
    """Return rows and columns: as square as possible, with at most as many rows as columns."""
    rows = max(r for r in range(1, ranks + 1) if ranks % r == 0 and r * r <= ranks)
    return rows, ranks // rows


def halo(ranks: int, n: int, width: int, word: int, at_once: bool) -> Matrix:
    """Return the messages of one exchange. A dimension of one process is a local copy."""
    rows, columns = grid(ranks)
    found: Matrix = {}
    for rank in range(ranks):
        y, x = divmod(rank, columns)
        side = n if at_once else n + 2 * width
        moves = [(-1, 0, n), (1, 0, n), (0, -1, side), (0, 1, side)]
        if at_once:
            moves += [(a, b, width) for a in (-1, 1) for b in (-1, 1)]
        for dy, dx, length in moves:
            to = (y + dy) % rows * columns + (x + dx) % columns
            if to != rank:
                messages, size = found.get((rank, to), (0, 0))
                found[rank, to] = messages + 1, size + width * length * word
    return found


def times(one: Matrix, often: int) -> Matrix:
    return {pair: (often * messages, often * size) for pair, (messages, size) in one.items()}


def harness(tmp_path: Path, mpi: Mpi, ranks: int, workload: str, variant: str, *words: str) -> Profiled:
    """Build a shipped program and profile it with a fixed number of steps."""
    import native
    from firstlight.model.plan import Program

    tool = native.toolchain("base")
    assert tool is not None
    program = Program(workload, variant, tool.name, mpi.name)
    built = native.make([program])[program]
    assert built.executable is not None, built.error
    fixed = ("--samples", str(SAMPLES), "--steps", str(STEPS), "--output", str(tmp_path / "record.jsonl"))
    done = profiled(tmp_path, launch(mpi, ranks, built.executable, *words, *fixed))
    assert done.status == 0, done.stderr
    return done


@pytest.mark.parametrize("variant", HALO)
def test_the_matrix_of_a_halo_exchange_is_the_analytic_one(mpis: tuple[Mpi, ...], variant: str, tmp_path: Path) -> None:
    """Each variant runs with one library and one grid, alternately; the tests of every call count the calls of each
    library.
    """
    able = [m for m in mpis if m.mpi4 or not variant.startswith("mpi4_")]
    if not able:
        pytest.skip("no MPI library here has the calls of MPI 4")
    turn = HALO.index(variant)
    ranks, n, width = ((4, 16, 1), (6, 8, 2))[turn // 2 % 2]
    done = harness(tmp_path, able[turn % len(able)], ranks, "halo", variant, f"n={n}", f"width={width}")
    expected = times(halo(ranks, n, width, 8, variant == "mpi_all_at_once"), SAMPLES * STEPS)
    assert matrix(done.phase(2)) == expected


def test_derived_datatypes_of_a_halo_exchange_count_what_they_carry(mpis: tuple[Mpi, ...], tmp_path: Path) -> None:
    for mpi in mpis:
        place = tmp_path / mpi.name
        place.mkdir()
        done = harness(place, mpi, 2, "halo", "mpi_sendrecv", "n=16", "width=2", "word=4", "data=datatype")
        assert matrix(done.phase(2)) == times(halo(2, 16, 2, 4, False), SAMPLES * STEPS)


def test_the_matrix_of_the_cube_is_the_analytic_one(mpis: tuple[Mpi, ...], tmp_path: Path) -> None:
    for mpi in mpis:
        place = tmp_path / mpi.name
        place.mkdir()
        done = harness(place, mpi, 4, "vector_sum", "mpi_cube", "n=100")
        cube = {(r, r ^ 2**d): (SAMPLES * STEPS, SAMPLES * STEPS * 800) for r in range(4) for d in range(2)}
        assert matrix(done.phase(2)) == cube


def test_a_collective_is_counted_by_kind_and_names_nobody(mpis: tuple[Mpi, ...], tmp_path: Path) -> None:
    for mpi in mpis:
        place = tmp_path / mpi.name
        place.mkdir()
        done = harness(place, mpi, 3, "vector_sum", "mpi_allreduce", "n=100")
        phase = done.phase(2)
        assert not phase.pairs
        assert [(k.name, k.calls, k.bytes) for k in phase.kinds] == [
            ("MPI_Allreduce", 3 * SAMPLES * STEPS, 3 * SAMPLES * STEPS * 800)
        ]


# --- Fortran, threads, and ends of all kinds --------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["fortran_f08.f90", "fortran_include.f90"])
def test_fortran_programs_are_counted_exactly(
    mpis: tuple[Mpi, ...], compiled: Compile, tmp_path: Path, source: str
) -> None:
    able = [mpi for mpi in mpis if "gcc" in mpi.f08]
    if not able:
        pytest.skip("no MPI library with Fortran for gfortran here")
    for mpi in able:
        program = compiled(mpi, source, "-fallow-argument-mismatch")
        done = profiled(tmp_path / mpi.name, launch(mpi, 4, program))
        assert done.status == 0, done.stderr
        lines = done.stdout.split("\n")[:-1]
        assert len(lines) == 9
        for line in lines:
            level, call, count, size, to, messages, each = line.split()
            phase = done.phase(int(level))
            kind = next(k for k in phase.kinds if k.name == call)
            assert (kind.calls, kind.bytes) == (int(count), int(size)), f"{mpi.label}: {line}"
            assert matrix(phase) == pattern(to, 4, int(messages), int(each)), f"{mpi.label}: {line}"


def test_threads_lose_nothing(mpis: tuple[Mpi, ...], compiled: Compile, tmp_path: Path) -> None:
    for mpi in mpis:
        done = profiled(tmp_path / mpi.name, launch(mpi, 2, compiled(mpi, "ends.cpp", "-pthread"), "threads"))
        if done.status == 77:
            continue  # this library has no MPI_THREAD_MULTIPLE
        assert done.status == 0, done.stderr
        assert matrix(done.phase(1)) == pattern("next", 2, 401, 401 * 24)


@pytest.mark.parametrize(
    ("how", "message"), [("abort", "MPI_Abort"), ("exit", "the process ended without MPI_Finalize")]
)
def test_an_early_end_is_recorded_and_said(
    mpis: tuple[Mpi, ...], compiled: Compile, tmp_path: Path, how: str, message: str
) -> None:
    for mpi in mpis:
        done = profiled(tmp_path / mpi.name, launch(mpi, 3, compiled(mpi, "ends.cpp", "-pthread"), how))
        assert done.traffic is not None, done.stderr
        assert how == "exit" or done.status != 0
        assert not done.traffic.complete
        assert {r.how for r in done.traffic.times} == {message}
        there = {r.rank for r in done.traffic.times}
        assert set(done.traffic.missing) == set(range(3)) - there
        assert matrix(done.phase(1)) == {(r, (r + 1) % 3): (1, 24) for r in there}
        assert "ended early" in done.stderr


def test_a_killed_rank_is_missing_and_the_others_are_there(
    mpis: tuple[Mpi, ...], compiled: Compile, tmp_path: Path
) -> None:
    for mpi in mpis:
        done = profiled(tmp_path / mpi.name, launch(mpi, 3, compiled(mpi, "ends.cpp", "-pthread"), "kill"))
        assert done.status != 0
        assert done.traffic is not None, done.stderr
        assert done.traffic.missing == (1,)
        assert matrix(done.phase(1)) == {(0, 1): (1, 24), (2, 0): (1, 24)}
        assert "no record of 1 rank (1)" in done.stderr


def test_a_child_of_a_rank_writes_nothing(mpis: tuple[Mpi, ...], compiled: Compile, tmp_path: Path) -> None:
    for mpi in mpis:
        done = profiled(tmp_path / mpi.name, launch(mpi, 2, compiled(mpi, "ends.cpp", "-pthread"), "fork"))
        assert done.status == 0, done.stderr
        assert done.traffic is not None and done.traffic.complete
        assert len(list((done.folder / "ranks").iterdir())) == 2


def test_a_communicator_that_is_never_freed_harms_nothing(
    mpis: tuple[Mpi, ...], compiled: Compile, tmp_path: Path
) -> None:
    for mpi in mpis:
        done = profiled(tmp_path / mpi.name, launch(mpi, 3, compiled(mpi, "ends.cpp", "-pthread"), "leave"))
        assert done.status == 0, done.stderr
        turned = {(0, 2): (1, 0), (1, 1): (1, 0)}  # number r there is rank 2 - r
        assert matrix(done.phase(1)) == {(0, 1): (1, 24), (1, 2): (1, 24), (2, 0): (2, 24)} | turned


def test_too_many_phases_are_said(mpis: tuple[Mpi, ...], compiled: Compile, tmp_path: Path) -> None:
    mpi = mpis[0]
    done = profiled(tmp_path, launch(mpi, 2, compiled(mpi, "ends.cpp", "-pthread"), "levels"))
    assert done.traffic is not None and len(done.traffic.phases) == 256
    assert "more than 256 levels" in done.stderr


# --- the command ------------------------------------------------------------------------------------------------------


def test_status_and_streams_pass_through(mpis: tuple[Mpi, ...], compiled: Compile, tmp_path: Path) -> None:
    mpi = mpis[0]
    program = compiled(mpi, "ends.cpp", "-pthread")
    done = profiled(tmp_path / "late", launch(mpi, 2, program, "late"))
    assert done.status == 5
    assert done.traffic is not None and done.traffic.complete and done.traffic.status == 5
    done = profiled(tmp_path / "json", launch(mpi, 2, program), "--json")
    assert msgspec.json.decode(done.stdout, type=Traffic) == done.traffic
    assert (done.folder / "report.html").stat().st_size < 1_500_000
    assert "2 ranks" in done.stderr and str(done.folder / "report.html") in done.stderr
    done = profiled(tmp_path / "own", ["sh", "-c", "echo out; echo err >&2; exit 7"], "--mpi", mpi.name)
    assert (done.status, done.stdout) == (7, "out\n")
    assert "err" in done.stderr and "nothing was recorded" in done.stderr


def test_what_cannot_be_profiled_is_one_clear_line(mpis: tuple[Mpi, ...], compiled: Compile, tmp_path: Path) -> None:
    mpi = mpis[0]
    program = compiled(mpi, "ends.cpp", "-pthread")
    for words, options, status, message in (
        ([], (), 2, "no command to profile"),
        (["true"], (), 2, "cannot detect which MPI library"),
        (["true"], ("--mpi", "nosuch"), 2, "no MPI library named 'nosuch'"),
        (["true"], ("--mpi", mpi.name), 3, "nothing was recorded"),
        (["./nosuch"], ("--mpi", mpi.name), 2, "cannot start ./nosuch"),
        (["sh", "-c", f"{program}; {program}"], ("--mpi", mpi.name), 3, "recorded more than once"),
    ):
        done = profiled(tmp_path, words, *options, **mpi.environment)
        assert (done.status, done.traffic) == (status, None), (words, done.stderr)
        lines = [line for line in done.stderr.splitlines() if line.startswith("firstlight:")]
        assert len(lines) == 1 and message in lines[0], done.stderr


def test_a_folder_that_cannot_be_written_is_said_by_the_ranks(
    mpis: tuple[Mpi, ...], compiled: Compile, tmp_path: Path
) -> None:
    mpi = mpis[0]
    words = launch(mpi, 2, compiled(mpi, "ends.cpp", "-pthread"))
    done = profiled(tmp_path, ["sh", "-c", 'rmdir "$FIRSTLIGHT_PROFILE" && exec "$@"', "sh", *words])
    assert done.status == 3
    assert "rank 1 cannot write its record" in done.stderr


def test_a_library_for_another_mpi_is_refused_by_the_program(
    mpis: tuple[Mpi, ...], compiled: Compile, tmp_path: Path
) -> None:
    found = {m.family: m for m in mpis}
    if not {"openmpi", "mpich"} <= found.keys():
        pytest.skip("needs two MPI libraries")
    for used, named in (("openmpi", "mpich"), ("mpich", "openmpi")):
        words = launch(found[used], 1, compiled(found[used], "ends.cpp", "-pthread"))
        done = profiled(tmp_path, words, "--mpi", named, **found[used].environment)
        assert done.status == 3
        assert "the profiler was built for a different MPI library" in done.stderr


def test_a_cache_with_a_blank_in_its_name(mpis: tuple[Mpi, ...], compiled: Compile, tmp_path: Path) -> None:
    mpi = mpis[-1]
    cache = tmp_path / "a b"
    done = profiled(tmp_path, launch(mpi, 2, compiled(mpi, "ends.cpp", "-pthread")), FIRSTLIGHT_CACHE=str(cache))
    assert done.status == 0, done.stderr
    assert matrix(done.phase(1)) == pattern("next", 2, 1, 24)


def test_a_signal_is_passed_on(mpis: tuple[Mpi, ...], tmp_path: Path) -> None:
    words = [sys.executable, "-m", "firstlight", "profile", "--results", str(tmp_path), "--mpi", mpis[0].name, "--"]
    process = subprocess.Popen([*words, "sh", "-c", "echo ready; exec sleep 60"], stdout=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline() == b"ready\n"
    process.terminate()
    assert process.wait(timeout=turns.PATIENCE) == 128 + signal.SIGTERM
    process.stdout.close()

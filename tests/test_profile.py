"""The profiler: what it records of real programs on every MPI library here equals what those programs send, exactly."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec
import pytest

from firstlight import ROOT
from firstlight.profile import calls
from firstlight.profile.traffic import Phase, Traffic
from firstlight.toolchains import Mpi

PROGRAMS = ROOT / "tests" / "profiled"
pytestmark = pytest.mark.native
Matrix = dict[tuple[int, int], tuple[int, int]]  # (from, to): (messages, bytes)
Compile = Callable[..., Path]


class Profiled(msgspec.Struct):
    """A command under the profiler: its status and streams, and the profile where one was written."""

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
    """compiled(mpi, "every.cpp") builds a program of tests/profiled once."""
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
    many = ["--oversubscribe"] if mpi.family == "openmpi" else []
    return [mpi.launcher, *many, "-n", str(ranks), *map(str, words)]


def profiled(tmp_path: Path, command: Iterable[str], *options: str, **extra: str) -> Profiled:
    results = tmp_path / "results"
    words = [sys.executable, "-m", "firstlight", "profile", "--results", str(results), *options, "--", *command]
    done = subprocess.run(
        words, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL, env={**os.environ, **extra}
    )
    folders = sorted(results.glob("*-profile*"))
    found = [f / "profile.json" for f in folders if (f / "profile.json").exists()]
    traffic = msgspec.json.decode(found[-1].read_bytes(), type=Traffic) if found else None
    return Profiled(done.returncode, done.stdout, done.stderr, traffic, folders[-1] if folders else results)


def matrix(phase: Phase) -> Matrix:
    return {(p.source, p.target): (p.messages, p.bytes) for p in phase.pairs}


def pattern(name: str, ranks: int, messages: int, size: int) -> Matrix:
    """The pairs that tests/profiled/every.cpp means by a word."""
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
            seen.add(call)
        groups = {"point-to-point", "one-sided", "neighbourhood", "collective"}
        sending = {name for name, group in calls.groups().items() if group in groups}
        older = {n for n in sending if n.endswith("_init") and n not in ("MPI_Send_init", "MPI_Bsend_init")}
        older |= {"MPI_Isendrecv", "MPI_Isendrecv_replace"}
        assert sending - older <= seen, f"{mpi.label}: not tried: {sorted(sending - older - seen)}"
        assert done.traffic is not None and done.traffic.complete and done.traffic.ranks == ranks


# --- the harness: its timed samples are phase 2 ---------------------------------------------------------------------

SAMPLES, STEPS = 2, 7
HALO = ("mpi_sendrecv", "mpi_ordered", "mpi_isend_recv", "mpi_irecv_isend_waitall", "mpi_waitany", "mpi_persistent",
        "mpi_all_at_once", "mpi_put_fence", "mpi_get_fence", "mpi_neighbor", "mpi_neighbor_nonblocking",
        "mpi4_neighbor_persistent", "mpi4_partitioned")  # fmt: skip


def grid(ranks: int) -> tuple[int, int]:
    """Rows and columns: as square as possible, not more rows than columns."""
    rows = max(r for r in range(1, ranks + 1) if ranks % r == 0 and r * r <= ranks)
    return rows, ranks // rows


def halo(ranks: int, n: int, width: int, word: int, at_once: bool) -> Matrix:
    """What one exchange sends. A dimension of one process is a local copy."""
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
    """A program of ours, built and profiled with a fixed number of steps."""
    import native
    from firstlight.plan import Program

    tool = native.toolchain("native") or native.toolchain("base")
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
    for mpi in mpis:
        if variant.startswith("mpi4_") and not mpi.mpi4:
            continue
        for ranks, n, width in ((4, 16, 1), (6, 8, 2)):
            place = tmp_path / f"{mpi.name}-{ranks}"
            place.mkdir()
            done = harness(place, mpi, ranks, "halo", variant, f"n={n}", f"width={width}")
            expected = times(halo(ranks, n, width, 8, variant == "mpi_all_at_once"), SAMPLES * STEPS)
            assert matrix(done.phase(2)) == expected, f"{variant} with {mpi.label} on {ranks} ranks"


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

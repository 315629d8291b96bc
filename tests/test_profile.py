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

"""native/checkpoint: every strategy restores the same bits, whatever was killed, lost or damaged."""

from __future__ import annotations

import contextlib
import os
import random
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import psutil
import pytest

import drivers
import launches
import native
import run_options
import schedules
import turns
from firstlight import ROOT
from firstlight.toolchain import Mpi

pytestmark = [pytest.mark.native, pytest.mark.faults]

SOURCE = Path(__file__).with_name("checkpoint_run.cpp")
LOG = Path(__file__).with_name("sync_log.cpp")
INCLUDES = tuple(f"-I{ROOT}/native/{name}/include" for name in ("harness", "grid", "checkpoint"))
FLAGS = ("-O1", "-Wall", "-Wextra", "-Werror", "-Wno-psabi", "-pthread", *INCLUDES)
ALONE = ("pieces", "slots", "async")
"""Strategies of one process."""
PROTECTED = ("partner", "parity")
EVERY = (*ALONE, *PROTECTED, "field")
LIBRARIES = [m.name for m in native.toolbox().mpis] or ["none"]
MANY = "16x64x64"
"""Eight blocks of a checkpoint."""
ROUNDS = int(os.environ.get("CHECKPOINT_ROUNDS", "0"))
"""CHECKPOINT_ROUNDS=100 ./fl test --full -k test_checkpoint: that many random faults of each kind."""


def rounds(few: int, many: int) -> int:
    """Return how many random faults a test causes: `many` with --full, `few` otherwise and in CI."""
    return ROUNDS or (many if run_options.full and not run_options.of_machine else few)


@pytest.fixture(scope="module")
def alone() -> Path:
    return drivers.program("checkpoint_alone", [SOURCE], *FLAGS)


def call(program: Path, *words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([program, *map(str, words)], capture_output=True, text=True, timeout=60)


def saved(output: str) -> int:
    """Return the newest generation that the driver reported as durable, 0 if none."""
    return max(map(int, re.findall(r"^saved (\d+):", output, re.MULTILINE)), default=0)


def restored(done: subprocess.CompletedProcess[str]) -> int:
    """Return the generation that was restored without a wrong word."""
    found = re.search(r"^restored (\d+): 0 wrong$", done.stdout, re.MULTILINE)
    assert done.returncode == 0 and found, done.stdout + done.stderr
    return int(found[1])


def refused(done: subprocess.CompletedProcess[str]) -> str:
    found = re.search(r"^failure: (.+)$", done.stdout, re.MULTILINE)
    assert done.returncode == 4 and found and "restored" not in done.stdout, done.stdout + done.stderr
    return found[1]


def generations(folder: Path) -> set[str]:
    """Return the numbers of the generations that have files in a folder or below."""
    return {m[1] for p in folder.rglob("*") if (m := re.match(r"state\.(\d+)\.", p.name))}


@pytest.mark.newcomer
@pytest.mark.parametrize("strategy", ALONE)
def test_two_generations_are_kept_and_the_newest_is_restored(strategy: str, alone: Path, tmp_path: Path) -> None:
    assert "no complete generation" in refused(call(alone, "restore", tmp_path / "none", strategy, 0))
    done = call(alone, "save", tmp_path, strategy, 5)
    assert saved(done.stdout) == 5 and generations(tmp_path) == {"4", "5"}
    counts = re.findall(r": (\d+) bytes, (\d+) files, (\d+) synced, (\d+) folders", done.stdout)
    assert {tuple(map(int, c[1:])) for c in counts} == {(2, 2, 2)}
    assert restored(call(alone, "restore", tmp_path, strategy, 0)) == 5


@pytest.mark.newcomer
def test_only_changed_blocks_are_written(alone: Path, tmp_path: Path) -> None:
    """Two of eight blocks never change."""
    done = call(alone, "save", tmp_path, "slots", 6, "16x64x64")
    sizes = [int(n) for n in re.findall(r": (\d+) bytes", done.stdout)]
    whole = 16 * 64 * 64 * 8
    assert all(whole < n < 1.01 * whole for n in sizes[:2])
    assert all(whole * 3 / 4 < n < 1.01 * whole * 3 / 4 for n in sizes[2:]) and len(sizes) == 6
    assert restored(call(alone, "restore", tmp_path, "slots", 0, "16x64x64")) == 6
    again = call(alone, "save", tmp_path, "slots", 7, "16x64x64")
    assert saved(again.stdout) == 7, "a slot of another process is written whole"
    assert restored(call(alone, "restore", tmp_path, "slots", 0, "16x64x64")) == 7


@pytest.mark.newcomer
def test_a_field_of_another_shape_is_refused(alone: Path, tmp_path: Path) -> None:
    call(alone, "save", tmp_path, "pieces", 1, "8x8x8")
    assert "of 8 x 8 x 8 cells" in refused(call(alone, "restore", tmp_path, "pieces", 0, "8x8x9"))


@pytest.mark.newcomer
@pytest.mark.parametrize("strategy", ALONE)
def test_a_process_that_is_killed_leaves_a_complete_generation(strategy: str, alone: Path, tmp_path: Path) -> None:
    draw, began, trials = random.Random(strategy), time.monotonic(), 0
    last = saved(call(alone, "save", tmp_path, strategy, 1, MANY).stdout)
    startup = time.monotonic() - began
    while trials < rounds(10, 100) or last < 2:
        trials += 1
        victim = subprocess.Popen(
            [alone, "save", tmp_path, strategy, "1000000", MANY], stdout=subprocess.PIPE, text=True
        )
        time.sleep(draw.uniform(startup / 4, startup + 0.05))
        victim.kill()
        reported = max(saved(victim.communicate()[0]), last)
        last = restored(call(alone, "restore", tmp_path, strategy, 0, MANY))
        assert reported <= last <= reported + 1
    call(alone, "save", tmp_path, strategy, last + 1, MANY)
    assert generations(tmp_path) == {str(last), str(last + 1)} and not list(tmp_path.glob("*.part"))


def flip(path: Path, draw: random.Random) -> str:
    """Flip one bit of a file's content: of its head, its sums or its data, not of the gap up to the next page."""
    content = bytearray(path.read_bytes())
    if path.suffix in (".manifest", ".field"):
        at = draw.randrange(len(content))
    else:
        data = int.from_bytes(content[24:32], "little")
        begin, blocks = len(content) - data, -(-data // 65536)
        at = draw.choice([draw.randrange(48), 48 + draw.randrange(8 * blocks), begin + draw.randrange(data)])
    content[at] ^= 1 << draw.randrange(8)
    path.write_bytes(content)
    return f"{path.name} at {at}"


def newest_files(folder: Path, generation: int) -> list[Path]:
    names = rf"state\.({generation}|slot{generation % 2})\."
    return sorted(p for p in folder.rglob("*") if re.match(names, p.name))


@pytest.mark.newcomer
@pytest.mark.parametrize("strategy", ALONE)
def test_a_flipped_bit_is_refused(strategy: str, alone: Path, tmp_path: Path) -> None:
    call(alone, "save", tmp_path / "whole", strategy, 4, MANY)
    draw = random.Random(strategy)
    for trial in range(rounds(6, 30)):
        folder = tmp_path / str(trial)
        shutil.copytree(tmp_path / "whole", folder)
        where = flip(draw.choice(newest_files(folder, 4)), draw)
        assert refused(call(alone, "restore", folder, strategy, 0, MANY)), where


@pytest.mark.newcomer
def test_a_shortened_or_missing_piece_is_refused(alone: Path, tmp_path: Path) -> None:
    call(alone, "save", tmp_path, "pieces", 2, MANY)
    piece = tmp_path / "state.2.0.piece"
    content = piece.read_bytes()
    for cut in (0, 20, 50, 5000, len(content) - 1):
        piece.write_bytes(content[:cut])
        assert "truncated" in refused(call(alone, "restore", tmp_path, "pieces", 0, MANY))
    piece.write_bytes((tmp_path / "state.1.0.piece").read_bytes())
    assert "of generation 1, not member 0" in refused(call(alone, "restore", tmp_path, "pieces", 0, MANY))
    piece.unlink()
    assert "cannot be opened" in refused(call(alone, "restore", tmp_path, "pieces", 0, MANY))


def undurable(log: list[str]) -> list[str]:
    """Return what is not on the disk when it must be.

    A file must be there before its new name, its folder before the next write, and all files before a manifest.
    """
    files: set[str] = set()
    folders: set[str] = set()
    found = []
    for line in log:
        what, path, *to = line.split()
        if what == "write":
            found += [*folders, *(files - {path} if ".manifest" in path else ())]
            files.add(path)
        elif what == "sync":
            files.discard(path)
            folders.discard(path)
        elif path in files:
            found.append(path)
        else:
            folders.add(str(Path(to[0]).parent))
    return [*found, *files, *folders]


@pytest.mark.newcomer
@pytest.mark.parametrize("strategy", ALONE)
def test_a_generation_is_on_the_disk_before_its_manifest(
    strategy: str, alone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A preloaded library sees each write, fsync and rename. No fsync can be left out."""
    library = drivers.linked("sync_log.so", drivers.objects([LOG], "-O1", "-fPIC"), "-shared", "-ldl")
    monkeypatch.setenv("LD_PRELOAD", str(library))
    monkeypatch.setenv("SYNC_LOG", str(tmp_path / "log"))
    assert saved(call(alone, "save", tmp_path / "d", strategy, 4, MANY).stdout) == 4
    log = (tmp_path / "log").read_text().splitlines()
    assert undurable(log) == [] and sum(line.startswith("rename") for line in log) == (6 if strategy == "slots" else 8)
    assert undurable([line for line in log if not line.startswith("sync")])
    syncs = [k for k, line in enumerate(log) if line.startswith("sync ") and k > 0]
    if strategy == "slots":  # a slot that is written in place has its name already
        syncs = [k for k in syncs if not log[k].endswith("/d")]
    for k in syncs:
        assert undurable(log[:k] + log[k + 1 :]), f"without {log[k]}"


MOUNTS = ["unshare", *([] if os.geteuid() == 0 else ["--user", "--map-root-user"]), "--mount", "sh", "-c"]
"""In a user namespace, root could not enter private folders of other users, in which the checkout may be."""


def sizes(least: int, most: int, many: int) -> list[int]:
    """Return sizes of a disk, evenly spaced; `many` with --full."""
    last = rounds(3, many) - 1
    return [least + (most - least) * k // max(1, last) for k in range(last + 1)]


def require_mounts(folder: Path) -> None:
    """Skip the test unless this user may mount a file system in memory."""
    probe = subprocess.run([*MOUNTS, 'mount -t tmpfs none "$0"', folder], capture_output=True, text=True)
    if probe.returncode != 0:
        pytest.skip(f"no mounts in a namespace here: {probe.stderr.strip()}")


@pytest.mark.newcomer
@pytest.mark.parametrize("strategy", ALONE)
def test_a_full_disk_leaves_the_generation_before(strategy: str, alone: Path, tmp_path: Path) -> None:
    """One generation fits on a small tmpfs, the next one does not, whatever part of it does."""
    require_mounts(tmp_path)
    for kib in sizes(540, 1036, 20):
        script = (
            f'mount -t tmpfs -o size={kib}k none "$0" || exit 9; "$1" save "$0" {strategy} 1 {MANY}; '
            f'"$1" save "$0" {strategy} 2 {MANY}; ls "$0"; "$1" restore "$0" {strategy} 0 {MANY}'
        )
        done = subprocess.run([*MOUNTS, script, tmp_path, alone], capture_output=True, text=True, timeout=60)
        assert saved(done.stdout) == 1 and "No space left on device" in done.stdout, (kib, done.stdout, done.stderr)
        listed = done.stdout.partition("failure")[2].partition("\n")[2]
        assert ".part" not in listed and "state.2." not in listed
        assert restored(done) == 1


# --- several processes ----------------------------------------------------------------------------


def libraries() -> list[object]:
    """Return the first MPI library of this machine; all with --full."""
    first, *others = LIBRARIES
    return [first, *(pytest.param(name, marks=pytest.mark.full) for name in others)]


class Job:
    """Run the driver with one MPI library."""

    def __init__(self, name: str) -> None:
        mpi = next((m for m in native.toolbox().mpis if m.name == name), None)
        if mpi is None:
            pytest.skip("no MPI library here")
        self.mpi: Mpi = mpi
        self.program = schedules.linked(mpi, SOURCE.stem, [SOURCE], [], "-DWITH_MPI", *FLAGS)

    def __call__(self, ranks: int, *words: object) -> subprocess.CompletedProcess[str]:
        with turns.party(ranks, self.mpi.family == "openmpi"), self.folder() as own:
            return launches.by_hand(self.words(ranks, *words), self.environment(own))

    def folder(self) -> tempfile.TemporaryDirectory[str]:
        """Return a folder for the library's own files: with a short path, because of its sockets."""
        return tempfile.TemporaryDirectory(prefix="fl-", dir="/tmp", ignore_cleanup_errors=True)

    def environment(self, own: str) -> dict[str, str]:
        return {**os.environ, **self.mpi.environment, "TMPDIR": own}

    def words(self, ranks: int, *words: object) -> list[str | Path]:
        return [*schedules.launcher(self.mpi, ranks), self.program, *map(str, words)]


@pytest.fixture(scope="module", params=libraries())
def job(request: pytest.FixtureRequest) -> Job:
    return Job(request.param)


@pytest.mark.parametrize("strategy", EVERY)
def test_any_number_of_processes_restores_the_same_bits(strategy: str, job: Job, tmp_path: Path) -> None:
    assert saved(job(3, "save", tmp_path, strategy, 3).stdout) == 3
    for ranks in (1, 2, 4):
        assert restored(job(ranks, "restore", tmp_path, strategy, 0)) == 3
    assert generations(tmp_path) == {"2", "3"}
    assert saved(job(2, "save", tmp_path, strategy, 4).stdout) == 4, "another number of processes goes on"
    assert restored(job(3, "restore", tmp_path, strategy, 0)) == 4


@pytest.mark.parametrize("strategy", PROTECTED)
def test_the_files_of_one_process_of_a_group_are_rebuilt(strategy: str, job: Job, tmp_path: Path) -> None:
    """A process loses its folder, or a bit in any of its files; two of a group are refused."""
    draw, ranks = random.Random(strategy), 4
    job(ranks, "save", tmp_path / "whole", strategy, 3)
    for trial in range(rounds(4, 30)):
        folder, lost = tmp_path / str(trial), draw.randrange(ranks)
        shutil.copytree(tmp_path / "whole", folder)
        if trial % 2:
            flip(draw.choice(newest_files(folder / str(lost), 3)), draw)
        else:
            shutil.rmtree(folder / str(lost))
        n = draw.choice([1, 2, ranks])
        assert restored(job(n, "restore", folder, strategy, 0)) == 3
    for gone in (0, 1):
        shutil.rmtree(tmp_path / "whole" / str(gone))
    assert "lost" in refused(job(ranks, "restore", tmp_path / "whole", strategy, 0))


@pytest.mark.parametrize("distance", [2, 3])
def test_groups_keep_ranks_of_one_node_apart(distance: int, job: Job, tmp_path: Path) -> None:
    """All folders of one node are lost: every group has one member there."""
    ranks = 2 * distance
    for strategy in PROTECTED:
        folder = tmp_path / strategy
        job(ranks, "save", folder, strategy, 2, "12x40x33", distance)
        for rank in range(distance):
            shutil.rmtree(folder / str(rank))
        assert restored(job(2, "restore", folder, strategy, 0)) == 2


@pytest.mark.parametrize("strategy", ["pieces", "slots", "field"])
def test_damage_without_copies_is_refused(strategy: str, job: Job, tmp_path: Path) -> None:
    """A bit is flipped in any file of the newest generation, or the file is lost."""
    draw, ranks = random.Random(strategy), 3
    job(ranks, "save", tmp_path / "whole", strategy, 3, MANY)
    for trial in range(rounds(4, 30)):
        folder = tmp_path / str(trial)
        shutil.copytree(tmp_path / "whole", folder)
        files = newest_files(folder, 3)
        if trial % 2:
            where = flip(draw.choice(files), draw)
        else:
            where = draw.choice([file for file in files if file.suffix != ".manifest"]).name
            (folder / where).unlink()
        why = refused(job(draw.choice([1, 2, ranks]), "restore", folder, strategy, 0, MANY))
        assert where.partition(" ")[0] in why, (where, why)


@pytest.mark.parametrize("strategy", EVERY)
def test_a_disk_that_is_full_fails_the_save_of_every_process(strategy: str, job: Job, tmp_path: Path) -> None:
    """All processes share the small disk; with copies or parity, it is the disk of one of them."""
    require_mounts(tmp_path)
    small = tmp_path / "1" if strategy in PROTECTED else tmp_path
    small.mkdir(mode=0o700, exist_ok=True)
    for kib in sizes(540, 1020, 4):
        script = (
            f'mount -t tmpfs -o size={kib}k none "$0" || exit 9; d="$1"; shift; "$@" save "$d" {strategy} 1 {MANY}; '
            f'"$@" save "$d" {strategy} 2 {MANY}; find "$d" -name "state.*"; "$@" restore "$d" {strategy} 0 {MANY}'
        )
        with turns.party(2, job.mpi.family == "openmpi"), job.folder() as own:
            root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
            words = [*MOUNTS, script, small, tmp_path, "timeout", "60", *job.words(2)]
            done = launches.by_hand(words, job.environment(own) | root)
        assert saved(done.stdout) == 1 and "failure: " in done.stdout, (kib, done.stdout, done.stderr)
        assert ".part" not in done.stdout.partition("failure")[2].partition("\n")[2]
        assert "state.2." not in done.stdout.partition("failure")[2].partition("\n")[2]
        assert restored(done) == 1
        for left in [path for path in tmp_path.iterdir() if path != small]:
            shutil.rmtree(left)


def ranks_of(launcher: int, program: Path) -> dict[int, psutil.Process]:
    """Return the processes of a program that a launcher has started, by rank."""
    found = {}
    for process in psutil.Process(launcher).children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            if process.exe() == str(program):
                own = process.environ()
                found[int(own.get("PMI_RANK", own.get("OMPI_COMM_WORLD_RANK", "-1")))] = process
    return found


@pytest.mark.parametrize("strategy", EVERY)
def test_a_job_that_is_killed_leaves_a_complete_generation(strategy: str, job: Job, tmp_path: Path) -> None:
    """All processes are killed, or one of them. With copies or parity, its folder is lost, too."""
    draw, began, trials = random.Random(strategy), time.monotonic(), 0
    last = saved(job(2, "save", tmp_path, strategy, 1, MANY).stdout)
    startup = time.monotonic() - began
    while trials < rounds(3, 8) or last < 2:
        trials += 1
        with turns.party(2, job.mpi.family == "openmpi"), job.folder() as own:
            victim = subprocess.Popen(
                job.words(2, "save", tmp_path, strategy, 1000000, MANY), env=job.environment(own),
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            )  # fmt: skip
            time.sleep(draw.uniform(startup / 4, startup + 0.5))
            killed = [*psutil.Process(victim.pid).children(recursive=True), psutil.Process(victim.pid)]
            lost = None
            if trials % 2 == 0 and (ranks := ranks_of(victim.pid, job.program)):
                lost = draw.choice(sorted(ranks))
                killed = [ranks[lost]]
            for process in killed:
                process.kill()
            reported = max(saved(victim.communicate(timeout=60)[0]), last)
        if lost is not None and strategy in PROTECTED:
            shutil.rmtree(tmp_path / str(lost), ignore_errors=True)
        last = restored(job(2, "restore", tmp_path, strategy, 0, MANY))
        assert reported <= last

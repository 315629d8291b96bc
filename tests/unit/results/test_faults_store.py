"""Faults of the disk: altered, truncated and half-written files, and a disk that is full."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from test_store import CELL, a_launch

import turns
from driver import run_of
from firstlight import ROOT
from firstlight.core.errors import ENVIRONMENT
from firstlight.results import store as stores
from firstlight.results.store import durable, layout, lines

pytestmark = pytest.mark.faults

Make = Callable[[str], Path]
HERE = ROOT / "tests" / "support"


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[stores.Store, Path, bytes]]:
    """Return a run with one launch, its file, and the content of the file."""
    with stores.create(tmp_path_factory.mktemp("sealed"), run_of()) as store:
        a_launch(store, 0)
        path = store.path / "launches" / layout.launch_name(CELL, 0)
        yield store, path, path.read_bytes()


def assert_reported(store: stores.Store, path: Path) -> None:
    assert list(store.records()) == []
    assert store.defects and all(d.file == f"launches/{path.name}" for d in store.defects)
    assert {str(d) for d in store.defects} <= {str(d) for d in stores.check(store.path)}


@given(st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300, deadline=None)
def test_any_single_byte_that_changes_is_reported(
    sealed: tuple[stores.Store, Path, bytes], data: st.DataObject
) -> None:
    store, path, good = sealed
    tail = st.integers(max(0, len(good) - 300), len(good) - 1)  # the exit line deserves as many tries as all the rest
    place = data.draw(st.integers(0, len(good) - 1) | tail)
    byte = data.draw(st.integers(0, 255).filter(lambda b: b != good[place]))
    path.write_bytes(good[:place] + bytes([byte]) + good[place + 1 :])
    assert_reported(store, path)
    path.write_bytes(good)
    assert stores.check(store.path) == []


def test_every_single_bit_of_the_exit_line_counts(sealed: tuple[stores.Store, Path, bytes]) -> None:
    good = sealed[2]
    begin = good.rindex(b"\n", 0, -1) + 1
    for place in range(begin, len(good)):
        for bit in range(8):
            bad = bytearray(good)
            bad[place] ^= 1 << bit
            assert lines.read(bytes(bad)).defects, (place, bit)
    assert not lines.read(good).defects


@given(st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_truncation_is_reported(sealed: tuple[stores.Store, Path, bytes], data: st.DataObject) -> None:
    store, path, good = sealed
    path.write_bytes(good[: data.draw(st.integers(0, len(good) - 1))])
    assert_reported(store, path)
    path.write_bytes(good)


def test_truncation_at_every_line_is_reported(sealed: tuple[stores.Store, Path, bytes]) -> None:
    good = sealed[2]
    ends = [i + 1 for i, byte in enumerate(good) if byte == 10][:-1]
    assert ends and all(lines.read(good[:end]).defects for end in ends)


@given(st.binary(max_size=500))
@example(b"[" * 100_000)
@example(b'{"type":"start"' + b',"x":' + b"[" * 50_000 + b"\n")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_bytes_at_all_are_a_defect_and_no_crash(sealed: tuple[stores.Store, Path, bytes], data: bytes) -> None:
    store, path, good = sealed
    path.write_bytes(data)
    assert_reported(store, path)
    path.write_bytes(good + data)
    if data:
        assert_reported(store, path)
    path.write_bytes(good)


# --- a full disk ----------------------------------------------------------------------------------


def test_a_program_that_may_write_no_more_is_a_lost_launch(program: Make, tmp_path: Path) -> None:
    """A limit on the size of files simulates a disk that fills while the program writes."""
    body = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (1500, 1500))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
try:
    record(samples=100)
except OSError as error:
    print('cannot write the record:', error.strerror, file=sys.stderr)
    sys.exit(3)
"""
    path = os.pathsep.join([str(ROOT / "src"), str(HERE), *sys.path])
    words = [sys.executable, str(HERE / "driver.py"), str(tmp_path), str(program(body)), "1"]
    driver = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": path})
    assert driver.stdout is not None
    stored = next(line for line in driver.stdout if line.startswith("stored"))
    driver.kill()
    driver.wait()
    driver.stdout.close()
    assert stored.startswith("stored 0 could not run here (status 3): cannot write the record: File too large; line ")
    store = stores.open(tmp_path / "run")
    record = next(iter(store.records()))
    assert not record.exit.ok and record.cases and store.defects == []


FULL = r"""
set -e
mount -t tmpfs -o size=3m none "$1"
python="$2"; driver="$3"; program="$4"
"$python" "$driver" "$1" "$program" 2 >&2
head -c 100m /dev/zero > "$1/ballast" 2>/dev/null || true
truncate -s -100K "$1/ballast"  # less than one record
set +e
"$python" "$driver" "$1" "$program" 4 >&2 2>"$1.err"
echo "full: $?"
cp -r "$1/run" "$1.full"
rm "$1/ballast"
"$python" "$driver" "$1" "$program" 4 >&2
echo "room: $?"
cp -r "$1/run" "$1.room"
"""


@pytest.mark.parametrize("spare", [durable.SPARE, 0], ids=["noticed_before", "noticed_while_writing"])
def test_a_full_disk_damages_nothing_and_the_run_goes_on_later(program: Make, tmp_path: Path, spare: int) -> None:
    """On a small file system of our own. With `spare` 0 the lack of space is found only by the write that fails."""
    own = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
    probe = [*own, "mount", "-t", "tmpfs", "none", str(tmp_path)]
    if not shutil.which("unshare") or subprocess.run(probe, capture_output=True).returncode:
        pytest.skip("this system lets nobody mount a file system of their own (unshare -rm)")
    place = tmp_path / "disk"
    place.mkdir()
    driver = tmp_path / "driver.py"
    text = (HERE / "driver.py").read_text()
    less = f"from firstlight.results.store import durable\ndurable.SPARE = {spare}\n"
    driver.write_text(less + text.partition("from __future__ import annotations")[2])
    path = os.pathsep.join([str(ROOT / "src"), str(HERE), *sys.path])
    done = subprocess.run(
        [*own, "sh", "-c", FULL, "sh", str(place), sys.executable, str(driver), str(program("record(samples=2000)"))],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
        timeout=turns.PATIENCE,
    )
    error = place.with_name("disk.err").read_text()
    assert error.count("\n") == 1 and "the disk is full; finished launches are safe" in error
    assert done.stdout.split() == ["full:", str(ENVIRONMENT), "room:", "0"], done.stdout + done.stderr
    for name, good in (("disk.full", 2), ("disk.room", 4)):
        assert stores.check(tmp_path / name) == []
        assert sum(r.exit.ok for r in stores.open(tmp_path / name).records()) == good

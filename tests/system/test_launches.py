"""Launches of tests are made once more only where Open MPI 4 killed a rank that had printed everything."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest

import launches
import native
import schedules
import turns
from firstlight.execute.launch import command, launch
from firstlight.model.plan import Cell, Placement, Program
from firstlight.toolchain import Mpi

FAULT = (
    "[a:7] *** Process received signal ***\n[a:7] Signal: Segmentation fault (11)\n[a:7] Failing at address: 0x7f0\n"
)
FRAMES = "[a:7] [ 0] /lib/libc.so.6(+0x3c050)[0x7f]\n[a:7] *** End of error message ***\n"


@pytest.mark.parametrize(
    ("stderr", "leaving"),
    [
        ("/p/dot.mpi: bytes must be\n" + FAULT, True),
        (FAULT + FAULT.replace("a:7", "a:8"), True),
        (FAULT + FRAMES, False),
        (FAULT + FAULT.replace("a:7", "a:8") + FRAMES.replace("a:7", "a:8"), False),
        (FAULT.replace("Segmentation fault (11)", "Aborted (6)"), False),
        ("Segmentation fault\n", False),
        ("", False),
    ],
)
def test_who_died_leaving_names_no_function(stderr: str, leaving: bool) -> None:
    assert launches.died_leaving(stderr) is leaving


@pytest.mark.parametrize(("stderr", "times"), [(FAULT, 2), (FAULT + FRAMES, 1), ("", 1)])
def test_a_launch_is_made_once_more_at_most(stderr: str, times: int, tmp_path: Path) -> None:
    (tmp_path / "stderr").write_text(stderr)
    words = ["sh", "-c", f"echo >>{tmp_path}/launched; cat {tmp_path}/stderr >&2; echo $MARK; exit 139"]
    if times == 1:
        done = launches.by_hand(words, {"MARK": "set"})
    else:
        with pytest.warns(UserWarning, match="a rank died inside MPI_Finalize; once more"):
            done = launches.by_hand(words, {"MARK": "set"})
    assert (done.returncode, done.stdout, done.stderr) == (139, "set\n", stderr)
    assert len((tmp_path / "launched").read_text().splitlines()) == times


def open_mpi_4() -> Mpi:
    found = next((m for m in native.toolbox().mpis if m.family == "openmpi" and m.version.startswith("4.")), None)
    if found is None:
        pytest.skip("no Open MPI 4 here")
    return found


@pytest.mark.native
@pytest.mark.full
@pytest.mark.parametrize(("words", "leaving"), [((), True), (("own",), False)])
def test_a_rank_that_open_mpi_kills_is_known_and_one_that_fails_by_itself_is_not(
    words: tuple[str, ...], leaving: bool, tmp_path: Path
) -> None:
    """A thread waits until the component that it is to call is gone."""
    mpi = open_mpi_4()
    program = schedules.linked(mpi, "late_thread", [Path(__file__).with_name("late_thread.cpp")], [], "-rdynamic")
    late = Cell("late", Program("late", "mpi", "gcc-base", mpi.name), Placement(), words)
    ready = command(late, program, native.toolbox(), output=tmp_path / "record", machine=native.here)
    outcome = launch(ready, turns.PATIENCE, uuid.uuid4().hex)
    if leaving and outcome.status == 0:
        pytest.skip("this Open MPI keeps its components, or waits for its thread")
    assert outcome.reason == "rank aborted: signal 11 (SIGSEGV)"
    assert launches.died_leaving(outcome.stderr) is leaving, outcome.stderr

"""Unintended input and programs that do not answer cause one line that names the cause, and never a traceback."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

import synthetic
from commands import Captured, call, present
from firstlight.commands.bench import request
from firstlight.core.errors import USAGE, UsageError
from firstlight.results.record import Run
from firstlight.runner import costs
from firstlight.toolchain import used_mpi
from refusals import SILENT, UNREADABLE, refuses_an_unreadable_file, reports_a_silent_program

# -- programs that do not answer


def _installed(folder: Path) -> None:
    used_mpi._of_installation(used_mpi.Trace("openmpi", folder / "lib" / "libmpi.so"), None)


CALLS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "launcher": ("mpiexec", lambda folder: used_mpi.mpi_of([str(folder / "mpiexec"), "-n", "2"], [], None)),
    "linker": ("ldd", lambda folder: used_mpi.linked(Path("/bin/true"))),
    "wrapper": ("bin/mpicxx", _installed),
}


@pytest.mark.parametrize("how", SILENT)
@pytest.mark.parametrize("who", CALLS)
def test_a_program_that_does_not_answer_is_one_line(
    who: str, how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, query = CALLS[who]
    reports_a_silent_program(program, how, query, used_mpi, tmp_path, monkeypatch)


# -- files


def _keeping(folder: str, number: int) -> None:
    costs.keep(Path(folder), {f"cell{number}": 1.0})


def test_runs_that_end_at_the_same_time_all_keep_their_costs(tmp_path: Path) -> None:
    with multiprocessing.get_context("fork").Pool(8) as pool:
        pool.starmap(_keeping, [(str(tmp_path), number) for number in range(64)], chunksize=1)
    assert len(costs.load(tmp_path)) == 64


@pytest.mark.parametrize("what", UNREADABLE)
def test_a_file_of_the_user_is_read_within_a_bound(what: str, tmp_path: Path) -> None:
    refuses_an_unreadable_file(request.read, request.MOST, what, tmp_path)


# -- numbers that no computation can use


@pytest.mark.parametrize(
    ("words", "message"),
    present([
        (["compare", "a", "b", "--threshold", "nan"], "'nan' is not a share; write a value such as 2% or 0.02"),
        (["compare", "a", "b", "--threshold", "inf"], "'inf' is not a share"),
        (["compare", "a", "b", "--threshold", "100%"], "'100%' is not a share"),
        (["history", "--threshold", "nan"], "'nan' is not a share; write a value such as 2% or 0.02"),
        (["bench", "--threshold", "nan", "--", "true"], "'nan' is not a share"),
        (["bench", "--tolerance", "nan", "--", "true"], "nan is not a finite number"),
        (["bench", "--tolerance", "inf", "--", "true"], "inf is not a finite number"),
        (["bench", "--tolerance", "1e400", "--", "true"], "1e400 is not a finite number"),
        (["simulate", "collective", "reduce", "--output", "none/x.html"], "there is no folder none"),
        (["simulate", "pattern", "halo", "--goal", "--output", "none/x.goal"], "there is no folder none"),
        (["patterns", "halo", "-n", "8", "--output", "none/x.html"], "there is no folder none"),
        (["project", "--nodes", "4", "--output", "none/x.html"], "there is no folder none"),
    ]),
)  # fmt: skip
def test_wrong_values_are_refused_before_the_work(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = call(capsys, *words)
    assert (code, out, err.count("\n")) == (USAGE, "", 1) and message in err


@pytest.mark.parametrize("number", ["nan", "inf", "1e400"])
def test_a_tolerance_in_a_file_is_finite(number: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(f"commands.a = 'true'\noutput = {{ file = 'a', reference = 'b', tolerance = {number} }}\n")
    with pytest.raises(UsageError, match="tolerance"):
        request.read(file)


@pytest.mark.parametrize("size", [0, -5])
def test_a_run_whose_caches_have_no_size_is_not_read(size: int) -> None:
    """Pages divide by the size. This machine's own caches are found by their sizes."""
    raw = msgspec.json.decode(msgspec.json.encode(synthetic.run().run))
    assert raw["machine"]["caches"]
    raw["machine"]["caches"][0]["size"] = size
    with pytest.raises(msgspec.ValidationError, match=r"machine\.caches\[0\]\.size"):
        msgspec.convert(raw, Run)

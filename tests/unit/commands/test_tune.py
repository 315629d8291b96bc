"""`tune collectives`: settings, choosing and keeping; and one small tuning for real."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

import synthetic_machine
import turns
from commands import Captured, examples
from firstlight import ROOT
from firstlight.analysis.roles import players
from firstlight.analysis.verdict import Estimate, Figure, Identity, Verified
from firstlight.commands.shared import command_line
from firstlight.commands.tune import choosing
from firstlight.commands.tune.choosing import Candidate, Case, Choice
from firstlight.commands.tune.setting import Setting, applied
from firstlight.commands.tune.table import LIBRARY
from firstlight.commands.tune.tuner import Tuned
from firstlight.core.roles import COLLECTIVE as COLLECTIVE_ROLE
from firstlight.model.catalogue import load
from firstlight.model.plan import Placement
from firstlight.toolchain import Mpi

MPI = Mpi("openmpi", "openmpi", "Open MPI 4", "4", "system", "mpicxx", None, (), "mpiexec", {"A": "1"})


def test_a_setting_is_another_library_of_the_plan() -> None:
    other = applied(MPI, Setting("broadcast", "binomial", "6", {"B": "2"}))
    assert (other.name, other.label, other.setting) == (
        "openmpi-broadcast-binomial", "Open MPI 4, broadcast by binomial", "openmpi",
    )  # fmt: skip
    assert other.environment == {"A": "1", "B": "2"} and other.cxx == MPI.cxx


def figure(mpi: str, size: int, values: list[float], variant: str = "mpi_library", over: bool = False) -> Figure:
    identity = Identity(
        "collectives",
        variant,
        "gcc-native",
        mpi,
        Placement(1, 2, 1),
        (("bytes", size), ("collective", "broadcast"), ("root", 0), ("segments", 0)),
        "latency",
    )
    middle = sorted(values)[len(values) // 2]
    estimate = Estimate(middle, min(values), max(values), tuple(values))
    return Verified(identity, "us", "lower", estimate, 0.0, {}, None, 0.0, oversubscribed=over)


def times(figures: list[Figure]) -> choosing.Times:
    (player,) = players(load([ROOT / "workloads"]), COLLECTIVE_ROLE)
    return choosing.times(figures, player, synthetic_machine.machine())


SETTINGS = {
    "openmpi-b-x": ("openmpi", Setting("broadcast", "x", "1", {})),
    "openmpi-b-y": ("openmpi", Setting("broadcast", "y", "2", {})),
}


def test_a_candidate_is_the_fastest_alternative_beyond_the_threshold() -> None:
    figures = [
        figure("openmpi", 8, [10.0] * 6), figure("openmpi-b-x", 8, [8.0] * 6), figure("openmpi-b-y", 8, [7.0] * 6),
        figure("openmpi", 64, [10.0] * 6), figure("openmpi-b-x", 64, [9.7] * 6),
        figure("openmpi", 512, [10.0] * 6), figure("openmpi-b-x", 512, [5.0] * 6, over=True),
        figure("openmpi", 8, [9.0] * 6, variant="mpi_binomial"),
    ]  # fmt: skip
    found = choosing.candidates(times(figures), SETTINGS)
    assert found == [
        Candidate(Case("openmpi", "preload", "broadcast", 2, 8), "binomial"),
        Candidate(Case("openmpi", "rules", "broadcast", 2, 8), "y"),
    ]


def test_only_what_proves_better_is_kept() -> None:
    some = [Candidate(Case("openmpi", "rules", "broadcast", 2, size), "y") for size in (8, 64, 512, 4096)]
    base = [10.0 + 0.01 * k for k in range(12)]
    figures = [
        figure("openmpi", 8, base), figure("tuned", 8, [0.8 * x for x in base]),
        figure("openmpi", 64, base), figure("tuned", 64, [x + 0.003 for x in base]),
        figure("openmpi", 512, base), figure("tuned", 512, [1.2 * x for x in base]),
        figure("openmpi", 4096, base),
    ]  # fmt: skip
    tuned = {("openmpi", "rules"): "tuned"}
    found = choosing.judged(some, times(figures), tuned, {("openmpi", "broadcast", 2)})
    assert [c.kept for c in found] == [True, False, False, False]
    assert [c.reason for c in found] == [
        "better", "no difference in the trial", "worse in the trial", "the trial was not verified",
    ]  # fmt: skip
    untried = choosing.judged(some[-1:], times(figures), tuned, ())
    assert [(c.reason, c.unclear) for c in untried] == [("not tried: the budget was used up", True)]
    kept = choosing.choices(found, {("broadcast", 2): [8, 64, 512, 4096]})
    assert kept == {("broadcast", 2): {8: "y", 64: LIBRARY, 512: LIBRARY, 4096: LIBRARY}}


def test_what_is_kept_is_told_with_how_to_use_it(tmp_path: Path) -> None:
    from firstlight.commands.tune import terminal
    from firstlight.commands.tune.files import Written

    good = Choice(
        Case("openmpi", "rules", "broadcast", 2, 1 << 20), "scatter_allgather_ring", True, "better", 0.8, 0.75, 0.85
    )
    bad = Choice(Case("openmpi", "rules", "alltoall", 2, 8), "pairwise", False, "worse in the trial", 1.2, 1.1, 1.3)
    written = Written("openmpi", "rules", "rules-openmpi.conf", ("OMPI_MCA_x=1", "MPICH_y=/my results/a=b"), 1)
    summary = terminal.summary(Tuned("1", "a", "b", 9, (good, bad), (written,), ()))
    assert "2 candidates, 1 kept" in summary and "worse in the trial" in summary
    assert "    export OMPI_MCA_x=1\n    export MPICH_y='/my results/a=b'" in summary
    assert max(map(len, summary.splitlines())) <= 80


def test_a_trial_without_an_interval_shows_no_gain_and_no_file_is_reported_first() -> None:
    from firstlight.commands.tune import terminal

    why = "the trial is inconclusive: too few launches (1 and 1)"
    few = Choice(Case("openmpi", "preload", "allreduce", 2, 1 << 20), "arc_disjoint", False, why, 1 / 140, unclear=True)
    lines = terminal.summary(Tuned("1", "a", "b", 9, (few,), (), ())).splitlines()
    assert lines[2] == "  no file is written: in the trials, no algorithm is faster than the library's own choice"
    assert "140 x" not in "".join(lines)


@pytest.mark.full
def test_a_small_tuning(mpis: tuple[Mpi, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Measured, chosen, tried, written: a file is there if anything is kept, and every choice has its reason."""
    mpi = next((m for m in mpis if m.family in ("openmpi", "mpich")), None)
    if mpi is None or len(os.sched_getaffinity(0)) < 2:
        pytest.skip("needs Open MPI or MPICH and two CPUs")
    words = ["--mpi", mpi.name, "--collective", "broadcast", "--bytes", "8,4096", "--placement", "1x2x1"]
    with turns.party(2):
        effort = ["--json", "--for", "rules", "--budget", "15s", "--launches", "2", "--trials", "6"]
        where = ["--results", str(tmp_path / "results")]
        status = command_line.call(["tune", "collectives", *words, *effort, *where])
    assert status in (0, 4)
    tuned = msgspec.json.decode(capsys.readouterr().out, type=Tuned)
    assert tuned.cases == 1 and (tmp_path / "results" / tuned.measured / "report.html").exists()
    assert {c.case.collective for c in tuned.choices} <= {"broadcast"}
    assert bool(tuned.files) == bool(tuned.kept)
    assert all(Path(w.file).is_file() and w.rules >= 1 for w in tuned.files)
    assert all(c.reason for c in tuned.choices)
    assert all(Path(w.file).is_relative_to(tmp_path / "results" / "tuned") for w in tuned.files)
    for run in filter(None, (tuned.measured, tuned.tried)):
        assert command_line.call(["check", str(tmp_path / "results" / run)]) == 0, capsys.readouterr().out
    capsys.readouterr()
    with turns.party(2):
        status = command_line.call(["tune", "collectives", *words, *effort, *where, "--run", tuned.measured])
    again = msgspec.json.decode(capsys.readouterr().out, type=Tuned)
    assert status in (0, 4) and again.measured == tuned.measured
    assert [c.case for c in again.choices] == [c.case for c in tuned.choices]  # the same candidates, tried once more


@pytest.mark.full
def test_the_example_works_as_typed(
    mpis: tuple[Mpi, ...], tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test only shortens its time: on a busy machine that may be too short for any candidate."""
    if not any(m.family in ("openmpi", "mpich") for m in mpis) or len(os.sched_getaffinity(0)) < 2:
        pytest.skip("needs Open MPI or MPICH and two CPUs")
    monkeypatch.chdir(tmp_path)
    words = next(words for words in examples("tune", capsys) if words[1] == "collectives")
    with turns.party(2):
        status = command_line.call([*words, "--budget", "10s"])
    done = capsys.readouterr()
    assert status in (0, 4) and "tuned collectives" in done.out, done.err
    (run, *_) = sorted(tmp_path.glob("results/*-tune/run.json"))
    cells = msgspec.json.decode(run.read_bytes())["cells"]
    assert cells and all("collective=allreduce" in cell["arguments"] for cell in cells), cells


def test_a_collective_that_is_not_there_is_refused_before_anything_is_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command_line.call(["tune", "collectives", "--collective", "bcst", "--results", str(tmp_path / "r")]) == 2
    assert "did you mean bcast?" in capsys.readouterr().err and not (tmp_path / "r").exists()

"""Whole runs: what is on the disk afterwards, and what the exit status means."""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import synthetic
from bench import Bench, printed
from commands import Captured, call
from firstlight import runner
from firstlight.analysis.figures import judge
from firstlight.analysis.verdict import Failed, Verified
from firstlight.core.errors import OK, REGRESSION, BuildError, UsageError
from firstlight.execute.launch import Command, Outcome
from firstlight.model.plan import EFFORT
from firstlight.report.export import kept
from firstlight.results import store
from firstlight.results.store import lines
from firstlight.runner import RunRequest, session
from firstlight.runner.exit_status import came_out
from firstlight.runner.progress import Plain


def test_a_run_ends_complete_verified_and_whole(bench: Bench, progress: Plain) -> None:
    result = runner.run(RunRequest(results=bench.results), progress)
    assert result.code == OK
    assert result.line == "complete; every interval is within ± 2.5 %"
    run = store.open(result.directory).run()
    assert run.state == "complete" and run.finished is not None and run.finished > run.started
    records = list(store.open(result.directory).records())
    assert Counter(r.start.cell for r in records) == {cell.id: 6 for cell in run.cells}
    assert all(isinstance(f, Verified) for f in result.judgement.figures) and len(result.judgement.figures) == 8
    assert store.check(result.directory) == []
    assert result.report.is_file() and (result.directory / "figures.json").is_file()
    assert [a.what for a in run.not_available] == ["MPI"]
    assert "round 1" in printed(progress)


@pytest.mark.parametrize("launches", [1, 5])
def test_what_stopped_a_run_of_few_launches_is_named(launches: int, bench: Bench, progress: Plain) -> None:
    result = runner.run(RunRequest(results=bench.results, launches=launches), progress)
    assert result.code == OK
    assert result.line == f"complete after --launches {launches}; intervals require --launches 6"


def test_the_rows_that_came_out_are_compared_with_the_forecast() -> None:
    scene = synthetic.run(1, 8, failed_build=False)
    assert came_out(judge(*scene), scene.workloads) == ""
    left = {cell.id for cell in scene.run.cells if cell.program.workload != "dot"}
    part = judge(scene.run, tuple(r for r in scene.records if r.start.cell in left), scene.workloads)
    assert came_out(part, scene.workloads) == "figures for 4 of 6 rows; "


def test_what_a_run_says_at_its_end_is_not_judged_again(
    bench: Bench, progress: Plain, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setenv("FIRSTLIGHT_CACHE", str(bench.root / "cache"))
    monkeypatch.setattr(kept, "FEW", 10)
    result = runner.run(RunRequest(results=bench.results), progress)
    monkeypatch.setattr(lines, "read", lambda *_, **__: pytest.fail("a launch was read"))
    code, out, _ = call(capsys, "figures", str(result.directory), "--json")
    assert code == OK and json.loads(out) == json.loads((result.directory / "figures.json").read_bytes())
    assert len(json.loads(out)) == 8


def test_a_run_whose_name_another_one_took_while_it_was_built_takes_the_next(
    bench: Bench, progress: Plain, monkeypatch: pytest.MonkeyPatch
) -> None:
    build, taken = bench.build, store.free_id

    def meanwhile(*words: Any) -> Any:
        for second in range(300):
            (bench.results / taken(Path("nowhere"), time.time() + second, "quick")).mkdir(parents=True)
        return build(*words)

    monkeypatch.setattr(store, "free_id", lambda root, started, suite: taken(Path("nowhere"), started, suite))
    monkeypatch.setattr("firstlight.execute.build.build", meanwhile)
    result = runner.run(RunRequest(results=bench.results), progress)
    assert result.code == OK and result.directory.name.endswith("-quick-2")
    assert store.open(result.directory).run().id == result.directory.name and store.check(result.directory) == []


def test_a_fast_but_wrong_toolchain_is_a_finding_and_no_error(bench: Bench, progress: Plain) -> None:
    bench.misbehave("wrong", "dot.kahan@gcc-fast")
    result = runner.run(RunRequest(results=bench.results), progress)
    assert result.code == OK
    failed = [f for f in result.judgement.figures if isinstance(f, Failed)]
    assert {(f.identity.variant, f.identity.toolchain) for f in failed} == {("kahan", "gcc-fast")}
    launched = Counter(r.start.cell for r in result.judgement.records)
    assert sorted(launched.values()) == [2, 6, 6, 6]


def test_a_variant_that_no_toolchain_gets_right_is_an_error(bench: Bench, progress: Plain) -> None:
    bench.misbehave("wrong", "kahan")
    assert runner.run(RunRequest(results=bench.results), progress).code == REGRESSION


def test_a_program_that_dies_is_given_up_and_told(bench: Bench, progress: Plain) -> None:
    bench.misbehave("die", "dot.kahan@gcc-base")
    result = runner.run(RunRequest(results=bench.results), progress)
    assert result.code == OK
    assert "stopped after 2 lost launches: dot.kahan.gcc-base" in printed(progress)
    assert len(result.judgement.lost) == 2
    bench.misbehave("die", "kahan")
    assert runner.run(RunRequest(results=bench.results), progress).code == REGRESSION


def test_what_does_not_build_is_told_and_kept_in_full(bench: Bench, progress: Plain) -> None:
    bench.broken = {"dot.kahan@gcc-fast"}
    result = runner.run(RunRequest(results=bench.results), progress)
    assert result.code == OK
    assert (result.directory / "builds" / "dot.kahan@gcc-fast.log").read_text().endswith("all the words")
    assert "does not build: dot.kahan@gcc-fast" in printed(progress)
    assert store.check(result.directory) == []
    bench.broken.add("dot.kahan@gcc-base")
    assert runner.run(RunRequest(results=bench.results), progress).code == REGRESSION


def test_nothing_built_leaves_no_run(bench: Bench, progress: Plain) -> None:
    bench.broken = {f"dot.{v}@gcc-{f}" for v in ("serial", "kahan") for f in ("base", "fast")}
    with pytest.raises(BuildError, match="all the words"):
        runner.run(RunRequest(results=bench.results), progress)
    assert not bench.results.exists()


@pytest.mark.faults
@pytest.mark.alone
def test_a_hang_is_killed_and_counts_as_lost(bench: Bench, progress: Plain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(EFFORT, "quick", EFFORT["quick"]._replace(timeout=0.5))
    bench.misbehave("hang", "dot.kahan@gcc-fast")
    result = runner.run(RunRequest(results=bench.results), progress)
    assert result.code == OK
    assert any("timed out" in lost for lost in result.judgement.lost)


def test_results_that_cannot_be_written_are_told_at_once(bench: Bench, progress: Plain) -> None:
    Path("results").write_text("a file")
    with pytest.raises(UsageError, match="cannot write results/here; choose another folder with --results"):
        runner.run(RunRequest(results=Path("results/here")), progress)
    assert printed(progress) == ""


def test_a_launch_of_many_cases_has_the_time_that_they_need(
    bench: Bench, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits: list[float] = []

    def noted(command: Command, timeout: float, mark: str) -> Outcome:
        limits.append(timeout)
        return original(command, timeout, mark)

    original = session.launch.launch
    monkeypatch.setattr(session.launch, "launch", noted)
    usual = EFFORT["quick"].timeout
    for most, longer in ((3, False), (400, True)):
        limits.clear()
        words = ["run", "dot.serial", f"n={','.join(map(str, range(1, most)))}", "--budget", "1h", "--launches", "1"]
        call(capsys, *words)
        assert (max(limits) > usual) == longer, limits
    call(capsys, *words, "--timeout", "9s")
    assert limits[-1] == 9

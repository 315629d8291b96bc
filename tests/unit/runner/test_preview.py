"""The preview: the first page appears before all programs are built, and its launches do not count in the end."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from bench import TOML, Bench
from firstlight import runner
from firstlight.analysis.evidence import gather, replaced
from firstlight.analysis.explaining import launches
from firstlight.analysis.verdict import Failed, Verified
from firstlight.core.errors import INTERRUPTED, OK, REGRESSION
from firstlight.results import store
from firstlight.results.record import LaunchRecord
from firstlight.results.store import layout
from firstlight.runner import RunRequest, preview
from firstlight.runner.progress import Plain

HEADLINE = TOML.replace("order = 1", "order = 1\nheadline = true")


@pytest.fixture
def ready(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """Return a bench whose run has a preview of one cell."""
    bench.workload("dot", toml=HEADLINE)
    monkeypatch.setattr(preview, "FEWEST", 1)
    monkeypatch.setattr(preview, "SHARE", 1.0)
    return bench


def execute(bench: Bench) -> tuple[runner.Result, str]:
    notes = io.StringIO()
    return runner.run(RunRequest(results=bench.results), Plain(notes)), notes.getvalue()


def records(result: runner.Result) -> list[LaunchRecord]:
    return list(store.open(result.directory).records())


def while_building(bench: Bench, monkeypatch: pytest.MonkeyPatch, look: Callable[[Path], None]) -> None:
    """Call `look` with the run's directory when the programs after the preview are built."""
    build = bench.build

    def looked(*words: Any) -> Any:
        if bench.built:
            (directory,) = bench.results.iterdir()
            look(directory)
        return build(*words)

    monkeypatch.setattr("firstlight.execute.build.build", looked)


def test_the_page_is_there_before_the_other_programs_are_built(ready: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def look(directory: Path) -> None:
        page = (directory / layout.REPORT).read_text()
        assert "scalar product" in page and "wait: the run is in progress" in page
        assert {r.start.cell for r in store.open(directory).records()} == {
            c.id for c in store.open(directory).run().cells if c.program.key == ready.built[0]
        }
        seen.append(directory)

    while_building(ready, monkeypatch, look)
    result, notes = execute(ready)
    assert result.code == OK and seen == [result.directory] and len(ready.built) == 4
    assert f"first page: {result.directory / layout.REPORT}" in notes
    assert store.check(result.directory) == [] and store.open(result.directory).run().state == "complete"


def test_launches_of_the_rounds_replace_those_of_the_preview(ready: Bench) -> None:
    result, _ = execute(ready)
    found = records(result)
    early = [r for r in found if r.start.preview]
    assert len(early) == 6 and len({r.start.cell for r in early}) == 1
    assert Counter(r.start.cell for r in found if not r.start.preview) == {
        c.id: 6 for c in store.open(result.directory).run().cells
    }
    assert replaced(found) == {early[0].start.cell}
    good = [f for f in result.judgement.figures if isinstance(f, Verified)]
    assert len(good) == 8 and all(len(f.estimate.launches) == 6 for f in good)
    since = {r.start.time for r in found if not r.start.preview}
    assert all(set(f.estimate.times) <= since for f in good)
    assert all(len(launches(result.judgement, f)) == 6 for f in good)


def test_launches_of_the_preview_count_until_they_are_replaced(ready: Bench) -> None:
    result, _ = execute(ready)
    found, run = records(result), store.open(result.directory).run()
    early = [r for r in found if r.start.preview]
    later = [r for r in found if not r.start.preview and r.start.cell == early[0].start.cell]
    for number, expected in ((0, 6), (1, 7), (5, 11), (6, 6)):
        evidence, lost = gather(run, [*early, *later[:number]])
        assert not lost and {len(e.timings) for e in evidence.values()} == {expected}


def test_a_wrong_result_of_the_preview_counts_to_the_end(ready: Bench) -> None:
    result, _ = execute(ready)
    found, run = records(result), store.open(result.directory).run()
    first = next(r for r in found if r.start.preview)
    bad = replace(first, checks=tuple(replace(c, ok=False) for c in first.checks))
    evidence, _ = gather(run, [bad if r is first else r for r in found])
    assert [e for e in evidence.values() if e.wrong]


def test_a_program_of_the_preview_that_is_always_wrong_fails(ready: Bench) -> None:
    ready.misbehave("wrong", "serial", "kahan")
    result, _ = execute(ready)
    assert result.code == REGRESSION and all(isinstance(f, Failed) for f in result.judgement.figures)


def test_stopped_while_the_others_are_built_the_run_can_be_resumed(
    ready: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(_: Path) -> None:
        monkeypatch.setattr("firstlight.execute.build.build", ready.build)
        raise KeyboardInterrupt

    while_building(ready, monkeypatch, stop)
    result, _ = execute(ready)
    assert result.code == INTERRUPTED and "--resume" in result.line
    assert store.open(result.directory).run().state == "interrupted" and len(records(result)) == 6
    assert [len(f.estimate.launches) for f in result.judgement.figures if isinstance(f, Verified)] == [6, 6]
    again = runner.resume(result.directory, Plain(io.StringIO()))
    assert again.code == OK and again.line.startswith("complete")
    assert Counter(r.start.preview for r in records(again)) == {False: 24, True: 6}
    assert all(len(f.estimate.launches) == 6 for f in again.judgement.figures if isinstance(f, Verified))


def test_where_no_program_of_the_preview_builds_all_are_built(ready: Bench) -> None:
    execute(ready)
    ready.broken = {ready.built[0]}
    ready.built.clear()
    result, notes = execute(ready)
    assert result.code == OK and not any(r.start.preview for r in records(result)) and "first page" not in notes


@pytest.mark.parametrize("names", [("dot",), ("dot.serial",)])
def test_named_workloads_have_no_preview(ready: Bench, names: tuple[str, ...]) -> None:
    result = runner.run(RunRequest(names=names, results=ready.results), Plain(io.StringIO()))
    assert not any(r.start.preview for r in records(result))


@pytest.mark.parametrize(("name", "value"), [("FEWEST", 4), ("SHARE", 1e-9)])
def test_a_preview_that_saves_little_or_costs_much_is_left_out(
    ready: Bench, monkeypatch: pytest.MonkeyPatch, name: str, value: float
) -> None:
    monkeypatch.setattr(preview, name, value)
    result, _ = execute(ready)
    assert result.code == OK and not any(r.start.preview for r in records(result))


def test_the_longest_programs_are_left_out_of_a_preview(ready: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """One headline that lasts longer than the share of the budget must not remove the first page."""
    ready.workload("long", "serial", toml=HEADLINE)
    known = SimpleNamespace(of=lambda cell: 1e6 if cell.program.workload == "long" else 0.01)
    monkeypatch.setattr(preview, "costs_of", lambda prepared: known)
    result, _ = execute(ready)
    assert {r.start.cell.partition(".")[0] for r in records(result) if r.start.preview} == {"dot"}


def test_with_all_programs_built_there_is_no_preview(ready: Bench) -> None:
    execute(ready)
    second, _ = execute(ready)
    assert not any(r.start.preview for r in records(second))

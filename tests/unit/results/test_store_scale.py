"""The work per launch does not grow with a hundred thousand launches. The tests count operations, not seconds."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest
from test_store import CELL, GOOD, a_launch, store, whole

from driver import run_of
from faulty import Faulty
from firstlight.core.errors import RecordError
from firstlight.execute.build import Built
from firstlight.model.plan import Cell, Program
from firstlight.results import store as stores
from firstlight.results.record import Run, Start
from firstlight.results.store import disk, layout
from firstlight.runner.cell_progress import Tally
from firstlight.runner.costs import Costs
from firstlight.runner.prepare import ALL_WORDS, make
from firstlight.runner.rounds import COMPLETE
from invented_rounds import Bench, Notes

__all__ = ["store"]

MANY = 100_000


class Crowded(Faulty):
    """Represent a disk on which every folder contains MANY launches of a thousand cells."""

    def scandir(self, folder: int) -> contextlib.AbstractContextManager[Iterator[SimpleNamespace]]:
        self.count += 1
        self.done.append("scandir")
        names = (layout.launch_name(f"cell{k % 1000}", k // 1000) for k in range(MANY))
        return contextlib.nullcontext(SimpleNamespace(name=name) for name in names)


def test_a_run_of_many_launches_is_listed_once_and_each_further_one_costs_the_same(
    store: stores.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    crowded, body, costs = Crowded(), whole(), []
    monkeypatch.setattr(disk, "os", crowded)
    assert {store.next_launch(f"cell{k}") for k in range(1000)} == {MANY // 1000}
    for number in range(5):
        before = crowded.count
        assert store.next_launch(CELL) == number
        part = store.begin(Start("run", CELL, number, 0, 1.8e9, ("x",), 0.1))
        with part.open("ab") as file:
            file.write(body)
        store.finish(part, GOOD)
        costs.append(crowded.count - before)
    assert crowded.done.count("scandir") == 1
    assert len(set(costs)) == 1 and costs[0] < 40, costs


def test_records_are_read_one_after_the_other_each_once(store: stores.Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Records are read lazily: a loop that counts them has one at a time in memory."""
    counted = []
    for wanted in (5, 10, 20):
        while (number := store.next_launch(CELL)) < wanted:
            a_launch(store, number)
        with monkeypatch.context() as patched:
            system = Faulty()
            patched.setattr(disk, "os", system)
            records = store.records()
            next(records)
            first = system.count
            assert sum(1 for _ in records) == wanted - 1
            counted.append((first, system.count, system.done.count("scandir")))
    (first, five, listed), (_, ten, _), (last, twenty, _) = counted
    assert first == last and listed == 1
    assert twenty - ten == 2 * (ten - five)


class Counting(tuple[Cell, ...]):
    """Cells that count how often one is looked at."""

    looked = 0

    def __iter__(self) -> Iterator[Cell]:
        for cell in super().__iter__():
            Counting.looked += 1
            yield cell


def test_a_tally_looks_at_its_own_cell_only() -> None:
    bench = Bench(300, lambda cell, k: 1.0)
    cells = Counting(bench.cells)
    run: Run = bench.run(cells=cells)
    tallies = [Tally(run, cell) for cell in bench.cells]
    before = Counting.looked
    for tally in tallies[:10]:
        for number in range(3):
            tally.take(bench.launch(tally.cell, number))
        assert len(tally.records) == 3 and tally.estimates
    assert Counting.looked - before == 0


def test_a_run_of_twice_the_cells_asks_twice_as_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time of a launch is computed for each cell of a round, not for each pair of them."""
    calls = [0]
    of = Costs.of

    def counted(self: Costs, cell: Cell) -> float:
        calls[0] += 1
        return of(self, cell)

    monkeypatch.setattr(Costs, "of", counted)
    counts = []
    for cells in (40, 80, 160):
        calls[0] = 0
        bench = Bench(cells, lambda cell, k: 1.0)
        assert bench.rounds(1e6).go() == COMPLETE
        counts.append(calls[0] / len(bench.seen))
    assert counts[2] < 1.1 * counts[0], counts


def test_what_compilers_say_is_bounded_in_run_json_and_whole_beside_it(
    store: stores.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = (
        "In file included from x.cpp\n" + "note: see here\n" * 50 + "x.cpp:1: error: no such thing\n" + "y" * 200_000
    )
    programs = [Program("dot", f"v{k}", "gcc-base") for k in range(200)]
    good = Program("dot", "serial", "gcc-base")
    built = {p: Built(p, None, b"", 1.0, sha256="", recipe="", error=output) for p in programs}
    built[good] = Built(good, Path("x"), b"", 1.0, sha256="0" * 64, recipe="", error="")
    monkeypatch.setattr("firstlight.execute.build.build", lambda *_: built)
    monkeypatch.setitem(make.__globals__, "efforts", lambda *_: {})  # these variants have no files
    made = make([*programs, good], run_of().toolbox, {}, Notes())
    failed = [b for b in made.builds if not b.ok]
    assert len(failed) == 200 and all("error: no such thing" in b.error for b in failed)
    assert "builds/dot.v7@gcc-base.log" in failed[7].error
    assert sum(len(b.error) for b in failed) < 2 * ALL_WORDS
    assert made.outputs[failed[7].program.key] == output
    store.write_run(msgspec.structs.replace(run_of(), builds=made.builds))
    assert (store.path / "run.json").stat().st_size < layout.MAX_RUN_BYTES / 4
    monkeypatch.setattr(layout, "MAX_LOG_BYTES", 10_000)
    store.keep_log("dot.v7@gcc-base", output)
    kept = (store.path / "builds" / "dot.v7@gcc-base.log").read_text()
    assert len(kept) <= 10_000 and kept.startswith("In file included") and kept.endswith("yyy") and " bytes ..." in kept
    assert stores.check(store.path) == []


def test_a_run_that_could_not_be_read_again_is_refused_in_one_line(
    store: stores.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layout, "MAX_RUN_BYTES", 1000)
    with pytest.raises(RecordError, match="would be larger than") as error:
        store.write_run(run_of())
    assert "\n" not in str(error.value)
    monkeypatch.undo()
    assert store.run() == run_of()

"""The audit reports every defect, each in one line with its place. The run is sound except for the one change."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from test_store import CELL, GOOD, a_launch, whole

from driver import run_of
from firstlight.core.errors import RecordError
from firstlight.execute.launch import Outcome
from firstlight.model.catalogue.brought import Brought, Reporter
from firstlight.results import store as stores
from firstlight.results.store import layout, lines

Change = Callable[[list[dict[str, Any]]], None]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[stores.Store]:
    with stores.create(tmp_path, run_of()) as made:
        yield made


def first(lines: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    return next(line for line in lines if line["type"] == kind)


def set_(kind: str, **members: object) -> Change:
    return lambda lines: first(lines, kind).update(members)


def drop(kind: str) -> Change:
    def change(lines: list[dict[str, Any]]) -> None:
        lines[:] = [line for line in lines if line["type"] != kind]

    return change


def series(times: int = 1, **members: object) -> Change:
    """Add a series after the first sample."""
    line = {"type": "series", "case": 0, "name": "points", "unit": "us", "rank": 0, "values": [1.0, 2.0]} | members

    def change(lines: list[dict[str, Any]]) -> None:
        place = [x["type"] for x in lines].index("sample") + 1
        lines[place:place] = [line] * times

    return change


def field(times: int = 1, **members: object) -> Change:
    """Add a field after the first sample."""
    line = {"type": "field", "case": 0, "name": "ez", "unit": "", "rows": 2, "columns": 3, "largest": 1.0,
            "values": [[0, 1, 2], [3, -999, 5]]} | members  # fmt: skip

    def change(lines: list[dict[str, Any]]) -> None:
        place = [x["type"] for x in lines].index("sample") + 1
        lines[place:place] = [line] * times

    return change


def reported(lines: list[dict[str, Any]]) -> None:
    """Add the report of another tool after the first sample."""
    place = [x["type"] for x in lines].index("sample") + 1
    lines.insert(place, {"type": "reported", "case": 0, "values": {"rate": 1.0}})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (set_("launch", workload="stream"), "stream.serial ran where dot.serial was planned"),
        (set_("launch", ranks=2), "2 ranks ran where 1 were planned"),
        (set_("launch", binding=[]), "the binding of 0 ranks is recorded, but there are 1"),
        (set_("case", case=1), "case 1 was recorded where case 0 was expected"),
        (set_("case", steps=0), "impossible"),
        (set_("case", cost={"flops": -1.0}), "cost flops is -1.0"),
        (set_("sample", sample=1), "sample 1 of case 0 was recorded where sample 0 was expected"),
        (set_("sample", wall=0.0), "wall times are impossible"),
        (set_("sample", wall_min=1e9), "wall times are impossible"),
        (set_("sample", cpu=-1.0), "the share of CPU time is impossible: -1.0"),
        (set_("sample", case=99), "case 99 was not declared"),
        (set_("sample", values={"noise": [2.0, 1.0, 3.0]}), "observed noise is impossible"),
        (set_("sample", values={"noise": [1.0, 2.0, 3.0]}), "observes other values than the earlier samples"),
        (series(case=99), "case 99 was not declared"),
        (series(rank=1), "series points of rank 1, but there are only 1"),
        (series(times=2), "series points of rank 0 occurs twice"),
        (field(case=99), "case 99 was not declared"),
        (field(times=2), "case 0 has two fields"),
        (field(rows=3), "field ez of 3 x 3 cells is not drawn as 3 rows of 3 values"),
        (field(values=[[0, 1, 2], [3, 4]]), "field ez of 2 x 3 cells is not drawn as 2 rows of 3 values"),
        (field(largest=0.0), "field ez has values beyond its largest, 0"),
        (reported, "an external tool reported this sample, although firstlight launched the program"),
        (set_("check", case=99), "case 99 was not declared"),
        (set_("check", ok=False), "the check failed, but its error is"),
        (set_("check", error=None), "the check passed, but its error is None"),
        (set_("check", error=1.0), "the check passed, but its error is 1.0"),
        (set_("check", tolerance=-1.0), "tolerance is -1.0"),
        (set_("end", cases=77), "77 cases were announced"),
        (drop("check"), "was never checked"),
        (drop("sample"), "has no samples"),
    ],
)
@pytest.mark.full
def test_what_the_lines_say_is_checked(store: stores.Store, change: Change, message: str) -> None:
    content = [json.loads(line) for line in whole().splitlines()]
    change(content)
    a_launch(store, 0, b"".join(json.dumps(line).encode() + b"\n" for line in content))
    assert store.defects == []
    found = [d for d in stores.check(store.path) if message in d.what]
    assert found, stores.check(store.path)
    assert all(d.file == f"launches/{CELL}.0000.jsonl" and d.line > 1 for d in found)


def test_an_imported_run_contains_no_measurement(tmp_path: Path) -> None:
    brought = Brought("dot", "", "", {"serial": "dot"}, reporter=Reporter("another tool"))
    with stores.create(tmp_path, msgspec.structs.replace(run_of(), brought=(brought,))) as store:
        a_launch(store, 0)
        found = {d.what for d in stores.check(store.path)}
    assert "firstlight measured this sample, although an external tool reported the program" in found


def test_a_word_that_does_not_exist_is_no_line() -> None:
    content = [json.loads(line) for line in whole().splitlines()]
    set_("check", when="never")(content)
    raw = next(json.dumps(line).encode() for line in content if line["type"] == "check")
    why = lines.decode(raw)
    assert isinstance(why, str) and "Invalid enum value 'never' - at `$.when`" in why


def test_a_series_is_sound(store: stores.Store) -> None:
    content = [json.loads(line) for line in whole().splitlines()]
    series()(content)
    a_launch(store, 0, b"".join(json.dumps(line).encode() + b"\n" for line in content))
    assert list(stores.check(store.path)) == []
    (record,) = store.records()
    assert [(s.name, s.rank, s.values) for s in record.series] == [("points", 0, (1.0, 2.0))]


def test_a_field_is_sound(store: stores.Store) -> None:
    content = [json.loads(line) for line in whole().splitlines()]
    field()(content)
    a_launch(store, 0, b"".join(json.dumps(line).encode() + b"\n" for line in content))
    assert list(stores.check(store.path)) == []
    (record,) = store.records()
    assert [(f.name, f.values) for f in record.fields] == [("ez", ((0, 1, 2), (3, -999, 5)))]


@pytest.mark.parametrize(
    ("outcome", "message"),
    [
        (Outcome((), True, 1, "", 1.0, 0.0, ""), "status 1, but the checks passed"),
        (Outcome((), True, 2, "", 1.0, 0.0, ""), "is marked ok, but the status"),
        (Outcome((), True, None, "", 1.0, 0.0, ""), "is marked ok, but the status"),
    ],
)
def test_the_exit_line_agrees_with_the_record(store: stores.Store, outcome: Outcome, message: str) -> None:
    a_launch(store, 0, outcome=outcome)
    assert any(message in d.what for d in stores.check(store.path))


def test_a_missing_number_is_reported(store: stores.Store) -> None:
    for number in range(4):
        a_launch(store, number)
    for number in (0, 2):
        (store.path / "launches" / layout.launch_name(CELL, number)).unlink()
    assert [str(d) for d in stores.check(store.path)] == [
        f"launches/{CELL}.0000.jsonl: is missing",
        f"launches/{CELL}.0002.jsonl: is missing",
    ]


def test_names_are_reported_and_derived_files_are_not(store: stores.Store) -> None:
    a_launch(store, 0)
    for name in ("report.html", "figures.json"):
        (store.path / name).write_text("derived")
    (store.path / "builds").mkdir()
    (store.path / "builds" / "dot.serial@gcc-base.log").write_text("error")
    assert stores.check(store.path) == []
    (store.path / "core").write_text("")
    (store.path / "builds" / "run me.sh").write_text("")
    (store.path / "launches" / "notes.txt").write_text("")
    (store.path / "launches" / f"{CELL}.7.jsonl").write_text("")
    (store.path / "figures.json").unlink()
    (store.path / "figures.json").symlink_to("/etc/hostname")
    assert sorted(d.file for d in stores.check(store.path)) == [
        "builds/run me.sh",
        "core",
        "figures.json",
        f"launches/{CELL}.7.jsonl",
        "launches/notes.txt",
    ]


def test_an_unknown_cell_and_a_foreign_run_are_reported(store: stores.Store) -> None:
    a_launch(store, 0)
    store.write_run(msgspec.structs.replace(run_of(), id="other", cells=()))
    whats = [d.what for d in stores.check(store.path)]
    assert "belongs to run 'run', not to 'other'" in whats
    assert f"cell '{CELL}' is not in run.json" in whats


def test_run_json_is_checked(store: stores.Store) -> None:
    cells = run_of().cells
    bad = msgspec.structs.replace(run_of(), cells=cells + cells, state="complete", finished=None)
    store.write_run(bad)
    whats = [str(d) for d in stores.check(store.path)]
    assert f"run.json: cell '{CELL}' occurs 2 times" in whats
    assert "run.json: state is 'complete' but finished is None" in whats
    with pytest.raises(RecordError, match=r"Invalid enum value 'done' - at `\$\.state`"):
        store.write_run(msgspec.structs.replace(bad, state="done"))


def test_every_defect_is_reported_and_the_missing_run_does_not_hide_them(store: stores.Store) -> None:
    for number in range(3):
        a_launch(store, number)
    for number in (0, 1):
        path = store.path / "launches" / layout.launch_name(CELL, number)
        path.write_bytes(path.read_bytes()[:-10])
    (store.path / "run.json").unlink()
    files = [d.file for d in stores.check(store.path)]
    assert {"run.json", f"launches/{CELL}.0000.jsonl", f"launches/{CELL}.0001.jsonl"} == set(files)


def test_nothing_at_all_is_one_defect(tmp_path: Path) -> None:
    assert [str(d) for d in stores.check(tmp_path / "nothing")] == [".: no such file or directory"]


def test_defects_are_one_line_each(store: stores.Store) -> None:
    a_launch(store, 0)
    (store.path / "a\nb").write_text("")
    assert all("\n" not in str(d) for d in stores.check(store.path))
    assert GOOD.ok

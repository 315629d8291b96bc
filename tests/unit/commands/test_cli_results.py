"""The commands that read a run which is there: its figures, whether it is sound, how it compares."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path

import msgspec
import pytest

from bench import Bench
from commands import Captured, call
from firstlight.core.errors import OK, REGRESSION, USAGE
from firstlight.report.export import Row


def test_figures_in_json_carry_numbers_only_where_verified(result: Path, capsys: Captured) -> None:
    code, out, _ = call(capsys, "figures", "latest", "--json")
    assert code == OK
    rows = json.loads(out)
    assert len(rows) == 8
    optional = {"values", "times"}  # with --launches
    assert all(set(row) == set(Row.__struct_fields__) - optional for row in rows)
    for row in rows:
        numbers = [row[name] for name in ("median", "low", "high", "launches")]
        if row["verdict"] == "verified":
            assert row["low"] <= row["median"] <= row["high"] and row["launches"] == 6
        else:
            assert numbers == [None] * 4 and row["of_ceiling"] is None and row["reason"]
    assert {(r["variant"], r["toolchain"]) for r in rows if r["verdict"] == "failed"} == {("kahan", "gcc-fast")}
    assert rows[0]["placement"] == {"nodes": 1, "ranks": 1, "threads": 1, "gpu": None}


def test_figures_in_csv_are_the_same_ones(result: Path, capsys: Captured) -> None:
    _, out, _ = call(capsys, "figures", str(result), "--json")
    rows = json.loads(out)
    code, out, _ = call(capsys, "figures", result.name, "--csv")
    assert code == OK
    table = list(csv.DictReader(io.StringIO(out)))
    assert len(table) == len(rows)
    for line, row in zip(table, rows, strict=True):
        assert int(line["parameters.n"]) == row["parameters"]["n"]
        assert line["placement.ranks"] == "1"
        assert line["median"] == ("" if row["median"] is None else repr(row["median"]))
    assert call(capsys, "figures", "--csv", "--json")[0] == USAGE


def test_figures_for_reading(result: Path, capsys: Captured) -> None:
    _, out, _ = call(capsys, "figures")
    assert "6 verified of 8 figures" in out
    _, out, _ = call(capsys, "figures", "--failed")
    assert out.count("failed: the sum") == 2 and "serial" not in out
    assert "2 failed, none unverified, of 8 figures" in out and "verified of" not in out.replace("unverified", "")


def test_check_of_a_sound_run(result: Path, capsys: Captured) -> None:
    code, out, _ = call(capsys, "check")
    assert code == OK and "no defects" in out
    code, out, _ = call(capsys, "check", "--json")
    assert json.loads(out)["defects"] == []


def test_check_finds_a_changed_verdict_a_changed_number_and_a_changed_launch(result: Path, capsys: Captured) -> None:
    rows = msgspec.json.decode((result / "figures.json").read_bytes(), type=list[Row])
    failed = next(k for k, row in enumerate(rows) if row.verdict == "failed")
    good = next(k for k, row in enumerate(rows) if row.median is not None)
    rows[failed] = msgspec.structs.replace(rows[failed], verdict="verified")
    rows[good] = msgspec.structs.replace(rows[good], median=1e6)
    lost = rows.pop()
    (result / "figures.json").write_bytes(msgspec.json.encode(rows))
    code, out, _ = call(capsys, "check")
    assert code == REGRESSION
    assert "verdict is verified in the file, but failed in the launches" in out
    assert "median is 1000000 in the file, but" in out
    assert f"{lost.workload}.{lost.variant} rate" in out and "is missing" in out
    assert "figures.json: was altered after the run was sealed" in out and "4 defects" in out
    launch = next((result / "launches").iterdir())
    launch.write_bytes(launch.read_bytes().replace(b'"wall": 0', b'"wall": 1'))
    _, out, _ = call(capsys, "check")
    assert "the hash does not match" in out and "defects" in out


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"[" * 100_000])
def test_check_of_rubbish_figures(result: Path, capsys: Captured, content: bytes) -> None:
    (result / "figures.json").write_bytes(content)
    code, out, _ = call(capsys, "check")
    assert code == REGRESSION and "figures.json" in out


def test_check_of_a_truncated_run(result: Path, capsys: Captured) -> None:
    (result / "run.json").write_bytes((result / "run.json").read_bytes()[:1000])
    code, out, _ = call(capsys, "check")
    assert code == REGRESSION and "run.json" in out
    code, _, err = call(capsys, "figures")
    assert code == USAGE and err.count("\n") == 1


@pytest.fixture
def spread_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat each launch as a separate moment: the stand-ins are launched within a second."""
    monkeypatch.setattr("firstlight.analysis.compare.MOMENT", 0.0)


def test_compare_of_runs_that_are_over_in_a_moment_is_inconclusive(result: Path, capsys: Captured) -> None:
    assert call(capsys, "run", "--launches", "6")[0] == OK
    code, out, _ = call(capsys, "compare", result.name, "latest")
    assert code == 4 and "too short" in out


def test_compare_of_a_run_with_itself_says_so(result: Path, tmp_path: Path, capsys: Captured) -> None:
    shutil.copytree(result, tmp_path / "copy")
    for words in (["latest", result.name], ["latest", str(tmp_path / "copy")]):
        code, out, _ = call(capsys, "compare", *words)
        assert code == OK and "A and B are the same run" in out
    comparison = json.loads(call(capsys, "compare", "latest", "latest", "--json")[1])
    assert (
        comparison["same_run"]
        and comparison["code"] == OK
        and comparison["figures"][0]["identity"]["parameters"] == {"n": 100}
    )


@pytest.mark.usefixtures("spread_out")
def test_compare_knows_same_and_worse(result: Path, capsys: Captured) -> None:
    assert call(capsys, "run", "--launches", "6")[0] == OK
    code, out, _ = call(capsys, "compare", result.name, "latest")
    assert code == OK and "0 worse · 0 better · 0 inconclusive · 6 same" in out
    code, out, _ = call(capsys, "compare", result.name, "latest", "--json")
    assert code == OK and len(json.loads(out)["figures"]) == 6


@pytest.mark.usefixtures("spread_out")
def test_compare_with_a_slower_run_is_a_regression(bench: Bench, result: Path, capsys: Captured) -> None:
    import bench as module

    slower = module.BODY.replace("2e-6 * n", "3e-6 * n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BODY", slower)
        assert call(capsys, "run")[0] == OK
    code, out, _ = call(capsys, "compare", result.name, "latest")
    assert code == REGRESSION and "6 worse" in out and "x that of A" in out
    code, out, _ = call(capsys, "compare", "latest", result.name)
    assert code == OK and "6 better" in out


@pytest.mark.usefixtures("spread_out")
def test_compare_of_too_few_launches_is_inconclusive(bench: Bench, capsys: Captured) -> None:
    for name in ("one", "two"):
        assert call(capsys, "run", "--launches", "2", "--as", name)[0] == OK
    code, out, _ = call(capsys, "compare", "one", "two")
    assert code == 4 and "too few launches" in out


def test_an_empty_name_of_a_run_is_one_line(capsys: Captured) -> None:
    for words in (["report", ""], ["figures", ""], ["compare", "", ""], ["explain", "x", "--run", ""]):
        code, _, err = call(capsys, *words)
        assert code == USAGE and "the name of the run is empty" in err and err.count("\n") == 1

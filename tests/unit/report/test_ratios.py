"""Ratios of commands: what the pages of `./fl bench` show first."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

import titles
from bench_runs import figure, with_times
from commands import Captured, call
from firstlight.analysis import provenance
from firstlight.analysis.compare import compare
from firstlight.analysis.disturbance import computing, share_disturbed
from firstlight.analysis.verdict import Verified
from firstlight.commands.bench import gate
from firstlight.core.errors import INCONCLUSIVE, OK, REGRESSION, USAGE
from firstlight.model.catalogue.brought import Brought
from firstlight.report import external_commands, external_table, ratios
from firstlight.report.ink import Ink


@pytest.mark.parametrize(
    ("a", "b", "threshold", "shown", "outcome"),
    [
        (1.0, 1.1, 0.05, r"1\.(09\d*|1\d*) \[1\.\d+, 1\.\d+\]", "slower"),
        (1.1, 1.0, 0.05, r"0\.9\d+ \[0\.9\d+, 0\.9\d+\]", "faster"),
        (1.0, 1.02, 0.05, r"1\.0\d+ \[1\.0\d+, 1\.0\d+\]", "same within 5 %"),
        (1.0, 1.02, 0.01, r"1\.0\d+ \[1\.0\d+, 1\.0\d+\]", "slower"),
        (1.0, 1.1, 0.2, r"1\.\d+ \[1\.\d+, 1\.\d+\]", "same within 20 %"),
        (1.0, 1.0, 0.05, r"1(\.00)? \[.*\]", "same within 5 %"),
    ],
)
def test_the_ratio_is_shown_with_its_interval_and_outcome(
    a: float, b: float, threshold: float, shown: str, outcome: str
) -> None:
    found = ratios.ratio(figure(a), figure(b), threshold)
    assert re.fullmatch(shown, provenance.settle(found.text))
    assert provenance.settle(found.difference) == outcome


def test_of_what_is_better_where_higher_a_rise_is_better() -> None:
    a, b = (replace(figure(level, better="higher"), unit="1/s") for level in (1.0, 1.2))
    assert ratios.ratio(a, b, 0.05).difference == "better"


@pytest.mark.parametrize("launches", [1, 2, 3])
def test_too_few_launches_have_no_interval(launches: int) -> None:
    found = ratios.ratio(figure(1.0, launches), figure(2.0, launches), 0.05)
    assert found.text.endswith("[too few launches]") and found.difference == "inconclusive"


def test_commands_are_compared_with_the_first_one_as_typed(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["--sweep", "n=1,2", "--", "sleep", "0.0{n}", "--", "true", "{n}"]
    code, out, err = call(capsys, "bench", "--launches", "1", "--as", "r", "--threshold", "0.1", *words)
    assert code == OK, err
    shown = r"at n = {}: true / sleep = [0-9.]+ \[too few launches\] in (wall|CPU) time: inconclusive"
    for n in (1, 2):
        assert re.search(shown.format(n), " ".join(out.split())), out
    assert titles.check(tmp_path / "results" / "r", None, out).mismatches == []
    assert json.loads((tmp_path / "results" / "r" / "run.json").read_text())["brought"][0]["threshold"] == 0.1
    code, out, err = call(capsys, "bench", "--resume", "r", "--budget", "1s")
    assert code == OK and "true / sleep = " in out, err
    code, _, err = call(capsys, "bench", "--resume", "r", "--threshold", "0.2")
    assert code == USAGE and "--threshold" in err


def test_every_number_of_the_page_is_computed_again(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    commands = ["--", "true", "--", "sleep", "0.001", "--", "false"]
    code, _, err = call(capsys, "bench", "--as", "r", "--budget", "10s", *commands)
    assert code == REGRESSION, err  # false
    _, shown, _ = call(capsys, "report", "r")
    _, figures, _ = call(capsys, "figures", "r", "--json")
    found = titles.check(tmp_path / "results" / "r", json.loads(figures), shown)
    assert found.mismatches == [] and found.computed > 15
    page = (tmp_path / "results" / "r" / "report.html").read_text()
    assert "false is not ranked (failed)" in shown and "false is not ranked (failed)" in page
    place = tmp_path / "results" / "r" / "report.html"
    place.write_text(re.sub(r'(data-from="a"[^>]*>)[\d.]+', r"\g<1>77.7", page, count=1))
    assert len(titles.check(tmp_path / "results" / "r").mismatches) == 1


@pytest.mark.parametrize(("cpu", "counts"), [(0.99, True), (0.01, False)])
def test_a_command_that_computes_is_never_disturbed_by_nature(cpu: float, counts: bool) -> None:
    """A command that waits diverges in all its samples; one that computes does so only on a busy machine."""
    busy = with_times(1.5, cpu, 1.0)
    shares = [replace(f, diverged=1.0) if not f.observed else f for f in busy.figures if isinstance(f, Verified)]
    busy = replace(busy, figures=tuple(shares))
    assert (share_disturbed(busy.run, busy.figures) == 1.0) == counts
    other = replace(busy, run=replace(busy.run, started=busy.run.started + 1))
    assert bool(compare(busy, other).disturbed) == counts


def test_a_command_that_shares_its_cpu_with_many_still_computes() -> None:
    crowded = with_times(1.5, 0.2, 1.0)  # a share of 0.13
    cpus = len(crowded.run.machine.cpus)
    for load, counts in ((0.0, False), (4.0 * cpus, True)):
        run = replace(crowded.run, machine=replace(crowded.run.machine, load=load))
        assert bool(computing(run, crowded.figures)) == counts
        (text,) = external_commands.sentences(replace(crowded, run=run))
        assert ("in CPU time" in provenance.settle(text)) == counts


@pytest.mark.parametrize(
    ("wall", "cpu", "diverged", "sentence"),
    [
        (1.0, 0.99, 0.0, "in wall time: slower"),
        (1.5, 0.99, 0.95, "in CPU time: slower; wall time was disturbed"),
        (1.5, 0.01, 0.95, "in wall time: slower"),  # the commands wait, and CPU time shows nothing of it
    ],
)
def test_cpu_time_decides_where_wall_time_was_disturbed(
    wall: float, cpu: float, diverged: float, sentence: str
) -> None:
    """Both are shown side by side."""
    judgement = with_times(wall, cpu, diverged)
    (text,) = map(provenance.settle, external_commands.sentences(judgement))
    assert text.startswith("b / a = 2.") or text.startswith("b / a = 1.9")
    assert text.endswith(sentence)
    (lines,) = external_table.tables(judgement, 100, Ink(False))
    assert "wall time" in lines[0] and "CPU time" in lines[0]


def test_many_commands_are_ranked_and_one_has_no_ratio(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    many = [word for k in range(1, 11) for word in ("--", "sleep", f"0.0{k:02}")]
    code, out, err = call(capsys, "bench", "--as", "many", "--launches", "1", *many)
    assert code == OK, err
    assert re.search(r"no difference between the 10 commands can be shown in .* time", " ".join(out.split())), out
    assert out.count(" / sleep_0_001 = ") == 9
    code, out, err = call(capsys, "bench", "--as", "one", "--launches", "1", "--", "true")
    assert (
        code == OK and re.search(r"result   true: .* in (wall|CPU) time", out) and " / " not in out.split("health")[0]
    )
    page = (tmp_path / "results" / "one" / "report.html").read_text()
    assert "No row of the summary was measured" not in page and 'class="cards"' not in page


def test_the_best_of_many_is_named_with_the_next() -> None:
    table = external_commands.Table(Brought("bench", "t", "?", {}), ("time",), "time", "", ())
    of = {name: figure(level) for name, level in (("a", 1.3), ("b", 1.0), ("c", 2.0))}
    of = {name: replace(f, identity=replace(f.identity, variant=name)) for name, f in of.items()}
    text = provenance.settle(external_commands._of_many(table, of, "wall time"))
    assert re.fullmatch(r"b is the best of 3 commands in wall time; a follows: a / b = 1\.\d+ \[1\.\d+, 1\.\d+\]", text)


@pytest.mark.parametrize(
    ("level", "launches", "status", "message"),
    [
        (1.0, 12, OK, ""),
        (1.01, 12, OK, ""),
        (0.5, 12, OK, ""),
        (1.1, 12, REGRESSION, "b / a = 1.1 [1.1, 1.1] in time: above the limit of 3 %"),
        (1.031, 12, INCONCLUSIVE, "it is uncertain whether the limit of 3 % is met"),
        (1.1, 3, INCONCLUSIVE, "b: without an interval it is uncertain whether the limit of 3 % is met"),
    ],
)
def test_the_limit_is_broken_or_kept_by_the_whole_interval(
    level: float, launches: int, status: int, message: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = figure(1.0, launches), figure(level, launches)
    b = replace(b, identity=replace(b.identity, variant="b"))
    lines = (
        external_commands.Line("a", "./a", "", {"time": a}, None, "a", ""),
        external_commands.Line("b", "./b", "", {"time": b}, None, "a", ""),
    )
    table = external_commands.Table(Brought("bench", "t", "?", {"a": "./a", "b": "./b"}), ("time",), "time", "", lines)
    monkeypatch.setattr(external_commands, "tables", lambda judgement: [table])
    assert gate.passed(None, 0.03) == status  # type: ignore[arg-type]
    err = re.sub(r"1\.\d+", lambda m: f"{float(m[0]):.2g}", capsys.readouterr().err)
    assert message in err and bool(err) == bool(message) and "\ue000" not in err


def test_each_toolchain_has_a_limit_of_its_own(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page compares with the best of all; the limit compares with the first command of the same toolchain."""
    lines = []
    for toolchain, levels in (("gcc-base", (2.0, 2.0)), ("gcc-fast", (1.0, 1.1))):
        for name, level in zip("ab", levels, strict=True):
            f = figure(level)
            f = replace(f, identity=replace(f.identity, variant=name, toolchain=toolchain))
            lines.append(external_commands.Line(f"{name} / {toolchain}", name, "", {"time": f}, None, "", ""))
    brought = Brought("bench", "t", "?", {"a": "./a", "b": "./b"})
    table = external_commands.Table(brought, ("time",), "time", "", tuple(lines))
    monkeypatch.setattr(external_commands, "tables", lambda judgement: [table])
    assert gate.passed(None, 0.03) == REGRESSION  # type: ignore[arg-type]
    (line,) = capsys.readouterr().err.splitlines()
    assert "b / gcc-fast / a / gcc-fast = 1.1" in line


def test_a_command_without_a_figure_decides_nothing(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = (external_commands.Line("a", "./a", "", {"time": figure(1.0)}, None, "a", ""),)
    table = external_commands.Table(Brought("bench", "t", "?", {"a": "./a", "b": "./b"}), ("time",), "time", "", lines)
    monkeypatch.setattr(external_commands, "tables", lambda judgement: [table])
    assert gate.passed(None, 0.03) == INCONCLUSIVE  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--limit", "2%", "--", "true"), "--limit compares commands with the first one"),
        (("--limit", "fast", "--", "true", "--", "false"), "'fast' is not a share; write a value such as 2% or 0.02"),
        (("--limit", "100%", "--", "true", "--", "false"), "is not a share"),
    ],
)
def test_a_wrong_limit_is_one_line(
    words: tuple[str, ...], message: str, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, err = call(capsys, "bench", *words)
    assert code == USAGE and message in err and len(err.strip().splitlines()) == 1


def test_a_slow_command_breaks_the_limit(tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["--launches", "6", "--budget", "20s", "--limit", "50%", "--", "sleep 0.02", "--", "sleep 0.1"]
    code, _, err = call(capsys, "bench", *words)
    assert code == REGRESSION and "above the limit of 50 %" in err

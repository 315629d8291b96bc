"""Machines side by side: ratios are of the medians shown, equal runs are alike, a disturbed run is reported first."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

import many_runs
import synthetic
import synthetic_machine
from commands import Captured, call
from documented import computed
from firstlight.analysis.figures import judge
from firstlight.analysis.provenance import settle
from firstlight.analysis.states import describe_states
from firstlight.analysis.verdict import States, Verified
from firstlight.commands.compare import machines as compare_machines
from firstlight.core import heritage
from firstlight.core.errors import INCONCLUSIVE, OK, USAGE
from firstlight.core.heritage import Entry, Heritage, Source
from firstlight.core.units import significant
from firstlight.report import answers

SOURCE = Source("X", "A. Author", "Title", "Venue", "1996", 1996)


def of(seed: int, name: str, **options: object) -> compare_machines.Judged:
    scene = synthetic.run(seed, 16, on=synthetic_machine.machine(name=name), **options)  # type: ignore[arg-type]
    judgement = judge(*scene)
    return replace(judgement, run=replace(judgement.run, id=name)), scene.workloads


@pytest.fixture(scope="module")
def three() -> list[compare_machines.Judged]:
    """Two equal machines, and one that is slower in one workload."""
    return [of(1, "one"), of(2, "two"), of(3, "slow", slower={"latency": 1.5})]


def found(runs: list[compare_machines.Judged], given: Heritage | None = None) -> compare_machines.Beside:
    return compare_machines.beside(runs, given or Heritage(), 0.05)


def test_every_share_is_that_of_the_medians_shown(three: list[compare_machines.Judged]) -> None:
    whole = found(three)
    assert whole.code == OK and len(whole.lines) >= 5
    for line in whole.lines:
        medians = [c.estimate.median for c in line.cells if c.estimate is not None]
        best = max(medians) if line.better == "higher" else min(medians)
        for cell in line.cells:
            assert cell.estimate is not None and cell.share is not None
            value = cell.estimate.median
            assert cell.share == pytest.approx(value / best if line.better == "higher" else best / value)
        assert sum(c.standing == "best" for c in line.cells) == 1


def test_each_cell_is_what_the_run_s_own_report_answers(three: list[compare_machines.Judged]) -> None:
    whole = found(three)
    for k, run in enumerate(three):
        own = {a.row.title: a.best for a in answers.answers(*run)}
        for line in whole.lines:
            best, cell = own[line.title], line.cells[k]
            assert best is not None and cell.estimate == best.estimate


def test_equal_machines_are_alike_and_a_slow_one_is_behind(three: list[compare_machines.Judged]) -> None:
    for line in found(three).lines:
        slow = line.cells[2].standing
        assert {c.standing for c in line.cells[:2]} <= {"best", "alike"}, line.title
        if line.metric == "time" and "latency" in line.title and "memory" in line.title:
            assert slow == "behind" and line.cells[2].share == pytest.approx(1 / 1.5, rel=0.05)


def test_each_run_is_summed_up_before_its_numbers(three: list[compare_machines.Judged]) -> None:
    whole = found(three)
    slow = [(line.cells[2].share or 1.0, line.title) for line in whole.lines]
    good = sum(line.cells[2].standing != "behind" for line in whole.lines)
    n = len(whole.lines)
    assert 0 < good < n
    texts = [settle(text) for text in compare_machines.results(whole)]
    assert texts[0] == f"the best, or no difference can be shown, in {n} of {n} rows"
    least, title = min(slow)
    lowest = f"the lowest median is {significant(least)} of the best ({title})"
    assert texts[2] == f"the best, or no difference can be shown, in {good} of {n} rows; {lowest}"
    output = " ".join(compare_machines.summary(whole, 100).split())
    page = " ".join(re.sub("<.*?>", "", compare_machines.render(whole, "0")).split())
    for shown in (output, page):
        assert lowest in shown and shown.index(lowest) < shown.index("Node ")
    busy = found([three[0], disturbed(three[1]), three[2]])
    assert compare_machines.results(busy) == [] and compare_machines.undecided(whole) == ""
    assert compare_machines.undecided(busy).startswith("firstlight ranks no run, because B was disturbed")
    assert "because B was disturbed: measure B again" in " ".join(compare_machines.summary(busy, 100).split())


def disturbed(run: compare_machines.Judged) -> compare_machines.Judged:
    judgement, workloads = run
    figures = tuple(replace(f, diverged=0.5) if isinstance(f, Verified) else f for f in judgement.figures)
    return replace(judgement, figures=figures), workloads


def test_a_disturbed_run_is_said_before_any_number_and_nothing_is_decided(three: list[compare_machines.Judged]) -> None:
    whole = found([three[0], disturbed(three[1]), three[2]])
    text = compare_machines.summary(whole, 100)
    assert whole.code == INCONCLUSIVE
    assert "B was disturbed" in text and text.index("B was disturbed") < text.index("GB/s")
    page = compare_machines.render(whole, "0")
    assert page.index("B was disturbed") < page.index("GB/s")


def test_runs_without_a_row_in_common_are_inconclusive() -> None:
    whole = found([of(1, "one", only=("latency",)), of(2, "two", only=("peak",))])
    assert whole.code == INCONCLUSIVE
    assert {c.reason for line in whole.lines for c in line.cells} == {"", "not measured"}


def test_earlier_machines_are_columns_where_they_answer_the_same_question(three: list[compare_machines.Judged]) -> None:
    whole = found(three)
    line = next(line for line in whole.lines if line.better == "higher" and all(c.identity for c in line.cells))
    who = line.cells[0].identity
    assert who is not None
    rows = next(w.rows for _, w_ in three for w in w_.values() if w.name == who.workload)
    row = next(r for r in rows if r.title == line.title)
    ranks = row.ranks * who.placement.threads
    good = Entry(SOURCE, "table 1", "Old", 1996, who.workload, line.metric, line.unit, "higher", 2.0, ranks=ranks)
    given = Heritage(
        (good, replace(good, value=1.0), replace(good, ranks=512, machine="Large"), replace(good, unit="s"))
    )
    shown = next(x for x in found(three, given).lines if x.title == line.title)
    assert [(p.machine, p.value) for p in shown.published] == [("Old", 2.0)]
    best = max(c.estimate.median for c in shown.cells if c.estimate)
    assert shown.published[0].share == pytest.approx(2.0 / best)
    page = compare_machines.render(found(three, given), "0")
    assert "Old (1996)" in page and "A. Author" in page


def test_every_number_of_the_tables_follows_from_the_document_as_it_says(three: list[compare_machines.Judged]) -> None:
    whole = found(three)
    line = whole.lines[1]
    old = compare_machines.Published("Old", 1996, 2.0, 0.5, "A. Author", "")
    two = [States(154.0, upper, 8, 5) for upper in (471.0, 4710.0)]  # in one unit, and in two
    cells = [replace(cell, states=s) for cell, s in zip(line.cells, two, strict=False)]
    line = replace(line, published=(old,), cells=(*cells, *line.cells[2:]))
    whole = replace(whole, lines=(whole.lines[0], line, *whole.lines[2:]))
    for k, s in enumerate(two):
        assert settle(compare_machines.states(whole, 1, k)) == describe_states(s, line.unit)
    formulas = computed(compare_machines.render(whole, "0"), msgspec.json.encode(whole).decode())
    cells = [f"lines[{row}].cells[{k}]" for row, line in enumerate(whole.lines) for k in range(len(line.cells))]
    sourced = [f"{cell}.{what}" for cell in cells for what in ("estimate.median", "share")]
    sourced += [f"lines[1].cells[{k}].states.{what}" for k in (0, 1) for what in ("upper", "in_lower")]
    sourced += ["lines[1].published[0].value", "lines[1].published[0].share", "len(runs)", "threshold", "drift"]
    assert sum("standing in" in formula for formula in formulas) == len(whole.runs)
    ends = [formula.partition(" * ")[2] for formula in formulas if " * " in formula]
    assert set(sourced) <= set(formulas) and {f"{cell}.estimate.low" for cell in cells} <= set(ends)


def test_a_page_that_does_not_follow_from_the_document_is_refused(three: list[compare_machines.Judged]) -> None:
    whole = found(three)
    text = msgspec.json.encode(replace(whole, threshold=whole.threshold * 1.2)).decode()
    with pytest.raises(AssertionError, match="threshold"):
        computed(compare_machines.render(whole, "0"), text)


@pytest.mark.parametrize("width", [60, 100, 160])
def test_the_terminal_page_keeps_its_width_and_names_every_run(
    three: list[compare_machines.Judged], width: int
) -> None:
    text = compare_machines.summary(found(three, heritage.load()), width)
    assert max(map(len, text.splitlines())) <= width
    assert all(re.search(rf"^  {name}  ", text, re.M) for name in "ABC")


def test_letters_go_on_after_z() -> None:
    assert [compare_machines.letter(k) for k in (0, 25, 26, 51, 52)] == ["A", "Z", "AA", "AZ", "BA"]


def test_the_command_takes_any_number_of_runs(tmp_path: Path, capsys: Captured) -> None:
    for k in range(3):
        scene = synthetic.run(k, 6, only=("peak",))
        many_runs.write(scene, tmp_path, f"run{k}", synthetic.STARTED + k)
    names = ["run0", "run1", "run2"]
    code, out, _ = call(capsys, "compare", *names, "--results", str(tmp_path), "--output", str(tmp_path / "p.html"))
    assert code == OK and "3 runs side by side" in out and (tmp_path / "p.html").exists()
    code, out, _ = call(capsys, "compare", *names[:2], "--side-by-side", "--results", str(tmp_path))
    assert code == OK and "2 runs side by side" in out
    for words, why in ((["run0"], "at least two runs"), (["run0", "run1", "--output", "x.html"], "--side-by-side")):
        code, _, err = call(capsys, "compare", *words, "--results", str(tmp_path))
        assert code == USAGE and why in err and len(err.splitlines()) == 1

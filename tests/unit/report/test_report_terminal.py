"""The terminal page: what a reader finds on it, its width, and that foreign text cannot steer the terminal."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

import synthetic
from firstlight.analysis import Judgement, absence, formatting
from firstlight.analysis.compare import compare
from firstlight.analysis.figures import judge
from firstlight.analysis.verdict import Failed, States, Unverified, Verified
from firstlight.core import heritage
from firstlight.core.units import quantity
from firstlight.model.catalogue import Variant, Workload
from firstlight.model.plan.selectors import in_row
from firstlight.report import answers, comparison, failures, html, terminal
from firstlight.report.unmeasured import unmeasured
from firstlight.results.states import RunState
from firstlight.toolchain import Absent
from report_samples import HOSTILE, hostile, sample


def test_each_declared_row_shows_its_best_verified_figure() -> None:
    judgement, workloads = sample()
    page = terminal.summary(judgement, workloads)
    rows = answers.answers(judgement, workloads)
    assert [r.row.title for r in rows] == [
        "memory bandwidth, 1 core", "memory bandwidth, 2 cores", "arithmetic, 64 bit, 1 core", "scalar product in L1",
        "scalar product in memory", "memory latency", "message latency, 8 B, 2 ranks", "message bandwidth, 1 MiB",
    ]  # fmt: skip
    for row in rows:
        assert row.best is not None
        lines = [x for x in page.splitlines() if x.strip().startswith(row.row.title)]
        for best in {row.best.identity: row.best, row.first.best.identity: row.first.best}.values():  # type: ignore[union-attr]
            median = quantity(best.estimate.median, best.unit).replace("flop/s", "F/s")
            assert any(median in line and str(len(best.estimate.launches)) in line for line in lines)


def test_a_row_with_two_states_names_both_on_both_pages() -> None:
    judgement, workloads = sample()
    row = next(a for a in answers.answers(judgement, workloads) if a.row.title.startswith("message latency"))
    assert row.best is not None and "bimodal" not in terminal.summary(judgement, workloads)
    two = replace(row.best, states=States(0.154, 0.471, 8, 5))
    figures = tuple(two if f is row.best else f for f in judgement.figures)
    lines = terminal.summary(replace(judgement, figures=figures), workloads).splitlines()
    assert "bimodal: 154 or 471 ns, 8 of 13 in the lower" in [line.strip() for line in lines]
    page = html.render(replace(judgement, figures=figures), workloads, heritage.load())
    assert "bimodal: 154 or 471\u00a0ns, 8 of 13 in the lower" in re.sub(r"</?data[^>]*>", "", page)


@pytest.mark.parametrize("width", [60, 80, 100, 120])
def test_the_table_keeps_to_the_width_and_loses_nothing(width: int) -> None:
    judgement, workloads = sample()
    front = answers.front(judgement.run, answers.answers(judgement, workloads))
    lines = terminal._table(front, width, terminal.Ink(False))
    assert max(len(line) for line in lines) <= width
    text = " ".join(" ".join(lines).split())
    for row in front.rows:
        assert all(word in text for word in row.row.title.split()) and row.program in text
        assert row.best is None or quantity(row.best.estimate.median, row.best.unit).replace("flop/s", "F/s") in text


def without(state: RunState, *dropped: str) -> tuple[Judgement, dict[str, Workload]]:
    """Return the sample without the launches of some programs (given by the beginnings of their keys)."""
    scene = synthetic.run(1, 8, failed_build=False)
    left = {c.id for c in scene.run.cells if not c.program.key.startswith(dropped)}
    records = tuple(r for r in scene.records if r.start.cell in left)
    judgement = judge(replace(scene.run, state=state), records, scene.workloads)
    return replace(judgement, findings=()), scene.workloads


@pytest.mark.parametrize(
    ("state", "dropped", "title", "message"),
    [
        ("budget", ("dot.simd",), "scalar product in L1", "not measured: dot.simd"),
        ("interrupted", ("dot.simd",), "scalar product in L1", "not measured: dot.simd"),
        ("budget", ("dot.serial", "dot.simd"), "scalar product in memory", "not measured: dot.serial, dot.simd"),
        ("budget", ("dot.simd@gcc-fast",), "scalar product in L1", "not measured: dot.simd with gcc-fast"),
        ("budget", ("stream",), "scalar product in L1", ""),
        ("budget", ("dot.simd",), "memory latency", ""),
        (
            "budget",
            ("pingpong.mpi_blocking@gcc-native+mpich",),
            "message latency, 8 B, 2 ranks",
            "not measured: pingpong.mpi_blocking with gcc-native with mpich",
        ),
        ("complete", ("dot.simd",), "scalar product in L1", ""),
        (
            "budget",
            ("pingpong.mpi_blocking",),
            "message latency, 8 B, 2 ranks",
            "not measured: pingpong.mpi_blocking",
        ),
        ("budget", (" ",), "scalar product in L1", ""),
    ],
)
def test_a_row_names_the_candidates_that_were_not_measured(
    state: RunState, dropped: tuple[str, ...], title: str, message: str
) -> None:
    judgement, workloads = without(state, *dropped)
    (row,) = [a for a in answers.answers(judgement, workloads) if a.row.title == title]
    assert row.not_measured.startswith(message) and bool(row.not_measured) == bool(message)
    lines = " ".join(" ".join(terminal._table(answers.front(judgement.run, [row]), 80, terminal.Ink(False))).split())
    assert f"{title} ({row.program})" in " ".join(lines.split()) or row.program in lines
    assert (f"! {message}" in lines) == bool(message)


def test_a_share_of_the_best_launch_is_marked() -> None:
    """Its measured ceiling was exceeded: the share is none of a ceiling."""
    judgement, workloads = sample()
    assert f"{terminal.OWN}: compared with the best launch" not in terminal.summary(judgement, workloads)
    own = [
        replace(f, ceiling=replace(f.ceiling, own=True)) if isinstance(f, Verified) and f.ceiling is not None else f
        for f in judgement.figures
    ]
    page = terminal.summary(replace(judgement, figures=tuple(own)), workloads)
    assert f" %{terminal.OWN}" in page and f"{terminal.OWN}: compared with the best launch" in " ".join(page.split())


def test_a_figure_whose_ceiling_was_not_measured_says_so() -> None:
    judgement, workloads = without("budget", "stream")
    rows = {a.row.title: a for a in answers.answers(judgement, workloads)}
    assert rows["scalar product in L1"].unbounded == ("load_bandwidth",)
    assert rows["memory latency"].unbounded == ()
    page = " ".join(terminal.summary(judgement, workloads).split())
    assert f"{terminal.UNBOUNDED}: the ceiling was not measured in this run" in page
    whole = {a.row.title: a for a in answers.answers(*without("complete", " "))}
    assert whole["scalar product in L1"].unbounded == ()
    assert '<p class="ceiling">ceiling not measured</p>' in html.render(judgement, workloads, heritage.load())


def with_rows(count: int, headlines: int, **run: object) -> tuple[Judgement, dict[str, Workload]]:
    """Return the sample with `count` rows of dot alike, the last `headlines` of which are headlines."""
    judgement, workloads = sample()
    row = workloads["dot"].rows[0]
    rows = tuple(replace(row, title=f"row {k:02}", order=k, headline=k >= count - headlines) for k in range(count))
    bare = {name: replace(w, rows=()) for name, w in workloads.items()}
    return replace(judgement, run=replace(judgement.run, **run)), bare | {"dot": replace(workloads["dot"], rows=rows)}


def titles(judgement: Judgement, workloads: dict[str, Workload]) -> list[str]:
    front = answers.front(judgement.run, answers.answers(judgement, workloads))
    return [a.row.title for a in front.rows]


def test_the_front_page_holds_headlines_and_tells_where_the_other_rows_are() -> None:
    scene = with_rows(5, 3)
    page = terminal.summary(*scene)
    assert titles(*scene) == ["row 02", "row 03", "row 04"] and "row 01" not in page
    assert "  2 more rows in the report\n" in page


def test_who_names_workloads_and_who_declares_no_headline_sees_all_rows() -> None:
    assert titles(*with_rows(3, 1, names=("dot",))) == titles(*with_rows(3, 0)) == ["row 00", "row 01", "row 02"]
    assert titles(*with_rows(20, 2, names=("dot",))) == [f"row {k:02}" for k in (*range(16), 18, 19)]


def test_at_most_eighteen_headlines_stand_on_the_front_page() -> None:
    scene = with_rows(21, 20)
    assert titles(*scene) == [f"row {k:02}" for k in range(1, 19)]
    assert (
        "  3 more rows in the report; 2 of them are headlines for which the terminal has no room\n"
        in terminal.summary(*scene)
    )


def test_rows_come_by_chapter_then_by_order() -> None:
    judgement, workloads = sample()
    moved = {
        name: replace(w, chapter={"dot": "own", "stream": "zoo"}.get(name, w.chapter)) for name, w in workloads.items()
    }
    found = [a.workload for a in answers.answers(judgement, moved)]
    assert list(dict.fromkeys(found)) == ["peak", "latency", "pingpong", "dot", "stream"]


def test_a_row_without_an_interval_is_named_and_not_shown_where_the_budget_ended_the_run() -> None:
    judgement, workloads = sample(1, 3)
    assert "too few" in terminal.summary(judgement, workloads)
    spent = replace(judgement, run=replace(judgement.run, state="budget", launches=6))
    assert answers.answers(spent, workloads) == []
    page = terminal.summary(spent, workloads, 120)
    assert "  no figure in this budget: scalar product in L1 and 5 more; ./fl run --resume" in page
    assert "best figure" not in page
    whole, _ = sample()
    some = replace(whole, records=tuple(r for r in whole.records if not r.start.cell.startswith("dot.")))
    some = replace(some, run=replace(whole.run, state="budget"))
    assert "  not started in this budget: dot (" in terminal.summary(some, workloads)
    assert "<code>./fl run dot --quick</code>" in html.render(some, workloads, heritage.load())


def test_the_page_names_what_the_suite_leaves_out_with_a_command() -> None:
    judgement, workloads = sample()
    several = {n: replace(workloads["dot"], name=n, rows=(), suites={"standard": [], "full": []}) for n in ("bb", "aa")}
    far = {"zz": replace(workloads["dot"], name="zz", rows=(), chapter="lqcd", suites={"full": []})}
    lines = terminal.summary(judgement, workloads | several | far).splitlines()
    assert "  not in this suite: aa, bb, zz; ./fl run aa --standard" in lines
    many = {f"workload_{k:02}": replace(several["aa"], name=f"workload_{k:02}") for k in range(30)}
    (line,) = [x for x in terminal.summary(judgement, workloads | many).splitlines() if "not in this suite" in x]
    assert re.fullmatch(r"  not in this suite: workload_00 and 29 more; \./fl run workload_00 --standard", line)
    assert len(line) <= 80
    named = replace(judgement, run=replace(judgement.run, names=("dot",)))
    assert "not in this suite" not in terminal.summary(named, workloads | several)
    assert [u.command for u in unmeasured(judgement.run, far)] == ["./fl run zz --full"]
    cuda = Variant("cuda", Path("cuda.cu"), ("cuda",), False)
    assert unmeasured(judgement.run, {"zz": replace(far["zz"], variants=(cuda,))}) == []  # this machine has none


def test_choice_names_the_mpi_that_is_better() -> None:
    chosen = {a.row.title: a.choose for a in answers.answers(*sample())}
    assert chosen["message latency, 8 B, 2 ranks"] == "MPICH"
    assert chosen["message bandwidth, 1 MiB"] == "Open MPI"
    assert chosen["scalar product in memory"] == "any"
    assert chosen["memory latency"] == ""


@pytest.mark.parametrize("width", [80, 100, 132])
def test_lines_fit_the_width_and_commands_stay_whole(width: int) -> None:
    judgement, workloads = sample()
    lines = terminal.summary(judgement, workloads, width=width).splitlines()
    assert max(len(x) for x in lines if not x.strip().startswith("see it: ")) <= width
    shown = {f.command for f in judgement.findings}
    assert {x.partition("see it: ")[2] for x in lines if "see it: " in x} <= shown


def test_colour_is_a_second_signal_only() -> None:
    coloured = terminal.summary(*sample(), colour=True)
    plain = terminal.summary(*sample(), colour=False)
    assert "\x1b[" in coloured and "\x1b" not in plain
    assert re.sub(r"\x1b\[\d+m", "", coloured) == plain


def test_counts_and_report_path() -> None:
    judgement, workloads = sample()
    good = sum(isinstance(f, Verified) for f in judgement.figures)
    bad = sum(isinstance(f, Failed) for f in judgement.figures)
    absent = len({*judgement.run.not_available, *judgement.run.toolbox.absent})
    page = terminal.summary(judgement, workloads, report="results/r/report.html")
    assert f"{good} figures verified · {bad} failed · {absent} not available" in page
    assert page.splitlines()[-1].strip() == "report: results/r/report.html"


def test_too_few_launches_are_called_too_few() -> None:
    assert "too few" in terminal.summary(*sample(1, 3))


def test_a_row_without_a_verified_figure_says_why() -> None:
    judgement, workloads = sample()
    figures = tuple(
        Failed(f.identity, f.unit, f.better, "wrong on every CPU") if f.identity.workload == "latency" else f
        for f in judgement.figures
    )
    page = terminal.summary(replace(judgement, figures=figures), workloads)
    assert re.search(r"memory latency +✗ failed", page) and "wrong on every CPU" in page


def test_a_row_without_work_does_not_blame_the_variant_that_refused() -> None:
    """A matrix without entries has no rate; half storage refuses it for another reason."""
    judgement, workloads = sample()
    row = next(a.row for a in answers.answers(judgement, workloads) if a.row.title == "scalar product in L1")
    here = [f for f in judgement.figures if in_row(f.identity, row, workloads["dot"], judgement.run.machine)]
    one, *others = here
    changed = [replace(f, identity=replace(f.identity, metric="bandwidth")) for f in others if isinstance(f, Verified)]
    refused = Unverified(one.identity, one.unit, one.better, "symmetric storage needs a symmetric matrix")
    figures = (*(f for f in judgement.figures if f not in here), *changed, refused)
    page = terminal.summary(replace(judgement, figures=figures), workloads)
    assert f"{row.metric} is not defined: there is nothing to compute" in page and "symmetric storage" not in page
    alone = tuple(f for f in figures if f not in changed)
    assert "symmetric storage" in terminal.summary(replace(judgement, figures=alone), workloads)


def test_failures_are_listed_in_full() -> None:
    judgement, _ = sample()
    text = terminal.failures(judgement)
    failed = [f for f in judgement.figures if isinstance(f, Failed)]
    line = " ".join(text.split())
    assert failed and all(formatting.name(f.identity) in line and f.reason in line for f in failed)
    assert "fortran_loop.f90:12: error" in text and "install BLIS" in text
    complete = replace(judgement.run.toolbox, absent=())
    empty = Judgement(replace(judgement.run, builds=(), not_available=(), toolbox=complete), (), (), ())
    assert terminal.failures(empty) == "Nothing failed."


def test_a_program_that_failed_is_one_entry_for_all_its_toolchains_and_sizes() -> None:
    judgement, _ = sample()
    some = [f for f in judgement.figures if f.identity.variant == "kahan"]
    figures = tuple(
        Failed(f.identity, f.unit, f.better, f"wrong for {dict(f.identity.parameters)['n']}")
        if f.identity.toolchain in ("gcc-fast", "clang-fast")
        else f
        for f in some
    )
    number = sum(isinstance(f, Failed) for f in figures)
    assert number > 2
    (entry,) = failures.failures(replace(judgement, figures=figures))
    assert entry.title == f"dot.kahan, gcc-fast and clang-fast: {number} figures failed"
    assert entry.reason == next(f.reason for f in figures if isinstance(f, Failed))
    text = terminal.failures(replace(judgement, figures=figures, lost=()))
    assert text.count(entry.title) == 1 and text.count("see it:") == 1
    assert all(f.reason in text for f in figures if isinstance(f, Failed))


def test_causes_kinds_and_mpi_libraries_are_entries_of_their_own() -> None:
    judgement, _ = sample()
    one = next(f for f in judgement.figures if f.identity.mpi == "openmpi").identity
    other = replace(one, mpi="mpich")
    figures = (
        Failed(one, "us", "lower", "a"), Failed(one, "us", "lower", "b", "lost"), Failed(other, "us", "lower", "a"),
        Unverified(one, "us", "lower", "c"),
    )  # fmt: skip
    entries = failures.failures(replace(judgement, figures=figures))
    assert sorted((e.kind, e.reason, "MPICH" in e.title) for e in entries) == [
        ("failed", "a", False), ("failed", "a", True), ("failed", "b", False), ("unverified", "c", False),
    ]  # fmt: skip


def test_what_is_absent_is_shown_and_counted_once() -> None:
    judgement, workloads = sample()
    blis = Absent("BLIS", "no libblis", "install BLIS")
    lacking = [Absent(f"dot.f with {t}", "it needs Fortran", "install it") for t in ("clang-base", "clang-fast")]
    other = Absent("dot.f with gcc-base", "it does not build", "see the log")
    toolbox = replace(judgement.run.toolbox, absent=(blis,))
    run = replace(judgement.run, toolbox=toolbox, not_available=(blis, *lacking, other))
    whats = [a.what for a in absence.absences(replace(judgement, run=run))]
    assert whats == ["BLIS", "dot.f with clang-base / clang-fast", "dot.f with gcc-base"]
    assert "3 not available" in terminal.summary(replace(judgement, run=run), workloads)
    assert terminal.failures(replace(judgement, run=run)).count("BLIS:") == 1


@pytest.mark.parametrize(
    ("state", "missing", "more"),
    [("budget", None, " --budget 5m"), ("budget", 1500.0, " --budget 28m"), ("interrupted", None, "")],
)
def test_the_command_that_goes_on_stands_on_one_line(state: str, missing: float | None, more: str) -> None:
    judgement, workloads = sample()
    run = replace(judgement.run, state=state, missing=missing)
    page = terminal.summary(replace(judgement, run=run), workloads)
    assert f"./fl run --resume {run.id}{more}" in [line.strip() for line in page.splitlines()]


def test_foreign_text_cannot_steer_the_terminal() -> None:
    judgement, workloads = sample()
    evil = replace(judgement.findings[0], sentence="\x1b]0;title\x07\x1b[2J gone", evidence=("\x9b31m",))
    page = terminal.summary(replace(judgement, findings=(evil,), lost=("\x1b[2J",)), workloads, colour=True)
    assert set(re.findall(r"\x1b.{0,3}", page)) <= {f"\x1b[{k}m" for k in "012"} | {"\x1b[32", "\x1b[33", "\x1b[31"}
    assert "\x07" not in page and "\x9b" not in page and "gone" in page


def test_a_hostile_run_is_still_a_page() -> None:
    assert HOSTILE[:20] in terminal.summary(*hostile())
    assert HOSTILE[:20] in terminal.failures(hostile()[0])


def test_comparison_shows_both_medians_the_ratio_and_the_outcome() -> None:
    a, b = sample(1)[0], sample(2)[0]
    compared = compare(a, b)
    text = comparison.comparison(compared, everything=True, most=1000)
    for outcome, number in compared.counts.items():
        assert f"{number} {outcome}" in text
    one = compared.figures[0]
    assert quantity(one.a.median, one.unit) in text and quantity(one.b.median, one.unit) in text
    assert "no recorded property" in text


def test_nothing_is_recommended_from_too_few_launches() -> None:
    chosen = {a.row.title: a.choose for a in answers.answers(*sample(1, 3))}
    assert chosen["message latency, 8 B, 2 ranks"] == "unclear"
    assert chosen["scalar product in memory"] in ("", "any", "unclear")

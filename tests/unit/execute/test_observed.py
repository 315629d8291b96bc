"""Observed values besides the time reach the figure from the program's steps through the harness."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from statistics import mean
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

import native
import own
import synthetic
import synthetic_figures
import synthetic_workloads
from firstlight.analysis import Judgement, ranking
from firstlight.analysis.compare import compare
from firstlight.analysis.figures import judge
from firstlight.analysis.stop import narrow
from firstlight.analysis.verdict import Failed, Verified
from firstlight.core import heritage
from firstlight.execute.build import Built
from firstlight.model.catalogue import Plot, Row
from firstlight.model.plan import Placement
from firstlight.report import export, html
from firstlight.report.comparison import comparison
from firstlight.report.strip import strip
from firstlight.results.description import Metric
from firstlight.results.record import FINEST, MOST_BOXES, MOST_POINTS, MOST_RANKS, Field, LaunchRecord, Line, Sample
from firstlight.results.store import lines

NOISE = Metric("noise", "%", "noise", "value", 100.0, "lower")


# --- the harness ----------------------------------------------------------------------------------


def program(variant: str) -> Built:
    return own.program("watched", variant)


@pytest.mark.native
def test_every_sample_has_the_values_and_the_case_has_its_series(tmp_path: Path) -> None:
    output = native.run(program("seen"), Placement(), ("n=100,200", "points=5"), tmp_path)
    assert (output.status, output.reason) == (0, "")
    for line in output.lines:
        msgspec.convert(line, Line)
    assert len(output.of("sample")) == 4
    for sample in output.of("sample"):  # "steps" is 0 where observe() was called after each batch, warm-up included
        assert sample["values"] == {"rank": [1, 1, 1], "nothing": [0, 0, 0], "steps": [0, 0, 0]}
    assert [(s["case"], s["name"], s["unit"], s["rank"], s["values"]) for s in output.of("series")] == [
        (case, "points", "us", 0, [0, 0.5, 1, 1.5, 2]) for case in (0, 1)
    ]
    assert output.of("case")[0]["cost"] == {"flops": 100, "operations": 1, "flow": 16}


@pytest.mark.native
def test_an_interruption_while_calibrating_does_not_decide_the_length_of_samples() -> None:
    """One batch of 15 ms instead of 2 ms would leave samples of one step, which lasts less than a microsecond."""
    done = native.direct(program("interrupted"), "n=10", "--samples", "2", "--sample-seconds", "0.002")
    assert done.returncode == 0
    cases = [line for line in map(msgspec.json.decode, done.stdout.splitlines()) if line["type"] == "case"]
    assert cases[0]["steps"] > 100


@pytest.mark.native
def test_values_are_spread_over_the_ranks(tmp_path: Path) -> None:
    output = native.run(program("mpi_seen"), Placement(ranks=3), ("n=100", "points=2"), tmp_path)
    assert (output.status, output.reason) == (0, ""), output.stderr
    assert [s["values"]["rank"] for s in output.of("sample")] == [[1, 2, 3]] * 2
    assert [(s["rank"], s["values"]) for s in output.of("series")] == [(r, [10 * r, 10 * r + 0.5]) for r in range(3)]


@pytest.mark.native
def test_a_long_series_is_cut(tmp_path: Path) -> None:
    output = native.run(program("seen"), Placement(), ("n=10", "points=100000"), tmp_path)
    (line,) = output.of("series")
    assert len(line["values"]) == MOST_POINTS and line["values"][-1] == 0.5 * (MOST_POINTS - 1)


@pytest.mark.native
@pytest.mark.parametrize(
    ("variant", "message"),
    [("not_finite", "odd is not a finite number"), ("no_name", "the observation A Name cannot be recorded")],
)
def test_what_cannot_be_recorded_ends_the_launch(variant: str, message: str) -> None:
    built = program(variant)
    done = native.direct(built, "n=10", "--samples", "2", "--sample-seconds", "1e-5")
    assert done.returncode == 3 and message in done.stderr
    assert '"values"' not in done.stdout


@pytest.mark.native
@pytest.mark.parametrize("variant", ["mpi_unequal", "mpi_unequal_series"])
def test_ranks_that_observe_different_things_end_the_launch(variant: str, tmp_path: Path) -> None:
    output = native.run(program(variant), Placement(ranks=2), ("n=10",), tmp_path)
    assert output.status != 0 and "the ranks observe different" in output.stderr
    assert not output.of("end")


@pytest.mark.native
def test_a_program_without_observations_has_none(tmp_path: Path) -> None:
    wanted = native.plain("dot", "serial")
    output = native.run(wanted, Placement(), ("n=10",), tmp_path)
    assert output.of("sample") and not any("values" in s for s in output.of("sample")) and not output.of("series")


def means(rows: int, columns: int) -> list[list[float]]:
    """Return the means of the field "row minus column" over boxes of cells, as many as a picture has."""
    high, wide = min(rows, MOST_BOXES), min(columns, MOST_BOXES)
    i = [[r for r in range(rows) if r * high // rows == box] for box in range(high)]
    j = [[c for c in range(columns) if c * wide // columns == box] for box in range(wide)]
    return [[mean(r) - mean(c) for c in j] for r in i]


@pytest.mark.native
@pytest.mark.parametrize(("rows", "columns"), [(3, 7), (96, 1), (97, 100), (500, 5)])
@pytest.mark.parametrize(("variant", "ranks"), [("seen", 1), ("mpi_seen", 3)])
def test_a_field_of_any_size_becomes_a_small_picture(
    variant: str, ranks: int, rows: int, columns: int, tmp_path: Path
) -> None:
    output = native.run(
        program(variant), Placement(ranks=ranks), ("n=10", f"rows={rows}", f"columns={columns}"), tmp_path
    )
    assert (output.status, output.reason) == (0, "")
    (line,) = output.of("field")
    drawn = msgspec.convert(line, Line)
    assert isinstance(drawn, Field)
    assert (drawn.case, drawn.name, drawn.unit, drawn.rows, drawn.columns) == (0, "ramp", "V/m", rows, columns)
    wanted = means(rows, columns)
    assert drawn.largest == pytest.approx(max(abs(x) for row in wanted for x in row))
    for shown, row in zip(drawn.values, wanted, strict=True):
        assert [x * drawn.largest / FINEST for x in shown] == pytest.approx(row, abs=0.51 * drawn.largest / FINEST)


@pytest.mark.native
@pytest.mark.parametrize(
    ("drawn", "message"),
    [
        ("twice", "set twice or not at all"),
        ("hole", "set twice or not at all"),
        ("outside", "is outside the picture"),
        ("unequal", "fields of different sizes"),
    ],
)
def test_a_picture_that_would_lie_ends_the_launch(drawn: str, message: str, tmp_path: Path) -> None:
    output = native.run(program("mpi_seen"), Placement(ranks=2), ("n=10", "rows=5", f"drawn={drawn}"), tmp_path)
    assert output.status != 0 and message in output.stderr and not output.of("field")


@pytest.mark.native
def test_a_field_with_what_is_no_number_is_drawn_as_nothing(tmp_path: Path) -> None:
    output = native.run(program("seen"), Placement(), ("n=10", "rows=3", "drawn=nan"), tmp_path)
    (line,) = output.of("field")
    assert (line["largest"], line["values"]) == (0, [[0] * 7] * 3)


# --- foreign data ---------------------------------------------------------------------------------

SAMPLE = {"type": "sample", "case": 0, "sample": 0, "wall": 1.0, "wall_min": 1.0, "wall_median": 1.0, "cpu": 1.0}
SERIES = {"type": "series", "case": 0, "name": "points", "unit": "us", "rank": 0, "values": [1.0, 2.0]}
FIELD = {
    "type": "field",
    "case": 0,
    "name": "ez",
    "unit": "",
    "rows": 1,
    "columns": 2,
    "largest": 1.0,
    "values": [[0, 999]],
}


@pytest.mark.parametrize(
    "change",
    [
        {"values": {"noise": [1.0, 2.0]}},
        {"values": {"noise": [1.0, 2.0, None]}},
        {"values": {"Noise": [1.0, 2.0, 3.0]}},
        {"values": {"noise\n": [1.0, 2.0, 3.0]}},
        {"values": {"<b>": [1.0, 2.0, 3.0]}},
        {"values": {"n" * 33: [1.0, 2.0, 3.0]}},
        {"values": {f"v{k}": [1.0, 2.0, 3.0] for k in range(33)}},
    ],
)
def test_values_are_bounded(change: dict[str, object]) -> None:
    assert isinstance(lines.decode(msgspec.json.encode(SAMPLE | {"values": {"noise": [0.0, 1.0, 2.0]}})), Sample)
    assert isinstance(lines.decode(msgspec.json.encode(SAMPLE | change)), str)


@pytest.mark.parametrize(
    "change",
    [
        {"rank": -1},
        {"rank": MOST_RANKS},
        {"name": "two words"},
        {"unit": "u" * 33},
        {"values": [1.0, None]},
        {"values": [0.0] * (MOST_POINTS + 1)},
    ],
)
def test_series_are_bounded(change: dict[str, object]) -> None:
    assert not isinstance(lines.decode(msgspec.json.encode(SERIES | {"values": [0.0] * MOST_POINTS})), str)
    assert isinstance(lines.decode(msgspec.json.encode(SERIES | change)), str)


@pytest.mark.parametrize(
    "change",
    [
        {"values": []},
        {"values": [[]]},
        {"values": [[0]] * (MOST_BOXES + 1)},
        {"values": [[0] * (MOST_BOXES + 1)]},
        {"values": [[FINEST + 1]]},
        {"values": [[-FINEST - 1]]},
        {"values": [[0.5]]},
        {"largest": -1.0},
        {"rows": 0},
        {"columns": (1 << 40) + 1},
        {"name": "E z"},
    ],
)
def test_fields_are_bounded(change: dict[str, object]) -> None:
    full = FIELD | {"values": [[-FINEST] * MOST_BOXES] * MOST_BOXES, "rows": 1 << 40, "columns": 100}
    assert isinstance(lines.decode(msgspec.json.encode(full)), Field)
    assert isinstance(lines.decode(msgspec.json.encode(FIELD | change)), str)


@pytest.mark.parametrize("number", ["1e999", "-1e999", "NaN", "Infinity"])
def test_numbers_are_finite(number: str) -> None:
    raw = msgspec.json.encode(SERIES).replace(b"2.0", number.encode())
    assert isinstance(lines.decode(raw), str)


# --- the judge ------------------------------------------------------------------------------------

Values = Callable[[LaunchRecord, int], dict[str, tuple[float, float, float]]]


def judged(values: Values, launches: int = 7, seed: int = 3) -> Judgement:
    """latency, of which every sample observed `values(record, index of the sample)`."""
    scene = synthetic.run(seed, launches, only=["latency"])

    def watched(record: LaunchRecord) -> LaunchRecord:
        samples = tuple(replace(s, values=values(record, s.sample)) for s in record.samples)
        return replace(record, samples=samples)

    described = {k: replace(d, metrics=(*d.metrics, NOISE)) for k, d in scene.run.descriptions.items()}
    run = replace(scene.run, descriptions=described)
    return judge(run, [watched(r) for r in scene.records], scene.workloads)


def noise(j: Judgement) -> list[Any]:
    return [f for f in j.figures if f.identity.metric == "noise"]


def test_a_value_is_the_median_over_samples_of_the_largest_over_ranks() -> None:
    found = noise(judged(lambda r, k: {"noise": (0.0, 0.01, 0.02 + 0.01 * k + 0.001 * r.start.launch)}))
    assert len(found) == len(synthetic_figures.CHASES)
    for figure in found:
        assert isinstance(figure, Verified) and figure.observed and figure.ceiling is None
        assert figure.estimate.launches == pytest.approx([4 + 0.1 * n for n in range(7)])
        assert (figure.unit, figure.better, figure.of_ceiling) == ("%", "lower", None)


def test_values_that_are_all_zero_go_the_whole_way() -> None:
    j = judged(lambda r, k: {"noise": (0.0, 0.0, 0.0)}, launches=40)  # long enough to differ from a moment
    found = noise(j)
    assert all(isinstance(f, Verified) and f.estimate.median == f.estimate.high == 0 for f in found)
    assert narrow(found[0].estimate)
    (group,) = ranking.rank(found)
    assert group.behind == 1
    assert strip(found[0]).left.startswith("-") and "%" in strip(found[0]).left
    assert export.to_csv(export.rows(replace(j, figures=tuple(found)))).count(",0.0,0.0,0.0,") == len(found)
    same = compare(j, j)
    assert {c.outcome for c in same.figures if c.identity.metric == "noise"} == {"same"}
    rows = (Row("noise of the system", "noise", 1, {"bytes": synthetic_figures.CHASES[0]}),)
    plot = Plot("staircase", "bytes", "noise", "toolchain", subject="the noise")
    shown = replace(synthetic_workloads.workload("latency"), rows=rows, plots=(plot,))
    page = html.render(j, {"latency": shown}, heritage.load())
    assert "noise of the system" in page and "0 %" in page


def test_zero_against_something_is_worse_and_has_a_finite_ratio() -> None:
    quiet = judged(lambda r, k: {"noise": (0.0, 0.0, 0.0)})
    loud = judged(lambda r, k: {"noise": (0.0, 0.0, 0.02)})
    up = [c for c in compare(quiet, loud).figures if c.identity.metric == "noise"]
    down = [c for c in compare(loud, quiet).figures if c.identity.metric == "noise"]
    assert [c.ratio for c in up] == pytest.approx([1000] * len(up))
    assert [c.ratio for c in down] == pytest.approx([0.001] * len(down))
    assert compare(quiet, loud, threshold=0.5).shift == pytest.approx(1)  # of the times, not of what was observed
    a, b = noise(quiet)[0], noise(loud)[0]
    assert ranking.advantage(a, b) == pytest.approx(1000) and ranking.best([b, a]) is a


def test_an_observed_value_is_told_but_decides_no_exit_code() -> None:
    quiet = judged(lambda r, k: {"noise": (0.0, 0.0, 0.0)}, launches=40)
    loud = judged(lambda r, k: {"noise": (0.0, 0.0, 0.02)}, launches=40)
    compared = compare(quiet, loud)
    assert compared.counts["worse"] == len(noise(quiet)) and compared.code == 0
    assert {c.outcome for c in compared.figures if not c.observed} == {"same"}
    assert (
        f"of these, {len(noise(quiet))} observed values (noise, shares of time) do not affect the exit status"
        in " ".join(comparison(compared).split())
    )


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (lambda r, k: {"noise": (-0.1, -0.1, -0.1)}, "noise is -10"),
        (lambda r, k: {"noise": (0.0, 0.0, 1e308)}, "noise is inf"),
        (lambda r, k: {"noise": (0.0, 0.0, 0.1)} if r.start.launch else {"other": (0.0, 0.0, 0.0)}, "was not observed"),
        (lambda r, k: {"noise": (0.0, 0.0, 0.1)} if r.start.launch or k else {}, "was not observed"),
    ],
)
def test_unusable_values_fail(values: Values, message: str) -> None:
    for figure in noise(judged(values)):
        assert isinstance(figure, Failed) and figure.cause == "record" and message in figure.reason


def test_a_variant_that_does_not_observe_a_value_has_no_figure_of_it() -> None:
    assert noise(judged(lambda r, k: {"other": (0.0, 0.0, 0.0)})) == []


def test_a_wrong_result_has_no_value_even_where_nothing_was_timed() -> None:
    scene = synthetic.run(3, 6, only=["latency"])
    described = {k: replace(d, metrics=(NOISE,)) for k, d in scene.run.descriptions.items()}

    def wrong(r: LaunchRecord) -> LaunchRecord:
        checks = tuple(replace(c, ok=False, error=1.0) for c in r.checks)
        return replace(r, samples=(), checks=checks, exit=replace(r.exit, status=1))

    records = [wrong(r) for r in scene.records]
    found = noise(judge(replace(scene.run, descriptions=described), records, scene.workloads))
    assert found and all(isinstance(f, Failed) and f.cause == "check" for f in found)

"""Drawings: titles that say what the data say, fits that recover what is known, every figure in the table behind."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from firstlight import heritage
from firstlight.catalogue import Plot
from firstlight.errors import UsageError
from firstlight.judge.verdict import Verified
from firstlight.report import plots
from firstlight.report.palette import Palette
from firstlight.report.plots import sentence, spread
from firstlight.report.plots.frame import Drawing, View
from firstlight.report.plots.message import hockney
from report_samples import sample


def view() -> View:
    judgement, workloads = sample()
    return View(judgement, workloads, heritage.load(), Palette(judgement.run))


def drawings(workload: str) -> list[Drawing]:
    v = view()
    return plots.draw(v, v.workloads[workload])


def test_title_of_the_staircase_is_its_message() -> None:
    (drawing,) = drawings("dot")
    assert drawing.title.startswith(
        "The scalar product: in L1 all are equal but base, 1.9 × behind; in L2, L3 and memory"
    )
    assert drawing.title.endswith("all are equal")


def test_title_of_a_single_line_tells_the_levels() -> None:
    (drawing,) = drawings("latency")
    assert drawing.title.startswith("A load takes 1.6") and drawing.title.endswith("ns in memory")


def test_titles_of_messages_name_who_is_faster() -> None:
    latency, bandwidth = drawings("pingpong")
    assert "MPICH is 1.5 × faster for 8 B messages" in latency.title
    assert "Open MPI is 1.6 × better for 4 MiB messages" in bandwidth.title


def test_cache_levels_are_marked_where_the_working_set_outgrows_them() -> None:
    (drawing,) = drawings("dot")
    marked = {a["text"]: 10 ** a["x"] for a in drawing.layout["annotations"]}
    assert marked["L1 32 KiB"] == pytest.approx(32 * 1024 / 16)
    assert marked["L3 32 MiB"] == pytest.approx(32 * 2**20 / 16)


def test_every_figure_of_a_plot_is_in_its_table_also_failed_ones() -> None:
    v = view()
    (drawing,) = drawings("dot")
    measured = [f for f in v.judgement.figures if f.identity.workload == "dot"]
    assert len(drawing.rows) == len(measured)
    assert any(r[-1].startswith("failed: ") for r in drawing.rows)


def test_a_failed_figure_is_never_drawn() -> None:
    (drawing,) = drawings("dot")
    assert "kahan" not in json.dumps([t.get("hovertext", "") for t in drawing.data if "fast" in t.get("name", "")])


def test_earlier_machines_are_ghosts_with_their_year() -> None:
    latency, bandwidth = drawings("pingpong")
    for drawing, count in ((latency, 3), (bandwidth, 3)):
        ghosts = [t for t in drawing.data if t.get("legendgroup") == "ghosts"]
        assert len(ghosts) == count and all("1996" in t["hovertext"][0] for t in ghosts)
    assert sum("2003" in str(t.get("hovertext")) for t in drawings("stream")[0].data) == 4


def test_roofline_draws_the_measured_limits() -> None:
    drawing = drawings("peak")[0]
    assert "52" in drawing.title.split()[0] and "memory feeds only 14" in drawing.title
    assert {r[1] for r in drawing.rows} >= {"L1", "L2", "L3", "memory"}


def test_an_unknown_kind_is_a_clear_error() -> None:
    v = view()
    odd = replace(v.workloads["dot"], plots=(Plot("piechart", "n", "rate", "toolchain"),))
    with pytest.raises(UsageError, match="no drawing of kind 'piechart'"):
        plots.draw(v, odd)


def test_drift_of_a_quiet_run_says_that_the_machine_held_still() -> None:
    drawing = spread.drift(view())
    assert drawing is not None and drawing.title.startswith("The machine held still")
    assert len(drawing.rows) == len(view().judgement.records)


SIZES = [2.0**k for k in range(3, 23)]


@given(st.floats(1e-7, 1e-4), st.floats(1e-11, 1e-8))
def test_fit_recovers_latency_and_bandwidth(alpha: float, beta: float) -> None:
    fits = hockney([(m, alpha + beta * m) for m in SIZES])
    assert len(fits) == 1
    assert fits[0].alpha == pytest.approx(alpha, rel=1e-6)
    assert fits[0].beta == pytest.approx(beta, rel=1e-4)


def test_fit_finds_a_protocol_switch() -> None:
    times = [(m, 5e-7 + 3e-10 * m if m <= 16384 else 2e-5 + 1e-10 * m) for m in SIZES]
    eager, rendezvous = hockney(times)
    assert (eager.high, rendezvous.low) == (16384, 32768)
    assert rendezvous.alpha == pytest.approx(2e-5, rel=1e-6)


def test_two_points_are_not_fitted() -> None:
    assert hockney([(8, 1e-6), (16, 1e-6)]) == []


def test_what_cannot_be_told_apart_is_not_called_equal() -> None:
    sure, _ = sample()
    unsure, _ = sample(1, 3)
    named: dict[str, str] = {}
    for name, judgement in (("sure", sure), ("unsure", unsure)):
        figures = [
            f
            for f in judgement.figures
            if isinstance(f, Verified) and f.identity.variant == "serial" and dict(f.identity.parameters) == {"n": 1000}
        ]
        some = [f for f in figures if f.identity.toolchain in ("gcc-native", "gcc-fast")]
        found = sentence.outcome("L1", some, lambda f: f.identity.toolchain)
        assert found is not None
        named[name] = sentence.compared([found], 1)
    assert named == {"sure": "in L1 gcc-fast wins by 4.7 ×", "unsure": "in L1 no difference can be shown"}


def test_a_single_size_makes_no_staircase() -> None:
    v = view()
    one = tuple(f for f in v.judgement.figures if dict(f.identity.parameters).get("n") == 1000)
    alone = View(replace(v.judgement, figures=one), v.workloads, v.heritage, v.palette)
    assert plots.draw(alone, v.workloads["dot"]) == []


def test_a_sweep_over_a_parameter_tells_how_far_it_falls() -> None:
    v = view()
    by_op = Plot("staircase", "n", "bandwidth", "op", subject="bandwidth")
    drawing = plots.draw(v, replace(v.workloads["stream"], plots=(by_op,)))[0]
    assert drawing.title.startswith("Bandwidth falls 9.8 × from 140 GB/s in L1 (op = load)")
    assert drawing.title.endswith("in memory (op = load) · 1 core")
    assert {"load", "triad", "copy"} <= {t["name"] for t in drawing.data if "name" in t}

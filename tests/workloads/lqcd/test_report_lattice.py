"""The drawings of a lattice operator, and R5's model of communication time, are recovered from an invented run."""

from __future__ import annotations

from functools import cache

import pytest
from msgspec.structs import replace

import chart_tree
import shipped
import synthetic_lattice
from firstlight.analysis import ranking
from firstlight.analysis.figures import judge
from firstlight.analysis.verdict import Failed, Unverified, Verified
from firstlight.core import heritage
from firstlight.core.errors import OK, REGRESSION
from firstlight.report import html, plots, terminal
from firstlight.report.frame import Drawing, View
from firstlight.runner import exit_status
from firstlight.runner.cell_progress import Tally
from report_samples import view_of

communication = shipped.module("dirac", "communication")
efficiency = shipped.module("dirac", "efficiency")
sites = shipped.module("dirac", "sites")

CASES = {
    "plain": lambda: synthetic_lattice.run(),
    "crowded": lambda: synthetic_lattice.run(ranks=(1, 2, 4)),
    "only crowded": lambda: synthetic_lattice.run(ranks=(4,), variants=("mpi_overlap", "mpi_silent")),
    "one core": lambda: synthetic_lattice.run(variants=("serial", "virtual_nodes")),
    "no twin": lambda: synthetic_lattice.run(variants=("mpi_blocking",)),
    "few launches": lambda: synthetic_lattice.run(launches=3, noise=0.2),
}


@cache
def view(case: str = "plain") -> View:
    scene = CASES[case]()
    return view_of(judge(*scene), scene.workloads)


def named(v: View) -> dict[str, Drawing]:
    return {d.id.removeprefix("plot-dirac-0-"): d for d in plots.draw(v, v.workloads["dirac"])}


@cache
def drawings(case: str = "plain") -> dict[str, Drawing]:
    return named(view(case))


def traces(drawn: Drawing) -> dict[str, dict[str, object]]:
    return {t["name"]: t for t in drawn.data if t.get("name")}


# --- R5's model -------------------------------------------------------------------------------------------------------

FLOPS, SIZE = 1392 * 2 * 16**3, 1_572_864


@pytest.mark.parametrize(
    ("without", "bandwidth", "published"),
    [(579, 90, 306.8), (631, 190, 432.8), (675, 181, 445.7), (370, 210, 297.7), (390, 75.87, 228.2)],
)
def test_the_model_gives_the_published_speeds(without: float, bandwidth: float, published: float) -> None:
    speed = communication.speed(1e6 * without, FLOPS, SIZE, 1e6 * bandwidth)
    assert round(speed / 1e6, 1) == published
    kept = communication.efficiency(SIZE / FLOPS, 1e6 * without, 1e6 * bandwidth)
    assert kept == pytest.approx(speed / (1e6 * without))
    again = communication.bandwidth(SIZE, FLOPS / speed, FLOPS / (1e6 * without))
    assert again == pytest.approx(1e6 * bandwidth)


def test_communication_that_costs_no_time_has_no_bandwidth() -> None:
    assert communication.bandwidth(SIZE, 1.0, 1.0) is None
    assert communication.bandwidth(SIZE, 0.9, 1.0) is None
    assert communication.bandwidth(0, 1.0, 0.5) is None


def test_the_published_machines_keep_what_the_model_says() -> None:
    table = [e for e in heritage.load().entries if e.workload == "dirac" and e.place.startswith("Efficiency")]
    rows: dict[tuple[str, str], dict[str, float]] = {}
    for e in table:
        key = str(e.parameters.get("communication", e.metric))
        rows.setdefault((e.machine, e.variant), {})[key] = e.value
    for row in rows.values():
        assert row["with"] / row["without"] == pytest.approx(row["efficiency"], abs=0.01)


# --- what a run gives -------------------------------------------------------------------------------------------------


def test_the_twin_is_unverified_and_its_times_are_only_in_ratios() -> None:
    v = view()
    twins = [f for f in v.judgement.figures if f.identity.variant == "mpi_silent"]
    assert twins and all(isinstance(f, Unverified) and f.reason == f"by design: {synthetic_lattice.WHY}" for f in twins)
    assert len(communication.silent(v.judgement)) == len(twins) / 2  # two metrics
    ranked = [f for f in v.judgement.figures if isinstance(f, Verified)]
    assert all(f.identity.variant != "mpi_silent" for f in ranked) and ranking.best(
        f for f in ranked if f.identity.metric == "speed"
    )


@pytest.mark.parametrize("variant", ["mpi_blocking", "mpi_overlap"])
def test_the_bandwidth_is_recovered(variant: str) -> None:
    v = view()
    exchanges = efficiency.measured(
        v, [f for f in v.judgement.figures if isinstance(f, Verified) and f.unit == "Mflop/s"]
    )
    mine = [e for e in exchanges if e.figure.identity.variant == variant]
    assert (
        len(mine) == 2 * 3 * 2 * 2
    )  # MPI libraries, lattices, grids, precisions; none on one rank, which sends nothing
    for e in mine:
        hidden = synthetic_lattice.HIDDEN[variant]
        truth = synthetic_lattice.BANDWIDTH[e.figure.identity.mpi or ""] / (1 - hidden)
        assert e.bandwidth == pytest.approx(truth, rel=0.1)
        model = communication.efficiency(
            e.size * 2 / e.figure.cost["flops"], e.figure.cost["flops"] / 2 / e.silent, truth
        )
        assert e.kept.value == pytest.approx(model, rel=0.02)
        assert e.kept.low is not None and e.kept.low < e.kept.value < (e.kept.high or 0)


def test_a_program_that_claims_to_be_checked_is_no_twin() -> None:
    v = view()
    plain = {k: replace(d, unverified="") for k, d in v.judgement.run.descriptions.items()}
    assert communication.silent(replace(v.judgement, run=replace(v.judgement.run, descriptions=plain))) == {}


def test_layouts_stand_side_by_side_in_both_precisions() -> None:
    drawn = drawings()["layouts"]
    assert drawn.title == (
        "SIMD lattice layout reaches 12.0 Gflop/s a core in 32 bit (4x4³, L2), 3.0 × site and 6.0 × plain loops; "
        "64 bit lasts 2.0 × as long"
    ) or drawn.title.startswith("SIMD lattice layout reaches 12.")
    assert "3.0 × site and 6.0 × plain loops" in drawn.title
    lines = traces(drawn)
    assert {
        f"{name}, {bits} bit" for name in ("SIMD lattice layout", "site", "plain loops") for bits in (32, 64)
    } <= set(lines)
    assert lines["site, 64 bit"]["y"][0] == pytest.approx(2000, rel=0.01)
    assert lines["site, 64 bit"]["line"]["dash"] == "dash"
    ghosts = [t for t in drawn.data if t.get("legendgroup") == "ghosts"]
    assert sorted(t["y"][0] for t in ghosts) == [814, 1503]
    assert all("(2003)" in t["text"][0] for t in ghosts)
    assert [a["text"] for a in drawn.layout["annotations"]] == ["L2 512 KiB", "L3 32 MiB"]


def test_grids_stand_side_by_side_with_what_is_without_communication() -> None:
    drawn = drawings()["grids"]
    assert drawn.title.startswith("16x16³ on 2x1x1x1 in 64 bit: overlap reaches ")
    lines = traces(drawn)
    assert list(lines["overlap"]["y"])[:2] == ["8x8³ on 1x2x1x1, 32 bit", "8x8³ on 1x2x1x1, 64 bit"]
    above = dict(zip(lines["without communication"]["y"], lines["without communication"]["x"], strict=True))
    for name in ("overlap", "blocking"):
        for place, x in zip(lines[name]["y"], lines[name]["x"], strict=True):
            assert x < above[place]
    (ghosts,) = [t for t in drawn.data if t.get("legendgroup") == "ghosts"]
    assert "8x8³ on 2x2, 32 bit (2003)" in ghosts["y"] and len(ghosts["x"]) == 8
    assert drawn.layout["yaxis"]["categoryarray"][0] == "16x16³ on 2x4, 64 bit (2003)"


def test_efficiency_is_that_of_the_report_with_b_printed() -> None:
    drawn = drawings()["efficiency-1"]
    assert (
        drawn.title.startswith("Open MPI, with the most data to send (2x16³ on 2x1x1x1, 64 bit): overlap reaches 78 %")
        and " of its speed without communication (" in drawn.title
        and "GB/s each way" in drawn.title
    )
    row = next(
        r
        for r in drawn.rows
        if r[0].startswith("mpi_blocking") and "openmpi" in r[0] and r[1:4] == ("2x16³", "1x2x1x1", "32")
    )
    size = 2 * 2 * 16 * 16 * 12 * 4
    assert row[8] == f"{size:,}".replace(",", " ")
    assert float(row[9].split()[0]) == pytest.approx(1.5, rel=0.1) and row[9].endswith("GB/s")
    curves = [t for t in drawn.data if t.get("mode") == "lines"]
    assert len(curves) == 4 and all(a > b for t in curves for a, b in zip(t["y"], t["y"][1:], strict=False))
    (ghosts,) = [t for t in drawn.data if t.get("legendgroup") == "ghosts"]
    assert set(ghosts["x"]) == {192.0} and sorted(map(round, ghosts["y"])) == [53, 58, 66, 68, 80, 91]
    assert [r for r in drawn.rows if r[0] == "Myrinet, i860, SSE (2003)"]


def test_the_curve_goes_through_points_of_one_bandwidth_and_speed() -> None:
    m = efficiency.Model(6e9, 1.5e9)
    assert m.kept(96, 1392) == pytest.approx(1 / (1 + 96 / 1392 * 6e9 / 1.5e9))
    assert m.kept(0, 1392) == 1


def test_the_model_is_of_cases_that_may_be_ranked() -> None:
    v = view()
    speeds = [f for f in v.judgement.figures if isinstance(f, Verified) and f.identity.metric == "speed"]
    some = [e for e in efficiency.measured(v, speeds) if e.bandwidth is not None][:3]
    crowded = [e._replace(figure=replace(e.figure, oversubscribed=True), silent=100 * e.silent) for e in some]
    assert len(some) == 3 and efficiency.model([*some, *crowded]) == efficiency.model(some)


def test_oversubscribed_is_shown_and_not_ranked() -> None:
    drawn = drawings("crowded")
    assert "2x2x1x1" not in drawn["grids"].title and "Open symbols" in drawn["grids"].caption
    line = traces(drawn["grids"])["overlap"]
    crowded = [s for x, s in zip(line["y"], line["marker"]["symbol"], strict=True) if "2x2x1x1" in x]
    assert crowded and all(s.endswith("-open") for s in crowded)
    assert "oversubscribed" in " ".join(r[0] for r in drawn["efficiency-0"].rows)
    assert drawings("only crowded")["grids"].title == "More ranks and threads than processors, so not ranked"


def test_without_a_twin_there_is_no_efficiency_and_with_nothing_no_drawing() -> None:
    assert set(drawings("no twin")) == {"grids"}
    assert set(drawings("one core")) == {"layouts"}
    v = view()
    assert named(View(replace(v.judgement, figures=()), v.workloads, v.heritage, v.palette)) == {}


def test_every_figure_is_in_some_table() -> None:
    v = view()
    speeds = [f for f in v.judgement.figures if f.identity.metric == "speed"]
    assert len(drawings()["layouts"].rows) == len(speeds)
    assert any("by design" in r[-1] for r in drawings()["layouts"].rows)


@pytest.mark.parametrize("case", CASES)
def test_drawings_are_plain_data_and_the_page_renders(case: str) -> None:
    assert all(chart_tree.words(chart_tree.tree(d)) for d in drawings(case).values() if d.data)
    page = html.render(view(case).judgement, view(case).workloads, heritage=view(case).heritage)
    assert "plot-dirac-0-" in page
    assert terminal.counted(view(case).judgement)


@pytest.mark.parametrize(
    ("variant", "shown"),
    [
        ("serial", "plain loops"),
        ("virtual_nodes", "SIMD lattice layout"),
        ("mpi_overlap", "overlap"),
        ("mpi_omp_overlap", "overlap, threads"),
    ],
)
def test_variants_have_words(variant: str, shown: str) -> None:
    assert sites.words(variant) == shown


def test_a_run_with_a_twin_ends_well_unless_the_twin_is_lost() -> None:
    v = view()
    assert exit_status.status(v.judgement) == OK
    lost = tuple(
        Failed(f.identity, f.unit, f.better, "all 8 launches were lost", "lost")
        if f.identity.variant == "mpi_silent"
        else f
        for f in v.judgement.figures
    )
    assert exit_status.status(replace(v.judgement, figures=lost)) == REGRESSION


def test_progress_shows_no_number_of_the_twin() -> None:
    scene = synthetic_lattice.run(launches=1)
    progress = {}
    for cell in scene.run.cells:
        tally = Tally(scene.run, cell)
        for record in (r for r in scene.records if r.start.cell == cell.id):
            tally.take(record)
        progress.setdefault(cell.program.variant, tally.last())
    assert progress.pop("mpi_silent") == "" and all("Mflop/s" in words for words in progress.values())


def test_few_launches_tell_nothing_of_communication() -> None:
    title = drawings("few launches")["efficiency-0"].title
    assert (
        title == "MPICH: too few launches to estimate the communication time (2x16³ on 2x1x1x1, 64 bit sends the most)"
    )
